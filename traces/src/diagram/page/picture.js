// The picture of what is in sight, and of what is chosen in it.

const draw = () => {
  const ratio = window.devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.page;
  context.fillRect(0, 0, size.width, size.height);
  const [from, to] = shownRows();
  drawBands(from, to);
  context.save();
  drawAxis(from, to);
  context.beginPath();
  context.rect(AXIS - 8, 0, size.width, size.height);
  context.clip();
  drawLives(from, to);
  const [inSight, marksInSight] = [[], []];
  eachInSight((item) => (isFlight(item) ? inSight : marksInSight).push(item));
  const space = layout === "even" ? view.scale : chartHeight() / (to - from + 1);
  const isDense = inSight.length > MANY || space < CLOSE;
  // Labels at one side of a lifeline keep 12 pixels apart, about; who comes first has the place.
  const labels = new Set();
  const isFree = (component, side, at) => {
    const [place, cell] = [`${component} ${side}`, Math.round(at / 6)];
    if ([-1, 0, 1].some((near) => labels.has(`${place} ${cell + near}`))) return false;
    labels.add(`${place} ${cell}`);
    return true;
  };
  if (isDense) {
    drawMany(inSight);
  } else {
    for (const item of inSight) {
      const path = way(item);
      const isFaint = strength(item) < 1;
      const has = flights.features[item];
      drawFlight(item, {
        contents: !isFaint && !(has & COPIED) && isFree(flights.source[item], path.side, path.from - 8),
        reason: !isFaint && (has & DROPPED) !== 0 && isFree(`${flights.source[item]}-${flights.destination[item]}`, path.side, path.to),
      });
    }
  }
  const symbolAt = new Map();
  const hasLabels = !isDense || marksInSight.length < chartHeight() / 20;
  for (const item of marksInSight) {
    const isFaint = strength(item) < 1;
    const component = marks.component[item - flightCount];
    const key = `${component} ${isFaint}`;
    const at = y(first[item]);
    if (at - (symbolAt.get(key) ?? -Infinity) < (isDense ? NEAR : 3)) continue;
    symbolAt.set(key, at);
    drawMark(item, hasLabels && !isFaint && isFree(component, 1, at), isDense ? 0.7 : 1);
  }
  context.restore();
  drawHead();
  picture.width = chart.width;
  picture.height = chart.height;
  if (chart.width && chart.height) picture.getContext("2d").drawImage(chart, 0, 0);
  byId("place").textContent = rowCount ? `${instant(Math.max(0, Math.min(lastRow, rowAt(view.top))))} to ${instant(to)}` : "nothing happened";
};

// What is chosen and what is under the pointer, over the picture of the rest.
const picture = document.createElement("canvas");
const drawMarked = () => {
  const [from, to] = shownRows();
  context.save();
  context.setTransform(1, 0, 0, 1, 0, 0);
  if (chart.width && chart.height) context.drawImage(picture, 0, 0);
  context.restore();
  context.save();
  context.beginPath();
  context.rect(AXIS - 8, HEAD, size.width, size.height);
  context.clip();
  for (const item of new Set([chosen, hovered])) {
    if (item < 0 || first[item] > to || last[item] < from || !isShown(item)) continue;
    if (isFlight(item)) drawFlight(item, { contents: true, reason: true, isMarked: true });
    else drawMark(item, true, 1, true);
  }
  context.restore();
};
