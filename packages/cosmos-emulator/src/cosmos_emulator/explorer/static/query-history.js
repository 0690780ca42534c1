// The queries that were run against a container, newest first, kept in the browser.

import {button, element} from "./dom.js";
import {menu} from "./menu.js";

const LONGEST = 30;

export class QueryHistory {
  constructor(container, recall) {
    this.key = `cosmos-explorer-queries-${container._rid}`;
    this.recall = recall;
    this.list = element("ol");
    this.node = menu("History", this.list);
    this.node.classList.add("history");
    this.#render();
  }

  get entries() {
    return JSON.parse(localStorage.getItem(this.key)) ?? [];
  }

  get latest() {
    return this.entries[0]?.query;
  }

  /** Put a query first; an equal one moves. */
  add(entry) {
    const text = JSON.stringify(entry);
    const others = this.entries.filter((one) => JSON.stringify(one) !== text);
    localStorage.setItem(this.key, JSON.stringify([entry, ...others].slice(0, LONGEST)));
    this.#render();
  }

  #render() {
    const rows = this.entries.map((entry) => {
      const parameters = entry.parameters.trim() && ` ${entry.parameters.trim()}`;
      return element("li", {}, button(`${entry.query}${parameters}`, () => this.#choose(entry), {className: "plain"}));
    });
    const clear = element("li", {}, button("Clear history", () => { localStorage.removeItem(this.key); this.#render(); }, {className: "small"}));
    this.list.replaceChildren(...(rows.length ? [...rows, clear] : [element("li", {className: "quiet"}, "No queries yet.")]));
  }

  #choose(entry) {
    this.node.open = false;
    this.recall(entry);
  }
}
