// Modal dialogs. Closing one returns the focus to where it was.

import {button, element} from "./dom.js";
import {Status} from "./status.js";

/** Ask a question; the promise tells whether the user agreed. */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    const dialog = opened(title, [
      element("p", {}, text),
      element(
        "div",
        {className: "actions"},
        button(action, () => { resolve(true); dialog.close(); }, {className: "danger"}),
        button("Cancel", () => dialog.close(), {autofocus: true}),
      ),
    ]);
    dialog.addEventListener("close", () => resolve(false));
  });
}

/** Show a form; `submit` runs with the dialog open, which closes unless it raises. */
export function formDialog(title, fields, action, submit) {
  const status = new Status();
  const onsubmit = (event) => {
    event.preventDefault();
    status.during(async () => {
      await submit();
      dialog.close();
    });
  };
  const actions = element(
    "div",
    {className: "actions"},
    element("button", {type: "submit"}, action),
    button("Cancel", () => dialog.close()),
  );
  const dialog = opened(title, [element("form", {onsubmit}, ...fields, status.node, actions)]);
  return dialog;
}

/** Open a dialog that leaves the page when it is closed. The browser's Back closes it: it is about the previous view. */
export function opened(title, content) {
  const heading = element("h2", {id: "dialog-title"}, title);
  const leave = () => dialog.close();
  const onclose = () => {
    removeEventListener("hashchange", leave);
    dialog.remove();
  };
  const dialog = element("dialog", {"aria-labelledby": heading.id, onclose}, heading, ...content);
  addEventListener("hashchange", leave);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
