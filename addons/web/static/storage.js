// The browser's storage. If it is full or blocked, its values last until the user leaves the page.

/** What this tab keeps. */
export const tabStorage = storageOf("sessionStorage");
/** What the tabs of this browser share. */
export const sharedStorage = storageOf("localStorage");

/** The start of the key of a draft. The ID of its post, or "new", follows. */
export const DRAFT = "blog-draft:";
const DRAFT_EXPIRES_MS = 30 * 24 * 3600 * 1000;

/** Delete the drafts of a user or a post that is deleted, and those that nobody has changed for 30 days. */
export function deleteDrafts({ userId, postId } = {}) {
  for (const key of sharedStorage.keys().filter(kept => kept.startsWith(DRAFT))) {
    const draft = JSON.parse(sharedStorage.get(key));
    const isOld = draft.date < Date.now() - DRAFT_EXPIRES_MS;
    if (isOld || (userId && draft.userId === userId) || (postId && key.startsWith(`${DRAFT}${postId}:`))) sharedStorage.remove(key);
  }
}

function storageOf(name) {
  // What the browser refused to store.
  const refused = new Map();
  const attempt = use => {
    try {
      return use(window[name]);
    } catch {
      return null;
    }
  };
  return {
    /** @returns {string | null} */
    get: key => refused.get(key) ?? attempt(storage => storage.getItem(key)),

    /** @returns {boolean} whether the browser stored it */
    set(key, value) {
      try {
        window[name].setItem(key, value);
      } catch {
        refused.set(key, value);
        return false;
      }
      refused.delete(key);
      return true;
    },

    remove(key) {
      refused.delete(key);
      attempt(storage => storage.removeItem(key));
    },

    keys: () => [...new Set([...refused.keys(), ...attempt(Object.keys) ?? []])],
  };
}
