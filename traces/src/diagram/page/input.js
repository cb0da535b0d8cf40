// Pointers, keys and buttons.

const pickAt = (atX, atY) => pick(atX, atY)[0];
const hintAt = (atX, atY) => {
  const [item, count] = pick(atX, atY);
  showHint(item, count, atX, atY);
  return item;
};
const panBy = (x, y) => {
  view.left -= x;
  view.top -= y / view.scale;
};
const zoomAt = (factor, _, atY) => zoom(factor, atY);
const spread = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

chart.addEventListener("wheel", (event) => {
  event.preventDefault();
  hint.hidden = true;
  const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? chartHeight() : 1;
  if (event.ctrlKey || event.metaKey) {
    zoom(Math.exp(-event.deltaY * unit * 0.0025), event.offsetY);
    return;
  }
  panBy(-(event.shiftKey ? event.deltaY : event.deltaX) * unit, event.shiftKey ? 0 : -event.deltaY * unit);
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
