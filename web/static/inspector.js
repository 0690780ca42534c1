// The inspector: requests and deliveries of changes of the app's process, with their database operations.
// The server writes the drawer into pages and serves the events only if BLOG_INSPECTOR=1. site.js imports this module.

const POLL_MS = 1000;
const MOST_GROUPS = 100;
// Whether the drawer is open, for every tab; and the last cleared number, for this tab.
const OPEN = "blog-inspector-open";
const CLEARED = "blog-inspector-cleared";

const drawer = document.querySelector("[data-drawer]");
const [toggle, totals, clear, log, nothing, failure, groups, template] = [
  "toggle", "totals", "clear", "log", "nothing", "failure", "groups", "entry",
].map(name => drawer.querySelector(`[data-${name}]`));

let last = Number(sessionStorage.getItem(CLEARED) ?? 0);
let timer = 0;
let isPolling = false;
let sums = { request: 0, delivery: 0 };
// The group of the latest command. Queries change nothing, so change feeds cannot follow from them.
let latest = null;
// The groups of commands by trace. A delivery names the traces of the commands that wrote its changes.
const commands = new Map();

function isOpen() {
  return toggle.getAttribute("aria-expanded") === "true";
}

function setOpen(open) {
  toggle.setAttribute("aria-expanded", String(open));
  for (const part of [totals, clear, log]) part.hidden = !open;
  localStorage.setItem(OPEN, open ? "1" : "");
  poll();
}

async function poll() {
  clearTimeout(timer);
  if (isPolling || !isOpen() || document.hidden) return;
  isPolling = true;
  try {
    const response = await fetch(`/inspector/events?after=${last}`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    const answer = await response.json();
    last = answer.last;
    // A command can be recorded after the first delivery of its changes.
    answer.events.filter(event => event.kind === "request").forEach(show);
    answer.events.filter(event => event.kind === "delivery").forEach(show);
    if (failure.textContent) failure.textContent = "";
  } catch (error) {
    failure.textContent = `The app does not answer (${error.message}). Trying again every second.`;
  } finally {
    isPolling = false;
    timer = setTimeout(poll, POLL_MS);
  }
}

function show(event) {
  sums[event.kind] += event.charge;
  if (event.kind === "request") {
    const group = newGroup(event);
    if (event.method !== "GET" && event.method !== "HEAD") {
      latest = group;
      commands.set(event.trace, group);
    }
  } else {
    const known = event.causes.filter(trace => commands.has(trace));
    const group = commands.get(known.at(-1)) ?? (latest ??= newGroup(null));
    group.deliveries.append(item(entry(event, group.request)));
    group.charge += event.charge;
    group.sum.textContent = sumOf(group);
  }
  nothing.hidden = true;
  totals.textContent = `All requests to this server: ${ru(sums.request)}, change feeds ${ru(sums.delivery)}`;
}

function newGroup(request) {
  const element = document.createElement("li");
  const sum = document.createElement("p");
  const deliveries = document.createElement("ol");
  sum.className = "sum";
  deliveries.className = "deliveries";
  element.append(request ? entry(request) : text("p", "Earlier changes", "hint"), sum, deliveries);
  groups.prepend(element);
  while (groups.children.length > MOST_GROUPS) groups.lastElementChild.remove();
  return { request, sum, deliveries, charge: 0 };
}

function sumOf({ request, charge }) {
  if (!request) return `Change feeds: ${ru(charge)}`;
  return `Request ${ru(request.charge)} + change feeds ${ru(charge)} = ${ru(request.charge + charge)}`;
}

function entry(event, cause = null) {
  const copy = template.content.cloneNode(true);
  const part = name => copy.querySelector(`[data-${name}]`);
  const isDelivery = event.kind === "delivery";
  const isQuery = event.method === "GET" || event.method === "HEAD";
  part("name").textContent = isDelivery ? "↳" : event.name || event.method;
  part("title").textContent = event.title;
  part("path").textContent = isDelivery ? event.name : `${event.method} ${event.path}`;
  part("figures").textContent = figures(event, cause).join(" · ");
  part("charge").textContent = ru(event.charge);
  const { operations, operationCount } = event;
  copy.querySelector("details").open = !isQuery && operations.length > 0;
  copy.querySelector("tbody").append(...operations.map(row));
  if (operations.length === 0) {
    copy.querySelector("table").remove();
    part("omitted").textContent = "No database operations.";
  } else if (operationCount > operations.length) {
    part("omitted").textContent = `and ${operationCount - operations.length} more operations`;
  }
  return copy;
}

function figures(event, cause) {
  const keys = new Set(
    event.operations.filter(one => one.partitionKey !== null).map(one => `${one.container}/${one.partitionKey}`),
  );
  const found = [];
  if (event.kind === "request") found.push(String(event.status));
  else found.push(event.finished ? count(event.changes, "change") : "unfinished, will be repeated");
  if (cause) found.push(`after ${((event.finishedAt - cause.finishedAt) / 1000).toFixed(1)} s`);
  if (event.operationCount) found.push(count(event.operationCount, "operation"));
  if (keys.size) found.push(count(keys.size, "logical partition"));
  found.push(`${event.durationMs.toFixed(0)} ms`);
  return found;
}

function row(operation) {
  const { kind, container, partitionKey, status, charge, durationMs, sharers } = operation;
  const element = document.createElement("tr");
  const shared = sharers > 1 ? ` (shared by ${sharers} requests)` : "";
  const everywhere = kind.startsWith("query") ? "every partition" : "";
  element.append(
    text("td", kind + shared),
    text("td", container),
    text("td", partitionKey ?? everywhere, partitionKey === null ? "hint" : "key"),
    text("td", String(status)),
    text("td", durationMs.toFixed(1)),
    text("td", charge.toFixed(2)),
  );
  return element;
}

function item(content) {
  const element = document.createElement("li");
  element.append(content);
  return element;
}

function text(tag, content, className = "") {
  const element = document.createElement(tag);
  element.textContent = content;
  if (className) element.className = className;
  return element;
}

function ru(charge) {
  return `${charge.toFixed(2)} RU`;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

toggle.addEventListener("click", () => setOpen(!isOpen()));
clear.addEventListener("click", () => {
  sessionStorage.setItem(CLEARED, String(last));
  groups.replaceChildren();
  sums = { request: 0, delivery: 0 };
  latest = null;
  commands.clear();
  totals.textContent = "";
  nothing.hidden = false;
  toggle.focus();
});
drawer.addEventListener("keydown", event => {
  if (event.key !== "Escape" || !isOpen()) return;
  setOpen(false);
  toggle.focus();
});
document.addEventListener("visibilitychange", poll);
if (localStorage.getItem(OPEN)) setOpen(true);
