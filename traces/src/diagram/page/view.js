// What part of the run is in sight, and where its rows are.

// The view. `position` is where each row is; `top` is what is at the upper edge, `scale` is pixels for one unit.
let layout = "even";
let position = new Float64Array(rowCount);
let length = 0;
const view = { top: 0, scale: ROW, left: 0 };
const size = { width: 0, height: 0, column: 0, map: 0 };
let chosen = -1;
let hovered = -1;
let fits = null;
let fitting = [];

// Rows that have a place of their own: all, unless only what is looked for is shown.
const used = new Uint8Array(rowCount);
const place = () => {
  const only = fits !== null && byId("only").checked;
  used.fill(1);
  if (layout === "time") {
    position = Float64Array.from(times, (time) => time - (rowCount ? times[0] : 0));
    length = rowCount ? position[lastRow] : 0;
  } else {
    if (only) {
      used.fill(0);
      fitting.forEach((item) => (used[first[item]] = used[last[item]] = 1));
    }
    let rank = 0;
    position = new Float64Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      position[row] = rank;
      rank += used[row];
    }
    length = Math.max(0, rank - 1);
  }
};
const isShown = (item) => fits === null || fits[item] === 1 || !byId("only").checked;
const chartHeight = () => size.height - HEAD;
const padding = () => 22 / view.scale;
const y = (row) => HEAD + 22 + (position[row] - view.top) * view.scale;
const x = (component) => AXIS + size.column * (component + 0.5) - view.left;
const chartWidth = () => AXIS + size.column * components.length + RIGHT;
const rowAt = (value) => {
  let [low, high] = [0, rowCount];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (position[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
};
const shownRows = () => {
  const margin = 30 / view.scale;
  return [
    Math.max(0, rowAt(view.top - margin - padding()) - 1),
    Math.min(lastRow, rowAt(view.top + chartHeight() / view.scale + margin)),
  ];
};
const smallest = () => Math.max(1e-12, (chartHeight() - 60) / Math.max(length, 1e-9));
const largest = () => (layout === "even" ? 80 : 40);
const clamp = () => {
  view.scale = Math.min(largest(), Math.max(Math.min(smallest(), ROW), view.scale));
  view.top = Math.max(0, Math.min(view.top, length - (chartHeight() - 60) / view.scale));
  view.left = Math.max(0, Math.min(view.left, chartWidth() - size.width));
};
const zoom = (factor, at = HEAD + chartHeight() / 2) => {
  const unit = (at - HEAD - 22) / view.scale + view.top;
  view.scale *= factor;
  clamp();
  view.top = unit - (at - HEAD - 22) / view.scale;
  show();
};
const showAll = () => {
  view.scale = smallest();
  view.top = 0;
  show();
};
const readableScale = () => (layout === "even" ? ROW : (ROW * rowCount) / Math.max(length, 1));
const showRows = () => {
  const middle = view.top + chartHeight() / 2 / view.scale;
  view.scale = readableScale();
  clamp();
  view.top = middle - chartHeight() / 2 / view.scale;
  show();
};
const setLayout = (name) => {
  const anchor = Math.min(lastRow, rowAt(view.top));
  layout = name;
  place();
  view.scale = readableScale();
  view.top = rowCount ? position[anchor] : 0;
  mapIsStale = true;
  show();
};
const reveal = (item) => {
  const middle = chartHeight() / view.scale / 2;
  const at = position[first[item]];
  const edge = 48 / view.scale;
  if (at < view.top + edge || at > view.top + chartHeight() / view.scale - 2 * edge) view.top = at - middle;
  const source = isFlight(item) ? flights.source[item] : Math.max(0, marks.component[item - flightCount]);
  const left = size.column * source;
  if (left < view.left || left + size.column > view.left + size.width - AXIS) view.left = left - (size.width - AXIS) / 2;
  show();
};

// Calls back with each item that can be in sight, in the order of their first rows.
const eachInSight = (call) => {
  const [from, to] = shownRows();
  for (let block = 0; block < reach.length; block++) {
    const start = block * BLOCK;
    if (first[order[start]] > to) break;
    if (reach[block] < from) continue;
    const stop = Math.min(start + BLOCK, itemCount);
    for (let index = start; index < stop; index++) {
      const item = order[index];
      if (first[item] > to) break;
      if (last[item] >= from && isShown(item)) call(item);
    }
  }
};
