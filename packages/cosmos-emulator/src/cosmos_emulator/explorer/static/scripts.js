// Stored procedures, triggers, and user-defined functions: list, edit and run them.

import * as api from "./api.js";
import {button, element} from "./dom.js";
import {ScriptEditor} from "./script-editor.js";
import {KINDS} from "./script-kinds.js";
import {Status} from "./status.js";

export function scriptsView({container}) {
  return new Scripts(container).node;
}

class Scripts {
  constructor(container) {
    this.container = container;
    this.status = new Status();
    this.list = element("div");
    this.shown = element("section", {className: "detail", "aria-label": "Script"}, element("p", {className: "quiet empty"}, "Choose a script, or create one."));
    this.node = element("div", {className: "scripts"}, element("section", {className: "list", "aria-label": "Scripts"}, this.status.node, this.list), this.shown);
    this.load();
  }

  load() {
    return this.status.during(async () => {
      const kinds = Object.keys(KINDS);
      const feeds = await Promise.all(kinds.map((kind) => api.list(this.container._self, kind)));
      this.list.replaceChildren(...kinds.flatMap((kind, index) => this.#listOf(kind, feeds[index].body[KINDS[kind].feed])));
      this.status.say("");
    });
  }

  #listOf(kind, scripts) {
    const entries = scripts.map((script) =>
      element("li", {}, button(script.id, () => this.#open(kind, script), {className: "plain script", ...(script._rid === this.current && {"aria-current": "true"})})),
    );
    const {title, one} = KINDS[kind];
    return [
      element("div", {className: "nav-title"}, element("h3", {}, title), button("New", () => this.#open(kind, null), {className: "small", "aria-label": `New ${one}`})),
      entries.length ? element("ul", {}, ...entries) : element("p", {className: "quiet"}, "None."),
    ];
  }

  #open(kind, script) {
    this.current = script?._rid;
    for (const one of this.list.querySelectorAll("[aria-current]")) one.removeAttribute("aria-current");
    const named = [...this.list.querySelectorAll(".script")].find((one) => one.textContent === script?.id);
    named?.setAttribute("aria-current", "true");
    const editor = new ScriptEditor(this.container, kind, script, {
      onSaved: (saved) => { this.current = saved._rid; this.load(); },
      onDeleted: ({id}) => { this.shown.replaceChildren(element("p", {className: "success"}, `${id} is deleted.`)); this.load(); },
    });
    this.shown.replaceChildren(...editor.nodes);
    editor.focus();
  }
}
