// Items: list them page by page, and create, read, replace, or delete an item. Writes use its etag.

import * as api from "./api.js";
import {Status, button, cell, cost, element, field, json, table} from "./dom.js";
import {KEY_HINT, keyOf, namesOf, typedKey} from "./partition_key.js";

const PAGE_SIZE = 25;

export function itemsView(container) {
  const key = element("input", {id: "items-key", spellcheck: false, placeholder: KEY_HINT});
  const status = new Status();
  const rows = element("div");
  const editor = new Editor(container, () => status.afterwards(() => show(starts)));
  let listed = ""; // the partition key being listed, as typed
  let starts = [null]; // the continuation token of each page so far
  let following = null;

  const show = async (wanted) => {
    const page = await api.list(container._self, "docs", headers(listed, wanted.at(-1)));
    starts = wanted;
    following = page.continuation;
    rows.replaceChildren(itemTable(container, page.body.Documents, starts.length, editor));
    previous.hidden = starts.length === 1;
    next.hidden = following === null;
    status.say(`${page.body._count} items; ${cost(page)}`);
  };
  const restart = () =>
    status.afterwards(() => {
      listed = key.value;
      return show([null]);
    });
  const previous = button("Previous page", () => status.during(() => show(starts.slice(0, -1))), {hidden: true});
  const next = button("Next page", () => status.during(() => show([...starts, following])), {hidden: true});
  const filter = element(
    "form",
    {onsubmit: (event) => { event.preventDefault(); restart(); }},
    ...field("Partition key (empty for all)", key),
    element("div", {className: "actions"}, element("button", {type: "submit"}, "List"), button("New item", () => editor.start())),
  );
  restart();
  return element(
    "div",
    {className: "columns"},
    element("section", {"aria-label": "Items"}, filter, status.node, rows, element("div", {className: "actions"}, previous, next)),
    editor.node,
  );
}

function headers(typed, continuation) {
  const key = typedKey(typed);
  return {
    "x-ms-max-item-count": String(PAGE_SIZE),
    ...(key && api.partitionKeyHeader(key)),
    ...(continuation && {"x-ms-continuation": continuation}),
  };
}

function itemTable(container, documents, number, editor) {
  const {paths} = container.partitionKey;
  const lines = documents.map((document) =>
    element(
      "tr",
      {},
      element("td", {}, button(document.id, () => editor.open(document), {className: "plain item"})),
      ...keyOf(container.partitionKey, document).map((value) => cell(JSON.stringify(value), "key")),
    ),
  );
  return table(`Page ${number}`, [{title: "id"}, ...paths.map((path) => ({title: path}))], lines);
}

/** Edits one item as JSON. Replace and delete send the etag from the last read. */
class Editor {
  constructor(container, onWritten) {
    this.container = container;
    this.onWritten = onWritten;
    this.stored = null; // the item as last read, or null for a new item
    this.status = new Status();
    this.title = element("h3", {tabIndex: -1}, "Item");
    this.text = element("textarea", {id: "item", className: "document", spellcheck: false});
    this.save = button("Save", () => this.write());
    this.reload = button("Reload", () => this.open(this.stored));
    this.delete = button("Delete", () => this.askToDelete());
    this.node = element(
      "section",
      {"aria-label": "Item", hidden: true},
      this.title,
      ...field("Document (JSON)", this.text),
      element("div", {className: "actions"}, this.save, this.reload, this.delete),
      this.status.node,
    );
  }

  start() {
    const document = {id: crypto.randomUUID()};
    for (const path of this.container.partitionKey.paths) place(document, namesOf(path));
    this.show(null, document, "New item");
    this.status.say("Not saved yet.");
    this.text.focus();
  }

  open(document) {
    this.show(document, document, document.id);
    this.title.focus(); // on a small screen, the editor is below the list
    return this.status.during(async () => {
      const answer = await api.read(document._self, this.keyHeader(document));
      this.show(answer.body, answer.body, document.id);
      this.status.say(`Read: ${cost(answer)}`);
    });
  }

  write() {
    return this.status.during(async () => {
      const document = parsed(this.text.value);
      const answer = this.stored
        ? await api.replace(this.stored._self, document, this.conditions())
        : await api.create(this.container._self, "docs", document, this.keyHeader(document));
      this.show(answer.body, answer.body, answer.body.id);
      this.status.say(`Saved: ${cost(answer)}`, "success");
      this.onWritten();
    });
  }

  askToDelete() {
    if (!confirm(`Delete the item ${JSON.stringify(this.stored.id)}?`)) return;
    this.status.during(async () => {
      const answer = await api.remove(this.stored._self, this.conditions());
      this.show(null, {}, "Item");
      this.text.value = "";
      this.save.hidden = true;
      this.status.say(`Deleted: ${cost(answer)}`, "success");
      this.onWritten();
    });
  }

  show(stored, document, title) {
    this.stored = stored;
    this.node.hidden = false;
    this.title.textContent = title;
    this.text.value = json(document);
    this.save.hidden = false;
    this.reload.hidden = this.delete.hidden = stored === null;
  }

  keyHeader(document) {
    return api.partitionKeyHeader(keyOf(this.container.partitionKey, document));
  }

  conditions() {
    return {...this.keyHeader(this.stored), "if-match": this.stored._etag};
  }
}

function parsed(text) {
  const document = JSON.parse(text);
  if (document === null || typeof document !== "object" || Array.isArray(document)) {
    throw new Error("An item must be a JSON object.");
  }
  return document;
}

function place(document, names) {
  const last = names.at(-1);
  const owner = names.slice(0, -1).reduce((inner, name) => (inner[name] ??= {}), document);
  owner[last] ??= "";
}
