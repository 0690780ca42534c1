// Edit a script, under its ETag, and below it a form that runs it.

import * as api from "./api.js";
import {CodeEditor} from "./code-editor.js";
import {confirmed} from "./dialogs.js";
import {button, element, field, select} from "./dom.js";
import {KINDS} from "./script-kinds.js";
import {runForm} from "./script-runs.js";
import {Status, cost} from "./status.js";

const OPERATIONS = ["All", "Create", "Replace", "Delete", "Update", "Upsert"];

export class ScriptEditor {
  /** `script` is null for a new one. */
  constructor(container, kind, script, {onSaved, onDeleted}) {
    Object.assign(this, {container, kind, script, onSaved, onDeleted});
    this.status = new Status();
    this.title = element("h3", {tabIndex: -1}, script?.id ?? `New ${KINDS[kind].one}`);
    this.name = element("input", {id: "script-name", required: true, spellcheck: false, autocomplete: "off", value: script?.id ?? "", disabled: script !== null});
    this.type = select({id: "trigger-type"}, [["Pre", "before the write"], ["Post", "after the write"]]);
    this.operation = select({id: "trigger-operation"}, OPERATIONS.map((name) => [name, name]));
    if (kind === "triggers" && script) [this.type.value, this.operation.value] = [script.triggerType, script.triggerOperation];
    this.code = new CodeEditor("javascript", {id: "code", "aria-label": "Code (JavaScript)", value: script?.body ?? KINDS[kind].code});
    this.discard = button("Delete", () => this.#delete(), {className: "danger", hidden: script === null});
    this.runs = element("div");
    this.nodes = [this.#form(), this.runs];
    this.#showRuns();
  }

  focus() {
    (this.script ? this.title : this.name).focus();
  }

  #form() {
    const onsubmit = (event) => { event.preventDefault(); this.#save(); };
    const when = this.kind === "triggers" ? [field("Runs", this.type), field("On", this.operation)] : [];
    return element(
      "form",
      {className: "editor", onsubmit},
      this.title,
      element("div", {className: "bar"}, ...(this.script ? [] : [field("Name", this.name)]), ...when),
      this.code.node,
      element("div", {className: "actions"}, element("button", {type: "submit", "aria-keyshortcuts": "Control+S"}, "Save"), this.discard),
      this.status.node,
    );
  }

  #save() {
    return this.status.during(async () => {
      const body = {
        id: this.name.value.trim(),
        body: this.code.value,
        ...(this.kind === "triggers" && {triggerType: this.type.value, triggerOperation: this.operation.value}),
      };
      const answer = this.script
        ? await api.replace(this.script._self, body, {"if-match": this.script._etag})
        : await api.create(this.container._self, this.kind, body);
      this.script = answer.body;
      this.title.textContent = this.script.id;
      this.name.disabled = true;
      this.discard.hidden = false;
      this.status.say(`Saved: ${cost(answer)}`, "success");
      this.#showRuns();
      this.onSaved(this.script);
    });
  }

  async #delete() {
    if (!(await confirmed("Delete this script?", `${this.script.id} cannot be restored.`, "Delete"))) return;
    await this.status.during(async () => {
      await api.remove(this.script._self, {"if-match": this.script._etag});
      this.onDeleted(this.script);
    });
  }

  #showRuns() {
    // The form stays, with its values, when the code is saved again.
    if (this.script && !this.runs.firstChild) this.runs.append(runForm(this.container, this.kind, () => this.script));
  }
}
