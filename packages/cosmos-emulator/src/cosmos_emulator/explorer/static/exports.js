// Copy or download rows as JSON and CSV.

import {button, element, json} from "./dom.js";
import {menu} from "./menu.js";
import {isObject} from "./partition-key.js";
import {count} from "./status.js";

const FORMATS = {
  JSON: {textOf: json, extension: "json", mediaType: "application/json"},
  CSV: {textOf: csv, extension: "csv", mediaType: "text/csv"},
};

/** `status` shows what was copied. */
export function exportMenu(rows, name, status) {
  const work = (text, action) => button(text, () => { node.open = false; action(); });
  const entries = Object.entries(FORMATS).flatMap(([format, {textOf, extension, mediaType}]) => [
    work(`Copy as ${format}`, () => status.during(async () => {
      await navigator.clipboard.writeText(textOf(rows));
      status.say(`Copied ${count(rows.length, "row")}`, "success");
    })),
    work(`Download ${format}`, () => download(textOf(rows), `${name}.${extension}`, mediaType)),
  ]);
  const node = menu("Export", element("div", {className: "actions"}, ...entries));
  return node;
}

function download(text, name, type) {
  const href = URL.createObjectURL(new Blob([text], {type}));
  element("a", {href, download: name}).click();
  URL.revokeObjectURL(href);
}

/** CSV as in RFC 4180, with a column for each property. Rows that are not objects are in the column `value`. */
function csv(rows) {
  const records = rows.map((row) => (isObject(row) && !Array.isArray(row) ? row : {value: row}));
  const names = [...new Set(records.flatMap(Object.keys))];
  const lines = records.map((record) => names.map((name) => (Object.hasOwn(record, name) ? record[name] : "")));
  return [names, ...lines].map((line) => `${line.map(csvField).join(",")}\r\n`).join("");
}

function csvField(value) {
  const text = typeof value === "string" ? inert(value) : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Spreadsheets run text with such a start as a formula: https://owasp.org/www-community/attacks/CSV_Injection
const inert = (text) => (/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text);
