// Drawing packets and marks: one by one, or many together.

// The way of a flight: its ends, and whether it leads back to where it began.
const way = (item) => {
  const [source, destination] = [x(flights.source[item]), x(flights.destination[item])];
  const from = y(flights.sent[item]);
  const has = flights.features[item];
  const isLoop = flights.source[item] === flights.destination[item];
  const fall = Math.min(isLoop ? 12 : 7, 0.45 * view.scale * (layout === "even" ? 1 : Infinity));
  const to = flights.end[item] < 0 ? y(lastRow) + 16 : Math.max(y(flights.end[item]), from + fall);
  const share = has & (DELIVERED | UNREACHABLE) ? 1 : has & DROPPED ? LOST_AT : 0.5;
  if (isLoop) return { isLoop, from, to, source, end: share === 1 ? source : source + LOOP, side: 1 };
  return { isLoop, from, to, source, end: source + share * (destination - source), side: Math.sign(destination - source) };
};
const trace = ({ isLoop, from, to, source, end }) => {
  context.moveTo(source, from);
  if (isLoop) {
    context.lineTo(source + LOOP, from);
    context.lineTo(source + LOOP, to);
  }
  context.lineTo(end, to);
};
const distance = (px, py, ax, ay, bx, by) => {
  const [dx, dy] = [bx - ax, by - ay];
  const share = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(px - ax - share * dx, py - ay - share * dy);
};

const symbol = (entry, atX, atY, scale = 1) => {
  context.save();
  context.translate(atX, atY);
  context.scale(scale, scale);
  context.setLineDash([]);
  context.lineJoin = context.lineCap = "round";
  context.strokeStyle = colours.page;
  context.lineWidth = 2.5;
  context.stroke(entry.bodyPath);
  context.fillStyle = colours[entry.class];
  context.fill(entry.bodyPath);
  if (entry.glyphPath) {
    context.lineWidth = 1.6;
    context.stroke(entry.glyphPath);
  }
  context.restore();
};
const font = (weight, pixels) => `${weight} ${pixels}px system-ui, -apple-system, "Segoe UI", sans-serif`;
const write = (text, atX, atY, colour, align = "left", style = font(400, 11)) => {
  context.font = style;
  context.textAlign = align;
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = colours.page;
  context.strokeText(text, atX, atY);
  context.fillStyle = colour;
  context.fillText(text, atX, atY);
};
const strength = (item) => (fits === null || fits[item] ? 1 : 0.13);

const drawFlight = (item, withLabel) => {
  const path = way(item);
  const has = flights.features[item];
  const colour = colours[features[flights.look[item]].class];
  context.globalAlpha = strength(item);
  if (withLabel.isMarked) {
    context.strokeStyle = colours.select;
    context.lineWidth = 12;
    context.beginPath();
    trace(path);
    context.stroke();
  }
  context.strokeStyle = colour;
  context.setLineDash(has & COPIED ? [7, 4] : has & FLYING ? [1.5, 4] : []);
  context.lineWidth = has & STREAM ? 4.6 : 1.5;
  context.beginPath();
  trace(path);
  context.stroke();
  context.setLineDash([]);
  if (has & STREAM) {
    context.strokeStyle = colours.page;
    context.lineWidth = 1.8;
    context.stroke();
  }
  if (has & COPIED) {
    context.beginPath();
    context.arc(path.source, path.from, 3.5, 0, 7);
    context.fillStyle = colours.page;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = colour;
    context.stroke();
  }
  if (has & DELIVERED) {
    const [dx, dy] = path.isLoop ? [-1, 0] : [path.end - path.source, path.to - path.from];
    const norm = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / norm, dy / norm];
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(path.end, path.to);
    context.lineTo(path.end - 10 * ux - 4.5 * uy, path.to - 10 * uy + 4.5 * ux);
    context.lineTo(path.end - 10 * ux + 4.5 * uy, path.to - 10 * uy - 4.5 * ux);
    context.fill();
  }
  const scale = Math.min(1, Math.max(0.55, (view.scale * (layout === "even" ? 1 : rowCount ? length / rowCount : 1)) / 18));
  if (has & CORRUPTED) {
    const middle = path.isLoop ? path.source + LOOP : (path.source + path.end) / 2;
    symbol(features[3], middle, (path.from + path.to) / 2, scale);
  }
  if (has & DROPPED) symbol(features[1], path.end, path.to, scale);
  if (has & UNREACHABLE) symbol(features[4], path.end, path.to, scale);
  if (has & FLYING) symbol(features[5], path.end, path.to, scale);
  const align = path.side > 0 ? "left" : "right";
  if (withLabel.reason && has & DROPPED) {
    write(reasons[flights.reason[item]], path.end + 11 * path.side, path.to + 4, colour, align);
  }
  if (withLabel.contents && !(has & COPIED)) {
    const letters = Math.floor((size.column - 24) / LETTER);
    const kind = cut(oneLine(texts[flights.kind[item]]), letters);
    const message = oneLine(texts[flights.message[item]].slice(0, 200));
    const space = letters - kind.length - 1;
    const rest = message && space > 3 ? cut(message, space) : "";
    const at = path.source + 10 * path.side;
    context.font = font(600, 11);
    const kindWidth = context.measureText(`${kind} `).width;
    if (path.side > 0) {
      write(rest, at + kindWidth, path.from - 4.5, colours.soft);
      write(kind, at, path.from - 4.5, colour, "left", font(600, 11));
    } else {
      context.font = font(400, 11);
      const restWidth = rest ? context.measureText(rest).width : 0;
      write(rest, at, path.from - 4.5, colours.soft, "right");
      write(rest ? `${kind} ` : kind, at - restWidth, path.from - 4.5, colour, "right", font(600, 11));
    }
  }
  context.globalAlpha = 1;
};

// Flights whose ends fall on the same pixels are one line, the stronger the more they are.
const drawMany = (items) => {
  const lines = new Map();
  const ends = new Map();
  for (const item of items) {
    const path = way(item);
    const has = flights.features[item];
    const isFaint = Number(strength(item) < 1);
    const [from, to] = [Math.round(path.from / 2), Math.round(path.to / 2)];
    const lane = (flights.source[item] * components.length + flights.destination[item]) * features.length + flights.look[item];
    const key = ((lane * 2 + isFaint) * 4096 + ((from + 1024) & 4095)) * 4096 + ((to + 1024) & 4095);
    const line = lines.get(key);
    if (line) line.count++;
    else lines.set(key, { path, count: 1, item, isFaint });
    if (has & (DROPPED | UNREACHABLE)) {
      const endKey = (Math.round(path.end / 8) * 2 + isFaint) * 65536 + Math.round(path.to / 8);
      if (!ends.has(endKey)) ends.set(endKey, { path, isFaint });
    }
  }
  // The more lines there are, the fainter is each, so that where there is more than elsewhere can be seen.
  const base = Math.min(1, Math.max(0.05, (0.3 * chartHeight()) / lines.size));
  const groups = new Map();
  for (const line of lines.values()) {
    const stress = flights.look[line.item] === 0 ? 1 : 2;
    const alpha = (line.isFaint ? 0.2 : stress) * Math.min(0.8, base * (1 + 0.5 * Math.log2(line.count)));
    const key = `${flights.look[line.item]} ${alpha.toFixed(2)}`;
    if (!groups.has(key)) groups.set(key, { alpha, colour: colours[features[flights.look[line.item]].class], lines: [] });
    groups.get(key).lines.push(line);
  }
  context.lineWidth = 1;
  for (const group of groups.values()) {
    context.globalAlpha = Math.min(1, group.alpha);
    context.strokeStyle = group.colour;
    context.beginPath();
    group.lines.forEach((line) => trace(line.path));
    context.stroke();
  }
  for (const isFaint of [true, false]) {
    context.globalAlpha = isFaint ? 0.15 : 1;
    context.strokeStyle = colours.bad;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const end of ends.values()) {
      if (Boolean(end.isFaint) !== isFaint) continue;
      for (const side of [-3, 3]) {
        context.moveTo(end.path.end - 3, end.path.to - side);
        context.lineTo(end.path.end + 3, end.path.to + side);
      }
    }
    context.stroke();
  }
  context.globalAlpha = 1;
};

const drawMark = (item, withLabel, scale = 1, isMarked = false) => {
  const mark = item - flightCount;
  const entry = signs[marks.sign[mark]];
  const row = y(marks.row[mark]);
  const component = marks.component[mark];
  const at = component < 0 ? AXIS : x(component);
  const text = texts[marks.text[mark]];
  context.globalAlpha = strength(item);
  if (marks.sign[mark] === CONNECTED) {
    const far = x(marks.peer[mark]);
    for (const [colour, width] of [[colours.stream, 4.6], [colours.page, 1.8]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(at, row);
      context.lineTo(far, row);
      context.stroke();
    }
    symbol(entry, far, row);
  }
  if (isMarked) {
    context.fillStyle = colours.select;
    context.beginPath();
    context.arc(at, row, 14, 0, 7);
    context.fill();
  }
  symbol(entry, at, row, scale);
  if (marks.sign[mark] === PARTITIONED) {
    const partition = partitions.find((partition) => partition.from === marks.row[mark]);
    partition?.groups.forEach((group, component) => {
      context.beginPath();
      context.arc(x(component), row, 9, 0, 7);
      context.fillStyle = colours.page;
      context.fill();
      context.strokeStyle = colours.bad;
      context.lineWidth = 1.5;
      context.stroke();
      write(group < 0 ? "–" : `${group + 1}`, x(component), row + 4, colours.bad, "center", font(600, 11));
    });
  }
  const said = marks.sign[mark] === NOTED ? text : text ? `${entry.name}: ${text}` : entry.name;
  if (withLabel && marks.sign[mark] !== STARTED) {
    const space = component < 0 ? size.width - AXIS - 40 : component === components.length - 1 ? RIGHT + size.column / 2 - 20 : size.column - 24;
    write(cut(oneLine(said.slice(0, 300)), Math.floor(space / LETTER)), at + 12, row + (component < 0 || marks.sign[mark] === CONNECTED ? -7 : 4), colours[entry.class]);
  }
  context.globalAlpha = 1;
};
