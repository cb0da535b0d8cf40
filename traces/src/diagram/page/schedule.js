// When to draw: at most once for each picture of the screen.

let isScheduled = false;
let isChanged = true;
const schedule = () => {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    if (isChanged) {
      draw();
      drawMap();
    }
    isChanged = false;
    drawMarked();
  });
};
const show = () => {
  clamp();
  isChanged = true;
  schedule();
};
const resize = () => {
  const ratio = window.devicePixelRatio || 1;
  for (const canvas of [chart, map]) {
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
  }
  size.width = chart.clientWidth;
  size.height = chart.clientHeight;
  size.map = map.clientWidth;
  const space = (size.width - AXIS - RIGHT) / Math.max(1, components.length);
  size.column = Math.max(130, Math.min(380, space));
  mapIsStale = true;
  show();
};
