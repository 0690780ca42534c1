// The columns of items: id, partition key, then the most frequent properties. The user's choice is kept.

import {checkbox, element} from "./dom.js";
import {namesOf} from "./partition-key.js";

const SYSTEM = ["_rid", "_self", "_attachments", "_etag", "_lsn"];
const SHOWN_AT_FIRST = 5; // besides id and partition key
const LONGEST_TEXT = 120;

/** The SQL expression of a property path: `/a/b c` is c["a"]["b c"]. */
export const expressionOf = (path) => `c${namesOf(path).map((name) => `[${JSON.stringify(name)}]`).join("")}`;

export function columnsOf(container, documents, stored = choiceOf(container)) {
  const fixed = ["/id", ...container.partitionKey.paths.filter((path) => path !== "/id")];
  const frequency = new Map();
  for (const name of documents.flatMap(Object.keys)) {
    if (!SYSTEM.includes(name)) frequency.set(name, (frequency.get(name) ?? 0) + 1);
  }
  const names = [...frequency].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const others = names.map((name) => `/${/[/"]/.test(name) ? "" : name}`).filter((path) => path !== "/" && !fixed.includes(path));
  const atFirst = others.filter((path) => path !== "/_ts").slice(0, SHOWN_AT_FIRST);
  const all = [...fixed, ...others];
  const shown = stored ? all.filter((path) => stored.includes(path)) : [...fixed, ...atFirst, "/_ts"];
  return {all, shown: all.filter((path) => shown.includes(path))};
}

/** A menu of checkboxes; `onChange` runs after the choice is stored. */
export function columnMenu(container, {all, shown}, onChange) {
  const boxes = all.map((path) => checkbox(titleOf(path), element("input", {checked: shown.includes(path), value: path, onchange: store})));
  function store() {
    const chosen = boxes.map((one) => one.querySelector("input")).filter((one) => one.checked).map((one) => one.value);
    localStorage.setItem(keyOfChoice(container), JSON.stringify(chosen));
    onChange();
  }
  return element("fieldset", {}, element("legend", {}, "Columns to show"), ...boxes);
}

export const titleOf = (path) => (path === "/_ts" ? "modified" : namesOf(path).join("."));

/** A value as text of a cell. */
export function textOf(value, path = "") {
  if (value === undefined) return "";
  if (path === "/_ts" && typeof value === "number") return new Date(value * 1000).toLocaleString();
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

const keyOfChoice = (container) => `cosmos-explorer-columns-${container._rid}`;
const choiceOf = (container) => JSON.parse(localStorage.getItem(keyOfChoice(container)));
