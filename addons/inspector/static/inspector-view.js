// The list of the inspector: one entry per command or query, with the deliveries that it caused.
import { article, barsOf, figuresOf, row } from "./inspector-bars.js";
import { byFeeds, count, groupsOf, isCommand, number, operationsOf, ru, sum, summaryOf, timesOf } from "./inspector-causes.js";
import { startDiagram } from "./inspector-diagram.js";
import { element } from "./inspector-elements.js";

const MOST_PLACES = 2;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
// Explanations of operations, by the beginning of their kind.
const TIPS = {
  "point read by the primary": "A transactional batch with one read. The service sends batches to the primary replica, which has every write.",
  "point read": "Reads one item by its ID and partition key: 1 RU for 1 KB.",
  batch: "A transactional batch: up to 100 operations in one logical partition, all or nothing.",
  query: "A query. With a partition key, it reads one physical partition; without one, it reads all of them.",
  patch: "Changes fields of an item, often with a condition: a copy that is missing or already newer is not changed.",
  "stored procedure": "JavaScript that runs in the database, as a transaction in one logical partition.",
};
const FEED_TIP = "The change feed delivers every changed item of a container to a function, at least once. The function updates the copies.";

const OUTCOMES = { 404: "not found (404)", 409: "already exists (409)", 412: "condition not met (412)", 429: "throttled (429)" };

/** Start the view. Returns `show(records, isNew)`. */
export function startView(drawer) {
  const list = drawer.querySelector("[data-groups]");
  const diagram = startDiagram(drawer);
  const names = {};
  const asked = new Set();
  const entries = new Map();
  const opened = new Set();
  const folded = element("p", { className: "hint background", hidden: true });
  list.after(folded);
  let selected = null;

  function show(records, isNew) {
    const [groups, background] = parted(groupsOf(records));
    fold(background);
    const kept = new Set(groups.map(group => group.key));
    for (const [key, { item }] of entries) if (!kept.has(key)) (item.remove(), entries.delete(key));
    const changed = groups.toReversed().filter(group => {
      const version = summaryOf(group);
      const known = entries.get(group.key);
      if (known?.version === version) return false;
      const item = entry(group);
      if (known) known.item.replaceWith(item);
      else list.prepend(item);
      entries.set(group.key, { item, version });
      return true;
    });
    // This page and what followed; the entries below belong to earlier pages.
    const page = groups.findIndex(({ request }) => request.method === "GET" && request.path === location.pathname);
    const onPage = page < 0 ? [] : groups.slice(0, page + 1);
    for (const [key, { item }] of entries) item.classList.toggle("earlier", key === groups[page + 1]?.key && page >= 0);
    const commands = onPage.filter(isCommand);
    const last = changed.at(-1);
    if (last && isNew && (isCommand(last) || !commands.length)) selected = last.key;
    const shown = groups.find(group => group.key === selected) ?? commands[0] ?? groups.find(group => operationsOf(group).length);
    if (last || !isNew) mark(shown, isNew && changed.includes(shown));
    lookUp();
  }

  /** Reads that the page repeats by itself, in one line below the others. */
  function fold(background) {
    folded.hidden = !background.length;
    folded.textContent = `In the background, pages read the signed-in user ${count(background.length, "time")}: ${ru(sum(background.map(({ request }) => request.charge)))}.`;
  }

  function mark(group, isNew) {
    for (const [key, { item }] of entries) item.classList.toggle("shown", key === group?.key);
    diagram.show(group, group ? summaryOf(group) : "Use the blog, and see here which containers your requests use.", isNew);
  }

  /** What a request is; the article does not have all. */
  function described(name, figures) {
    return figures ? `${name}, the article's ${name.startsWith("C") ? "command" : "query"}: ${figures.title}` : `${name}, not in the article`;
  }

  function entry(group) {
    const first = group.request;
    // Its name may be another one now.
    if (first.method === "PUT" && !entries.has(group.key)) {
      const [id] = ID.exec(first.path) ?? [];
      delete names[id];
      asked.delete(id);
    }
    const badge = element("span", { className: "badge", ariaDescription: `${first.method} ${first.path}` }, first.name || first.method);
    article().then(({ requests }) => {
      if (first.name) badge.ariaDescription = first.name.split(", ").map(one => described(one, figuresOf(requests, one, first.method))).join(". ");
    });
    const subject = ID.exec(first.path)?.[0] ?? (first.path === "/" ? "front page" : "");
    const failed = first.status >= 400 ? ` status ${first.status}` : "";
    const what = element("span", { className: "what" }, `${first.title} `, named(subject, "where"), text("span", failed, "failed"));
    const summary = element("summary", {}, badge, what, text("span", ru(first.charge + byFeeds(group)), "charge"));
    if (isCommand(group)) summary.append(text("span", summaryOf(group), "sum"));
    const details = element("details", { open: opened.has(group.key) }, summary);
    if (details.open) details.append(body(group));
    details.addEventListener("toggle", () => {
      if (details.open === opened.has(group.key)) return;
      if (!details.open) return opened.delete(group.key) && details.lastElementChild.remove();
      opened.add(group.key);
      selected = group.key;
      details.append(body(group));
      mark(group, false);
      lookUp();
    });
    return element("li", {}, details);
  }

  function body(group) {
    const { method, name: requests, charge } = group.request;
    const operations = operationsOf(group);
    const made = element("div", { className: "body" }, heading(isCommand(group) ? "The command" : "The request", charge), operationTable(operations.filter(one => one.source === "requests")));
    for (const name of new Set(group.deliveries.map(({ record }) => record.name))) {
      const deliveries = group.deliveries.filter(({ record }) => record.name === name);
      const title = heading(deliveries[0].record.title, sum(deliveries.map(one => one.charge)), FEED_TIP);
      made.append(title, text("p", about(deliveries), "hint"), operationTable(operations.filter(one => one.source === name)));
    }
    for (const name of requests.split(", ")) {
      const now = requests.includes(",") ? undefined : charge / timesOf(group);
      barsOf(name, method, now).then(bars => bars && made.append(bars));
    }
    return made;
  }

  function about(deliveries) {
    const [own, total] = [one => one.charge, one => one.record.charge].map(charge => sum(deliveries.map(charge)));
    const changes = `${count(deliveries.length, "delivery")} · ${count(sum(deliveries.map(one => one.items)), "change")} from this command`;
    return own < total * 0.995 ? `${changes}, which caused ${number((own / total) * 100)}% of ${ru(total)}` : changes;
  }

  const heading = (title, charge, tip) => element("h3", {}, text("span", title, "", tip), text("span", ru(charge)));

  function operationTable(operations) {
    // Operations that cost nothing teach nothing, unless they failed.
    const shown = merged(operations.filter(one => one.charge > 0.004 || one.status >= 429));
    if (!shown.length) return text("p", "Nothing was charged: the response came from a cache.", "hint");
    const table = element("table");
    table.createTHead().append(row("th", "Operation", "Container", "Partition key", "RU"));
    table.createTBody().append(...shown.map(one => row("td", operation(one), one.container, places(one), ru(one.charge).slice(0, -3))));
    return table;
  }

  function operation(one) {
    const tip = TIPS[Object.keys(TIPS).find(name => one.kind.startsWith(name))];
    const label = element("span", {}, text("span", labelOf(one), "", tip));
    const outcome = outcomeOf(one);
    if (outcome) label.append(text("span", ` ${outcome}`, one.status >= 429 ? "failed" : "hint"));
    if (one.sharers > 1) label.append(text("span", ` shared by ${one.sharers}`, "hint"));
    return label;
  }

  function places(one) {
    if (!one.partitionKeys.length) return text("span", one.kind.startsWith("query") ? "all partitions" : "", "hint");
    const parts = one.partitionKeys.slice(0, MOST_PLACES).map(key =>
      element("span", { className: "key" }, text("code", short(key)), ...(ID.test(key) ? [" ", named(key, "hint")] : [])),
    );
    const more = one.partitions - MOST_PLACES;
    return element("span", {}, ...parts, more > 0 ? `and ${number(more)} more` : "");
  }

  /** The name of a post or user; until it is known, the beginning of the ID. */
  function named(id, className = "") {
    if (!ID.test(id)) return text("span", id, className);
    const dataset = id in names ? {} : { unnamed: id };
    return element("span", { className, dataset }, names[id] ?? short(id));
  }

  /** Ask once for the names of what is shown, and show those that are known. */
  async function lookUp() {
    const unnamed = () => [...drawer.querySelectorAll("[data-unnamed]")];
    const unknown = [...new Set(unnamed().map(one => one.dataset.unnamed))].filter(id => !asked.has(id)).slice(0, 50);
    if (unknown.length) {
      for (const id of unknown) asked.add(id);
      const url = `/inspector/names?posts=${unknown}&users=${unknown}`;
      const found = await fetch(url).then(response => (response.ok ? response.json() : null)).catch(() => null);
      if (found) Object.assign(names, found);
      else for (const id of unknown) asked.delete(id);
    }
    // More can have been shown meanwhile.
    for (const one of unnamed()) one.textContent = names[one.dataset.unnamed] ?? one.textContent;
    // Beside the key, the beginning of the ID would be there twice.
    for (const one of drawer.querySelectorAll(".key > .hint")) one.hidden = one.textContent === one.previousElementSibling.textContent;
  }

  return { show };
}

/** The beginning of an ID; other partition keys as they are. */
const short = key => ID.test(key) ? `${key.slice(0, 8)}…` : key;

/** The groups to show, and the groups of the requests that a page sends by itself. */
function parted(groups) {
  const isBackground = ({ request }) => request.method === "GET" && request.name === "Q1" && request.path.startsWith("/api/users/");
  return [groups.filter(one => !isBackground(one)), groups.filter(isBackground)];
}

/** Add up equal operations of several deliveries, and batches of the same operations. */
function merged(operations) {
  const found = new Map();
  for (const one of operations) {
    const key = [one.kind.replace(/\d+ /g, ""), one.container, one.status].join();
    if (!found.has(key)) found.set(key, { ...one, parts: {}, count: 0, items: 0, charge: 0 });
    const known = found.get(key);
    for (const [, times, verb] of one.kind.matchAll(/(\d+) (\w+)/g)) known.parts[verb] = (known.parts[verb] ?? 0) + times * one.count;
    known.isMixed ||= one.kind !== known.kind;
    known.partitionKeys = [...new Set([...known.partitionKeys, ...one.partitionKeys])];
    known.partitions = Math.max(known.partitions, one.partitions, known.partitionKeys.length);
    for (const name of ["count", "items", "charge"]) known[name] += one[name];
  }
  return [...found.values()].sort((a, b) => a.at - b.at);
}

/** What happened, in words; nothing if the operation succeeded. A refused batch has 207, also one that only reads. */
function outcomeOf({ kind, status }) {
  if (status === 207) return kind.startsWith("point read") ? "not found (207)" : "not applied (207)";
  return OUTCOMES[status] ?? (status >= 400 ? `status ${status}` : "");
}

function labelOf({ kind, count: calls, parts, isMixed }) {
  const times = calls > 1.01 ? `${number(Math.round(calls))} × ` : "";
  if (!kind.startsWith("batch: ")) return times + kind;
  const words = Object.entries(parts).map(([verb, total]) => count(Math.round(isMixed ? total : total / calls), verb)).join(" and ");
  return isMixed ? `${times}batch, ${words} in all` : `${times}batch of ${words}`;
}

/** An element with a text, and with an explanation of it, which inspector.css shows. */
const text = (tag, content, className = "", tip = "") =>
  element(tag, { className, ...(tip && { ariaDescription: tip, tabIndex: 0 }) }, content);
