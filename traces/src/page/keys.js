
// What the keys of a page do: `keys` has them by name.
chart.addEventListener("keydown", (event) => {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
  show();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") choose(-1);
  if (event.key === "/" && event.target !== byId("find")) {
    event.preventDefault();
    byId("find").focus();
  }
});
