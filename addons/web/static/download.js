// The buttons with which people download their data as one file. site.js imports this module.
import { send } from "./api.js";
import { explained } from "./identity.js";

const PAGE = 100;
const ATTEMPTS = 5;
const LONGEST_WAIT_S = 30;

for (const button of document.querySelectorAll("[data-download]")) button.addEventListener("click", () => toggle(button));

const running = new WeakMap();

/** Start a download, or cancel the one that runs. */
async function toggle(button) {
  if (running.has(button)) return running.get(button).abort();
  const progress = button.parentElement.querySelector("[data-download-progress]");
  const { userId } = button.closest("[data-user-id]").dataset;
  const name = button.textContent;
  const canceled = new AbortController();
  running.set(button, canceled);
  button.textContent = "Cancel the download";
  progress.textContent = "Loading…";
  try {
    const items = await load(userId, canceled.signal, number => progress.textContent = `${number.toLocaleString("en")} items…`);
    save(items, document.querySelector("h1[data-username]").textContent);
    progress.textContent = "Your data is saved.";
  } catch (error) {
    progress.textContent = error.name === "AbortError" ? "Canceled." : explained(error).message;
  } finally {
    running.delete(button);
    button.textContent = name;
  }
}

/** Load all pages. Returns the items, each once: the database can return some again. */
async function load(userId, signal, onProgress) {
  const items = new Map();
  let cursor = "";
  do {
    const query = new URLSearchParams({ limit: PAGE, ...(cursor && { cursor }) });
    const { body: page } = await patiently(`/api/users/${encodeURIComponent(userId)}/data?${query}`, signal);
    for (const item of page.items) items.set(`${item.postId ?? ""}/${item.id}`, item);
    onProgress(items.size);
    cursor = page.nextCursor;
  } while (cursor);
  return [...items.values()];
}

/** Send a request again while the blog is busy, after the time that it asks for. */
async function patiently(url, signal) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(url, { signal });
    } catch (error) {
      const isBusy = [429, 503].includes(error.status) && error.title !== "Too many exports";
      if (!isBusy || attempt === ATTEMPTS) throw error;
      await pause(Math.min(error.retryAfterS, LONGEST_WAIT_S), signal);
    }
  }
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

function save(items, username) {
  const content = JSON.stringify({ downloadedDate: new Date().toISOString(), items }, null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  link.download = `${username}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}
