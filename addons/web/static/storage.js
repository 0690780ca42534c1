// The browser's storage. If it is full or blocked, its values last until the user leaves the page.

/** What this tab keeps. */
export const tabStorage = storageOf("sessionStorage");
/** What the tabs of this browser share. */
export const sharedStorage = storageOf("localStorage");

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
