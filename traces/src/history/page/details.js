// What there is to read of a call, and which one is under a place.

const pick = (atX, atY) => {
  if (atY < headHeight() || atX < size.names) return -1;
  const [from, to] = rowsInSight();
  // A point of effect is its call's, also where another call covers that.
  for (const part of partsOf()) {
    const [first, last] = pointsInSight(part);
    if (last - first > NUMBERS_MAX) continue;
    for (let index = first; index < last; index++) {
      if (Math.hypot(atX - x(effects[index]), atY - middle(order.bar[index])) < 8) return order.bar[index];
    }
  }
  let [best, bestDistance] = [-1, 6];
  for (let row = from; row < to; row++) {
    const top = rowTop(row);
    if (atY < top || atY >= top + ROW) continue;
    eachInSight(row, (bar) => {
      const away = Math.max(x(position[bars.from[bar]]) - atX, atX - x(position[bars.covered[bar]]), 0);
      if (away < bestDistance) [best, bestDistance] = [bar, away];
    });
  }
  return best;
};

const ENDS = ["", "unknown", "did not happen"];
const describe = (bar) => {
  const end = bars.end[bar];
  const facts = [["operation", texts[bars.operation[bar]]]];
  facts.push(end === ANSWERED ? ["answer", texts[bars.answer[bar]]] : ["end", ENDS[end]]);
  if (bar === broken) {
    for (const [answer, reason, after] of stuck.allowed) {
      const why = reason < 0 ? "" : `, since ${texts[reason]}`;
      const where = orders.length > 1 && orders[after] ? ` (after ${orders[after].name})` : "";
      facts.push(["specification", `${texts[answer]}${why}${where}`]);
    }
  }
  const step = stepOf[bar];
  if (step >= 0) {
    facts.push(["place in the order", `${order.step[step] + 1} of ${order.bar.length}`]);
    if (order.answer[step] >= 0 && (end !== ANSWERED || order.answer[step] !== bars.answer[bar])) facts.push(["specification", texts[order.answer[step]]]);
    if (order.state[step] >= 0) facts.push(["state after it", texts[order.state[step]]]);
  } else if (hasOrder() && bar !== broken) {
    facts.push(["place in the order", end === DID_NOT_HAPPEN ? "none: it has no effect" : "none"]);
  }
  facts.push(["invoked at", instant(bars.from[bar])]);
  if (end !== UNKNOWN) facts.push(["ended at", `${instant(bars.to[bar])}, after ${span(bar)}`]);
  if (bar === broken) facts.push(["here", "the order breaks"]);
  if (core.has(bar)) facts.push(["core", `${texts[core.get(bar)]} matters`]);
  return { title: `call ${bars.number[bar]} of ${lanes[bars.lane[bar]]}`, facts };
};
const choose = (bar) => {
  chosen = bar;
  details.hidden = bar < 0;
  details.replaceChildren();
  if (bar >= 0) {
    const { title, facts } = describe(bar);
    const list = document.createElement("dl");
    for (const [name, value] of facts) list.append(element("dt", name), element("dd", value));
    details.append(button("✕", "Close", () => choose(-1), "close"), element("h2", title), list);
  }
  schedule();
};
const brief = (text) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
const showHint = (bar, atX, atY) => {
  hint.hidden = bar < 0;
  if (bar < 0) return;
  const { title, facts } = describe(bar);
  hint.replaceChildren(element("b", title));
  for (const [name, value] of facts.slice(0, 12)) hint.append(element("p", `${name}: ${brief(value)}`));
  const { offsetWidth: width, offsetHeight: height } = hint;
  hint.style.left = `${Math.max(4, Math.min(atX + 14, size.width - width - 8))}px`;
  hint.style.top = `${atY + 18 + height > size.height ? Math.max(4, atY - height - 14) : atY + 18}px`;
};
