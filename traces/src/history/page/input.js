// Pointers, keys and buttons. The last part: the page begins here.

const pickAt = pick;
const hintAt = (atX, atY) => {
  const bar = pick(atX, atY);
  showHint(bar, atX, atY);
  return bar;
};
const panBy = (x, y) => {
  view.left -= x / view.scale;
  view.top -= y;
};
const zoomAt = (factor, atX) => zoom(factor, atX);
const spread = (one, other) => Math.abs(one[0] - other[0]);

// The wheel scrolls the page, unless it zooms, goes sideways, or there are more sessions than the chart shows.
chart.addEventListener("wheel", (event) => {
  const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? size.height : 1;
  hint.hidden = true;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * unit * 0.0025), event.offsetX);
    return;
  }
  const before = [view.left, view.top];
  panBy(-(event.shiftKey ? event.deltaY : event.deltaX) * unit, event.shiftKey ? 0 : -event.deltaY * unit);
  show();
  if (before[0] !== view.left || before[1] !== view.top) event.preventDefault();
}, { passive: false });

// Finding: all words must be in a call, in any of its texts.
let fits = null;
let fitting = [];
const isFaint = (bar) => fits !== null && !fits[bar];
const find = () => {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  [fits, fitting] = [null, []];
  byId("found").textContent = "";
  if (words.length) {
    fits = new Uint8Array(barCount).fill(1);
    for (const word of words) {
      const inText = Uint8Array.from(texts, (text) => text.toLowerCase().includes(word));
      const inLane = Uint8Array.from(lanes, (lane) => lane.toLowerCase().includes(word));
      for (const bar of byInvocation) {
        const has = word.startsWith("#") ? String(bars.number[bar]) === word.slice(1) : inText[bars.label[bar]] || inLane[bars.lane[bar]] || ENDS[bars.end[bar]].includes(word);
        if (!has) fits[bar] = 0;
      }
    }
    fitting = byInvocation.filter((bar) => fits[bar]);
    byId("found").textContent = `${fitting.length} of ${byInvocation.length}`;
  }
  show();
};
const go = (bar) => {
  reveal(bar);
  choose(bar);
};
// Goes on by some calls, among those that are looked for, from the chosen one or from what is in sight.
const step = (by) => {
  const among = fits === null ? byInvocation : fitting;
  if (!among.length) return;
  const at = chosen < 0 ? firstFrom(among.length, view.left, (index) => position[bars.from[among[index]]]) : firstFrom(among.length, place[chosen], (index) => place[among[index]]);
  const isThere = chosen >= 0 && among[at] === chosen;
  const next = chosen < 0 ? at : by > 0 ? at + (isThere ? 1 : 0) : at - 1;
  go(among[Math.max(0, Math.min(among.length - 1, next))]);
};
const stepInOrder = (by) => {
  if (!hasOrder()) return;
  const at = chosen >= 0 && stepOf[chosen] >= 0 ? stepOf[chosen] + by : chosen >= 0 && chosen === broken && by < 0 ? order.bar.length - 1 : 0;
  go(at >= order.bar.length && broken >= 0 ? broken : order.bar[Math.max(0, Math.min(order.bar.length - 1, at))]);
};
// Goes to the call of another row that is next in time.
const stepRow = (by) => {
  const from = chosen < 0 ? (by > 0 ? -1 : rowCount) : rowOf(chosen);
  const at = chosen < 0 ? view.left : position[bars.from[chosen]];
  for (let row = from + by; row >= 0 && row < rowCount; row += by) {
    const list = rows[row];
    if (!list.length) continue;
    go(list[Math.min(list.length - 1, firstFrom(list.length, at, (index) => position[bars.covered[list[index]]]))]);
    return;
  }
};
const showOrder = (number) => {
  setOrder(number);
  placeMoments();
  if (byId("order")) byId("order").value = String(number);
  if (chosen >= 0) choose(chosen);
  show();
};
const showBreak = () => {
  if (broken < 0) return;
  centre(broken, Math.max(1, view.scale));
  choose(broken);
};

byId("find").addEventListener("input", find);
byId("tools").addEventListener("submit", (event) => event.preventDefault());
byId("find").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  }
});
for (const radio of document.getElementsByName("layout")) radio.addEventListener("change", () => setScale(radio.value === "scale"));
byId("order")?.addEventListener("change", (event) => showOrder(Number(event.target.value)));
for (const link of document.querySelectorAll(".show")) {
  link.addEventListener("click", () => {
    showOrder(Number(link.dataset.order));
    showBreak();
  });
}
const buttons = { in: () => zoom(1.5), out: () => zoom(1 / 1.5), all: showAll, read: showLabels, break: showBreak, next: () => step(1), previous: () => step(-1) };
for (const [id, act] of Object.entries(buttons)) byId(id)?.addEventListener("click", act);
const keys = {
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  ArrowDown: () => stepRow(1),
  ArrowUp: () => stepRow(-1),
  "]": () => stepInOrder(1),
  "[": () => stepInOrder(-1),
  PageDown: () => (view.left += (0.85 * chartWidth()) / view.scale),
  PageUp: () => (view.left -= (0.85 * chartWidth()) / view.scale),
  Home: () => (view.left = 0),
  End: () => (view.left = length),
  "+": () => zoom(1.5),
  "=": () => zoom(1.5),
  "-": () => zoom(1 / 1.5),
  0: showAll,
  1: showLabels,
  b: showBreak,
};

// The legend has what the history has.
const drawLegend = () => {
  const has = (test) => byInvocation.some(test);
  const entries = [
    ["explained", hasOrder() && has((bar) => stepOf[bar] >= 0), (target) => drawBar(target, 3, 27, 9, look(ANSWERED, true, false, false), false)],
    ["answered", !hasOrder(), (target) => drawBar(target, 3, 27, 9, look(ANSWERED, true, false, false), false)],
    ["not in the order", hasOrder() && has((bar) => stepOf[bar] < 0 && bar !== broken && bars.end[bar] === ANSWERED), (target) => drawBar(target, 3, 27, 9, look(ANSWERED, false, false, false), false)],
    ["end unknown", has((bar) => bars.end[bar] === UNKNOWN), (target) => drawBar(target, 3, 29, 9, look(UNKNOWN, false, false, false), true)],
    ["did not happen", has((bar) => bars.end[bar] === DID_NOT_HAPPEN), (target) => drawBar(target, 3, 27, 9, look(DID_NOT_HAPPEN, false, false, false), false)],
    ["impossible together", core.size > 0, (target) => drawBar(target, 3, 27, 9, look(ANSWERED, true, true, false), false)],
    ["breaks here", broken >= 0, (target) => drawBar(target, 3, 27, 9, look(ANSWERED, false, false, true), false)],
    ["fault", bands.length > 0, (target) => {
      target.fillStyle = colours.band;
      target.fillRect(3, 0, 24, 18);
      target.strokeStyle = colours.fault;
      target.setLineDash([4, 4]);
      target.strokeRect(3.5, -2, 23, 22);
    }],
  ];
  byId("legend").replaceChildren();
  for (const [name, isThere, paint] of entries) {
    if (!isThere) continue;
    const sample = document.createElement("canvas");
    [sample.width, sample.height] = [60, 36];
    const target = sample.getContext("2d");
    target.scale(2, 2);
    paint(target);
    const listed = element("li", "");
    listed.append(sample, name);
    byId("legend").append(listed);
  }
};

placeMoments();
readColours();
drawLegend();
new ResizeObserver(resize).observe(chart);
window.addEventListener("resize", resize);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  drawLegend();
  show();
});
resize();
// What is small fills the chart, and what is long begins where it breaks.
if (length <= chartWidth()) view.scale = Math.min(2, smallest());
else if (broken >= 0) centre(broken, 1);
