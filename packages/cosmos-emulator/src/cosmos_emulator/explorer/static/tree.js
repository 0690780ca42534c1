// The tree of databases and containers. Arrows move and unfold, Enter opens, as in the ARIA tree pattern.

import {button, element} from "./dom.js";
import {moved, rove} from "./roving.js";

const folded = new Set(); // rids of databases

/** `databases` are [database, containers]; `open` gets a route, `add` a database. */
export function tree(databases, current, {open, add}) {
  const branches = databases.map(([database, containers]) => branch(database, containers, current, {open, add}));
  const root = element("ul", {role: "tree", "aria-label": "Databases", className: "tree"}, ...branches);
  const all = () => [...root.querySelectorAll("[role=treeitem]")].filter((one) => !one.parentElement.closest("[aria-expanded=false]"));
  (root.querySelector("[aria-current]") ?? root.querySelector("[role=treeitem]")).tabIndex = 0;
  root.addEventListener("keydown", (event) => {
    const items = all();
    const item = event.target;
    const index = items.indexOf(item);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event.key, index, items.length);
    if (next !== null) rove(items, items[next]);
    else if (event.key === "ArrowRight" && item.ariaExpanded === "true") rove(items, items[index + 1]);
    else if (event.key === "ArrowRight" && item.ariaExpanded === "false") fold(item, false);
    else if (event.key === "ArrowLeft" && item.ariaExpanded === "true") fold(item, true);
    else if (event.key === "ArrowLeft") rove(items, item.parentElement.closest("[role=treeitem]") ?? item);
    else if (event.key === "Enter" || event.key === " ") item.querySelector(".label").click();
    else if (event.key.length === 1) rove(items, startingWith(event.key, items, index) ?? item);
    else return;
    event.preventDefault();
  });
  return root;
}

function branch(database, containers, current, {open, add}) {
  const leaves = containers.map((container) => leaf(database, container, current, open));
  const name = element("span", {className: "label", onclick: () => fold(item, item.ariaExpanded === "true")}, database.id);
  const more = button("+", () => add(database), {
    className: "small add", tabIndex: -1, title: `New container in ${database.id}…`, "aria-label": `New container in ${database.id}…`,
  });
  const inside = leaves.length ? leaves : [element("li", {role: "none"}, element("p", {className: "quiet"}, "No containers yet: choose +."))];
  const item = element(
    "li",
    {role: "treeitem", tabIndex: -1, "aria-label": database.id, "aria-expanded": String(!folded.has(database._rid)), "data-rid": database._rid},
    name,
    more,
    element("ul", {role: "group"}, ...inside),
  );
  return item;
}

function leaf(database, container, current, open) {
  const isCurrent = current.database === database.id && current.container === container.id;
  const name = element("span", {
    className: "label",
    onclick: () => open({database: database.id, container: container.id, view: current.view}),
  }, container.id);
  const properties = isCurrent ? {"aria-current": "page", "aria-selected": "true"} : {"aria-selected": "false"};
  return element("li", {role: "treeitem", tabIndex: -1, className: "container", "aria-label": container.id, ...properties}, name);
}

function fold(item, isFolded) {
  item.setAttribute("aria-expanded", String(!isFolded));
  folded[isFolded ? "add" : "delete"](item.dataset.rid);
}

/** The next item whose name starts with a character, for type-ahead. */
const startingWith = (character, items, index) =>
  [...items.slice(index + 1), ...items.slice(0, index)].find((one) =>
    one.ariaLabel.toLowerCase().startsWith(character.toLowerCase()),
  );
