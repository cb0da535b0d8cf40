// Draws the kill matrix. Cells are drawn once, a pixel each, and that picture is scaled.
(() => {
  const form = document.getElementById("matrix");
  if (!form) return;
  const data = JSON.parse(document.getElementById("matrix-data").textContent);
  const element = (name) => document.getElementById(`matrix-${name}`);
  const canvas = element("canvas");
  const cell = element("cell");
  const bits = Uint8Array.from(atob(data.kills), (character) => character.charCodeAt(0));
  const width = Math.ceil(data.events.length / 8);
  const kills = (mutant, test) => (bits[mutant * width + (test >> 3)] >> (test & 7)) & 1;

  const range = (count) => Array.from({ length: count }, (_, index) => index);
  const killsOfMutant = range(data.mutants.length).map((mutant) =>
    range(data.events.length).reduce((sum, test) => sum + kills(mutant, test), 0));
  const killsOfTest = range(data.events.length).map((test) =>
    range(data.mutants.length).reduce((sum, mutant) => sum + kills(mutant, test), 0));
  const dominators = new Set(data.dominators);
  const suite = new Set(data.suite);

  // Space for the marks of dominators and of the suite, in pixels.
  const MARGIN = 8;
  const HEIGHT = 460;
  let rows = [];
  let columns = [];
  let picture = null;
  // The cell at the upper left corner, and pixels of the canvas for a cell.
  let view = { row: 0, column: 0, scaleX: 1, scaleY: 1 };
  let selected = { row: 0, column: 0 };

  const orders = {
    number: () => 0,
    kills: (mutant) => killsOfMutant[mutant],
    class: (mutant) => data.mutants[mutant][2],
    operator: (mutant) => data.mutants[mutant][0],
    place: (mutant) => data.mutants[mutant][1],
  };
  const testOrders = {
    number: () => 0,
    kills: (test) => -killsOfTest[test],
    events: (test) => data.events[test],
    suite: (test) => (suite.has(test) ? 0 : 1),
  };
  const sorted = (indices, key) => {
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return indices.sort((a, b) => compare(key(a), key(b)) || a - b);
  };

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    return data.classes.map((name) => {
      probe.fillStyle = style.getPropertyValue(`--${name}`) || style.getPropertyValue("--soft");
      probe.fillRect(0, 0, 1, 1);
      return probe.getImageData(0, 0, 1, 1).data;
    });
  };

  const arrange = () => {
    const shown = range(data.mutants.length).filter((mutant) =>
      (!element("killed").checked || killsOfMutant[mutant] > 0) &&
      (!element("dominators").checked || dominators.has(mutant)));
    rows = sorted(shown, orders[element("rows").value]);
    columns = sorted(range(data.events.length), testOrders[element("columns").value]);
    paint();
    fit();
  };

  const paint = () => {
    if (rows.length === 0) return;
    const palette = colours();
    picture = document.createElement("canvas");
    picture.width = columns.length;
    picture.height = rows.length;
    const context = picture.getContext("2d");
    const image = context.createImageData(picture.width, picture.height);
    let at = 0;
    for (const mutant of rows) {
      const colour = palette[data.mutants[mutant][2]];
      for (const test of columns) {
        if (kills(mutant, test)) image.data.set(colour, at);
        at += 4;
      }
    }
    context.putImageData(image, 0, 0);
  };

  const size = () => ({ x: canvas.width - MARGIN, y: canvas.height - MARGIN });
  const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
  const keep = () => {
    const { x, y } = size();
    view.scaleX = clamp(view.scaleX, x / columns.length, 40);
    view.scaleY = clamp(view.scaleY, Math.min(40, y / Math.max(rows.length, 1)), 40);
    view.column = clamp(view.column, 0, Math.max(0, columns.length - x / view.scaleX));
    view.row = clamp(view.row, 0, Math.max(0, rows.length - y / view.scaleY));
  };

  const draw = () => {
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, canvas.width, canvas.height);
    canvas.dataset.cells = rows.length * columns.length;
    if (rows.length === 0) {
      cell.textContent = "no mutant fits";
      return;
    }
    keep();
    const { x, y } = size();
    const across = Math.min(columns.length - view.column, x / view.scaleX);
    const down = Math.min(rows.length - view.row, y / view.scaleY);
    context.imageSmoothingEnabled = view.scaleX < 1 || view.scaleY < 1;
    context.drawImage(
      picture, view.column, view.row, across, down, MARGIN, MARGIN, across * view.scaleX, down * view.scaleY);
    const left = (column) => MARGIN + (column - view.column) * view.scaleX;
    const top = (row) => MARGIN + (row - view.row) * view.scaleY;
    context.fillStyle = style.getPropertyValue("--accent");
    rows.forEach((mutant, row) => {
      if (dominators.has(mutant) && top(row) >= MARGIN - view.scaleY) {
        context.fillRect(0, Math.max(MARGIN, top(row)), MARGIN - 3, Math.max(1, view.scaleY - 1));
      }
    });
    columns.forEach((test, column) => {
      if (suite.has(test) && left(column) >= MARGIN - view.scaleX) {
        context.fillRect(Math.max(MARGIN, left(column)), 0, Math.max(1, view.scaleX - 1), MARGIN - 3);
      }
    });
    context.strokeStyle = style.getPropertyValue("--ink");
    context.strokeRect(left(selected.column), top(selected.row), Math.max(2, view.scaleX), Math.max(2, view.scaleY));
    tell();
  };

  const tell = () => {
    const mutant = rows[selected.row];
    const test = columns[selected.column];
    const [operator, place, kind] = data.mutants[mutant];
    const name = data.prefix + String(test).padStart(data.digits, "0");
    cell.textContent =
      `mutant ${mutant}, ${operator} at ${place} (${data.classes[kind]}${dominators.has(mutant) ? ", dominator" : ""}): ` +
      `${name} ${kills(mutant, test) ? "kills it" : "does not kill it"}; ` +
      `${killsOfMutant[mutant]} test cases do, and ${name} kills ${killsOfTest[test]} mutants`;
  };

  const fit = () => {
    view = { row: 0, column: 0, scaleX: 0, scaleY: 0 };
    selected = { row: 0, column: 0 };
    draw();
  };

  const zoom = (factor, row, column) => {
    const { scaleX, scaleY } = view;
    view.scaleX *= factor;
    view.scaleY *= factor;
    keep();
    view.column = column - (column - view.column) * (scaleX / view.scaleX);
    view.row = row - (row - view.row) * (scaleY / view.scaleY);
    draw();
  };

  const select = (row, column) => {
    selected = { row: clamp(row, 0, rows.length - 1), column: clamp(column, 0, columns.length - 1) };
    const { x, y } = size();
    view.row = clamp(view.row, selected.row + 1 - Math.floor(y / view.scaleY), selected.row);
    view.column = clamp(view.column, selected.column + 1 - Math.floor(x / view.scaleX), selected.column);
    draw();
  };

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / box.width;
    return {
      row: view.row + ((event.clientY - box.top) * ratio - MARGIN) / view.scaleY,
      column: view.column + ((event.clientX - box.left) * ratio - MARGIN) / view.scaleX,
    };
  };

  const resize = () => {
    canvas.width = Math.max(200, Math.round(canvas.clientWidth * devicePixelRatio));
    canvas.height = Math.round(HEIGHT * devicePixelRatio);
    draw();
  };

  canvas.addEventListener("pointerdown", (event) => {
    const { row, column } = at(event);
    select(Math.floor(row), Math.floor(column));
  });
  canvas.addEventListener("dblclick", () => { location.hash = `m${rows[selected.row]}`; });
  canvas.addEventListener("wheel", (event) => {
    // The page scrolls over the picture unless somebody works with it.
    if (document.activeElement !== canvas) return;
    event.preventDefault();
    const { row, column } = at(event);
    zoom(event.deltaY < 0 ? 1.25 : 0.8, row, column);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const { row, column } = selected;
    const far = event.shiftKey ? 10 : 1;
    const actions = {
      ArrowUp: () => select(row - far, column),
      ArrowDown: () => select(row + far, column),
      ArrowLeft: () => select(row, column - far),
      ArrowRight: () => select(row, column + far),
      "+": () => zoom(1.5, row, column),
      "-": () => zoom(1 / 1.5, row, column),
      0: fit,
      Enter: () => { location.hash = `m${rows[row]}`; },
    };
    if (!(event.key in actions) || rows.length === 0) return;
    event.preventDefault();
    actions[event.key]();
  });
  element("in").addEventListener("click", () => zoom(1.5, selected.row, selected.column));
  element("out").addEventListener("click", () => zoom(1 / 1.5, selected.row, selected.column));
  element("fit").addEventListener("click", fit);
  form.addEventListener("input", arrange);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("resize", resize);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    paint();
    draw();
  });
  form.hidden = false;
  canvas.width = Math.max(200, Math.round(canvas.clientWidth * devicePixelRatio));
  canvas.height = Math.round(HEIGHT * devicePixelRatio);
  arrange();
})();
