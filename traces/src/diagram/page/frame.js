// What stands around packets and marks: lifelines, partitions, times and names.

const drawLives = (from, to) => {
  const [top, bottom] = [HEAD, size.height];
  for (let life = 0; life < lives.component.length; life++) {
    if (lives.from[life] > to || (lives.to[life] >= 0 && lives.to[life] < from)) continue;
    const at = x(lives.component[life]);
    const begin = Math.max(top, lives.from[life] === 0 ? top : y(lives.from[life]));
    const stop = Math.min(bottom, lives.to[life] < 0 ? Math.min(bottom, y(lastRow) + 26) : y(lives.to[life]));
    if (stop < begin) continue;
    const state = lives.state[life];
    const isThin = state === WAITING || state === OVER || state === DOWN;
    context.strokeStyle = state === DOWN ? colours.bad : colours.edge;
    context.lineWidth = isThin ? 1 : 2;
    context.setLineDash(isThin ? [1.5, 5] : []);
    context.beginPath();
    context.moveTo(at, begin);
    context.lineTo(at, stop);
    context.stroke();
    context.setLineDash([]);
    if (state === PAUSED) {
      context.fillStyle = hatch;
      context.strokeStyle = colours.late;
      context.lineWidth = 1;
      context.fillRect(at - 6, begin, 12, stop - begin);
      context.strokeRect(at - 6, begin, 12, stop - begin);
    }
  }
};

const drawBands = (from, to) => {
  for (const partition of partitions) {
    if (partition.from > to || (partition.to >= 0 && partition.to < from)) continue;
    const begin = Math.max(HEAD - 2, y(partition.from));
    const stop = partition.to < 0 ? size.height : Math.min(size.height + 2, y(partition.to));
    context.fillStyle = colours.band;
    context.fillRect(AXIS, begin, size.width - AXIS, stop - begin);
    context.strokeStyle = colours.bad;
    context.lineWidth = 1;
    context.setLineDash([8, 4]);
    context.beginPath();
    for (const edge of [begin, stop]) {
      context.moveTo(AXIS, edge);
      context.lineTo(size.width, edge);
    }
    context.stroke();
    context.setLineDash([]);
  }
};

const drawAxis = (from, to) => {
  const line = (at, label) => {
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(AXIS, Math.round(at) + 0.5);
    context.lineTo(size.width, Math.round(at) + 0.5);
    context.stroke();
    write(label, AXIS - 12, at + 4, colours.soft, "right");
  };
  if (!rowCount) return;
  if (layout === "time") {
    const wanted = 70 / view.scale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted));
    const start = Math.ceil((view.top - padding()) / step) * step;
    const stop = Math.min(length, view.top + chartHeight() / view.scale);
    for (let at = Math.max(0, start); at <= stop; at += step) {
      line(HEAD + 22 + (at - view.top) * view.scale, axisLabel(at + times[0]));
    }
    return;
  }
  let lastLabel = "";
  let lastAt = -Infinity;
  for (let row = from; row <= to; row++) {
    const at = y(row);
    if (!used[row] || at - lastAt < 16) continue;
    const label = rowLabel(row);
    if (label !== lastLabel) {
      line(at, label);
      lastAt = at;
    }
    lastLabel = label;
  }
};

const drawHead = () => {
  context.fillStyle = colours.page;
  context.fillRect(0, 0, size.width, HEAD);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, HEAD - 0.5);
  context.lineTo(size.width, HEAD - 0.5);
  context.stroke();
  const width = size.column - 22;
  components.forEach((name, component) => {
    const at = x(component);
    if (at + width < 0 || at - width > size.width) return;
    context.beginPath();
    context.roundRect(at - width / 2, 8, width, 28, 7);
    context.fillStyle = colours.card;
    context.fill();
    context.strokeStyle = colours.edge;
    context.stroke();
    context.font = font(600, 13);
    context.textAlign = "center";
    context.fillStyle = colours.ink;
    context.fillText(cut(oneLine(name), Math.floor(width / 8)), at, 26.5);
  });
  context.fillStyle = colours.page;
  context.fillRect(0, 0, AXIS - 2, HEAD - 1);
  write(axisUnit, AXIS - 12, 26.5, colours.soft, "right");
};
