// Build elements without parsing markup: all text becomes text nodes.

/** Create an element. `aria-…`, `data-…`, `for`, and `role` become attributes, `on…` listeners, all else properties. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (/^aria-|^for$|^role$|^data-/.test(name)) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

export const button = (text, onclick, properties = {}) =>
  element("button", {type: "button", onclick, ...properties}, text);

/** Return a label and its control. */
export function field(label, control) {
  return [element("label", {for: control.id}, label), control];
}

export function table(caption, columns, rows) {
  const head = columns.map(({title, number}) => element("th", {scope: "col", className: number ? "number" : ""}, title));
  return element(
    "div",
    {className: "table"},
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

export const json = (value) => JSON.stringify(value, null, 2);

/** A status line that screen readers announce. */
export class Status {
  constructor() {
    this.node = element("div", {className: "status", role: "status"});
    this.isBusy = false;
    this.current = Promise.resolve();
  }

  say(text, className = "quiet") {
    this.node.replaceChildren(element("span", {className}, text));
  }

  fail(error) {
    const where = error.status ? `${error.status}${error.subStatus ? `/${error.subStatus}` : ""} ${error.code}\n` : "";
    const charge = error.chargeRu ? `\nCharge: ${error.chargeRu.toFixed(2)} RU` : "";
    this.node.replaceChildren(element("div", {className: "error", role: "alert"}, `${where}${error.message}${charge}`));
  }

  /** Run `work` and show any error. Does nothing while other work runs, so a double click counts once. */
  during(work) {
    if (!this.isBusy) this.current = this.#run(work);
    return this.current;
  }

  /** Like `during`, but wait for running work first. */
  async afterwards(work) {
    await this.current;
    await this.during(work);
  }

  async #run(work) {
    this.isBusy = true;
    this.say("…");
    try {
      await work();
    } catch (error) {
      this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }
}

export const cost = ({chargeRu, ms}) => `${chargeRu.toFixed(2)} RU (modeled), ${ms.toFixed(0)} ms`;
