// Colours and symbols, as the style sheet and the data have them, light or dark.

let colours = {};
let hatch = null;
const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  const names = ["page", "ink", "soft", "line", "card", "edge", "packet", "bad", "copy", "odd", "late", "good", "note", "stream", "band", "select"];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const tileContext = tile.getContext("2d");
  tileContext.fillStyle = colours.page;
  tileContext.fillRect(0, 0, 8, 8);
  tileContext.strokeStyle = colours.late;
  tileContext.lineWidth = 2;
  tileContext.beginPath();
  for (const shift of [-8, 0, 8]) {
    tileContext.moveTo(shift - 1, 9);
    tileContext.lineTo(shift + 9, -1);
  }
  tileContext.stroke();
  hatch = context.createPattern(tile, "repeat");
};
for (const symbol of [...features, ...signs]) {
  symbol.bodyPath = new Path2D(symbol.body);
  symbol.glyphPath = symbol.glyph ? new Path2D(symbol.glyph) : null;
}
