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
    const isNew = item => !document.getElementById(item.id);
    let loaded = [...page.querySelectorAll("[data-list] > li")];
    // Without a cursor, the page begins like this one, and has more: what is new above a known item was added since.
    if (!new URL(shown).searchParams.has("cursor")) loaded = loaded.slice(loaded.findLastIndex(item => !isNew(item)) + 1);
    // In a search, known items can be anywhere.
    loaded = loaded.filter(isNew);
    list.append(...loaded);
    hideDeleted();
    const added = loaded.filter(item => item.isConnected);
    const next = page.querySelector("a.more");
    if (next) link.setAttribute("href", next.getAttribute("href"));
    // The last page can have a note about what the list lacks.
    else link.closest(".pager").replaceWith(...page.querySelectorAll("[data-end]"));
    showOwned();
    if (added.length) {
      history.replaceState(history.state, "", new URL(`#${added[0].id}`, shown));
      // The page is shorter then, so its scroll position would be wrong: site.js scrolls to the item instead.
      history.scrollRestoration = "manual";
    }
    // Without the link, nothing else would have the focus.
    if (added.length || !next) {
      const focused = added[0] ?? list.lastElementChild ?? document.getElementById("main");
      focused.tabIndex = -1;
      focused.focus();
    }
    announce(added.length || next ? `${added.length} more loaded.` : "There are no more.");
  } catch (error) {
    alarm(error);
  } finally {
    link.ariaBusy = null;
  }
}
