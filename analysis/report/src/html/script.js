// Filters the list of mutants, and opens the one that a link leads to. The page is complete without this.
(() => {
  const form = document.getElementById("filter");
  const text = document.getElementById("filter-text");
  const kind = document.getElementById("filter-class");
  const survives = document.getElementById("filter-survives");
  const count = document.getElementById("filter-count");
  const rows = [...document.querySelectorAll("#mutant-list > tbody > tr")];
  const contents = rows.map((row) => row.textContent.toLowerCase());

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      const fits =
        (!kind.value || row.dataset.class === kind.value) &&
        (!survives.checked || row.dataset.suite === "survives") &&
        words.every((word) => contents[index].includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    count.textContent = `${shown} of ${rows.length}`;
  };

  const open = () => {
    const row = rows.find((row) => `#${row.id}` === location.hash);
    if (!row) return;
    if (row.hidden) {
      form.reset();
      filter();
    }
    row.querySelector("details").open = true;
    row.scrollIntoView({ block: "center" });
  };

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", open);
  filter();
  open();
})();
