// Build elements without parsing markup: all text becomes text nodes.

/** Create an element. `aria-…`, `data-…`, `for`, and `role` become attributes, `on…` listeners, all else properties. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (/^aria-|^for$|^role$|^data-|^list$/.test(name)) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** Create an SVG element; all properties are attributes. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const button = (text, onclick, properties = {}) =>
  element("button", {type: "button", onclick, ...properties}, text);

/** A control, or a code editor's node, below its label, and optionally a hint below it. */
export function field(label, control, hint = "") {
  const labeled = control.querySelector("textarea") ?? control;
  const parts = [element("label", {for: labeled.id}, label), control];
  if (hint) {
    parts.push(element("small", {id: `${labeled.id}-hint`, className: "hint"}, hint));
    labeled.setAttribute("aria-describedby", `${labeled.id}-hint`);
  }
  return element("div", {className: "field"}, ...parts);
}

/** A checkbox before its label. */
export const checkbox = (label, control) =>
  element("label", {className: "check"}, Object.assign(control, {type: "checkbox"}), element("span", {}, label));

export const select = (properties, entries) =>
  element("select", properties, ...entries.map(([value, text]) => element("option", {value}, text)));

export function table(caption, columns, rows) {
  const head = columns.map(({title, number}) => element("th", {scope: "col", className: number ? "number" : ""}, title));
  return element(
    "div",
    {className: "table", tabIndex: 0, role: "region", "aria-label": caption},
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows),
    ),
  );
}

export const cell = (text, className = "") => element("td", {className}, text);

/** A scrollable text that the keyboard can reach. */
export const output = (id, label, text = "") =>
  element("pre", {id, tabIndex: 0, role: "region", "aria-label": label}, text);

export const json = (value) => JSON.stringify(value, null, 2);

/** Text that a button copies. */
export function copyable(label, text, shown = text) {
  const code = element("code", {}, shown);
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      copy.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  }, {"aria-label": `Copy ${label}`});
  return element("div", {className: "copyable"}, element("pre", {tabIndex: 0, role: "region", "aria-label": label}, code), copy);
}
