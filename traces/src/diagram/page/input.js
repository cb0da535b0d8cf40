// Pointers, keys and buttons.

// Pointer: dragging moves, two fingers zoom, a click chooses.
const pointers = new Map();
let moved = 0;
chart.addEventListener("pointerdown", (event) => {
  chart.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
  if (pointers.size === 1) moved = 0;
});
let wantsHover = null;
chart.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  const now = [event.offsetX, event.offsetY];
  if (!before) {
    if (!wantsHover) {
      requestAnimationFrame(() => {
        const [atX, atY] = wantsHover;
        wantsHover = null;
        const [item, count] = pick(atX, atY);
        showHint(item, count, atX, atY);
        chart.classList.toggle("over", item >= 0);
        if (item !== hovered) {
          hovered = item;
          schedule();
        }
      });
    }
    wantsHover = now;
    return;
  }
  hint.hidden = true;
  pointers.set(event.pointerId, now);
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    moved = Infinity;
    zoom(apart(now, other) / Math.max(1, apart(before, other)), (now[1] + other[1]) / 2);
    return;
  }
  moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
  if (moved > 4) chart.classList.add("dragged");
  view.top -= (now[1] - before[1]) / view.scale;
  view.left -= now[0] - before[0];
  show();
});
const release = (event) => {
  if (!pointers.delete(event.pointerId) || pointers.size) return;
  chart.classList.remove("dragged");
  if (event.type === "pointerup" && moved <= 4) choose(pick(event.offsetX, event.offsetY)[0]);
};
chart.addEventListener("pointerup", release);
chart.addEventListener("pointercancel", release);
chart.addEventListener("pointerleave", () => {
  hint.hidden = true;
  hovered = -1;
  schedule();
});
chart.addEventListener("dblclick", (event) => zoom(event.shiftKey ? 0.5 : 2, event.offsetY));
chart.addEventListener("wheel", (event) => {
  event.preventDefault();
  hint.hidden = true;
  const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? chartHeight() : 1;
  if (event.ctrlKey || event.metaKey) {
    zoom(Math.exp(-event.deltaY * unit * 0.0025), event.offsetY);
    return;
  }
  view.left += (event.shiftKey ? event.deltaY : event.deltaX) * unit;
  if (!event.shiftKey) view.top += (event.deltaY * unit) / view.scale;
  show();
}, { passive: false });
const toMap = (event) => {
  view.top = (event.offsetY / size.height) * length - chartHeight() / view.scale / 2;
  show();
};
map.addEventListener("pointerdown", (event) => {
  map.setPointerCapture(event.pointerId);
  toMap(event);
});
map.addEventListener("pointermove", (event) => event.buttons && toMap(event));
