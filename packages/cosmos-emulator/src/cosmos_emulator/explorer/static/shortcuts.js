// Keyboard shortcuts, and the dialog that lists them.

import {button, cell, element, table} from "./dom.js";
import {opened} from "./dialogs.js";

const LIST = [
  ["?", "Show this list"],
  ["R", "Refresh databases and containers"],
  ["1 … 6", "Show a view of the container: items, query, change feed, load, scripts, settings"],
  ["/", "Go to the filter of the items, or to the query"],
  ["N", "New item, in the list of items"],
  ["Ctrl+Enter", "Run the query or the script"],
  ["Ctrl+S", "Save the item or the script"],
  ["Arrows, Home, End, Page Up, Page Down", "Move within the tree, the tabs or a grid"],
  ["Enter", "Open the container, the tab or the row; sort by the column"],
  ["Delete", "Delete the item of the row"],
  ["Esc", "Close the item or the dialog"],
];

export function showShortcuts() {
  const rows = LIST.map(([keys, effect]) => element("tr", {}, element("td", {}, element("kbd", {}, keys)), cell(effect)));
  const close = button("Close", () => dialog.close());
  const dialog = opened("Keyboard shortcuts", [
    table("Single keys work outside text fields.", [{title: "Keys"}, {title: "Effect"}], rows),
    element("div", {className: "actions"}, close),
  ]);
  dialog.id = "shortcuts-dialog";
  close.focus();
}

export function onShortcuts({refresh}) {
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      const form = event.target.closest("form") ?? document.querySelector("form.editor");
      if (form) event.preventDefault();
      return form?.requestSubmit();
    }
    const isText = event.target.matches("input:not([type=checkbox], [type=radio]), textarea, select");
    if (isText || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("[role=tree]")) return;
    const run = actionOf(event.key, refresh);
    if (!run) return;
    event.preventDefault();
    run();
  });
}

function actionOf(key, refresh) {
  if (key === "?") return showShortcuts;
  if (key.toLowerCase() === "r") return refresh;
  const target = targetOf(key);
  if (!target) return null;
  return target.matches("textarea, input") ? () => target.focus() : () => target.click();
}

function targetOf(key) {
  if (/^[1-6]$/.test(key)) return document.querySelectorAll("main > [role=tablist] [role=tab]")[key - 1];
  if (key === "/") return document.querySelector("#filter, #query");
  return key.toLowerCase() === "n" ? document.getElementById("new-item") : null;
}
