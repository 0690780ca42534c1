// Likes, comments and deletions on the page of a post. They appear at once and are undone if the command fails.
import { command, previewComment, remove, send } from "./api.js";
import { mayDelete } from "./deletion.js";
import { avatarUrl, currentUser, refused, requireUser, showOwned } from "./identity.js";
import { hideDeleted, rememberDeleted, showWhetherEmpty } from "./deleted.js";
import { announce, announceLater, refuse } from "./messages.js";
import { tabStorage } from "./storage.js";
import { setTime } from "./times.js";

const post = document.querySelector("article.post");
const unsent = `blog-comment:${post.dataset.postId}`;
const changedHere = `blog-changed:${post.dataset.postId}`;
const path = `/posts/${encodeURIComponent(post.dataset.postId)}`;
const button = post.querySelector("[data-like]");
const likers = post.querySelector("[data-likers]");
const form = document.querySelector("[data-comment-form]");
const field = form.elements.content;
const list = document.querySelector("ol.comments");
// Whether the database is known to have the user's like, and whether a command is being sent.
let hasLike = false;
let isSending = false;
// The comments without a response yet, oldest first.
const sending = [];

button.addEventListener("click", toggleLike);
form.addEventListener("submit", comment);
form.addEventListener("input", keepText);
list.addEventListener("click", event => {
  // A comment that is being sent has no ID yet.
  const item = event.target.closest("[data-delete-comment]")?.closest("li[id]");
  if (item) deleteComment(item);
});
post.querySelector("[data-delete-post]").addEventListener("click", deletePost);
document.addEventListener("blog:identity", showOwnLike);
showOwnLike();
// The user may have typed before this script was loaded.
field.value = [...new Set([tabStorage.get(unsent), field.value])].filter(Boolean).join("\n\n");
keepText();
form.querySelector("button").disabled = false;
// History shows the page as it was before this tab changed the post. A reload is not a return, so there is only one.
const isReturn = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
if (isReturn && tabStorage.get(changedHere) && !hideDeleted()) location.reload();
addEventListener("pageshow", event => event.persisted && sending.length === 0 && restoreText());

function showOwnLike() {
  hasLike = ownLike() !== undefined;
  button.setAttribute("aria-pressed", String(hasLike));
}

function ownLike() {
  const id = currentUser()?.id;
  return [...likers.children].find(item => item.dataset.userId === id);
}

async function toggleLike() {
  const wasKnown = currentUser() !== null;
  const user = await requireUser();
  // A user who has just signed in wants to like the post, not to undo an earlier like.
  if (!user || (!wasKnown && hasLike)) return;
  showLike(user, !isLiked());
  if (isSending) return;
  isSending = true;
  try {
    // The button may be pressed again while a command is being sent.
    while (hasLike !== isLiked()) await sendLike(user, isLiked());
    announce(hasLike ? "You like this post." : "You no longer like this post.", button);
  } catch (error) {
    if (isLiked() !== hasLike) showLike(user, hasLike);
    refused(error);
  } finally {
    isSending = false;
  }
}

async function sendLike(user, isWanted) {
  if (isWanted) {
    const { status } = await command("POST", `${path}/likes`, { userId: user.id }, { isRepeatable: true });
    hasLike = true;
    // The page counts an earlier like only if it is newer than that like.
    if (status === 200) await recount();
  } else {
    await command("DELETE", `${path}/likes/${encodeURIComponent(user.id)}`);
    hasLike = false;
  }
}

/** Show the database's count of likes. The page's is good enough if that fails. */
async function recount() {
  const { likeCount } = await send(`/api${path}`).then(({ body }) => body, () => ({}));
  // The button may have been pressed since.
  if (likeCount !== undefined) post.querySelector("[data-like-count]").textContent = likeCount - (isLiked() ? 0 : 1);
}

function isLiked() {
  return button.getAttribute("aria-pressed") === "true";
}

function showLike(user, isWanted) {
  button.setAttribute("aria-pressed", String(isWanted));
  count("[data-like-count]", isWanted ? 1 : -1);
  if (!isWanted) return ownLike()?.remove();
  const item = fromTemplate("template[data-like-template]", user);
  likers.prepend(item);
}

/** Keep what the database does not have, until this tab is closed. */
function keepText() {
  const text = [...sending, field.value].filter(Boolean).join("\n\n");
  if (text) tabStorage.set(unsent, text);
  else tabStorage.remove(unsent);
}

function restoreText() {
  field.value = tabStorage.get(unsent) ?? "";
}

async function comment(event) {
  event.preventDefault();
  const content = field.value.trim();
  if (!content) return refuse(form, { faults: [{ pointer: "/content", detail: "This is empty. Write something." }] });
  const user = await requireUser();
  if (!user) return;
  const item = fromTemplate("template[data-comment-template]", user);
  item.querySelector("[data-content]").textContent = content;
  if (/https?:/i.test(content)) showLinks(item.querySelector("[data-content]"), content);
  setTime(item.querySelector("time"), new Date().toISOString());
  item.removeAttribute("id");
  const permalink = item.querySelector("[data-permalink]");
  permalink.removeAttribute("href");
  item.setAttribute("aria-busy", "true");
  list.append(item);
  item.scrollIntoView({ block: "nearest" });
  sending.push(content);
  form.reset();
  keepText();
  changed(1);
  try {
    const { body } = await command("POST", `${path}/comments`, { userId: user.id, content });
    sending.splice(sending.indexOf(content), 1);
    keepText();
    // If the first response was lost, the page may already show the comment.
    const known = document.getElementById(`comment-${body.id}`);
    if (known) {
      known.remove();
      changed(-1);
    }
    item.id = `comment-${body.id}`;
    permalink.href = `${path}?comment=${encodeURIComponent(body.id)}#${item.id}`;
    item.removeAttribute("aria-busy");
    setTime(item.querySelector("time"), body.creationDate);
    showOwned();
    announce("Your comment is published.", item);
  } catch (error) {
    item.remove();
    changed(-1);
    // The user may have started another comment.
    field.value = [content, field.value].filter(Boolean).join("\n\n");
    sending.splice(sending.indexOf(content), 1);
    keepText();
    field.focus();
    refused(error, form);
  }
}

async function showLinks(shown, content) {
  try {
    shown.replaceChildren(...await previewComment(content));
  } catch {
    // The text is complete without links.
  }
}

async function deleteComment(item) {
  if (!await mayDelete("Delete this comment?")) return;
  const after = item.nextElementSibling;
  removeComment(item);
  try {
    await remove(`${path}/comments/${encodeURIComponent(item.id.replace("comment-", ""))}`);
    announce("The comment is deleted.");
  } catch (error) {
    list.insertBefore(item, after?.isConnected ? after : null);
    changed(1);
    item.querySelector("[data-delete-comment]").focus();
    refused(error);
  }
}

/** Take a deleted comment off the page. */
export function removeComment(item) {
  item.remove();
  changed(-1);
  field.focus();
}

async function deletePost(event) {
  if (!await mayDelete("Delete this post?", "Its comments and likes are deleted, too. This cannot be undone.")) return;
  const pressed = event.target;
  pressed.disabled = true;
  try {
    await remove(path);
    announceLater("Your post is deleted. It disappears from all lists within seconds.");
    rememberDeleted(post.dataset.postId);
    location.replace("/");
  } catch (error) {
    pressed.disabled = false;
    pressed.focus();
    refused(error);
  }
}

function fromTemplate(selector, user) {
  const item = document.querySelector(selector).content.cloneNode(true).querySelector("li");
  item.dataset.userId = user.id;
  item.querySelector("[data-author]").href = `/users/${encodeURIComponent(user.id)}`;
  item.querySelector("[data-username]").textContent = user.username;
  const avatar = Object.assign(new Image(28, 28), { className: "avatar", alt: "", src: avatarUrl(user.id) });
  item.querySelector("[data-avatar]").replaceChildren(avatar);
  return item;
}

function changed(difference) {
  count("[data-comment-count]", difference);
  showWhetherEmpty();
}

function count(selector, difference) {
  tabStorage.set(changedHere, "1");
  const shown = post.querySelector(selector);
  shown.textContent = String(Math.max(0, Number(shown.textContent) + difference));
}
