// Fault rules: add, count and remove them.

import {button, cell, element, field, select, table} from "./dom.js";
import {addFault, readFaults, removeFault} from "./emulator.js";
import {everySecond} from "./polling.js";
import {Status, count} from "./status.js";

const FAULTS = [
  ["429", "429 throttled"], ["403", "403 forbidden"], ["408", "408 timeout"], ["410", "410 gone"], ["413", "413 too large"],
  ["449", "449 retry with"], ["500", "500 server error"], ["503", "503 unavailable"], ["drop", "drop the connection"], ["hang", "hang"],
];
const OPERATIONS = ["create", "read", "query", "upsert", "replace", "patch", "delete", "batch", "execute", "feed", "change-feed"];

export function faultRules(signal) {
  return new FaultRules(signal).node;
}

class FaultRules {
  constructor(signal) {
    this.status = new Status();
    this.list = element("div");
    this.shown = "";
    this.fault = select({id: "fault"}, FAULTS);
    this.operation = select({id: "fault-operation"}, [["", "any"], ...OPERATIONS.map((name) => [name, name])]);
    this.container = element("input", {id: "fault-container", spellcheck: false, autocomplete: "off", placeholder: "any"});
    this.times = element("input", {id: "fault-times", type: "number", min: 1, placeholder: "no limit"});
    this.probability = element("input", {id: "fault-probability", type: "number", min: 0, max: 1, step: "any", placeholder: "1"});
    this.when = select({id: "fault-when"}, [["before", "before it runs"], ["after", "after it ran"]]);
    this.node = element("section", {"aria-label": "Faults"}, element("h3", {}, "Faults"), this.#form(), this.status.node, this.list);
    this.#repeat(signal);
  }

  #form() {
    const onsubmit = (event) => { event.preventDefault(); this.#change(() => addFault(this.#rule())); };
    return element(
      "form",
      {onsubmit},
      element(
        "div",
        {className: "bar"},
        field("Fault", this.fault),
        field("Operation", this.operation),
        field("Container", this.container),
        field("Times", this.times),
        field("Probability", this.probability),
        field("When", this.when),
      ),
      element("div", {className: "actions"}, element("button", {type: "submit"}, "Add fault")),
    );
  }

  #rule() {
    const rule = {fault: this.fault.value, when: this.when.value};
    if (this.operation.value) rule.operation = this.operation.value;
    if (this.container.value.trim()) rule.container = this.container.value.trim();
    if (this.times.value) rule.times = Number(this.times.value);
    if (this.probability.value) rule.probability = Number(this.probability.value);
    return rule;
  }

  async #change(work) {
    await this.status.during(async () => {
      await work();
      await this.#refresh();
      this.status.say("");
    });
  }

  async #repeat(signal) {
    await this.#change(async () => {});
    // Leaves a failed change's error as it is.
    await everySecond(() => this.#refresh().catch((error) => this.status.fail(error)), signal);
  }

  async #refresh() {
    const faults = await readFaults();
    // Replaced only if it changed, to keep the focus.
    if (JSON.stringify(faults) === this.shown) return;
    this.shown = JSON.stringify(faults);
    if (!faults.length) return this.list.replaceChildren(element("p", {className: "quiet empty"}, "No faults. All requests reach their operation."));
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.fault : null;
    this.list.replaceChildren(
      table(count(faults.length, "active fault"), [{title: "Rule"}, {title: "Matched", number: true}, {title: "Struck", number: true}, {title: ""}], faults.map((one) => this.#row(one))),
    );
    this.list.querySelector(`[data-fault="${focused}"]`)?.focus();
  }

  #row({id, matched, struck, hanging, ...rule}) {
    const {fault, ...selectors} = rule;
    const text = [fault, ...Object.entries(selectors).map(([name, value]) => `${name}=${value}`)].join(" ");
    const isSpent = rule.times !== undefined && struck >= rule.times;
    return element(
      "tr",
      {},
      cell(isSpent ? `${text} (spent)` : text, "key"),
      cell(String(matched), "number"),
      cell(hanging ? `${struck}, ${hanging} hanging` : String(struck), "number"),
      element("td", {}, button("Remove", () => this.#change(() => removeFault(id)), {className: "small", "aria-label": `Remove fault ${id}`, "data-fault": id})),
    );
  }
}
