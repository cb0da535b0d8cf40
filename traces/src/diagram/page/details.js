// What there is to read of a packet or a mark.

// What is under a place, and how many flights are.
const pick = (atX, atY) => {
  if (atY < HEAD) return [-1, 0];
  let [best, bestDistance, count] = [-1, 8, 0];
  eachInSight((item) => {
    if (strength(item) < 1) return;
    let far;
    if (isFlight(item)) {
      const path = way(item);
      if (path.to < atY - 8 || path.from > atY + 8) return;
      far = path.isLoop
        ? Math.min(distance(atX, atY, path.source, path.from, path.source + LOOP, path.from), distance(atX, atY, path.source + LOOP, path.from, path.source + LOOP, path.to))
        : distance(atX, atY, path.source, path.from, path.end, path.to);
      if (far < 4) count++;
    } else {
      const component = marks.component[item - flightCount];
      far = Math.hypot(atX - (component < 0 ? AXIS : x(component)), atY - y(first[item])) - 6;
    }
    if (far < bestDistance) [best, bestDistance] = [item, far];
  });
  return [best, count];
};

const port = (component, number) => `${components[component]}:${number}`;
const describe = (item) => {
  if (!isFlight(item)) {
    const mark = item - flightCount;
    const component = marks.component[mark];
    const facts = [["at", instant(marks.row[mark])]];
    if (component >= 0) facts.unshift(["component", components[component]]);
    if (marks.peer[mark] >= 0) facts.push(["other end", components[marks.peer[mark]]]);
    return { title: signs[marks.sign[mark]].name, text: texts[marks.text[mark]], facts };
  }
  const has = flights.features[item];
  const [sent, ended] = [flights.sent[item], flights.end[item]];
  const isKnown = flights.origin[item] !== 2;
  const facts = [
    ["from", port(flights.source[item], flights.source_port[item])],
    ["to", port(flights.destination[item], flights.destination_port[item])],
  ];
  if (flights.bytes[item]) facts.push(["size", `${flights.bytes[item]} bytes`]);
  if (has & STREAM) facts.push(["part of", "a stream"]);
  if (isKnown) facts.push([has & COPIED ? "copied at" : "sent at", instant(sent)]);
  if (has & DROPPED) facts.push(["dropped at", instant(ended)], ["reason", reasons[flights.reason[item]]]);
  else if (has & UNREACHABLE) facts.push(["arrived at", instant(ended)], ["then lost", "no channel is open there"]);
  else if (has & DELIVERED) facts.push(["delivered at", instant(ended)]);
  else facts.push(["then", "in flight at the end"]);
  if (isKnown && ended >= 0 && ended !== sent) facts.push(["in flight", span(sent, ended)]);
  return {
    title: `${texts[flights.kind[item]]} · ${has & COPIED ? "copy of packet" : "packet"} ${flights.number[item]}`,
    text: texts[flights.message[item]],
    changed: flights.corrupted[item] < 0 ? undefined : texts[flights.corrupted[item]],
    facts,
  };
};
const choose = (item) => {
  chosen = item;
  const wasHidden = details.hidden;
  details.hidden = item < 0;
  details.replaceChildren();
  if (item >= 0) {
    const { title, text, changed, facts } = describe(item);
    const list = document.createElement("dl");
    if (text) list.append(element("dd", text, "code"));
    if (changed !== undefined) list.append(element("dt", "corrupted to"), element("dd", changed, "code"));
    for (const [name, value] of facts) list.append(element("dt", name), element("dd", value));
    details.append(button("✕", "Close", () => choose(-1), "close"), element("h2", title), list);
    if (isFlight(item)) {
      const number = flights.number[item];
      const copies = [];
      for (let other = 0; other < flightCount; other++) if (other !== item && flights.number[other] === number) copies.push(other);
      const others = element("div", "", "copies");
      for (const other of copies) {
        const name = flights.features[other] & COPIED ? "a copy of it" : "the original";
        others.append(button(name, "", () => (reveal(other), choose(other))));
      }
      details.append(others);
    }
  }
  if (wasHidden !== details.hidden) resize();
  schedule();
};
const showHint = (item, count, atX, atY) => {
  hint.hidden = item < 0;
  if (item < 0) return;
  const { title, text, changed, facts } = describe(item);
  hint.replaceChildren(element("b", title));
  if (text) hint.append(element("p", text.length > 300 ? `${text.slice(0, 300)}…` : text, "code"));
  if (changed !== undefined) hint.append(element("p", `corrupted to ${changed.slice(0, 300)}`, "code"));
  hint.append(element("p", facts.map(([name, value]) => `${name} ${value}`).join(" · ")));
  if (count > 1) hint.append(element("p", `one of ${count} here: zoom in to see them apart`));
  const { offsetWidth: width, offsetHeight: height } = hint;
  hint.style.left = `${Math.max(4, Math.min(atX + 14, size.width - width - 8))}px`;
  hint.style.top = `${atY + 18 + height > size.height ? Math.max(4, atY - height - 14) : atY + 18}px`;
};
