// What a run has: packets, marks and times, from the data of the page.

const byId = (id) => document.getElementById(id);
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

// Words for times: exact, from the text of the number.
const NANOS = [["s", 9], ["ms", 6], ["µs", 3], ["ns", 0]];
const decimal = (nanos, digits, places) => {
  const text = nanos.toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits);
  const part = digits ? text.slice(text.length - digits) : "";
  const kept = places === undefined ? part.replace(/0+$/, "") : part.slice(0, places);
  return kept ? `${whole}.${kept}` : whole;
};
const instant = (row) => `${decimal(BigInt(data.rows[row]), 9)} s`;
const span = (from, to) => {
  const nanos = BigInt(data.rows[to]) - BigInt(data.rows[from]);
  const [unit, digits] = NANOS.find(([, digits]) => nanos >= 10n ** BigInt(digits)) ?? NANOS[0];
  return `${decimal(nanos, digits)} ${unit}`;
};
const end = rowCount ? times[lastRow] : 0;
const [axisUnit, axisDigits] = end < 1e7 ? ["µs", 3] : end < 1e10 ? ["ms", 6] : ["s", 9];
const axisLabel = (nanos) => decimal(BigInt(Math.max(0, Math.floor(nanos))), axisDigits, 3);
const rowLabel = (row) => decimal(BigInt(data.rows[row]), axisDigits, 3);

const oneLine = (text) => text.replaceAll("\n", "↵");
const cut = (text, letters) => {
  if (text.length <= letters) return text;
  const shown = [...text.slice(0, letters + 1)];
  return `${shown.slice(0, Math.max(0, letters - 1)).join("")}…`;
};
