// The list of the inspector: one entry per command or query, with the deliveries that it caused.
import { article, barsOf } from "./inspector-bars.js";
import { atOnce, byFeeds, count, groupsOf, isCommand, number, operationsOf, ru, sum, summaryOf } from "./inspector-causes.js";
import { startDiagram } from "./inspector-diagram.js";

const MOST_GROUPS = 60;
const MOST_PLACES = 2;
const NAMES = "blog-inspector-names";
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
// Explanations of operations, by the beginning of their kind.
const TIPS = {
  "point read by the primary": "A batch with one read. The service sends batches to the primary replica, which has every write; its status is 207 if the item is missing.",
  "point read": "Reads one item by its ID and partition key: 1 RU for 1 KB.",
  batch: "A transactional batch: up to 100 operations in one logical partition, all or nothing.",
  query: "A query. With a partition key it asks one physical partition, without one all of them.",
  "query plan": "The service tells the SDK how to run a query over several partitions.",
  create: "Writes a new item.",
  replace: "Writes a whole item again, if nobody has changed it since (etag).",
  patch: "Changes single properties of an item.",
  upsert: "Writes an item, whether it exists or not.",
  delete: "Deletes an item.",
  "stored procedure": "JavaScript that runs in the database, as a transaction in one logical partition.",
};
const FEED_TIP = "The change feed delivers every changed item of a container to a function, at least once. The function updates the copies.";

/** Start the view. Returns `show(records, isNew)`. */
export function startView(drawer) {
  const list = drawer.querySelector("[data-groups]");
  const diagram = startDiagram(drawer);
  const names = JSON.parse(sessionStorage.getItem(NAMES) ?? "{}");
  const elements = new Map();
  const opened = new Set();
  let groups = [];
  let selected = null;
  startTips(drawer);

  function show(records, isNew) {
    groups = groupsOf(records).filter((group, index) => index < MOST_GROUPS || isCommand(group));
    const kept = new Set(groups.map(group => group.key));
    for (const [key, { element }] of elements) if (!kept.has(key)) (element.remove(), elements.delete(key));
    let changed = null;
    groups.toReversed().forEach(group => {
      const version = `${group.requests.length}/${group.deliveries.length}`;
      const known = elements.get(group.key);
      if (known?.version === version) return;
      const element = entry(group);
      if (known) known.element.replaceWith(element);
      else list.prepend(element);
      if (isNew && !known) element.classList.add("new");
      elements.set(group.key, { element, version });
      changed = group;
    });
    const commands = groups.filter(isCommand);
    const newest = commands[0] ?? groups.find(group => operationsOf(group).length) ?? null;
    if (!groups.some(group => group.key === selected)) selected = null;
    if (changed && isNew && (isCommand(changed) || !commands.length)) selected = changed.key;
    const shown = groups.find(group => group.key === selected) ?? newest;
    mark(shown, isNew && Boolean(changed));
    lookUp();
    document.dispatchEvent(new CustomEvent("inspector-records", { detail: records }));
  }

  function mark(group, isNew) {
    for (const [key, { element }] of elements) element.classList.toggle("shown", key === group?.key);
    diagram.show(group, group ? summaryOf(group) : "Use the blog: the containers that answer light up here.", isNew);
  }

  function entry(group) {
    const [first] = group.requests;
    // Its name may be another one now.
    if (first.method === "PUT" && !elements.has(group.key)) delete names[ID.exec(first.path)?.[0]];
    const element = document.createElement("li");
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const badge = text("span", first.name || first.method, "badge");
    badge.dataset.tip = `${first.method} ${first.path}`;
    article().then(({ requests }) => {
      if (first.name) badge.dataset.tip = first.name.split(", ").map(one => `${one}: ${requests[one].title}`).join(". ");
    });
    const times = group.requests.length > 1 ? `${group.requests.length} × ` : "";
    const what = text("span", `${times}${first.title} `, "what");
    if (group.requests.every(one => one.path === first.path)) what.append(subject(first.path));
    if (first.status >= 400) what.append(text("span", ` status ${first.status}`, "failed"));
    summary.append(badge, what, text("span", ru(atOnce(group) + byFeeds(group)), "charge"));
    if (isCommand(group)) summary.append(text("span", summaryOf(group), "sum"));
    details.append(summary);
    details.open = opened.has(group.key);
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
    element.append(details);
    return element;
  }

  function body(group) {
    const element = document.createElement("div");
    element.className = "body";
    const [{ method, name: names }] = group.requests;
    const operations = operationsOf(group);
    element.append(heading("At once", atOnce(group)), operationTable(operations.filter(one => one.source === "requests")));
    for (const name of new Set(group.deliveries.map(({ record }) => record.name))) {
      const deliveries = group.deliveries.filter(({ record }) => record.name === name);
      const title = heading(deliveries[0].record.title, sum(deliveries.map(one => one.charge)));
      title.firstChild.dataset.tip = FEED_TIP;
      title.firstChild.tabIndex = 0;
      element.append(title, text("p", about(deliveries), "hint"), operationTable(operations.filter(one => one.source === name)));
    }
    for (const name of names.split(", ")) {
      const now = names.includes(",") ? undefined : atOnce(group) / group.requests.length;
      barsOf(method === "PUT" ? `${name} edit` : name, now).then(bars => bars && element.append(bars));
    }
    return element;
  }

  function about(deliveries) {
    const failed = deliveries.filter(({ record }) => !record.finished).length;
    const total = sum(deliveries.map(({ record }) => record.charge));
    const share = total ? sum(deliveries.map(one => one.charge)) / total : 1;
    return [
      count(deliveries.length, "delivery"),
      `${count(sum(deliveries.map(one => one.items)), "change")} of this command`,
      ...(share < 0.995 ? [`its share is ${number(share * 100)} % of ${ru(total)}`] : []),
      ...(failed ? [`${failed} unfinished and repeated`] : []),
    ].join(" · ");
  }

  function heading(title, charge) {
    const element = document.createElement("h3");
    element.append(text("span", title), text("span", ru(charge)));
    return element;
  }

  function operationTable(operations) {
    // Operations that cost nothing teach nothing, unless they failed.
    const shown = merged(operations.filter(one => one.charge > 0.004 || one.status >= 429));
    if (!shown.length) return text("p", "No database operations that cost anything: the answer came from a cache.", "hint");
    const table = document.createElement("table");
    table.createTHead().insertRow().append(...["Operation", "Container", "Partition key", "RU"].map(title => text("th", title)));
    const rows = table.createTBody();
    for (const one of shown) {
      const [operation, container, where, charge] = [0, 0, 0, 0].map(() => document.createElement("td"));
      const label = text("span", labelOf(one));
      label.dataset.tip = tipOf(one.kind);
      label.tabIndex = 0;
      operation.append(label);
      if (one.status >= 400) operation.append(text("span", one.status === 429 ? " throttled (429)" : ` status ${one.status}`, one.status >= 429 ? "failed" : "hint"));
      if (one.sharers > 1) operation.append(text("span", ` shared by ${one.sharers}`, "hint"));
      container.textContent = one.container;
      where.append(...places(one));
      charge.textContent = ru(one.charge).slice(0, -3);
      rows.insertRow().append(operation, container, where, charge);
    }
    return table;
  }

  function places(one) {
    if (!one.partitionKeys.length) return [text("span", one.kind.startsWith("query") ? "all partitions" : "", "hint")];
    const parts = one.partitionKeys.slice(0, MOST_PLACES).flatMap(key => [named(key), document.createTextNode(", ")]);
    if (one.partitions <= MOST_PLACES) return parts.slice(0, -1);
    return [...parts.slice(0, -1), document.createTextNode(` and ${number(one.partitions - MOST_PLACES)} more`)];
  }

  function subject(path) {
    const id = ID.exec(path)?.[0];
    return id ? named(id, "where") : text("span", path === "/" ? "front page" : "", "where");
  }

  /** The name of a post or user; until it is known, the beginning of the ID. */
  function named(id, className = "") {
    const element = text("span", names[id] ?? (ID.test(id) ? `${id.slice(0, 8)}…` : id), className);
    if (ID.test(id)) element.dataset.id = id;
    if (ID.test(id) && !(id in names)) element.dataset.unnamed = "";
    return element;
  }

  /** Ask for the names of what is shown. */
  async function lookUp() {
    const ids = new Set([...drawer.querySelectorAll("[data-unnamed]")].map(element => element.dataset.id));
    const unknown = [...ids].filter(id => !(id in names)).slice(0, 50);
    if (unknown.length) {
      for (const id of unknown) names[id] = `${id.slice(0, 8)}…`;
      const response = await fetch(`/inspector/names?posts=${unknown}&users=${unknown}`).catch(() => null);
      if (response?.ok) Object.assign(names, await response.json());
      sessionStorage.setItem(NAMES, JSON.stringify(Object.fromEntries(Object.entries(names).slice(-500))));
    }
    for (const element of drawer.querySelectorAll("[data-unnamed]")) {
      element.textContent = names[element.dataset.id];
      delete element.dataset.unnamed;
    }
  }

  return { show };
}

/** Add up equal operations of several requests or deliveries. */
function merged(operations) {
  const found = new Map();
  for (const one of operations) {
    const key = [one.kind.replace(/\d+ /g, ""), one.container, one.status].join();
    if (!found.has(key)) found.set(key, { ...one, count: 0, items: 0, charge: 0 });
    const known = found.get(key);
    known.isMixed ||= one.kind !== known.kind || one.isEach !== known.isEach;
    known.partitionKeys = [...new Set([...known.partitionKeys, ...one.partitionKeys])];
    known.partitions = Math.max(known.partitions, one.partitions, known.partitionKeys.length);
    for (const name of ["count", "items", "charge"]) known[name] += one[name];
  }
  return [...found.values()].sort((a, b) => a.at - b.at);
}

function labelOf({ kind, count: calls, items, isEach, isMixed }) {
  const times = calls > 1.01 ? `${number(Math.round(calls))} × ` : "";
  const [name, parts] = kind.split(": ");
  if (!parts) return times + name;
  const verbs = parts.split(", ").map(part => part.split(" "));
  if (isMixed) return `${times}batch, ${count(Math.round(items), verbs.length === 1 ? verbs[0][1] : "operation")} in all`;
  const words = verbs.map(([n, verb]) => count(Number(n), verb)).join(" and ");
  return isEach ? `${times}batch of ${words}` : `${times}batch, ${words} in all`;
}

function tipOf(kind) {
  return TIPS[Object.keys(TIPS).find(name => kind.startsWith(name))] ?? kind;
}

/** Explain the element with data-tip that is pointed at or has the focus. */
function startTips(drawer) {
  const box = drawer.querySelector("[data-tip-box]");
  const hide = () => box.matches(":popover-open") && box.hidePopover();
  const explain = event => {
    const subject = event.target.closest?.("[data-tip]");
    hide();
    if (!subject) return;
    box.textContent = subject.dataset.tip;
    subject.setAttribute("aria-describedby", box.id);
    box.showPopover();
    const { left, top, bottom } = subject.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    box.style.inset = "auto";
    box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    box.style.top = `${top > height + 12 ? top - height - 6 : bottom + 6}px`;
  };
  for (const kind of ["pointerover", "focusin"]) drawer.addEventListener(kind, explain);
  for (const kind of ["pointerleave", "focusout"]) drawer.addEventListener(kind, hide);
  drawer.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !box.matches(":popover-open")) return;
    event.preventDefault();
    hide();
  }, true);
}

function text(tag, content, className = "") {
  const element = document.createElement(tag);
  element.textContent = content;
  if (className) element.className = className;
  return element;
}
