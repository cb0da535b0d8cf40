// The order: a line through the points of effect, with the place of each call, up to where it breaks.

// The parts of the order in which points go on to the right.
const partsOf = () => {
  const starts = [0, ...order.back, order.bar.length];
  return starts.slice(1).map((end, index) => [starts[index], end]).filter(([from, end]) => from < end);
};
// Returns which points of a part are in sight, with one more at each side.
const pointsInSight = ([from, end]) => {
  const value = (index) => effects[from + index];
  const left = firstFrom(end - from, view.left - PAD / view.scale, value);
  const right = firstFrom(end - from, view.left + (chartWidth() + PAD) / view.scale, value);
  return [Math.max(from, from + left - 1), Math.min(end, from + right + 1)];
};
// More points than these for each pixel are drawn as a band from the highest to the lowest; with more than NUMBERS_MAX
// in sight they have no numbers.
const DENSE = 0.35;
const NUMBERS_MAX = 300;
const isDense = (from, end) => end - from > DENSE * chartWidth();
const drawDense = (from, end) => {
  context.fillStyle = colours.call;
  context.globalAlpha = 0.18;
  let index = from;
  while (index < end) {
    const pixel = Math.floor(x(effects[index]) / 2);
    let [high, low] = [Infinity, -Infinity];
    // The point before belongs to it, so that bands touch.
    for (let at = Math.max(from, index - 1); at < end && Math.floor(x(effects[at]) / 2) <= pixel; at++) {
      const atY = middle(order.bar[at]);
      [high, low, index] = [Math.min(high, atY), Math.max(low, atY), at + 1];
    }
    context.fillRect(2 * pixel, high, 2, Math.max(1, low - high));
  }
  context.globalAlpha = 1;
};
const drawOrder = () => {
  context.strokeStyle = colours.call;
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  const parts = partsOf();
  for (const part of parts) {
    const [from, end] = pointsInSight(part);
    if (isDense(from, end)) {
      drawDense(from, end);
      continue;
    }
    context.beginPath();
    for (let index = from; index < end; index++) context.lineTo(x(effects[index]), middle(order.bar[index]));
    const isCrowded = end - from > 60;
    context.lineWidth = isCrowded ? 1 : 1.6;
    context.globalAlpha = isCrowded ? 0.65 : 0.85;
    context.stroke();
    context.globalAlpha = 1;
  }
  context.setLineDash([5, 4]);
  context.lineWidth = 1.6;
  context.beginPath();
  for (const [start] of parts.slice(1)) {
    context.moveTo(x(effects[start - 1]), middle(order.bar[start - 1]));
    context.lineTo(x(effects[start]), middle(order.bar[start]));
  }
  context.stroke();
  context.setLineDash([]);
};
const drawPoints = () => {
  for (const part of partsOf()) {
    const [from, end] = pointsInSight(part);
    if (isDense(from, end)) continue;
    const isNumbered = end - from <= NUMBERS_MAX && view.scale >= 0.5;
    for (let index = from; index < end; index++) {
      const [atX, atY] = [x(effects[index]), middle(order.bar[index])];
      if (atX < size.names - 10) continue;
      const number = String(order.step[index] + 1);
      const radius = isNumbered ? 7.5 : 2.5;
      const half = isNumbered ? Math.max(0, (number.length - 2) * 3.6) : 0;
      context.beginPath();
      context.roundRect(atX - radius - half, atY - radius, 2 * (radius + half), 2 * radius, radius);
      context.fillStyle = colours.call;
      context.fill();
      if (!isNumbered) continue;
      context.strokeStyle = colours.page;
      context.lineWidth = 1.2;
      context.stroke();
      write(number, atX, atY + 3.5, colours.page, "center", 600, 10);
    }
  }
};
const drawLead = () => {
  if (broken < 0 || !order.bar.length) return;
  const from = order.bar.length - 1;
  context.strokeStyle = colours.bad;
  context.lineWidth = 2;
  context.setLineDash([2, 4]);
  context.beginPath();
  context.moveTo(x(effects[from]), middle(order.bar[from]));
  context.lineTo(x(position[bars.to[broken]]), middle(broken));
  context.stroke();
  context.setLineDash([]);
};
const drawBreak = () => {
  if (broken < 0) return;
  const [atX, atY] = [x(position[bars.to[broken]]), middle(broken)];
  context.beginPath();
  context.arc(atX, atY, 9, 0, 7);
  context.fillStyle = colours.bad;
  context.fill();
  context.strokeStyle = colours.page;
  context.lineWidth = 2;
  context.beginPath();
  for (const side of [-1, 1]) {
    context.moveTo(atX - 3.5 * side, atY - 3.5);
    context.lineTo(atX + 3.5 * side, atY + 3.5);
  }
  context.stroke();
};
