// Create, edit and delete an item. Writes are conditional on the ETag that was read.

import * as api from "./api.js";
import {CodeEditor} from "./code-editor.js";
import {confirmed} from "./dialogs.js";
import {button, element, json} from "./dom.js";
import {keyOf, template} from "./partition-key.js";
import {noteItem} from "./route.js";
import {Status, cost} from "./status.js";
import {mayDiscard, watchEdits} from "./unsaved.js";

export class ItemEditor {
  /** `onWritten` runs after a write, `onClosed` after the editor disappears. */
  constructor(container, {onWritten, onClosed}) {
    this.container = container;
    this.onWritten = onWritten;
    this.onClosed = onClosed;
    this.stored = null; // the item as last read; null for a new one
    this.original = ""; // the text before any edit
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
    watchEdits(() => this.isEdited);
  }

  get isEdited() {
    return this.node.isConnected && !this.node.hidden && this.editor.value !== this.original;
  }

  async start() {
    if (!(await mayDiscard())) return;
    this.#show(null, template(this.container.partitionKey), "New item");
    this.status.say("Not saved yet. Fill in the partition key and your properties.");
    this.editor.text.focus();
  }

  async open(document) {
    if (await mayDiscard()) await this.read(document);
  }

  /** Show the item with an id and partition key values. */
  find({id, key}) {
    this.#showWithoutText(id);
    return this.status.afterwards(async () => {
      const self = this.container._self;
      const answer = await api.query(self, "docs", "SELECT * FROM c WHERE c.id = @id", [{name: "@id", value: id}], api.partitionKeyHeader(key));
      const [document] = answer.body.Documents;
      if (!document) throw new Error(`There is no item ${JSON.stringify(id)} with the partition key ${JSON.stringify(key)}.`);
      this.#show(document, document, id);
      this.status.say(`Read: ${cost(answer)}`);
    });
  }

  /** Show an item and read its current version, without a question about unsaved edits. */
  read(document) {
    this.#show(document, document, document.id);
    this.title.focus();
    return this.status.afterwards(async () => {
      const answer = await api.read(document._self, this.#keyHeader(document));
      if (this.stored !== document) return; // the user has moved on
      this.#show(answer.body, answer.body, document.id);
      this.status.say(`Read: ${cost(answer)}`);
    });
  }

  async close() {
    if (this.node.hidden || !(await mayDiscard())) return;
    this.node.hidden = true;
    this.stored = null;
    noteItem(undefined);
    this.onClosed();
  }

  write(isForced = false) {
    const work = async () => {
      const document = this.#document();
      const {stored} = this;
      const answer = stored
        ? await api.replace(stored._self, document, this.#conditions(stored, isForced))
        : await api.create(this.container._self, "docs", document, this.#keyHeader(document));
      this.onWritten();
      if (this.stored !== stored) return;
      this.#show(answer.body, answer.body, answer.body.id);
      this.status.say(`Saved: ${cost(answer)}`, "success");
    };
    return this.status.during(work, (error) =>
      error.status === 412 ? [button("Reload", () => this.read(this.stored)), button("Save anyway", () => this.write(true), {className: "danger"})] : [],
    );
  }

  delete(stored, isForced = false) {
    const work = async () => {
      const answer = await api.remove(stored._self, this.#conditions(stored, isForced));
      this.#showWithoutText("Deleted item");
      this.status.say(`Deleted: ${cost(answer)}`, "success");
      this.onWritten();
    };
    return this.status.afterwards(work, (error) =>
      error.status === 412 ? [button("Reload", () => this.read(stored)), button("Delete anyway", () => this.delete(stored, true), {className: "danger"})] : [],
    );
  }

  async #askToDelete() {
    const {stored} = this;
    if (await confirmedDeletion(stored)) this.delete(stored);
  }

  #show(stored, document, title) {
    this.stored = stored;
    this.node.hidden = false;
    this.title.textContent = title;
    this.editor.value = json(document);
    this.original = this.editor.value;
    this.editor.node.hidden = this.save.hidden = false;
    this.reload.hidden = this.discard.hidden = stored === null;
    // Not if a response comes after the user has left the view.
    if (this.node.isConnected) noteItem(stored ? {id: stored.id, key: keyOf(this.container.partitionKey, stored)} : undefined);
  }

  #showWithoutText(title) {
    this.#show(null, {}, title);
    this.editor.node.hidden = this.save.hidden = true;
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

  #conditions(stored, isForced) {
    return {...this.#keyHeader(stored), ...(!isForced && {"if-match": stored._etag})};
  }
}

export const confirmedDeletion = ({id}) =>
  confirmed("Delete this item?", `The item ${JSON.stringify(id)} cannot be restored.`, "Delete");
