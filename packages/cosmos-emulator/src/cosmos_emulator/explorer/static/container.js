// The views of a container, as tabs.

import {changeFeedView} from "./change-feed.js";
import {element} from "./dom.js";
import {itemsView} from "./items.js";
import {loadView} from "./load.js";
import {queryView} from "./query.js";
import {note} from "./route.js";
import {scriptsView} from "./scripts.js";
import {settingsView} from "./settings.js";
import {tabs} from "./tabs.js";
import {unlessUnsaved} from "./unsaved.js";

const VIEWS = {
  items: ["Items", itemsView],
  query: ["Query", queryView],
  changes: ["Change feed", changeFeedView],
  load: ["Load", loadView],
  scripts: ["Scripts", scriptsView],
  settings: ["Settings", settingsView],
};

/** `signal` is aborted when the page shows something else. A view gets one that ends with its tab. `item` is opened. */
export function containerView({database, container, view = "items", item, signal, reload}) {
  let current = new AbortController();
  signal.addEventListener("abort", () => current.abort());
  const show = (name, make) => (panel) => {
    current.abort();
    current = new AbortController();
    note({database: database.id, container: container.id, view: name});
    panel.replaceChildren(make({database, container, item, signal: current.signal, reload}));
    item = undefined; // not again when its tab is chosen
  };
  const entries = Object.entries(VIEWS).map(([name, [title, make]]) => [title, show(name, make)]);
  const {bar, panel} = tabs("Views of the container", entries, VIEWS[view]?.[0] ?? "Items", unlessUnsaved);
  const heading = element("h2", {}, element("span", {className: "quiet"}, `${database.id} / `), container.id);
  const source = container.globalSecondaryIndexDefinition;
  const origin = source ? `; global secondary index of ${source.sourceCollectionId}` : "";
  const key = element("p", {className: "quiet under"}, `Partition key: ${container.partitionKey.paths.join(", ")}${origin}`);
  return [element("div", {className: "view-title"}, heading, key), bar, panel];
}
