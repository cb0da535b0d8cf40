// A frame: what stands around calls, and when it is drawn.

const drawBands = () => {
  for (const band of bands) {
    const from = Math.max(x(position[band.from]), size.names);
    const to = Math.min(x(position[band.to]), size.width);
    if (to < size.names || from > size.width) continue;
    const y = AXIS + band.row * BAND_ROW;
    context.fillStyle = colours.band;
    context.fillRect(from, y, Math.max(1, to - from), size.height - y);
    context.strokeStyle = colours.fault;
    context.lineWidth = 1;
    context.setLineDash([4, 4]);
    context.beginPath();
    for (const [moment, isEdge] of [[band.from, true], [band.to, !band.is_open]]) {
      const at = x(position[moment]);
      if (!isEdge || at < size.names) continue;
      context.moveTo(at, y);
      context.lineTo(at, size.height);
    }
    context.stroke();
    context.setLineDash([]);
  }
};
const drawBandNames = () => {
  for (const band of bands) {
    const from = Math.max(x(position[band.from]), size.names);
    const to = Math.min(x(position[band.to]), size.width);
    if (to < size.names || to - from < 16) continue;
    write(cut(oneLine(band.label), Math.floor((to - from - 6) / LETTER)), from + 5, AXIS + band.row * BAND_ROW + 13, colours.fault, "left", 600, 11.5);
  }
};
const drawLanes = () => {
  for (let lane = 0; lane < lanes.length; lane++) {
    const top = laneTop(lane);
    if (top > size.height) break;
    const height = data.lane_rows[lane] * ROW + LANE_GAP;
    if (top + height < 0 || lane % 2) continue;
    context.fillStyle = colours.card;
    context.globalAlpha = 0.55;
    context.fillRect(0, top, size.width, height);
    context.globalAlpha = 1;
  }
};
const drawAxis = () => {
  context.fillStyle = colours.page;
  context.fillRect(0, 0, size.width, AXIS);
  if (!moments) return;
  const tick = (at, label) => {
    context.fillStyle = colours.line;
    context.fillRect(Math.round(at), AXIS - 5, 1, size.height);
    write(label, at, 16, colours.soft, "center", 400, 11.5);
  };
  const half = (axisLabel(BigInt(data.times[moments - 1])).length * LETTER) / 2;
  if (isToScale) {
    const wanted = ((2 * half + 30) / view.scale / length) * lengthOfScale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted));
    const [from, to] = [view.left, view.left + chartWidth() / view.scale].map((at) => (at / length) * lengthOfScale);
    // Round times, not round distances from the first one.
    const offset = Number(first % BigInt(Math.round(step)));
    for (let at = Math.ceil((from + offset) / step) * step - offset; at <= to; at += step) {
      if (at >= 0) tick(x((at / lengthOfScale) * length), axisLabel(first + BigInt(Math.round(at))));
    }
    return;
  }
  let free = size.names + half - 4;
  let label = "";
  for (let moment = firstFrom(moments, view.left, (moment) => position[moment]); moment < moments - 1; moment++) {
    const at = x(position[moment]);
    if (at > size.width - half) break;
    if (at < free) {
      // The next that has space: with 10,000 calls in sight most have none.
      moment = firstFrom(moments, view.left + (free - size.names - PAD) / view.scale, (moment) => position[moment]) - 1;
      if (x(position[moment]) >= free) break;
      free = x(position[moment + 1] ?? Infinity);
      continue;
    }
    const next = axisLabel(BigInt(data.times[moment]));
    if (next !== label) {
      tick(at, next);
      free = at + 2 * half + 16;
    }
    label = next;
  }
};
const drawNames = () => {
  context.fillStyle = colours.page;
  context.fillRect(0, 0, size.names, size.height);
  for (let lane = 0; lane < lanes.length; lane++) {
    const top = laneTop(lane);
    if (top > size.height) break;
    const height = data.lane_rows[lane] * ROW + LANE_GAP;
    if (top + height < headHeight()) continue;
    if (lane % 2 === 0) {
      context.fillStyle = colours.card;
      context.fillRect(0, top, size.names, height);
    }
    // The name stays in sight as long as its lane is.
    const at = Math.min(Math.max(top, headHeight()) + BAR_AT + 4, top + height - 6);
    write(cut(oneLine(lanes[lane]), Math.floor((size.names - 12) / 6.6)), 8, at, colours.ink, "left", 600);
  }
  context.fillStyle = colours.page;
  context.fillRect(0, 0, size.names, headHeight());
  write(axisUnit, 8, 16, colours.soft, "left", 400, 11.5);
  context.fillStyle = colours.edge;
  context.fillRect(size.names - 1, 0, 1, size.height);
};
const clipped = (left, top, act) => {
  context.save();
  context.beginPath();
  context.rect(left, top, size.width, size.height);
  context.clip();
  act();
  context.restore();
};

const draw = () => {
  const ratio = chart.width / Math.max(1, size.width);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, size.width, size.height);
  const [from, to] = rowsInSight();
  clipped(0, headHeight(), drawLanes);
  drawAxis();
  drawBands();
  clipped(0, headHeight(), () => {
    for (let row = from; row < to; row++) drawRow(row);
    drawOrder();
    drawLead();
    const hasHalo = labelsIn(from, to) <= HALOS_MAX;
    for (let row = from; row < to; row++) drawLabels(row, hasHalo);
    drawPoints();
    drawBreak();
  });
  drawNames();
  drawBandNames();
};
let isScheduled = false;
const schedule = () => {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    draw();
  });
};
const show = () => {
  clamp();
  schedule();
};
const resize = () => {
  const ratio = window.devicePixelRatio || 1;
  size.width = chart.clientWidth;
  const longest = lanes.reduce((most, name) => Math.max(most, name.length), 4);
  size.names = Math.min(longest * 6.8 + 18, Math.max(84, size.width * 0.18));
  size.height = Math.round(Math.max(160, Math.min(contentHeight(), window.innerHeight * 0.75)));
  chart.style.height = `${size.height}px`;
  chart.classList.toggle("high", contentHeight() > size.height + 1);
  const [width, height] = [size.width, size.height].map((pixels) => Math.round(pixels * ratio));
  if (chart.width === width && chart.height === height) return;
  // A canvas is empty when its size has changed, so it is drawn at once.
  [chart.width, chart.height] = [width, height];
  clamp();
  draw();
};
