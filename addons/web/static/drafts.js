// Drafts of a post, in the browser. Each tab has its own, so that tabs do not overwrite each other's.
import { currentUser } from "./identity.js";
import { DRAFT, sharedStorage, tabStorage } from "./storage.js";

// Of a post that exists, only its author has drafts.
const { postId, userId: author } = document.querySelector("[data-editor]").dataset;
const PREFIX = `${DRAFT}${postId ?? "new"}:`;
// Names this tab's draft while the tab shows no editor. Otherwise a duplicated tab, which copies it, would share the draft.
const AWAY = `blog-draft-of-tab:${postId ?? "new"}`;
let key;
let release;

/**
 * @typedef {{title: string, content: string, etag?: string, userId?: string, date: number}} Draft
 * `etag`: of the edited version; `userId`: missing if it was kept while signed out, or by an earlier version of the site
 */

enter();
addEventListener("pageshow", event => event.persisted && enter());
// Someone else continues with a copy.
document.addEventListener("blog:identity", () => currentUser() && !isOffered(ownDraft()) && leaveDraft());
addEventListener("pagehide", () => {
  tabStorage.set(AWAY, key);
  release();
});

/** This tab's draft. @returns {Draft | null} */
export function ownDraft() {
  return read(key);
}

/** Keep this tab's draft. @returns {boolean} whether the device stored it */
export function keepDraft(draft) {
  const userId = currentUser()?.id ?? ownDraft()?.userId;
  return sharedStorage.set(key, JSON.stringify({ ...draft, userId, date: Date.now() }));
}

/** Delete a draft, by default this tab's. */
export function deleteDraft(deleted = key) {
  sharedStorage.remove(deleted);
}

/** Leave this tab's draft to the others, and begin another one. */
export async function leaveDraft() {
  const released = release();
  hold(newKey());
  await released;
}

/**
 * The user's drafts that are not this tab's, newest first.
 * @returns {Promise<(Draft & {key: string, isOpen: boolean})[]>}
 */
export async function otherDrafts() {
  // Locks need a secure context and unblocked storage. Without them, drafts in open tabs look like those of closed tabs.
  const { held = [] } = (await navigator.locks?.query().catch(() => null)) ?? {};
  const open = new Set(held.map(lock => lock.name));
  return sharedStorage.keys()
    .filter(other => other.startsWith(PREFIX) && other !== key)
    .map(other => ({ ...read(other), key: other, isOpen: open.has(other) }))
    .filter(isOffered)
    .sort((one, other) => other.date - one.date);
}

function enter() {
  const left = tabStorage.get(AWAY);
  hold(left && isOffered(read(left)) ? left : newKey());
  tabStorage.remove(AWAY);
}

/** Whether the current user may see a draft, because people share browsers. Anybody may see one without a user. */
function isOffered(draft) {
  const owner = draft?.userId ?? author;
  return !owner || owner === currentUser()?.id;
}

/**
 * Hold a draft for this tab, or a new one if another tab holds it. A lock shows other tabs that it is open. The browser
 * releases the lock if the tab crashes.
 */
function hold(held) {
  key = held;
  let end;
  const ended = new Promise(resolve => { end = resolve; });
  const isTaken = () => hold(newKey());
  const released = navigator.locks?.request(key, { ifAvailable: true }, lock => (lock ? ended : isTaken())).catch(() => {});
  release = () => {
    end();
    return released;
  };
}

function read(stored) {
  return JSON.parse(sharedStorage.get(stored));
}

function newKey() {
  return `${PREFIX}${Date.now()}-${Math.random()}`;
}
