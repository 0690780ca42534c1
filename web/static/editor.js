// The editor: preview, drafts that survive a closed tab, and saving without overwriting someone else's change.
import { command, preview, send } from "./api.js";
import { currentUser, refused, requireUser } from "./identity.js";
import { alarm, announce } from "./messages.js";

// Rendering is for people whom the app knows, if people sign in.
const isAuthenticated = document.documentElement.dataset.auth !== "function-key";
const DELAY_MS = 300;
const form = document.querySelector("[data-editor]");
const { title, content } = form.elements;
const shown = form.querySelector("[data-preview]");
const { postId } = form.dataset;
const key = `blog-draft:${postId ?? "new"}`;
const original = fields();
let timer = 0;
let rendering = new AbortController();

form.addEventListener("input", () => {
  keepDraft();
  clearTimeout(timer);
  timer = setTimeout(render, DELAY_MS);
});
form.addEventListener("submit", save);
document.addEventListener("blog:identity", () => {
  restrict();
  if (isChanged(fields())) render();
});
restoreDraft();
restrict();

function fields() {
  return { title: title.value, content: content.value };
}

function isChanged(draft) {
  return draft.title !== original.title || draft.content !== original.content;
}

function keepDraft() {
  const draft = fields();
  // With the version it began from, so that a restored draft cannot overwrite a later one unnoticed.
  if (isChanged(draft)) localStorage.setItem(key, JSON.stringify({ ...draft, etag: form.dataset.etag }));
  else localStorage.removeItem(key);
}

function restoreDraft() {
  const text = localStorage.getItem(key);
  if (!text) return;
  const draft = JSON.parse(text);
  if (!isChanged(draft)) return localStorage.removeItem(key);
  title.value = draft.title;
  content.value = draft.content;
  if (draft.etag) form.dataset.etag = draft.etag;
  const discard = Object.assign(document.createElement("button"), {
    type: "button", className: "quiet", textContent: "Discard draft",
  });
  discard.addEventListener("click", () => {
    localStorage.removeItem(key);
    location.reload();
  });
  form.querySelector(".actions").append(discard);
  announce("Your unsaved draft is back. “Discard draft” throws it away.");
  render();
}

function restrict() {
  if (!postId) return;
  const isAuthor = currentUser()?.id === form.dataset.userId;
  form.querySelector("[data-others]").hidden = isAuthor;
  for (const control of form.elements) control.disabled = !isAuthor;
}

async function render() {
  rendering.abort();
  rendering = new AbortController();
  if (!content.value.trim()) return hint("Your text appears here as you write.");
  if (isAuthenticated && !currentUser()) return hint("Sign in to see a preview. Your text is kept on this device.");
  try {
    shown.replaceChildren(...await preview(content.value, rendering.signal));
  } catch (error) {
    if (error.name !== "AbortError") hint(`There is no preview at the moment. ${error.message}`);
  }
}

function hint(text) {
  const line = Object.assign(document.createElement("p"), { className: "hint", textContent: text });
  shown.replaceChildren(line);
}

async function save(event) {
  event.preventDefault();
  const user = await requireUser();
  if (!user) return alarm(`Sign in to ${postId ? "save" : "publish"}. Your text is kept on this device.`);
  const button = form.querySelector(".actions button");
  button.disabled = true;
  try {
    const { etag } = form.dataset;
    const { body } = postId
      ? await command("PUT", postPath(), fields(), { etag })
      : await command("POST", "/posts", { userId: user.id, ...fields() });
    localStorage.removeItem(key);
    location.assign(`/posts/${encodeURIComponent(body.id)}`);
  } catch (error) {
    button.disabled = false;
    if (error.status === 412) await showConflict();
    else refused(error, form);
  }
}

/** Explain that the post has changed. Saving once more then replaces the version that is current now. */
async function showConflict() {
  try {
    form.dataset.etag = (await send(`/api${postPath()}`)).headers.get("ETag") ?? "";
  } catch (error) {
    return refused(error);
  }
  const note = form.querySelector(".notice[role=alert]") ?? document.createElement("p");
  note.className = "notice";
  note.setAttribute("role", "alert");
  const link = Object.assign(document.createElement("a"), {
    href: `/posts/${encodeURIComponent(postId)}`, target: "_blank", textContent: "current version",
  });
  note.replaceChildren(
    "This post has changed meanwhile, and nothing was saved. Compare the ", link,
    " (opens a new tab) with your text. “Save” now replaces it.",
  );
  form.querySelector(".actions").before(note);
  keepDraft();
}

function postPath() {
  return `/posts/${encodeURIComponent(postId)}`;
}
