// The tree of databases and containers. Arrows move and unfold, Enter opens, as in the ARIA tree pattern.

import {element} from "./dom.js";
import {moved, rove} from "./roving.js";

const folded = new Set(); // rids of databases

/** `databases` are [database, containers]; `open` gets the route of a container. */
export function tree(databases, current, open) {
  const branches = databases.map(([database, containers]) => new Branch(database, containers, current, open));
  const root = element("ul", {role: "tree", "aria-label": "Databases", className: "tree"}, ...branches.flatMap(({items}) => items));
  const all = () => [...root.querySelectorAll("[role=treeitem]:not([hidden])")];
  (root.querySelector("[aria-current]:not([hidden])") ?? root.querySelector("[role=treeitem]")).tabIndex = 0;
  root.addEventListener("keydown", (event) => {
    const items = all();
    const index = items.indexOf(event.target);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const branch = branches.find((one) => one.items.includes(event.target));
    const isHead = branch.head === event.target;
    const next = moved(event.key, index, items.length);
    if (next !== null) rove(items, items[next]);
    else if (event.key === "ArrowRight" && isHead && branch.isFolded) branch.fold(false);
    else if (event.key === "ArrowRight" && isHead) rove(items, branch.leaves[0] ?? branch.head);
    else if (event.key === "ArrowLeft" && isHead) branch.fold(true);
    else if (event.key === "ArrowLeft") rove(items, branch.head);
    else if (event.key === "Enter" || event.key === " ") event.target.click();
    else if (/^\w$/.test(event.key)) rove(items, startingWith(event.key, items, index) ?? event.target);
    else return;
    event.preventDefault();
  });
  return root;
}

/** A database and its containers. The list is flat, so that each item's name is its own text. */
class Branch {
  constructor(database, containers, current, open) {
    this.database = database;
    this.head = item(database.id, 1, () => this.fold(!this.isFolded));
    this.leaves = containers.map((container) => leaf(database, container, current, open));
    const empty = element("li", {role: "none", className: "quiet leaf"}, "No containers yet.");
    this.items = [this.head, ...(this.leaves.length ? this.leaves : [empty])];
    this.fold(this.isFolded);
  }

  get isFolded() {
    return folded.has(this.database._rid);
  }

  fold(isFolded) {
    folded[isFolded ? "add" : "delete"](this.database._rid);
    this.head.setAttribute("aria-expanded", String(!isFolded));
    for (const one of this.items.slice(1)) one.hidden = isFolded;
  }
}

function leaf(database, container, current, open) {
  const made = item(container.id, 2, () => open({database: database.id, container: container.id, view: current.view}));
  made.classList.add("leaf");
  const isCurrent = current.database === database.id && current.container === container.id;
  if (isCurrent) made.setAttribute("aria-current", "page");
  made.setAttribute("aria-selected", String(isCurrent));
  return made;
}

const item = (text, level, onclick) => element("li", {role: "treeitem", tabIndex: -1, "aria-level": level, onclick}, text);

/** The next item whose name starts with a character, for type-ahead. */
const startingWith = (character, items, index) =>
  [...items.slice(index + 1), ...items.slice(0, index)].find((one) =>
    one.textContent.toLowerCase().startsWith(character.toLowerCase()),
  );
