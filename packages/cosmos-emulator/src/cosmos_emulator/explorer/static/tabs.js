// Tabs: arrows move between them, Enter or Space shows one.

import {button, element} from "./dom.js";
import {moved, rove} from "./roving.js";

let made = 0;

/**
 * `entries` are [name, show]; `show(panel)` fills the panel. `guarded` wraps what a click does. Returns the nodes and a
 * function that chooses a tab.
 */
export function tabs(label, entries, chosen = entries[0][0], guarded = (work) => work) {
  made += 1;
  const panel = element("div", {id: `panel-${made}`, role: "tabpanel", className: "panel"});
  const all = entries.map(([name, show], index) =>
    button(name, guarded(() => choose(name)), {id: `tab-${made}-${index}`, role: "tab", "aria-controls": panel.id, "data-tab": name, show}),
  );
  const choose = (name) => {
    const tab = all.find((one) => one.dataset.tab === name) ?? all[0];
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", tab.id);
    tab.show(panel);
  };
  const onkeydown = (event) => {
    const index = moved(event.key, all.indexOf(event.target), all.length, {back: "ArrowLeft", forth: "ArrowRight"});
    if (index === null) return;
    event.preventDefault();
    rove(all, all[index]);
  };
  const bar = element("div", {className: "tabs", role: "tablist", "aria-label": label, onkeydown}, ...all);
  if (chosen !== null) choose(chosen);
  return {bar, panel, choose};
}
