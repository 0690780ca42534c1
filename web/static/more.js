// Loads the next page of a list into this one. Its URL becomes this page's URL, so that Reload and Back return to it.
import { load } from "./api.js";
import { hideDeleted } from "./deleted.js";
import { showOwned } from "./identity.js";
import { alarm, announce } from "./messages.js";

/** @param {HTMLAnchorElement} link to the next page */
export async function showMore(link) {
  if (link.ariaBusy === "true") return;
  link.ariaBusy = "true";
  try {
    const shown = link.href;
    const page = await load(shown);
    const list = document.querySelector("[data-list]");
    const loaded = [...page.querySelectorAll("[data-list] > li")];
    // The page can have items that this one has; in a search, not only at its beginning.
    const added = loaded.filter(item => !document.getElementById(item.id));
    list.append(...added);
    hideDeleted();
    const next = page.querySelector("a.more");
    if (next) link.setAttribute("href", next.getAttribute("href"));
    else link.closest(".pager").remove();
    showOwned();
    const first = added[0];
    if (first) {
      history.replaceState(history.state, "", new URL(`#${first.id}`, shown));
      // The page is shorter then, so its scroll position would be wrong: site.js scrolls to the item instead.
      history.scrollRestoration = "manual";
      first.tabIndex = -1;
      first.focus();
    }
    announce(added.length ? `${added.length} more loaded.` : "There are no more.");
  } catch (error) {
    alarm(error);
  } finally {
    link.ariaBusy = null;
  }
}
