// The form with which people delete their account, on their own page. site.js imports this module.
import { remove } from "./api.js";
import { forget, refused } from "./identity.js";
import { announceLater, refuse } from "./messages.js";
import { deleteDrafts } from "./storage.js";

const form = document.querySelector("form[data-delete-account]");
const opener = document.querySelector("[data-open-delete-account]");
const { userId } = form.closest("[data-user-id]").dataset;

function open(isOpen) {
  form.hidden = !isOpen;
  opener.ariaExpanded = String(isOpen);
  form.reset();
  (isOpen ? form.elements.confirmation : opener).focus();
}

opener.addEventListener("click", () => open(form.hidden));
form.querySelector("[data-cancel]").addEventListener("click", () => open(false));
form.addEventListener("keydown", event => event.key === "Escape" && open(false));
form.addEventListener("submit", async event => {
  event.preventDefault();
  const username = document.querySelector("h1[data-username]").textContent;
  if (form.elements.confirmation.value.trim().normalize() !== username.normalize()) {
    return refuse(form, { faults: [{ pointer: "/confirmation", detail: `Type ${username} to delete this account.` }] });
  }
  const button = form.querySelector("button:not([type])");
  button.disabled = true;
  try {
    await remove(`/users/${encodeURIComponent(userId)}`);
    forget(userId);
    deleteDrafts({ userId });
    announceLater("Your account is deleted. What you have written disappears within seconds.");
    location.replace("/");
  } catch (error) {
    button.disabled = false;
    refused(error, form);
  }
});
