// The dialog with which people delete their account, on their own page. site.js imports this module.
import { remove } from "./api.js";
import { isConfirmed } from "./deletion.js";
import { forget, refused } from "./identity.js";
import { announceLater, refuse } from "./messages.js";
import { deleteDrafts } from "./storage.js";

const dialog = document.querySelector("[data-account-deletion]");
const form = dialog.querySelector("form");
const button = document.querySelector("[data-delete-account]");
const { userId } = button.closest("[data-user-id]").dataset;

form.addEventListener("submit", event => {
  const username = document.querySelector("h1[data-username]").textContent;
  if (event.submitter?.value !== "delete" || form.elements.confirmation.value.trim().normalize() === username.normalize()) return;
  event.preventDefault();
  refuse(form, { faults: [{ pointer: "/confirmation", detail: `Type ${username} to delete this account.` }] });
});
button.addEventListener("click", async () => {
  form.reset();
  if (!await isConfirmed(dialog)) return;
  button.disabled = true;
  try {
    await remove(`/users/${encodeURIComponent(userId)}`);
    forget(userId);
    deleteDrafts({ userId });
    announceLater("Your account is deleted. What you have written disappears within seconds.");
    location.replace("/");
  } catch (error) {
    button.disabled = false;
    button.focus();
    refused(error);
  }
});
