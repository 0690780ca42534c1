// A table of rows with keyboard access: arrows move between cells, Enter opens a row, Delete deletes it.

import {element} from "./dom.js";
import {moved, rove} from "./roving.js";

/**
 * @param {{label: string, columns: {name: string, title: string, number?: boolean, sort?: "ascending" | "descending" | "none"}[],
 *   rows: {cells: string[], value: any}[], onOpen?: Function, onDelete?: Function, onSort?: Function}} given
 */
export function grid({label, columns, rows, onOpen, onDelete, onSort}) {
  const head = element("tr", {role: "row"}, ...columns.map((column) => heading(column, onSort)));
  const body = rows.map(({cells}) =>
    element("tr", {role: "row", "aria-selected": "false"}, ...cells.map((text, index) => entry(text, columns[index]))),
  );
  const lines = [head, ...body];
  const targets = lines.map((line) => [...line.children].map((one) => one.querySelector("button") ?? one));
  const all = targets.flat();
  for (const target of all) target.tabIndex = -1;
  const first = targets[body.length ? 1 : 0][0];
  if (first) first.tabIndex = 0;

  const select = (line) => {
    for (const one of body) one.setAttribute("aria-selected", String(one === lines[line]));
  };
  const open = (line) => {
    if (line < 1 || !onOpen) return;
    select(line);
    onOpen(rows[line - 1].value, targets[line][0]);
  };
  const onkeydown = (event) => {
    const line = lines.findIndex((one) => one.contains(event.target));
    const column = targets[line]?.indexOf(event.target);
    if (column === undefined || column < 0 || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && line > 0) open(line);
    else if (event.key === "Delete" && line > 0 && onDelete) onDelete(rows[line - 1].value);
    else {
      const target = targetOf(event, line, column, targets);
      if (!target) return;
      rove(all, target);
    }
    event.preventDefault();
  };
  const onclick = (event) => {
    const line = lines.findIndex((one) => one.contains(event.target));
    const cell = event.target.closest("td");
    if (line < 1 || !cell || String(getSelection())) return;
    rove(all, cell);
    open(line);
  };
  const table = element(
    "table",
    {role: "grid", "aria-label": label, "aria-readonly": "true", onkeydown, onclick},
    element("thead", {role: "rowgroup"}, head),
    element("tbody", {role: "rowgroup"}, ...body),
  );
  return element("div", {className: onOpen ? "table grid opens" : "table grid"}, table);
}

function targetOf(event, line, column, targets) {
  if (event.ctrlKey && event.key === "Home") return targets[0][0];
  if (event.ctrlKey && event.key === "End") return targets.at(-1).at(-1);
  const across = {back: "ArrowLeft", forth: "ArrowRight"};
  if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) {
    return targets[line][moved(event.key, column, targets[line].length, across)];
  }
  const below = moved(event.key, line, targets.length);
  return below === null ? null : targets[below][column];
}

function heading({name, title, number, sort}, onSort) {
  const className = number ? "number" : "";
  if (!sort || !onSort) return element("th", {role: "columnheader", scope: "col", className}, title);
  const sign = {ascending: "▲", descending: "▼", none: "↕"}[sort];
  const control = element(
    "button",
    {type: "button", title: `Sort by ${title}`, onclick: () => onSort(name)},
    title,
    element("span", {"aria-hidden": "true", className: "sign"}, sign),
  );
  return element("th", {role: "columnheader", scope: "col", className, "aria-sort": sort}, control);
}

const entry = (text, column) =>
  element("td", {role: "gridcell", className: column.number ? "number" : "", title: text.length > 40 ? text.slice(0, 400) : ""}, text);
