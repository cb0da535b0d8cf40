// Lights up the definition and the use of a pair in the source. Without this a pair leads to the line of its use.
(() => {
  const shown = document.querySelector(".pair-shown");
  const places = (text) => {
    const [file, ...ends] = text.split(/:(.*)/s);
    const [start, end] = ends[0].split("-").map((place) => place.split(":").map(Number));
    return { file, start, end };
  };

  // The text node and the offset in it of a column of a line.
  const at = (file, [line, column]) => {
    const row = document.getElementById(`f${file}l${line}`);
    const walker = document.createTreeWalker(row.querySelector("pre"), NodeFilter.SHOW_TEXT);
    let last = null;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (column <= node.length) return [node, column];
      column -= node.length;
      last = node;
    }
    return last ? [last, last.length] : [row.querySelector("pre"), 0];
  };

  const range = (text) => {
    const { file, start, end } = places(text);
    const range = new Range();
    range.setStart(...at(file, start));
    range.setEnd(...at(file, end));
    return range;
  };

  const show = (link) => {
    const [definition, use] = [range(link.dataset.definition), range(link.dataset.use)];
    document.querySelectorAll(".source tr.lit").forEach((row) => row.classList.remove("lit"));
    if (CSS.highlights) {
      CSS.highlights.set("definition", new Highlight(definition));
      CSS.highlights.set("use", new Highlight(use));
    }
    for (const place of [link.dataset.definition, link.dataset.use]) {
      const { file, start } = places(place);
      document.getElementById(`f${file}l${start[0]}`).classList.add("lit");
    }
    document.querySelectorAll(".pairs a[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    link.setAttribute("aria-current", "true");
    shown.hidden = false;
    shown.textContent = `${link.textContent}: ${definition} is used in ${use}; ${link.title}`;
    use.startContainer.parentElement.closest("tr").scrollIntoView({ block: "center" });
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-pair]");
    if (!link) return;
    event.preventDefault();
    show(link);
  });
})();
