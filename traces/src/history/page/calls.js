// What a history has: calls, orders and faults, from the data of the page.

const data = JSON.parse(byId("history").textContent);
const { lanes, bars, orders, bands, stuck, texts } = data;
const [chart, details, hint] = ["chart", "details", "hint"].map(byId);
const context = chart.getContext("2d");

// Sizes in pixels.
const ROW = 40;
const BAR_AT = 27;
const HALF = 6;
const LANE_GAP = 6;
const BAND_ROW = 18;
const AXIS = 26;
const LETTER = 6.4;
const PAD = 20;
const [ANSWERED, UNKNOWN, DID_NOT_HAPPEN] = [0, 1, 2];

const barCount = bars.number.length;
const moments = data.times.length;
const first = moments ? BigInt(data.times[0]) : 0n;
// Nanoseconds since the first moment; small numbers, so that what is close stays apart.
const since = Float64Array.from(data.times, (time) => Number(BigInt(time) - first));
const labelled = Float64Array.from(data.x, (tenths) => tenths / 10);

// Calls by invocation, and by the rows that they are drawn in.
const isShown = (bar) => bars.lane[bar] >= 0;
const byInvocation = Array.from({ length: barCount }, (_, bar) => bar)
  .filter(isShown)
  .sort((one, other) => bars.from[one] - bars.from[other] || one - other);
const place = new Int32Array(barCount).fill(-1);
byInvocation.forEach((bar, index) => (place[bar] = index));
const laneRow = [];
let rowCount = 0;
for (const rows of data.lane_rows) {
  laneRow.push(rowCount);
  rowCount += rows;
}
const laneOfRow = new Int32Array(rowCount);
data.lane_rows.forEach((rows, lane) => laneOfRow.fill(lane, laneRow[lane], laneRow[lane] + rows));
const rowOf = (bar) => laneRow[bars.lane[bar]] + bars.row[bar];
const rows = Array.from({ length: rowCount }, () => []);
for (const bar of byInvocation) rows[rowOf(bar)].push(bar);
const bandRows = bands.reduce((most, band) => Math.max(most, band.row + 1), 0);

const core = new Map(data.core);
const broken = stuck && isShown(stuck.bar) ? stuck.bar : -1;

// The order that is drawn: the place of each call in it, -1 for none.
let shown = -1;
let order = { bar: [], step: [], x: [], back: [], answer: [], state: [] };
const stepOf = new Int32Array(barCount).fill(-1);
const setOrder = (number) => {
  shown = number;
  order = orders[number];
  stepOf.fill(-1);
  order.bar.forEach((bar, index) => (stepOf[bar] = index));
};
if (orders.length) setOrder(0);

// Times, in words.
const instant = (moment) => `${decimal(BigInt(data.times[moment]), 9)} s`;
const span = (bar) => duration(BigInt(data.times[bars.to[bar]]) - BigInt(data.times[bars.from[bar]]));
const last = moments ? Number(data.times[moments - 1]) : 0;
const [axisUnit, axisDigits] = last < 1e7 ? ["µs", 3] : last < 1e10 ? ["ms", 6] : ["s", 9];
const axisLabel = (nanos) => decimal(nanos, axisDigits, 3);
