// The dialog that asks before something is deleted.
const dialog = document.querySelector("[data-deletion]");

/** Ask whether to delete what the title names. @returns {Promise<boolean>} when the dialog is closed */
export function mayDelete(title, note = "This cannot be undone.") {
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = note;
  return isConfirmed(dialog);
}

/** Open a dialog whose button has the value `delete`. @param {HTMLDialogElement} asking @returns {Promise<boolean>} */
export function isConfirmed(asking) {
  asking.returnValue = "";
  asking.showModal();
  return new Promise(resolve => asking.addEventListener("close", () => resolve(asking.returnValue === "delete"), { once: true }));
}
