// Switches for what makes the real service hard: throttling, latency, stale replicas, missing rights, and faults.

import {button, checkbox, element, field} from "./dom.js";
import {changeSettings, readSettings} from "./emulator.js";
import {faultRules} from "./fault-rules.js";
import {Status} from "./status.js";

const SWITCHES = {
  throttle: ["Throttling", "Return 429 when a partition's share of the RU/s is used up."],
  rbac: ["RBAC", "Allow only data operations, as a Microsoft Entra ID data role. This key then cannot manage containers or scripts."],
  lenientOrderBy: ["Lenient ORDER BY", "Accept an ORDER BY without an index, which the service rejects."],
};
const DURATIONS = {
  latency: ["Latency", "Delays every response, for example 10ms or 10ms±5ms.", "10ms±5ms"],
  replicaLag: ["Replica lag", "Lets other sessions read a state from that long ago. The explorer always sees its own writes.", "500ms±200ms"],
};

export function simulation(signal) {
  const status = new Status();
  const page = element("div", {className: "page"}, element("h2", {}, "Simulation"), element("p", {}, "Changes apply at once, to all clients, until the emulator stops. Options of the command line set them at the start."), status.node);
  status.during(async () => {
    const settings = await readSettings();
    page.append(...switches(settings), ...durations(settings), faultRules(signal));
    status.say("");
  });
  return page;
}

function switches(settings) {
  return Object.entries(SWITCHES).map(([name, [title, text]]) => {
    const status = new Status();
    const box = element("input", {id: name, checked: settings[name], "aria-describedby": `${name}-text`, onchange: () => status.during(change)});
    const change = async () => {
      const wanted = box.checked;
      try {
        box.checked = (await changeSettings({[name]: wanted}))[name];
      } catch (error) {
        box.checked = !wanted;
        throw error;
      }
      status.say(box.checked ? "On." : "Off.", "success");
    };
    const label = checkbox(title, box);
    label.classList.add("switch");
    return element("section", {className: "setting", "aria-label": title}, label, element("p", {id: `${name}-text`, className: "quiet"}, text), status.node);
  });
}

function durations(settings) {
  return Object.entries(DURATIONS).map(([name, [title, text, example]]) => {
    const status = new Status();
    const input = element("input", {id: name, value: settings[name] ?? "", placeholder: example, autocomplete: "off", spellcheck: false});
    const set = (value) =>
      status.during(async () => {
        input.value = (await changeSettings({[name]: value}))[name] ?? "";
        status.say(input.value ? `On: ${input.value}` : "Off.", "success");
      });
    const onsubmit = (event) => { event.preventDefault(); set(input.value.trim() || null); };
    return element(
      "form",
      {className: "setting", onsubmit},
      element("div", {className: "bar"}, field(title, input, text), element("button", {type: "submit"}, "Set"), button("Off", () => set(null), {"aria-label": `Switch ${title} off`})),
      status.node,
    );
  });
}
