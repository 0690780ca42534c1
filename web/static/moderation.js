// Reports by readers, and deletions by moderators. Both ask for a reason. site.js imports this module.
import { command } from "./api.js";
import { rememberDeleted, showWhetherEmpty } from "./deleted.js";
import { explained, refused, requireUser } from "./identity.js";
import { announce, announceLater } from "./messages.js";

const dialog = document.querySelector("[data-reason-dialog]");
const page = document.querySelector("article.post, header.profile");

document.addEventListener("click", event => {
  const report = event.target.closest("[data-report]");
  const moderate = event.target.closest("[data-moderate]");
  const dismiss = event.target.closest("[data-dismiss]");
  if (report) reportItem(report);
  if (moderate) deleteItem(moderate);
  if (dismiss) dismissReport(dismiss);
});

/** The path below `/api` of the post, comment or account that a button is about, and its name. */
function subject(button) {
  const item = button.closest("ol.comments > li");
  const { postId, userId } = page.dataset;
  if (item) return { path: `/posts/${encodeURIComponent(postId)}/comments/${encodeURIComponent(item.id.replace("comment-", ""))}`, name: "comment", item };
  return postId ? { path: `/posts/${encodeURIComponent(postId)}`, name: "post" } : { path: `/users/${encodeURIComponent(userId)}`, name: "account" };
}

async function reportItem(button) {
  if (!await requireUser()) return;
  const { path, name } = subject(button);
  const note = "Moderators see your reason, but not who you are.";
  await ask({ title: `Report this ${name}`, note, action: "Report" }, async ({ reason }) => {
    // A refused report can have signed them out.
    const user = await requireUser();
    if (!user) throw new Error(`Sign in to report this ${name}.`);
    const { status } = await command("POST", `${path}/reports`, { userId: user.id, reason });
    announce(status === 201 ? "Thank you. The moderators see your report." : `You have already reported this ${name}.`, button);
  });
  button.focus();
}

async function deleteItem(button) {
  const { path, name, item } = subject(button);
  const note = "This cannot be undone. The reason is recorded with your user ID.";
  await ask({ title: `Delete this ${name}`, note, action: "Delete", canBan: name === "account" }, async ({ reason, ban }) => {
    await command("DELETE", `${path}?${new URLSearchParams({ reason, ...(ban && { ban: "true" }) })}`);
    if (item) {
      const { removeComment } = await import("./optimistic.js");
      // What is behind an open dialog cannot have the focus.
      dialog.close();
      removeComment(item);
      announce("The comment is deleted.");
      return;
    }
    announceLater(`The ${name} is deleted. It disappears from all lists within seconds.`);
    if (name === "post") rememberDeleted(page.dataset.postId);
    location.replace("/");
  });
  if (button.isConnected) button.focus();
}

async function dismissReport(button) {
  const entry = button.closest("li[id]");
  button.disabled = true;
  try {
    await command("DELETE", `/reports/${encodeURIComponent(entry.id.replace("report-", ""))}`);
    const next = entry.nextElementSibling ?? entry.previousElementSibling ?? document.querySelector(".pager");
    entry.remove();
    showWhetherEmpty();
    if (document.activeElement === document.body) (next?.querySelector("a") ?? document.getElementById("main")).focus();
    announce("The report is dismissed. It comes back with the next report of this item.");
  } catch (error) {
    button.disabled = false;
    button.focus();
    refused(error);
  }
}

/** Ask for a reason, and send it. Resolves when it has been sent or the dialog is closed. */
function ask({ title, note, action, canBan = false }, act) {
  const form = dialog.querySelector("[data-reason-form]");
  const failure = form.querySelector("[data-error]");
  const button = form.querySelector("button");
  const ban = form.querySelector("[data-ban]");
  dialog.querySelector("[data-title]").textContent = title;
  dialog.querySelector("[data-note]").textContent = note;
  button.textContent = action;
  failure.textContent = "";
  form.reset();
  if (ban) ban.hidden = !canBan;
  const closed = new AbortController();
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const reason = form.elements.reason.value.trim();
    if (!reason) return form.elements.reason.focus();
    button.disabled = true;
    failure.textContent = "";
    try {
      await act({ reason, ban: form.elements.ban?.checked ?? false });
      dialog.close();
    } catch (error) {
      // Of an account that a moderator deletes, "User not found" does not mean the moderator.
      failure.textContent = (canBan && error.status === 404 ? error : explained(error)).message;
      failure.scrollIntoView({ block: "nearest" });
    } finally {
      button.disabled = false;
      button.focus();
    }
  }, { signal: closed.signal });
  dialog.showModal();
  return new Promise(resolve => dialog.addEventListener("close", () => {
    closed.abort();
    resolve();
  }, { once: true }));
}
