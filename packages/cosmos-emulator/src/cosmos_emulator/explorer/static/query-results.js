// Rows of a query as a table, as JSON, and with metrics.

import {textOf} from "./columns.js";
import {element, json, output} from "./dom.js";
import {grid} from "./grid.js";
import {isObject} from "./partition-key.js";
import {tabs} from "./tabs.js";

const MOST_COLUMNS = 30;
let chosen = "Table"; // stays from one query to the next

/** `openingOf(row)` returns what opens the item of a row, or nothing. */
export function resultTabs(rows, metrics, openingOf) {
  const show = (name, make) => (panel) => {
    chosen = name;
    panel.replaceChildren(make());
  };
  const entries = [
    ["Table", show("Table", () => tableOf(rows, openingOf))],
    ["JSON", show("JSON", () => output("rows", "Rows", json(rows)))],
    ["Metrics", show("Metrics", metrics)],
  ];
  const {bar, panel} = tabs("Results", entries, chosen);
  return [bar, panel];
}

function tableOf(rows, openingOf) {
  if (!rows.length) return element("p", {className: "quiet empty"}, "No rows. Check the condition, the spelling of properties (they are case-sensitive), and the partition key.");
  const isRecord = (row) => isObject(row) && !Array.isArray(row);
  const names = [...new Set(rows.flatMap((row) => (isRecord(row) ? Object.keys(row) : [])))];
  const some = [...names.filter((name) => !name.startsWith("_")), ...names.filter((name) => name.startsWith("_"))].slice(0, MOST_COLUMNS);
  const hasValues = !rows.every(isRecord);
  const valueOf = (row, name) => (isRecord(row) && Object.hasOwn(row, name) ? row[name] : undefined);
  const columns = some.map((name) => ({name, title: name, number: rows.every((row) => ["number", "undefined"].includes(typeof valueOf(row, name)))}));
  const values = hasValues ? [{name: "value", title: "value", number: rows.every((row) => typeof row === "number")}] : [];
  return grid({
    label: "Rows",
    columns: [...values, ...columns],
    onOpen: rows.some(openingOf) && ((row) => (openingOf(row) || (() => {}))()),
    rows: rows.map((row) => ({
      value: row,
      cells: [...(hasValues ? [isRecord(row) ? "" : textOf(row)] : []), ...some.map((name) => textOf(valueOf(row, name)))],
    })),
  });
}
