// Reports by readers, and deletions by moderators. Both ask for a reason.
import { command, remove } from "./api.js";
import { rememberDeleted, showWhetherEmpty } from "./deleted.js";
import { explained, isOwn, refused, requireUser } from "./identity.js";
import { alarm, announce, announceLater, refuse } from "./messages.js";

const dialog = document.querySelector("[data-reason-dialog]");
const page = document.querySelector("article.post, header.profile");

document.addEventListener("click", event => {
  const button = event.target.closest("[data-report], [data-moderate], [data-dismiss]");
  if (button?.matches("[data-report]")) reportItem(button);
  else if (button?.matches("[data-moderate]")) deleteItem(button);
  else if (button) dismissReport(button);
});
document.addEventListener("blog:owned", showButtons);
showButtons();

/** Show the buttons for what others wrote. This module shows them, so that it misses no click. */
function showButtons() {
  for (const button of document.querySelectorAll("[data-report]")) button.hidden = isOwn(button);
  // Moderators delete what is their own as its author does.
  const isOwnPost = isOwn(document.querySelector("article.post"));
  for (const button of document.querySelectorAll("[data-moderate]")) button.hidden = isOwnPost || isOwn(button);
}

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
    const report = { userId: user.id, reason };
    const { status, body } = await command("POST", `${path}/reports`, report, { isRepeatable: true });
    const earlier = `You have already reported this ${name}. The moderators see your reason: ${body.reason}`;
    return () => announce(status === 201 ? "Thank you. The moderators will see your report." : earlier, button);
  });
  button.focus();
}

async function deleteItem(button) {
  const { path, name, item } = subject(button);
  const note = "This cannot be undone. The author can read the reason. It is recorded with your user ID.";
  await ask({ title: `Delete this ${name}`, note, action: "Delete", canBan: name === "account" }, async ({ reason, ban }) => {
    await command("DELETE", `/moderation${path}?${new URLSearchParams({ reason, ...(ban && { ban: "true" }) })}`);
    if (item) {
      const { removeComment } = await import("./optimistic.js");
      return () => {
        removeComment(item);
        announce("The comment is deleted.");
      };
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
    // Not with reports since, which the moderator has not seen.
    await remove(`/reports/${encodeURIComponent(entry.id.replace("report-", ""))}`, { etag: `"${entry.dataset.latest}"` });
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

/** What is wrong with a reason. Its length is in characters, as the API counts it. */
function faultOf(reason, most) {
  if (!reason) return "This is empty. Write something.";
  return [...reason].length > most ? `This is too long. Use at most ${most} characters.` : "";
}

/**
 * Ask for a reason, and send it with `act`, which can return what to do when the dialog is closed, because what is behind
 * an open dialog cannot have the focus. Resolves when the reason has been sent or the dialog is closed.
 */
function ask({ title, note, action, canBan = false }, act) {
  const form = dialog.querySelector("[data-reason-form]");
  const failure = form.querySelector("[data-error]");
  const button = form.querySelector("button");
  const ban = form.querySelector("[data-ban]");
  dialog.querySelector("[data-title]").textContent = title;
  dialog.querySelector("[data-note]").textContent = note;
  button.textContent = action;
  button.classList.toggle("danger", action === "Delete");
  failure.textContent = "";
  button.disabled = false;
  form.reset();
  form.elements.reason.setCustomValidity("");
  if (ban) ban.hidden = !canBan;
  const closed = new AbortController();
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const reason = form.elements.reason.value.trim();
    const fault = faultOf(reason, form.elements.reason.dataset.most);
    if (fault) return refuse(form, { faults: [{ pointer: "/reason", detail: fault }] });
    button.disabled = true;
    failure.textContent = "";
    try {
      const finish = await act({ reason, ban: form.elements.ban?.checked ?? false });
      // Someone who has closed the dialog can have opened it for something else since.
      if (!closed.signal.aborted) dialog.close();
      finish?.();
    } catch (error) {
      // Of an account that a moderator deletes, "User not found" does not mean the moderator.
      const told = canBan && error.status === 404 ? error : explained(error);
      if (closed.signal.aborted) return alarm(told);
      failure.textContent = told.message;
      failure.scrollIntoView({ block: "nearest" });
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
