// The posts that this tab has deleted. The browser's cache and the lists still show them for a while.
import { deleteDrafts, tabStorage } from "./storage.js";

const KEY = "blog-deleted";

export function rememberDeleted(postId) {
  deleteDrafts({ postId });
  tabStorage.set(KEY, JSON.stringify([...deleted(), postId]));
}

/** Remove the cards of these posts, and leave the page if it shows one of them. @returns {boolean} whether the page is left */
export function hideDeleted() {
  const ids = deleted();
  for (const id of ids) document.getElementById(`post-${id}`)?.remove();
  if (ids.length) showWhetherEmpty();
  const isLeft = ids.includes(document.querySelector("article.post, [data-editor]")?.dataset.postId);
  if (isLeft) location.replace("/");
  return isLeft;
}

/** Show that the list of this page is empty, or that it is not. */
export function showWhetherEmpty() {
  document.querySelector("[data-empty]")?.toggleAttribute("hidden", document.querySelector("[data-list] > li, .pager") !== null);
}

function deleted() {
  return JSON.parse(tabStorage.get(KEY) ?? "[]");
}
