// Edits that are not saved yet. Whatever would discard them asks first.

import {confirmed} from "./dialogs.js";

let hasEdits = () => false;

/** Name the function that tells whether there are unsaved edits. The last editor counts, since a page shows one. */
export const watchEdits = (isEdited) => { hasEdits = isEdited; };

export const isEdited = () => hasEdits();

/** Ask about unsaved edits, if there are any. Returns whether to go on. */
export const mayDiscard = async () =>
  !hasEdits() || confirmed("Discard your edits?", "Your changes to the item are not saved.", "Discard");

/** Return `work` with the question before it. */
export const unlessUnsaved = (work) => async (...values) => {
  if (await mayDiscard()) return work(...values);
};

addEventListener("beforeunload", (event) => { if (hasEdits()) event.preventDefault(); });
