// The entry of the scripts of every page. Loads only the modules that the page needs now.
import { hideDeleted } from "./deleted.js";
import { startIdentity } from "./identity.js";
import { alarm, announce } from "./messages.js";
import { deleteDrafts } from "./storage.js";

const REFRESH_MS = 60_000;
// Modules, by what on a page needs them.
const PARTS = {
  "[data-editor]": "./editor.js",
  "article.post": "./optimistic.js",
  "[data-delete-account]": "./account.js",
  "[data-download]": "./download.js",
  ".prose pre": "./code.js",
  ".prose": "./scrolling.js",
};

deleteDrafts();
hideDeleted();
startIdentity(Promise.all(Object.entries(PARTS).map(([needing, name]) => load(needing, name))));

async function load(needing, name) {
  if (document.querySelector(needing)) await import(name).catch(failed);
}

document.addEventListener("click", event => {
  const link = event.target.closest("a.more");
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !isPlain) return;
  event.preventDefault();
  import("./more.js").then(({ showMore }) => showMore(link), () => location.assign(link.href));
});

// more.js has made the position part of the URL. On Reload and Back, the browser scrolls to no fragment by itself.
if (history.scrollRestoration === "manual") document.getElementById(location.hash.slice(1))?.scrollIntoView();

setInterval(async () => {
  const { refreshTimes } = await import("./times.js");
  refreshTimes();
}, REFRESH_MS);

// Back can show a page as it was before the post was deleted.
addEventListener("pageshow", event => event.persisted && hideDeleted());
addEventListener("offline", () => alarm("You are offline. You can continue to read, but sending needs a connection."));
addEventListener("online", () => announce("You are online again."));

function failed(error) {
  alarm("A part of this page could not be loaded. Reload the page.");
  // The console then shows the cause.
  reportError(error);
}
