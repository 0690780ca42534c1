// The editor: preview, drafts that survive a closed tab, and saving without overwriting someone else's change.
import { command, preview, send } from "./api.js";
import { hideDeleted } from "./deleted.js";
import { mayDelete } from "./deletion.js";
import { deleteDraft, keepDraft, leaveDraft, otherDrafts, ownDraft } from "./drafts.js";
import { currentUser, refused, requireUser } from "./identity.js";
import { alarm, announce, announceLater } from "./messages.js";
import { setTime } from "./times.js";

// If users sign in, the app renders previews only for them.
const isAuthenticated = document.documentElement.dataset.auth !== "function-key";
const DELAY_MS = 300;
const PATIENCE_MS = 10_000;
const form = document.querySelector("[data-editor]");
const { title, content } = form.elements;
const [shown, shownNote, kept, button, discard, cancel, toggle, list] = [
  "preview", "preview-note", "kept", "save", "discard", "cancel", "drafts-toggle", "drafts",
].map(name => form.querySelector(`[data-${name}]`));
const { postId } = form.dataset;
const published = [...shown.childNodes];
// The last known state in the database. The user may have typed before this script was loaded.
let saved = { ...asShown(title.defaultValue, content.defaultValue), etag: form.dataset.etag };
// The version that the text in the form is based on.
let { etag } = saved;
let isKept = true;
let isLoading = false;
let isSaving = false;
let timer = 0;
let rendering = new AbortController();

form.addEventListener("input", () => {
  keep();
  clearTimeout(timer);
  timer = setTimeout(render, DELAY_MS);
});
form.addEventListener("submit", save);
discard.addEventListener("click", discardDraft);
cancel.addEventListener("click", event => {
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (isPlain && isKept && ownDraft()) announceLater(`Your draft is kept on this device. Choose “${postId ? "Edit" : "Write"}” to continue it.`);
});
toggle.addEventListener("click", () => openDrafts(list.hidden));
document.addEventListener("blog:identity", () => {
  restrict();
  // What someone is writing stays in the form, also if their session ends.
  if (isAuthor() && isChanged()) render();
  else show();
});
addEventListener("storage", () => list.hidden && offerDrafts());
addEventListener("pageshow", event => event.persisted && refresh());
// History shows the page as it was, although it may have been saved since.
const isReturn = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
if (!isReturn && isChanged() && !ownDraft()) keep();
await (isReturn ? refresh() : show());

/** The text as fields show it, which have no line breaks or only "\n". */
function asShown(heading, text) {
  return { title: heading.replace(/[\r\n]/g, ""), content: text.replace(/\r\n?/g, "\n") };
}

function fields() {
  return { title: title.value, content: content.value };
}

function isChanged() {
  // The server also removes white space around a title.
  return title.value.trim() !== saved.title.trim() || content.value !== saved.content;
}

function keep() {
  const isDraft = isChanged();
  if (!isDraft) deleteDraft();
  // Includes its version, so that a restored draft cannot overwrite a later one unnoticed.
  isKept = !isDraft || keepDraft({ ...fields(), etag });
  discard.hidden = !isDraft;
  const note = isKept ? "Draft kept on this device." : "This draft cannot be kept, because the browser's storage is full or blocked.";
  tell(kept, isDraft ? note : "");
}

function tell(line, text) {
  // Screen readers announce every change, even to the same text.
  if (line.textContent !== text) line.textContent = text;
}

function fill(text, began) {
  const isNew = text.title !== title.value || text.content !== content.value;
  if (isNew) [title.value, content.value] = [text.title, text.content];
  etag = began;
  form.querySelector(".notice[role=alert]")?.remove();
  keep();
  if (isNew) render();
  return isNew;
}

/** Show what the database has, or a draft of it. */
async function show() {
  restrict();
  const draft = ownDraft();
  if (draft && isAuthor() && isCurrent(draft)) {
    if (fill(draft, draft.etag) && isChanged()) announceDraft();
  } else if (isKept) {
    // A draft of an earlier version is kept apart, and the author's from others. If the device has no room for it, it is
    // only in the form.
    if (draft) await leaveDraft();
    fill(saved, saved.etag);
  }
  const closed = (await offerDrafts()).filter(other => !other.isOpen);
  if (isChanged() || closed.length === 0) return;
  if (closed.length === 1 && isCurrent(closed[0])) {
    await continueDraft(closed[0]);
    announceDraft();
  } else {
    const drafts = closed.length === 1 ? "A draft of an earlier version is" : `${closed.length} drafts are`;
    announce(`${drafts} kept on this device. Continue under “Drafts”.`, toggle);
  }
}

function announceDraft() {
  announce("Your unsaved draft is restored. “Discard draft” deletes it.", discard);
}

/** Show the current version after a return to this page. */
async function refresh() {
  if (hideDeleted()) return;
  isLoading = true;
  restrict();
  try {
    if (postId) saved = await current();
  } catch (error) {
    alarm(error);
  }
  isLoading = isSaving = false;
  await show();
}

async function current() {
  const { body, etag } = await send(`/api${postPath()}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return { ...asShown(body.title, body.content), etag: etag ?? "" };
}

/** Whether the post is as it was when the draft was begun. */
function isCurrent(draft) {
  // Comments and likes change the end of an ETag; an edit changes the part before the slash.
  const [begun, now] = [draft.etag, saved.etag].map(version => version?.split("/")[0]);
  return begun === now;
}

function discardDraft() {
  fill(saved, saved.etag);
  title.focus();
  announce("The draft is discarded.");
  offerDrafts();
}

async function continueDraft(draft) {
  if (isChanged()) await leaveDraft();
  fill(draft, draft.etag);
  // A draft in an open tab stays.
  if (isKept && !draft.isOpen) deleteDraft(draft.key);
  await openDrafts(false);
}

async function offerDrafts() {
  const drafts = await otherDrafts();
  toggle.hidden = drafts.length === 0;
  toggle.textContent = `Drafts (${drafts.length})`;
  if (toggle.hidden) list.hidden = true;
  list.replaceChildren(...drafts.map(offer));
  restrict();
  return drafts;
}

function offer(draft) {
  const item = form.querySelector("template[data-draft]").content.cloneNode(true);
  const [name, time, elsewhere, resume, remove] = [
    "title", "date", "open", "continue", "delete",
  ].map(part => item.querySelector(`[data-${part}]`));
  name.textContent = draft.title.trim() || draft.content.trim().slice(0, 80) || "Untitled";
  setTime(time, new Date(draft.date).toISOString());
  elsewhere.hidden = !draft.isOpen;
  remove.hidden = draft.isOpen;
  resume.ariaLabel = `Continue “${name.textContent}”`;
  remove.ariaLabel = `Delete “${name.textContent}”`;
  resume.addEventListener("click", async () => {
    await continueDraft(draft);
    title.focus();
  });
  remove.addEventListener("click", async () => {
    if (!await mayDelete("Delete this draft?")) return;
    deleteDraft(draft.key);
    await offerDrafts();
    (toggle.hidden ? title : toggle).focus();
  });
  return item;
}

async function openDrafts(isOpen) {
  list.hidden = !isOpen;
  toggle.ariaExpanded = String(isOpen);
  await offerDrafts();
}

/** Show the post instead of its fields to someone who cannot edit it. */
function showToOthers(isOther) {
  form.querySelector("[data-others]").hidden = !isOther;
  form.querySelector("[data-draft-fields]").hidden = isOther;
  form.querySelector("#preview-title").hidden = isOther;
  form.querySelector("h1").textContent = isOther ? title.value : "Edit your post";
}

function isAuthor() {
  return !postId || currentUser()?.id === form.dataset.userId;
}

function restrict() {
  if (postId) showToOthers(!isAuthor());
  for (const control of form.elements) control.disabled = isLoading || !isAuthor();
  // A draft is deleted when it is saved, so it must not change meanwhile.
  for (const pressed of form.querySelectorAll("button")) pressed.disabled ||= isSaving;
  title.readOnly = content.readOnly = isSaving;
}

async function render() {
  rendering.abort();
  rendering = new AbortController();
  if (!isAuthor()) return showPreview(published);
  if (!content.value.trim()) return showPreview([], "Your text appears here as you write.");
  if (isAuthenticated && !currentUser()) return showPreview([], "Sign in to see a preview. Your text is kept on this device.");
  try {
    showPreview(await preview(content.value, rendering.signal));
  } catch (error) {
    if (error.name !== "AbortError") showPreview([], `The preview is not available. ${error.message}`);
  }
}

function showPreview(nodes, text = "") {
  shown.replaceChildren(...nodes);
  tell(shownNote, text);
  if (shown.querySelector("pre")) import("./code.js").then(({ colorAll }) => colorAll(shown)).catch(alarm);
}

async function save(event) {
  event.preventDefault();
  const user = await requireUser();
  if (!user) return alarm(`Sign in to ${postId ? "save" : "publish"}. Your text is kept on this device.`);
  isSaving = true;
  restrict();
  try {
    const { body } = postId
      ? await command("PUT", postPath(), fields(), { etag })
      : await command("POST", "/posts", { userId: user.id, ...fields() });
    showSaved(body.id);
  } catch (error) {
    isSaving = false;
    restrict();
    if (error.status === 412) await showConflict();
    else refused(error, form);
  }
}

function showSaved(id) {
  deleteDraft();
  isKept = true;
  announceLater(postId ? "Your changes are saved." : "Your post is published.");
  // Usually the canonical address, as addons/web/slugs.py forms it; otherwise, the server leads there.
  const words = title.value.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.join("-") ?? "";
  location.assign(`/posts/${encodeURIComponent(id)}${words && words !== "edit" ? `/${encodeURIComponent(words)}` : ""}`);
}

/** Explain that the post has changed. If the user saves again, the text replaces the current version. */
async function showConflict() {
  try {
    saved = await current();
  } catch (error) {
    return refused(error, form);
  }
  // An earlier answer was lost.
  if (!isChanged()) return showSaved(postId);
  etag = saved.etag;
  const note = form.querySelector(".notice[role=alert]") ?? document.createElement("p");
  note.className = "notice";
  note.setAttribute("role", "alert");
  const link = Object.assign(document.createElement("a"), {
    href: `/posts/${encodeURIComponent(postId)}`, target: "_blank", textContent: "current version",
  });
  note.replaceChildren(
    "This post has changed since you started to edit it. Nothing was saved. Compare the ", link,
    " (opens a new tab) with your text. “Save” now replaces it.",
  );
  form.querySelector(".actions").before(note);
  keep();
  // The button lost the focus while it was disabled.
  if (document.activeElement === document.body) button.focus();
}

function postPath() {
  return `/posts/${encodeURIComponent(postId)}`;
}
