// The page: the tree of databases and containers, and what the address names (see route.js).

import * as api from "./api.js";
import {containerView} from "./container.js";
import {button, element} from "./dom.js";
import {askForKey} from "./key.js";
import {newContainer, newDatabase} from "./new-resources.js";
import {overview} from "./overview.js";
import {go, linkTo, route} from "./route.js";
import {onShortcuts, showShortcuts} from "./shortcuts.js";
import {simulation} from "./simulation.js";
import {Status} from "./status.js";
import {themeSwitch} from "./theme.js";
import {tree} from "./tree.js";
import {isEdited, mayDiscard, unlessUnsaved} from "./unsaved.js";

const nav = document.getElementById("tree");
const content = document.getElementById("content");
let databases = []; // [database, containers] of the account
let shown = new AbortController(); // aborted when another view replaces the current one

/** Read all databases and containers again, then show the address. */
async function load() {
  const status = new Status();
  nav.append(status.node);
  try {
    const found = (await api.list("", "dbs")).body.Databases;
    const containers = await Promise.all(found.map((one) => api.list(one._self, "colls")));
    databases = found.map((one, index) => [one, containers[index].body.DocumentCollections]);
  } catch (error) {
    databases = [];
    showTree();
    if (error.status === 401) return askForKey(error, load);
    const failure = new Status();
    failure.fail(error, button("Try again", load));
    content.replaceChildren(failure.node);
    return;
  }
  showTree();
  show();
}

function showTree() {
  const links = element(
    "ul",
    {className: "pages"},
    ...[["overview", "Overview"], ["simulation", "Simulation"]].map(([page, text]) =>
      element("li", {}, element("a", {href: linkTo({page}), ...(route().page === page && {"aria-current": "page"})}, text)),
    ),
  );
  const title = element(
    "div",
    {className: "nav-title"},
    element("h2", {}, "Databases"),
    button("Refresh", unlessUnsaved(load), {id: "refresh", className: "small"}),
    button("New database…", unlessUnsaved(() => newDatabase(load)), {className: "small"}),
    ...(databases.length ? [button("New container…", unlessUnsaved(() => newContainer(databases, load)), {className: "small"})] : []),
  );
  const data = databases.length ? tree(databases, route(), go) : empty();
  const browse = element("details", {className: "browse", open: !matchMedia("(max-width: 50rem)").matches || route().page === "overview"});
  browse.append(element("summary", {}, "Browse"), links, title, data);
  nav.replaceChildren(browse);
}

const empty = () => element("p", {className: "quiet"}, "No databases yet.");

function show() {
  shown.abort();
  shown = new AbortController();
  const {page, database: databaseId, container: containerId, view, item} = route();
  document.title = [containerId, "Data explorer"].filter(Boolean).join(" – ");
  if (page === "simulation") return content.replaceChildren(simulation(shown.signal));
  if (page === "overview") return content.replaceChildren(overview(databases, load, shown.signal));
  const [database, containers] = databases.find(([one]) => one.id === databaseId) ?? [];
  const container = containers?.find((one) => one.id === containerId);
  if (!container) {
    return content.replaceChildren(
      element("h2", {}, "Not found"),
      element("p", {}, `The container ${databaseId} / ${containerId} does not exist. Choose another one, or refresh.`),
    );
  }
  content.replaceChildren(...containerView({database, container, view, item, signal: shown.signal, reload: load}));
}

addEventListener("hashchange", (event) => {
  if (location.hash === "#content") return history.replaceState(null, "", event.oldURL); // the skip link
  moveTo(event.newURL, event.oldURL);
});

async function moveTo(address, previous) {
  if (isEdited()) {
    history.pushState(null, "", previous); // until the user agrees
    if (!(await mayDiscard())) return;
    history.pushState(null, "", address);
  }
  showTree();
  show();
  if (!nav.contains(document.activeElement)) content.focus();
}
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});
document.getElementById("account").textContent = location.origin;
document.getElementById("change-key").addEventListener("click", unlessUnsaved(() => askForKey(null, load)));
document.getElementById("shortcuts").addEventListener("click", showShortcuts);
themeSwitch(document.getElementById("theme"));
onShortcuts({refresh: unlessUnsaved(load)});
load();
