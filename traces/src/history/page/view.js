// What part of the history is in sight, and where its moments and rows are.

// `position` is where each moment is. `left` is what is at the left edge, `scale` is pixels for one unit, `top` is in
// pixels.
let isToScale = false;
let position = labelled;
let effects = new Float64Array(0);
const view = { left: 0, scale: 1, top: 0 };
const size = { width: 0, height: 0, names: 0 };
const length = moments ? labelled[moments - 1] : 0;
let chosen = -1;
let hovered = -1;

// Returns the number of the first of `count` values that is not less than `value`.
const firstFrom = (count, value, valueOf) => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueOf(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};
const lengthOfScale = moments ? Math.max(1, since[moments - 1]) : 1;
const placeMoments = () => {
  position = isToScale ? Float64Array.from(since, (nanos) => (nanos / lengthOfScale) * length) : labelled;
  // Points of effect keep their share of the space between the moments around them.
  effects = Float64Array.from(order.x, (at) => {
    if (!isToScale) return at;
    const after = Math.min(moments - 1, Math.max(1, firstFrom(moments, at, (moment) => labelled[moment])));
    const share = (at - labelled[after - 1]) / (labelled[after] - labelled[after - 1]);
    return position[after - 1] + share * (position[after] - position[after - 1]);
  });
};
const headHeight = () => AXIS + bandRows * BAND_ROW;
const x = (units) => size.names + PAD + (units - view.left) * view.scale;
const laneTop = (lane) => headHeight() + laneRow[lane] * ROW + lane * LANE_GAP - view.top;
const rowTop = (row) => headHeight() + row * ROW + laneOfRow[row] * LANE_GAP - view.top;
const middle = (bar) => rowTop(rowOf(bar)) + BAR_AT;
const contentHeight = () => headHeight() + rowCount * ROW + lanes.length * LANE_GAP + 4;
const chartWidth = () => Math.max(1, size.width - size.names - 2 * PAD);
const smallest = () => chartWidth() / Math.max(1, length);
const largest = () => {
  if (!isToScale) return 6;
  let gap = Infinity;
  for (let moment = 1; moment < moments; moment++) {
    if (position[moment] > position[moment - 1]) gap = Math.min(gap, position[moment] - position[moment - 1]);
  }
  return Math.max(6, 60 / gap);
};
let scaleMax = 6;
const clamp = () => {
  view.scale = Math.min(scaleMax, Math.max(Math.min(smallest(), 1), view.scale));
  view.left = Math.max(0, Math.min(view.left, length - chartWidth() / view.scale));
  view.top = Math.max(0, Math.min(view.top, contentHeight() - size.height));
};
const zoom = (factor, at = size.names + PAD + chartWidth() / 2) => {
  const units = (at - size.names - PAD) / view.scale + view.left;
  view.scale *= factor;
  clamp();
  view.left = units - (at - size.names - PAD) / view.scale;
  show();
};
const showAll = () => {
  view.scale = smallest();
  view.left = 0;
  show();
};
const centre = (bar, scale) => {
  view.scale = scale;
  clamp();
  const at = (position[bars.from[bar]] + Math.min(position[bars.to[bar]], position[bars.from[bar]] + chartWidth() / view.scale)) / 2;
  view.left = at - chartWidth() / view.scale / 2;
  view.top += middle(bar) - size.height / 2;
  show();
};
// The scale at which labels can be read: to scale, it is so on average.
const showLabels = () => {
  const at = view.left + chartWidth() / view.scale / 2;
  view.scale = 1;
  view.left = at - chartWidth() / 2;
  show();
};
const reveal = (bar) => {
  const [from, to] = [x(position[bars.from[bar]]), x(position[bars.to[bar]])];
  if (to < size.names + 40 || from > size.width - 40) view.left += (Math.min((from + to) / 2, from + chartWidth() / 3) - size.names - chartWidth() / 2) / view.scale;
  const at = middle(bar);
  if (at < headHeight() + 20 || at > size.height - 20) view.top += at - size.height / 2;
  show();
};
const setScale = (value) => {
  const at = firstFrom(moments, view.left + chartWidth() / view.scale / 2, (moment) => position[moment]);
  isToScale = value;
  placeMoments();
  scaleMax = largest();
  if (moments) view.left = position[Math.min(moments - 1, at)] - chartWidth() / view.scale / 2;
  show();
};

// Calls back with each call of a row that is in sight. Calls of a row follow each other, or
// the next one covers what is left of an open one, so both ends are in order.
const eachInSight = (row, call) => {
  const list = rows[row];
  const [from, to] = [view.left - (PAD + 4) / view.scale, view.left + (chartWidth() + PAD + 4) / view.scale];
  for (let index = firstFrom(list.length, from, (index) => position[bars.covered[list[index]]]); index < list.length; index++) {
    if (position[bars.from[list[index]]] > to) break;
    call(list[index]);
  }
};
const rowsInSight = () => {
  const from = firstFrom(rowCount, headHeight() - ROW, rowTop);
  return [from, firstFrom(rowCount, size.height, rowTop)];
};
