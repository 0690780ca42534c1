// The inspector: requests and deliveries of changes of the app's process, with their database operations.
// The server writes it into pages and serves the events only if BLOG_INSPECTOR=1. site.js imports this module.

const POLL_MS = 1000;
const MOST_RECORDS = 150;
// The records of this tab, so that a page loads only new ones.
const LOG = "blog-inspector-log";
const HEIGHTS = ["low", "half", "high"];

const root = document.documentElement;
const drawer = document.querySelector("[data-drawer]");
const [toggle, grip, all, clear, failure] = ["toggle", "grip", "all", "clear", "failure"].map(name =>
  drawer.querySelector(`[data-${name}]`),
);
let log = JSON.parse(sessionStorage.getItem(LOG)) ?? { last: 0, all: false, records: [] };
let view = null;
let timer = 0;
let isPolling = false;

all.checked = log.all;

function keep() {
  log.records = log.records.slice(-MOST_RECORDS);
  sessionStorage.setItem(LOG, JSON.stringify(log));
}

function isOpen() {
  return root.dataset.inspector === "open";
}

/** The page and the server read the state from a cookie, so that the next page does not move when it is shown. */
function setState(open, height) {
  const known = /(?:^|; )blog-inspector=([0-9a-f]{16})-/.exec(document.cookie)?.[1];
  const random = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), one => one.toString(16).padStart(2, "0")).join("");
  root.dataset.inspector = open ? "open" : "closed";
  root.dataset.sheet = height;
  toggle.setAttribute("aria-expanded", String(open));
  document.cookie = `blog-inspector=${known ?? random()}-${root.dataset.inspector}-${height}; Path=/; Max-Age=31536000; SameSite=Lax`;
  if (open) start();
}

async function start() {
  if (!view) {
    view = (await import("./inspector-view.js")).startView(drawer);
    view.show(log.records, false);
  }
  poll();
}

async function poll() {
  clearTimeout(timer);
  if (isPolling || !isOpen() || document.hidden) return;
  isPolling = true;
  try {
    const response = await fetch(`/inspector/events?after=${log.last}${log.all ? "&all=1" : ""}`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const answer = await response.json();
    log = { ...log, last: answer.last, records: [...log.records, ...answer.events] };
    keep();
    if (answer.events.length) view.show(log.records, true);
    if (failure.textContent) failure.textContent = "";
  } catch (error) {
    failure.textContent = `The app does not answer (${error.message}). Trying again every second.`;
  } finally {
    isPolling = false;
    timer = setTimeout(poll, POLL_MS);
  }
}

toggle.addEventListener("click", () => setState(!isOpen(), root.dataset.sheet));
clear.addEventListener("click", () => {
  log.records = [];
  keep();
  view?.show([], false);
  toggle.focus();
});
all.addEventListener("change", () => {
  log = { last: 0, all: all.checked, records: [] };
  view?.show([], false);
  poll();
});
drawer.addEventListener("keydown", event => {
  if (event.key !== "Escape" || !isOpen() || event.defaultPrevented) return;
  setState(false, root.dataset.sheet);
  toggle.focus();
});
// Dragged, the sheet gets the nearest of its heights; clicked, the next one.
grip.addEventListener("pointerdown", down => {
  let moved = false;
  grip.setPointerCapture(down.pointerId);
  grip.onpointermove = event => {
    const share = 1 - event.clientY / innerHeight;
    moved ||= Math.abs(event.clientY - down.clientY) > 5;
    if (moved) root.dataset.sheet = share < 0.3 ? "low" : share < 0.62 ? "half" : "high";
  };
  grip.onpointerup = () => {
    grip.onpointermove = null;
    grip.dataset.moved = moved ? "1" : "";
    setState(true, root.dataset.sheet);
  };
});
grip.addEventListener("click", () => {
  if (!grip.dataset.moved) setState(true, HEIGHTS[(HEIGHTS.indexOf(root.dataset.sheet) + 1) % HEIGHTS.length]);
  grip.dataset.moved = "";
});
document.addEventListener("visibilitychange", poll);
if (isOpen()) setState(true, root.dataset.sheet);
