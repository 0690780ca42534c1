// Create, edit and delete an item. Writes are conditional on the ETag that was read.

import * as api from "./api.js";
import {CodeEditor} from "./code-editor.js";
import {confirmed} from "./dialogs.js";
import {button, element, json} from "./dom.js";
import {keyOf, template} from "./partition-key.js";
import {Status, cost} from "./status.js";

export class ItemEditor {
  /** `onWritten` runs after a write, `onClosed` after the editor disappears. */
  constructor(container, {onWritten, onClosed}) {
    this.container = container;
    this.onWritten = onWritten;
    this.onClosed = onClosed;
    this.stored = null; // the item as last read; null for a new one
    this.status = new Status();
    this.title = element("h3", {tabIndex: -1});
    this.editor = new CodeEditor("json", {id: "item", className: "document", "aria-label": "Item (JSON)"});
    this.save = element("button", {type: "submit", "aria-keyshortcuts": "Control+S"}, "Save");
    this.reload = button("Reload", () => this.open(this.stored));
    this.discard = button("Delete", () => this.#askToDelete(), {className: "danger"});
    const actions = element("div", {className: "actions"}, this.save, this.reload, this.discard, button("Close", () => this.close()));
    const onsubmit = (event) => { event.preventDefault(); this.write(); };
    const form = element("form", {className: "editor", onsubmit}, this.title, actions, this.status.node, this.editor.node);
    this.node = element("section", {className: "detail", "aria-label": "Item", hidden: true}, form);
    this.node.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
  }

  start() {
    this.#show(null, template(this.container.partitionKey), "New item");
    this.status.say("Not saved yet. Fill in the partition key and your properties.");
    this.editor.text.focus();
  }

  open(document) {
    this.#show(document, document, document.id);
    this.title.focus();
    return this.status.during(async () => {
      const answer = await api.read(document._self, this.#keyHeader(document));
      this.#show(answer.body, answer.body, document.id);
      this.status.say(`Read: ${cost(answer)}`);
    });
  }

  close() {
    if (this.node.hidden) return;
    this.node.hidden = true;
    this.onClosed();
  }

  write(isForced = false) {
    const work = async () => {
      const document = this.#document();
      const answer = this.stored
        ? await api.replace(this.stored._self, document, this.#conditions(isForced))
        : await api.create(this.container._self, "docs", document, this.#keyHeader(document));
      this.#show(answer.body, answer.body, answer.body.id);
      this.status.say(`Saved: ${cost(answer)}`, "success");
      this.onWritten();
    };
    return this.status.during(work, (error) =>
      error.status === 412 ? [button("Reload", () => this.open(this.stored)), button("Save anyway", () => this.write(true), {className: "danger"})] : [],
    );
  }

  delete(isForced = false) {
    const work = async () => {
      const answer = await api.remove(this.stored._self, this.#conditions(isForced));
      this.#show(null, {}, "Deleted item");
      this.editor.node.hidden = this.save.hidden = true;
      this.status.say(`Deleted: ${cost(answer)}`, "success");
      this.onWritten();
    };
    return this.status.during(work, (error) =>
      error.status === 412 ? [button("Reload", () => this.open(this.stored)), button("Delete anyway", () => this.delete(true), {className: "danger"})] : [],
    );
  }

  async #askToDelete() {
    const text = `The item ${JSON.stringify(this.stored.id)} cannot be restored.`;
    if (await confirmed("Delete this item?", text, "Delete")) this.delete();
  }

  #show(stored, document, title) {
    this.stored = stored;
    this.node.hidden = false;
    this.title.textContent = title;
    this.editor.value = json(document);
    this.editor.node.hidden = this.save.hidden = false;
    this.reload.hidden = this.discard.hidden = stored === null;
  }

  #document() {
    const document = this.editor.parsed("The item");
    if (document === null || typeof document !== "object" || Array.isArray(document)) throw new Error("An item must be a JSON object: {…}.");
    if (typeof document.id !== "string" || !document.id) throw new Error('An item needs an id that is a text: "id": "…".');
    const moved = this.stored && JSON.stringify(keyOf(this.container.partitionKey, document)) !== JSON.stringify(keyOf(this.container.partitionKey, this.stored));
    if (moved || (this.stored && document.id !== this.stored.id)) {
      throw new Error("The id and the partition key of a stored item cannot change. Copy the text, and create a new item with it.");
    }
    return document;
  }

  #keyHeader(document) {
    return api.partitionKeyHeader(keyOf(this.container.partitionKey, document));
  }

  #conditions(isForced) {
    return {...this.#keyHeader(this.stored), ...(!isForced && {"if-match": this.stored._etag})};
  }
}
