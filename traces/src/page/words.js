// Words of pages, and elements that hold them.

const byId = (id) => document.getElementById(id);

// Times: exact, from the text of the number.
const NANOS = [["s", 9], ["ms", 6], ["µs", 3], ["ns", 0]];
const decimal = (nanos, digits, places) => {
  const text = nanos.toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits);
  const part = digits ? text.slice(text.length - digits) : "";
  const kept = places === undefined ? part.replace(/0+$/, "") : part.slice(0, places);
  return kept ? `${whole}.${kept}` : whole;
};
const duration = (nanos) => {
  const [unit, digits] = NANOS.find(([, digits]) => nanos >= 10n ** BigInt(digits)) ?? NANOS[0];
  return `${decimal(nanos, digits)} ${unit}`;
};

const oneLine = (text) => text.replaceAll("\n", "↵");
const cut = (text, letters) => {
  if (text.length <= letters) return text;
  const shown = [...text.slice(0, letters + 1)];
  return `${shown.slice(0, Math.max(0, letters - 1)).join("")}…`;
};

const element = (name, text, className = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
};
const button = (text, label, act, className = "") => {
  const made = element("button", text, className);
  made.type = "button";
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
};
