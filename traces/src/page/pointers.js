
// Pointers on a page's chart: dragging moves, two fingers zoom, a click chooses, and a hint says what is below. The page has
// `pickAt` and `hintAt`, which return what is there, `panBy`, `zoomAt`, and `spread`, the distance that zooming is about.
const pointers = new Map();
let moved = 0;
chart.addEventListener("pointerdown", (event) => {
  chart.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
  if (pointers.size === 1) moved = 0;
});
let wantsHover = null;
const hover = () => {
  const item = hintAt(...wantsHover);
  wantsHover = null;
  chart.classList.toggle("over", item >= 0);
  if (item !== hovered) {
    hovered = item;
    schedule();
  }
};
chart.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  const now = [event.offsetX, event.offsetY];
  if (!before) {
    if (!wantsHover) requestAnimationFrame(hover);
    wantsHover = now;
    return;
  }
  hint.hidden = true;
  pointers.set(event.pointerId, now);
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    moved = Infinity;
    zoomAt(Math.max(1, spread(now, other)) / Math.max(1, spread(before, other)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    return;
  }
  moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
  if (moved > 4) chart.classList.add("dragged");
  panBy(now[0] - before[0], now[1] - before[1]);
  show();
});
const release = (event) => {
  if (!pointers.delete(event.pointerId) || pointers.size) return;
  chart.classList.remove("dragged");
  if (event.type === "pointerup" && moved <= 4) choose(pickAt(event.offsetX, event.offsetY));
};
chart.addEventListener("pointerup", release);
chart.addEventListener("pointercancel", release);
chart.addEventListener("pointerleave", () => {
  hint.hidden = true;
  hovered = -1;
  schedule();
});
chart.addEventListener("dblclick", (event) => zoomAt(event.shiftKey ? 0.5 : 2, event.offsetX, event.offsetY));
