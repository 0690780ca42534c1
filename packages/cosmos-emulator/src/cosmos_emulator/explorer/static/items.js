// Browse items page by page in a grid. The server filters and sorts.

import * as api from "./api.js";
import {columnMenu, columnsOf, expressionOf, textOf, titleOf} from "./columns.js";
import {button, element, field, select} from "./dom.js";
import {grid} from "./grid.js";
import {ItemEditor, confirmedDeletion} from "./item-editor.js";
import {menu} from "./menu.js";
import {KEY_HINT, typedKey, valueAt} from "./partition-key.js";
import {Status, cost, count} from "./status.js";
import {mayDiscard} from "./unsaved.js";

export function itemsView({container, item}) {
  const items = new Items(container);
  if (item) items.editor.find(item);
  return items.node;
}

class Items {
  constructor(container) {
    this.container = container;
    this.starts = [null]; // the continuation tokens of all pages up to the current one
    this.sort = null;
    this.documents = [];
    this.status = new Status();
    this.table = element("div");
    this.editor = new ItemEditor(container, {onWritten: () => this.show(), onClosed: () => this.focus()});
    this.node = element("div", {className: "items"}, element("section", {className: "list", "aria-label": "Items"}, ...this.#controls()), this.editor.node);
    this.show();
  }

  #controls() {
    this.filter = element("input", {id: "filter", spellcheck: false, autocomplete: "off", placeholder: 'c.status = "open"'});
    this.key = element("input", {id: "items-key", spellcheck: false, autocomplete: "off", title: KEY_HINT, placeholder: "all"});
    this.size = select({id: "items-size", onchange: () => this.first()}, [10, 25, 50, 100].map((size) => [size, size]));
    this.size.value = "25";
    this.columns = menu("Columns");
    this.previous = button("Previous", () => this.turn(-1));
    this.next = button("Next", () => this.turn(1));
    const find = element(
      "form",
      {className: "bar", onsubmit: (event) => { event.preventDefault(); this.first(); }},
      field("Filter (SQL condition)", this.filter),
      field("Partition key", this.key),
      field("Page size", this.size),
      element("button", {type: "submit"}, "Apply"),
    );
    const actions = element(
      "div",
      {className: "actions"},
      button("New item", () => this.editor.start(), {id: "new-item", className: "primary", "aria-keyshortcuts": "n"}),
      this.previous,
      this.next,
      this.columns,
    );
    return [find, actions, this.status.node, this.table];
  }

  first() {
    this.starts = [null];
    return this.show();
  }

  turn(step) {
    if (step > 0) this.starts.push(this.following);
    else this.starts.pop();
    return this.show();
  }

  show() {
    const work = async () => {
      this.previous.disabled = this.next.disabled = true;
      const answer = await this.#page();
      this.documents = answer.body.Documents;
      this.following = answer.continuation;
      this.previous.disabled = this.starts.length === 1;
      this.next.disabled = this.following === null;
      this.#render();
      const order = this.sort ? `, sorted by ${titleOf(this.sort.path)}` : "";
      this.status.say(`Page ${this.starts.length}: ${count(this.documents.length, "item")}${order}; ${cost(answer)}`);
    };
    return this.status.afterwards(work, () => {
      this.table.replaceChildren();
      return [button("Try again", () => this.show())];
    });
  }

  async #page() {
    const values = typedKey(this.key.value);
    const continuation = this.starts.at(-1);
    const headers = {
      "x-ms-max-item-count": this.size.value,
      ...(values && api.partitionKeyHeader(values)),
      ...(continuation && {"x-ms-continuation": continuation}),
    };
    const [lead] = /^\s*(where\s+)?/i.exec(this.filter.value);
    const where = this.filter.value.slice(lead.length).trimEnd();
    if (!where && !this.sort) return api.list(this.container._self, "docs", headers);
    const order = this.sort ? ` ORDER BY ${expressionOf(this.sort.path)} ${this.sort.descending ? "DESC" : "ASC"}` : "";
    const start = where ? "SELECT * FROM c WHERE " : "SELECT * FROM c";
    try {
      return await api.query(this.container._self, "docs", `${start}${where}${order}`, [], headers);
    } catch (error) {
      // The user typed only the filter.
      const inFilter = (at) => Math.min(at - start.length + lead.length, lead.length + where.length + 1);
      if (where) error.message = error.message.replace(/\(at character (\d+) of the query\)/g, (_, at) => `(at character ${inFilter(Number(at))} of the filter)`);
      throw error;
    }
  }

  #render() {
    const found = columnsOf(this.container, this.documents);
    const summary = this.columns.firstChild;
    this.columns.replaceChildren(summary, columnMenu(this.container, found, () => this.#render()));
    if (!this.documents.length) {
      const isAll = !this.filter.value.trim() && !this.key.value.trim() && this.starts.length === 1;
      const text = isAll ? "This container has no items yet. Choose “New item”, or write some from your app." : "No items match. Change the filter or the partition key.";
      return this.table.replaceChildren(element("p", {className: "quiet empty"}, text));
    }
    const columns = found.shown.map((path) => ({
      name: path,
      title: titleOf(path),
      number: this.documents.every((one) => ["number", "undefined"].includes(typeof valueAt(one, path))) && path !== "/_ts",
      sort: this.sort?.path === path ? (this.sort.descending ? "descending" : "ascending") : "none",
    }));
    const rows = this.documents.map((one) => ({value: one, cells: found.shown.map((path) => textOf(valueAt(one, path), path))}));
    this.table.replaceChildren(
      grid({
        label: "Items",
        columns,
        rows,
        onOpen: (document) => this.editor.open(document),
        onDelete: (document) => this.#delete(document),
        onSort: (path) => this.#sortBy(path),
      }),
    );
  }

  async #sortBy(path) {
    const isSorted = this.sort?.path === path;
    if (isSorted && this.sort.descending) this.sort = null;
    else this.sort = {path, descending: isSorted};
    await this.first();
    this.table.querySelectorAll("th button")[columnsOf(this.container, this.documents).shown.indexOf(path)]?.focus();
  }

  async #delete(document) {
    if (!(await mayDiscard()) || !(await confirmedDeletion(document))) return;
    this.editor.read(document);
    await this.editor.delete(document);
  }

  focus() {
    this.table.querySelector("[tabindex='0']")?.focus();
  }
}
