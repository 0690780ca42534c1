// Ask for the account key of an emulator that does not use the well-known one.

import {element, field} from "./dom.js";
import {formDialog} from "./dialogs.js";
import {hasOwnKey, useKey} from "./signature.js";

let isOpen = false;

/** `problem` is the error of the current key, if any. */
export function askForKey(problem, load) {
  if (isOpen) return;
  isOpen = true;
  const input = element("input", {id: "key", type: "password", autocomplete: "off", spellcheck: false});
  const fields = [
    element("p", {}, "Enter the key that the emulator was started with (--key or --management-key). It stays in this tab until you close it, and only signatures are sent. Leave it empty to use the well-known key."),
    ...(problem && hasOwnKey() ? [element("p", {className: "error", role: "alert", id: "key-problem"}, problem.message)] : []),
    field("Key (base64)", input),
  ];
  const dialog = formDialog("Account key", fields, "Use this key", async () => useKey(input.value.trim()));
  dialog.id = "key-dialog";
  let submitted = false;
  dialog.querySelector("form").addEventListener("submit", () => { submitted = true; });
  dialog.addEventListener("close", () => {
    isOpen = false;
    if (submitted) load();
  });
}
