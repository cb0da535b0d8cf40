// What a run has: packets, marks and times, from the data of the page.

const data = JSON.parse(byId("trace").textContent);
const { components, flights, marks, lives, partitions, features, signs, reasons, texts } = data;
const [chart, map, details, hint] = ["chart", "map", "details", "hint"].map(byId);
const context = chart.getContext("2d");
const mapContext = map.getContext("2d");

// Sizes in pixels.
const HEAD = 44;
const AXIS = 104;
const RIGHT = 150;
const ROW = 24;
const LETTER = 6;
const LOST_AT = 0.62;
const LOOP = 40;
// Rows that are closer than CLOSE, or more flights in sight than MANY, are drawn as what they have in common; a symbol
// that is closer than NEAR to the one above is left out then.
const CLOSE = 5;
const MANY = 1500;
const NEAR = 7;
const BLOCK = 128;
const [DELIVERED, DROPPED, COPIED, CORRUPTED, UNREACHABLE, FLYING, STREAM] = features.map((_, bit) => 1 << bit);
const [WAITING, UP, PAUSED, DOWN, OVER] = [0, 1, 2, 3, 4];
const PARTITIONED = signs.findIndex((sign) => sign.name === "partitioned");
const HEALED = signs.findIndex((sign) => sign.name === "healed");
const CONNECTED = signs.findIndex((sign) => sign.name === "connected");
const STARTED = signs.findIndex((sign) => sign.name === "started");
const NOTED = signs.findIndex((sign) => sign.name === "note");

// What there is: flights come first, then marks; an item is its index.
const flightCount = flights.number.length;
const itemCount = flightCount + marks.row.length;
const rowCount = data.rows.length;
const lastRow = Math.max(0, rowCount - 1);
const times = Float64Array.from(data.rows, Number);
const isFlight = (item) => item < flightCount;
const first = new Int32Array(itemCount);
const last = new Int32Array(itemCount);
for (let item = 0; item < itemCount; item++) {
  first[item] = isFlight(item) ? flights.sent[item] : marks.row[item - flightCount];
  last[item] = isFlight(item) ? (flights.end[item] < 0 ? lastRow : flights.end[item]) : first[item];
}
const order = Int32Array.from({ length: itemCount }, (_, item) => item).sort((a, b) => first[a] - first[b] || a - b);
// By block of the order, the last row that any of its items reaches: what lies above the view is skipped.
const reach = new Int32Array(Math.ceil(itemCount / BLOCK)).fill(-1);
order.forEach((item, index) => {
  const block = Math.floor(index / BLOCK);
  reach[block] = Math.max(reach[block], last[item]);
});

// Times of rows, in words.
const instant = (row) => `${decimal(BigInt(data.rows[row]), 9)} s`;
const span = (from, to) => {
  return duration(BigInt(data.rows[to]) - BigInt(data.rows[from]));
};
const end = rowCount ? times[lastRow] : 0;
const [axisUnit, axisDigits] = end < 1e7 ? ["µs", 3] : end < 1e10 ? ["ms", 6] : ["s", 9];
const axisLabel = (nanos) => decimal(BigInt(Math.max(0, Math.floor(nanos))), axisDigits, 3);
const rowLabel = (row) => decimal(BigInt(data.rows[row]), axisDigits, 3);
