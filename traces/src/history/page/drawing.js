// Calls as bars, with their labels.

let colours = {};
let hatch = null;
const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  const names = ["page", "ink", "soft", "line", "card", "edge", "call", "fill", "bad", "broken", "core", "fault", "band", "halo"];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const tileContext = tile.getContext("2d");
  tileContext.strokeStyle = colours.soft;
  tileContext.lineWidth = 1.3;
  tileContext.beginPath();
  for (const shift of [-6, 0, 6]) {
    tileContext.moveTo(shift - 1, 7);
    tileContext.lineTo(shift + 7, -1);
  }
  tileContext.stroke();
  hatch = context.createPattern(tile, "repeat");
};
const font = (weight, pixels) => `${weight} ${pixels}px system-ui, -apple-system, "Segoe UI", sans-serif`;
const write = (text, atX, atY, colour, align = "left", weight = 400, pixels = 12) => {
  context.font = font(weight, pixels);
  context.textAlign = align;
  context.fillStyle = colour;
  context.fillText(text, atX, atY);
};

// How calls look: fill, line, its width, whether it is dashed. Those that no order has are pale.
const look = (end, isExplained, isCore, isBroken) => {
  if (isBroken) return [colours.broken, colours.bad, 2.5, false];
  const line = isCore ? colours.core : isExplained ? colours.call : colours.edge;
  const width = isCore ? 2.5 : 1;
  if (end === DID_NOT_HAPPEN) return [hatch, isCore ? line : colours.soft, width, false];
  return [isExplained ? colours.fill : colours.card, end === UNKNOWN && line === colours.edge ? colours.soft : line, width, end === UNKNOWN];
};
const drawBar = (target, from, to, y, [fill, line, width, isDashed], isOpen) => {
  if (!isDashed && fill !== hatch) {
    // Two rectangles are several times faster than one with a line around it.
    target.fillStyle = line;
    target.fillRect(from - width / 2, y - HALF - width / 2, to - from + width, 2 * HALF + width);
    target.fillStyle = fill;
    target.fillRect(from + width / 2, y - HALF + width / 2, Math.max(0, to - from - width), 2 * HALF - width);
    return;
  }
  target.fillStyle = fill;
  target.fillRect(from, y - HALF, to - from, 2 * HALF);
  target.strokeStyle = line;
  target.lineWidth = width;
  if (isDashed) target.setLineDash([4, 3]);
  target.beginPath();
  if (isOpen) {
    target.moveTo(to, y - HALF);
    target.lineTo(from, y - HALF);
    target.lineTo(from, y + HALF);
    target.lineTo(to, y + HALF);
  } else {
    target.rect(from, y - HALF, to - from, 2 * HALF);
  }
  target.stroke();
  if (isDashed) target.setLineDash([]);
};

const hasOrder = () => order.bar.length > 0;
const lookOf = (bar) => look(bars.end[bar], !hasOrder() || stepOf[bar] >= 0, core.has(bar), bar === broken);
// Bars too narrow for more than a line are told apart by colour, and those that fall on drawn pixels are left out.
const NARROW = 5;
const drawRow = (row) => {
  const y = rowTop(row) + BAR_AT;
  const edge = size.width + PAD;
  let covered = -Infinity;
  const notable = [];
  eachInSight(row, (bar) => {
    const from = Math.max(x(position[bars.from[bar]]), size.names - 8);
    const to = Math.min(x(position[bars.covered[bar]]), edge);
    if (bar === broken || core.has(bar) || bar === chosen || bar === hovered) {
      notable.push([bar, from, to]);
      return;
    }
    if (to - from < NARROW) {
      const end = Math.ceil(Math.max(to, from + 1));
      if (end <= covered || isFaint(bar)) return;
      context.fillStyle = fits && !fits[bar] ? colours.line : lookOf(bar)[1];
      context.fillRect(Math.max(from, covered), y - HALF, end - Math.max(from, covered), 2 * HALF);
      covered = end;
      return;
    }
    context.globalAlpha = isFaint(bar) ? 0.25 : 1;
    drawBar(context, from, to, y, lookOf(bar), bars.end[bar] === UNKNOWN);
    covered = to;
  });
  for (const [bar, from, to] of notable) {
    context.globalAlpha = isFaint(bar) ? 0.25 : 1;
    const isWide = to - from >= 3;
    drawBar(context, isWide ? from : from - 1.5, isWide ? to : from + 1.5, y, lookOf(bar), bars.end[bar] === UNKNOWN);
    if (bar === chosen || bar === hovered) {
      context.strokeStyle = colours.ink;
      context.lineWidth = bar === chosen ? 2 : 1.2;
      context.strokeRect(from - 3, y - HALF - 3, to - from + 6, 2 * HALF + 6);
    }
  }
  context.globalAlpha = 1;
};
// Labels have a halo if they are few, and those of bars that are narrower than LABEL_MIN are left out.
const LABEL_MIN = 30;
const HALOS_MAX = 200;
const labelsIn = (from, to) => {
  let count = 0;
  for (let row = from; row < to; row++) {
    eachInSight(row, (bar) => (count += (position[bars.covered[bar]] - position[bars.from[bar]]) * view.scale >= LABEL_MIN ? 1 : 0));
  }
  return count;
};
const drawLabels = (row, hasHalo) => {
  const y = rowTop(row) + BAR_AT;
  context.lineJoin = "round";
  eachInSight(row, (bar) => {
    const from = Math.max(x(position[bars.from[bar]]), size.names + 4);
    const width = Math.min(x(position[bars.covered[bar]]), size.width) - from;
    if (width < LABEL_MIN - 6) return;
    const text = cut(oneLine(texts[bars.label[bar]]), Math.max(2, Math.floor((width + 4) / LETTER)));
    context.globalAlpha = isFaint(bar) ? 0.3 : 1;
    context.font = font(bar === broken ? 700 : 400, 12);
    context.textAlign = "left";
    if (hasHalo) {
      context.strokeStyle = colours.halo;
      context.lineWidth = 3;
      context.strokeText(text, from, y - HALF - 5);
    }
    context.fillStyle = bar === broken ? colours.bad : hasOrder() && stepOf[bar] < 0 ? colours.soft : colours.ink;
    context.fillText(text, from, y - HALF - 5);
  });
  context.globalAlpha = 1;
};
