// Looking for packets and marks, and the legend. The last part: the page begins here.

// Finding: all words must be in an item, in any of its texts.
const find = () => {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  mapIsStale = true;
  const anchor = Math.min(lastRow, rowAt(view.top));
  if (!words.length) {
    [fits, fitting] = [null, []];
    byId("found").textContent = "";
  } else {
    fits = new Uint8Array(itemCount).fill(1);
    for (const word of words) {
      const has = (text) => text.toLowerCase().includes(word);
      const inText = Uint8Array.from(texts, has);
      const inComponent = Uint8Array.from(components, has);
      const inReason = Uint8Array.from(reasons, has);
      const inSign = Uint8Array.from(signs, (sign) => has(sign.name));
      const featureBits = features.reduce((bits, feature, bit) => bits | (has(feature.name) ? 1 << bit : 0), 0);
      const number = word.startsWith("#") ? word.slice(1) : null;
      for (let item = 0; item < itemCount; item++) {
        if (!fits[item]) continue;
        const mark = item - flightCount;
        fits[item] = number !== null
          ? Number(isFlight(item) && String(flights.number[item]) === number)
          : isFlight(item)
            ? inText[flights.kind[item]] | inText[flights.message[item]] | inComponent[flights.source[item]] | inComponent[flights.destination[item]]
              | (flights.features[item] & featureBits ? 1 : 0)
              | (flights.corrupted[item] < 0 ? 0 : inText[flights.corrupted[item]])
              | (flights.reason[item] < 0 ? 0 : inReason[flights.reason[item]])
            : inText[marks.text[mark]] | inSign[marks.sign[mark]] | (marks.component[mark] < 0 ? 0 : inComponent[marks.component[mark]])
              | (marks.peer[mark] < 0 ? 0 : inComponent[marks.peer[mark]]);
      }
    }
    fitting = Array.from(order).filter((item) => fits[item]);
    byId("found").textContent = `${fitting.length} of ${itemCount}`;
  }
  place();
  if (rowCount) view.top = position[anchor];
  for (const entry of byId("legend").querySelectorAll("button")) {
    entry.setAttribute("aria-pressed", String(words.join(" ") === entry.dataset.words));
  }
  show();
};
const rank = new Int32Array(itemCount);
order.forEach((item, index) => (rank[item] = index));
// Goes to the next item, or the one before, among those that are looked for.
const step = (by) => {
  const among = fits === null ? order : fitting;
  if (!among.length) return;
  let index = 0;
  if (chosen >= 0) {
    let [low, high] = [0, among.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rank[among[middle]] < rank[chosen]) low = middle + 1;
      else high = middle;
    }
    index = by > 0 && among[low] === chosen ? low + 1 : by > 0 ? low : low - 1;
  } else {
    const inSight = among.findIndex((item) => y(first[item]) >= HEAD);
    index = inSight < 0 ? 0 : inSight;
  }
  index = Math.max(0, Math.min(among.length - 1, index));
  reveal(among[index]);
  choose(among[index]);
};

byId("find").addEventListener("input", find);
byId("only").addEventListener("change", find);
byId("tools").addEventListener("submit", (event) => event.preventDefault());
byId("find").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  }
});
for (const radio of document.getElementsByName("layout")) radio.addEventListener("change", () => setLayout(radio.value));
const buttons = { in: () => zoom(1.5), out: () => zoom(1 / 1.5), all: showAll, rows: showRows, next: () => step(1), previous: () => step(-1) };
for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
const keys = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  ArrowLeft: () => (view.left -= 80),
  ArrowRight: () => (view.left += 80),
  PageDown: () => (view.top += (0.85 * chartHeight()) / view.scale),
  PageUp: () => (view.top -= (0.85 * chartHeight()) / view.scale),
  " ": () => (view.top += (0.85 * chartHeight()) / view.scale),
  Home: () => (view.top = 0),
  End: () => (view.top = length),
  "+": () => zoom(1.5),
  "=": () => zoom(1.5),
  "-": () => zoom(1 / 1.5),
  0: showAll,
  1: showRows,
};

// The legend has what the run has; an entry looks for it.
const count = (test, length) => {
  let found = 0;
  for (let index = 0; index < length; index++) if (test(index)) found++;
  return found;
};
const addToLegend = (entry, number) => {
  if (!number) return;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "-9 -9 18 18");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", entry.class);
  for (const part of ["body", "glyph"]) {
    if (!entry[part]) continue;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", entry[part]);
    path.setAttribute("class", part);
    svg.append(path);
  }
  const made = button("", "", () => {
    const isOn = made.getAttribute("aria-pressed") === "true";
    byId("find").value = isOn ? "" : entry.name;
    find();
  });
  made.dataset.words = entry.name;
  made.setAttribute("aria-pressed", "false");
  made.append(svg, entry.name, element("small", number.toLocaleString("en")));
  const listed = document.createElement("li");
  listed.append(made);
  byId("legend").append(listed);
};
features.forEach((entry, bit) => addToLegend(entry, count((flight) => flights.features[flight] & (1 << bit), flightCount)));
signs.forEach((entry, sign) => addToLegend(entry, count((mark) => marks.sign[mark] === sign, marks.row.length)));

readColours();
place();
new ResizeObserver(resize).observe(chart);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  mapIsStale = true;
  show();
});
resize();
