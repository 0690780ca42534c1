// The page: a tree of databases and containers, and four views of the selected container.

import * as api from "./api.js";
import {Status, button, element} from "./dom.js";
import {itemsView} from "./items.js";
import {queryView} from "./query.js";
import {scriptsView} from "./scripts.js";
import {settingsView} from "./settings.js";

const VIEWS = {Items: itemsView, Query: queryView, Scripts: scriptsView, Settings: settingsView};
const tree = document.getElementById("tree");
const content = document.getElementById("content");
const dialog = document.getElementById("key-dialog");
let chosen = null; // the selected container's _self; survives a refresh

async function load() {
  const status = new Status();
  tree.replaceChildren(status.node);
  try {
    status.say("…");
    const databases = (await api.list("", "dbs")).body.Databases;
    const containers = await Promise.all(databases.map((one) => api.list(one._self, "colls")));
    tree.replaceChildren(treeOf(databases.map((one, index) => [one, containers[index].body.DocumentCollections])));
    dialog.close();
  } catch (error) {
    status.fail(error);
    if (error.status === 401) askForKey(api.hasOwnKey() ? error.message : "");
  }
}

function askForKey(message) {
  const problem = document.getElementById("key-problem");
  problem.hidden = !message;
  problem.textContent = message;
  if (!dialog.open) dialog.showModal();
}

function treeOf(databases) {
  if (!databases.length) return element("p", {className: "quiet"}, "This account has no databases yet.");
  const branches = databases.map(([database, containers]) => {
    const leaves = containers.map((container) => element("li", {}, leaf(database, container)));
    const inside = leaves.length ? element("ul", {}, ...leaves) : element("p", {className: "quiet"}, "No containers.");
    return element("li", {}, element("details", {open: true}, element("summary", {}, database.id), inside));
  });
  return element("ul", {}, ...branches);
}

function leaf(database, container) {
  const made = button(container.id, () => {
    tree.querySelector("[aria-current]")?.removeAttribute("aria-current");
    made.setAttribute("aria-current", "true");
    chosen = container._self;
    open(database, container);
    content.focus();
  }, {className: "plain container"});
  if (container._self === chosen) made.setAttribute("aria-current", "true");
  return made;
}

function open(database, container) {
  const view = element("div");
  const tabs = Object.entries(VIEWS).map(([name, make]) =>
    button(name, (event) => {
      for (const tab of tabs) tab.removeAttribute("aria-current");
      event.currentTarget.setAttribute("aria-current", "true");
      view.replaceChildren(make(container, database));
    }, {"data-view": name}),
  );
  content.replaceChildren(
    element("h2", {}, `${database.id} / ${container.id}`),
    element("div", {className: "tabs", role: "group", "aria-label": "Views of the container"}, ...tabs),
    view,
  );
  tabs[0].click();
}

document.getElementById("account").textContent = location.origin;
document.getElementById("refresh").addEventListener("click", load);
document.getElementById("change-key").addEventListener("click", () => askForKey(""));
document.getElementById("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.useKey(document.getElementById("key").value.trim());
  load();
});
content.append(element("p", {className: "quiet"}, "Choose a container."));
load();
