// The inspector: requests and deliveries of changes of the app's process, with their database operations.
// The server writes it into pages and serves the events only if BLOG_INSPECTOR=1.
import { newKey } from "./api.js";
import { tabStorage } from "./storage.js";

const POLL_MS = 1000;
// While the inspector is closed, only the notice of a switch needs to be current.
const CLOSED_POLL_MS = 3000;
const MOST_RECORDS = 150;
// The records of this tab, so that a page loads only new ones.
const LOG = "blog-inspector-log";
const NOTICES = {
  lag: "Somebody is taking the tour, which delays the database: what you see can be two seconds old.",
  throttle: "Somebody is taking the tour, which slows down the database: pages can take a while.",
  faults: "Somebody is taking the tour, which makes the database fail: lists and new names can be late.",
};
const HEIGHTS = ["low", "half", "high"];
// As in inspector.css
const isDocked = matchMedia("(min-width: 68.75rem)");

const root = document.documentElement;
const drawer = document.querySelector("[data-drawer]");
// The tour shows its own measurements, also if the inspector is closed.
const isTour = Boolean(document.querySelector("[data-tour]"));
const notice = document.querySelector("[data-switched]");
const [toggle, grip, all] = ["toggle", "grip", "all"].map(name => drawer.querySelector(`[data-${name}]`));
let log = JSON.parse(tabStorage.get(LOG)) ?? { last: 0, all: false, records: [] };
let view = null;
let timer = 0;
let isPolling = false;

all.checked = log.all;

function show(isNew) {
  view?.show(log.records, isNew);
  document.dispatchEvent(new CustomEvent("inspector-records", { detail: log.records }));
}

/** On the tour, a sheet is only a bar until a button was pressed. */
const isBar = () => root.dataset.sheet === "bar" && !isDocked.matches;
const isOpen = () => root.dataset.inspector === "open" && !isBar();

const COOKIE = /(?:^|; )blog-inspector=([0-9a-f]{16})(?:-\w+-(\w+))?/;
const height = () => (root.dataset.sheet === "bar" ? COOKIE.exec(document.cookie)?.[2] ?? "half" : root.dataset.sheet);
const isFirstPage = !COOKIE.test(document.cookie);

/** Identify the visitor, so that requests are their own, also those before the inspector is opened. */
function identify(choice = "") {
  const known = COOKIE.exec(document.cookie)?.[1];
  document.cookie = `blog-inspector=${known ?? newKey().slice(16)}${choice}; Path=/; Max-Age=31536000; SameSite=Lax`;
}

/** The page and the server read the choice from a cookie, so that the next page does not move when it is shown. */
function choose(open, sheet) {
  root.dataset.inspector = open ? "open" : "closed";
  root.dataset.sheet = sheet;
  identify(`-${root.dataset.inspector}-${sheet}`);
  start();
}

async function start() {
  toggle.setAttribute("aria-expanded", String(isOpen()));
  if (isOpen() && !view) {
    view = (await import("./inspector-view.js")).startView(drawer);
    view.show(log.records, false);
  }
  poll();
}

async function poll() {
  clearTimeout(timer);
  if (isPolling || document.hidden) return;
  isPolling = true;
  // The request of a visitor's first page had no cookie, so it is claimed.
  const first = isFirstPage && !log.last ? `&page=${encodeURIComponent(location.pathname)}` : "";
  const asked = log;
  const url = `/inspector/events?after=${log.last}${log.all ? "&all=1" : ""}${first}`;
  const answer = await fetch(url).then(response => (response.ok ? response.json() : null)).catch(() => null);
  isPolling = false;
  // Someone has chosen other visitors since.
  if (log !== asked) return poll();
  if (answer) {
    notice.textContent = NOTICES[answer.switch] ?? "";
    // Records from before the first poll are not news.
    const arrived = answer.events.map(record => ({ ...record, seenAt: log.last ? Date.now() : 0 }));
    log = { ...log, last: answer.last, records: [...log.records, ...arrived].slice(-MOST_RECORDS) };
    tabStorage.set(LOG, JSON.stringify(log));
    show(true);
  }
  timer = setTimeout(poll, isOpen() || isTour ? POLL_MS : CLOSED_POLL_MS);
}

toggle.addEventListener("click", () => choose(!isOpen(), height()));
all.addEventListener("change", () => {
  log = { last: 0, all: all.checked, records: [] };
  show(false);
  poll();
});
drawer.addEventListener("keydown", event => {
  if (event.key !== "Escape" || !isOpen()) return;
  choose(false, height());
  toggle.focus();
});
// Dragged, the sheet gets the nearest of its heights; by keyboard, the next one.
grip.addEventListener("pointerdown", event => grip.setPointerCapture(event.pointerId));
grip.addEventListener("pointermove", event => {
  if (!event.buttons) return;
  const share = 1 - event.clientY / innerHeight;
  const dragged = share < 0.3 ? "low" : share < 0.62 ? "half" : "high";
  if (dragged !== root.dataset.sheet) choose(true, dragged);
});
grip.addEventListener("click", event => {
  if (!event.detail) choose(true, HEIGHTS[(HEIGHTS.indexOf(root.dataset.sheet) + 1) % HEIGHTS.length]);
});
// A button of the tour was pressed.
document.addEventListener("tour-action", () => {
  root.dataset.sheet = height();
  start();
});
isDocked.addEventListener("change", start);
document.addEventListener("visibilitychange", poll);
if (isFirstPage) identify();
start();
