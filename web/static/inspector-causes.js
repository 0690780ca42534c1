// Which work belongs to which command. A delivery of changes names the commands that caused it, by trace.

const NOUNS = {
  "C1 POST": "new user", "C1 PUT": "rename", "C2 POST": "new post", "C2 PUT": "edit", "C3 POST": "comment", "C4 POST": "like",
};
const WRITES = /^(batch|create|patch|replace|upsert|delete|stored procedure)/;
const REFUSED = 207;

/** Numbers with thousands separators; charges with two decimals if they are small. */
export const number = value => value.toLocaleString("en", { maximumFractionDigits: 1 });
export const ru = charge =>
  `${charge.toLocaleString("en", charge < 1000 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumFractionDigits: 0 })} RU`;
export const count = (value, noun) => `${number(value)} ${value === 1 ? noun : noun.replace(/y$/, "ie").replace(/(ch)$/, "$1e")}${value === 1 ? "" : "s"}`;

/**
 * Group records by cause, newest command first. Equal requests one after the other are one group.
 * @returns {{key: number, requests: object[], deliveries: {record: object, share: number, charge: number, traces: Set<string>}[]}[]}
 */
export function groupsOf(records) {
  const groups = [];
  const byTrace = new Map();
  for (const request of records.filter(one => one.kind === "request")) {
    const { method, path, title, status } = request;
    const kind = `${method} ${method === "GET" ? title : path} ${status}`;
    if (groups[0]?.kind !== kind) groups.unshift({ key: request.number, kind, requests: [], deliveries: [] });
    groups[0].requests.push(request);
    byTrace.set(request.trace, groups[0]);
  }
  const deliveries = records.filter(one => one.kind === "delivery").sort((a, b) => a.startedAt - b.startedAt);
  for (const record of deliveries) {
    const parts = new Map();
    for (const [trace, cause] of Object.entries(record.causes)) {
      const group = byTrace.get(trace);
      if (!group) continue;
      const part = parts.get(group) ?? { record, share: 0, charge: 0, items: 0, traces: new Set() };
      part.share += cause.share;
      part.charge += cause.charge;
      part.items += cause.items;
      part.traces.add(trace);
      parts.set(group, part);
    }
    for (const [group, part] of parts) group.deliveries.push(part);
  }
  return groups;
}

export const isCommand = group => !["GET", "HEAD"].includes(group.requests[0].method);
export const atOnce = group => sum(group.requests.map(one => one.charge));
export const byFeeds = group => sum(group.deliveries.map(one => one.charge));

/** The operations of a group with their share of items and charge, and when they ran, in ms after the first request. */
export function operationsOf(group) {
  const start = group.requests[0].startedAt;
  const timed = (record, operation, share) => ({
    ...operation,
    source: record.kind === "request" ? "requests" : record.name,
    at: record.startedAt - start + operation.atMs,
    until: record.startedAt - start + operation.untilMs,
    count: operation.count * share,
    items: operation.items * share,
    charge: operation.charge * share,
  });
  return [
    ...group.requests.flatMap(record =>
      // The charge of a group commit is already divided, but not its items.
      record.operations.map(one => ({ ...timed(record, one, 1), count: one.count / one.sharers, items: one.items / one.sharers })),
    ),
    // A fan-out belongs to one command; the others share the rest of a delivery.
    ...group.deliveries.flatMap(({ record, share, traces }) =>
      record.operations
        .filter(one => !one.cause || traces.has(one.cause))
        .map(one => timed(record, one, one.cause ? 1 : share)),
    ),
  ];
}

export const isWrite = one => WRITES.test(one.kind) && one.status < 400 && one.status !== REFUSED;

/** One line such as "1 rename: 1,012 copies in 10 posts. 17.58 RU at once, 11,057 RU by the change feeds, done after 1.9 s." */
export function summaryOf(group) {
  const [first] = group.requests;
  const noun = NOUNS[`${first.name} ${first.method}`] ?? (first.method === "DELETE" ? "deletion" : isCommand(group) ? "command" : "request");
  // The users change feed itself writes only reservations and the user to `users`.
  const copies = operationsOf(group).filter(
    one => isWrite(one) && (one.source === "on_posts_changed" || (one.source === "on_users_changed" && one.container === "posts")),
  );
  const copied = Math.round(sum(copies.map(one => one.items)));
  const posts = Math.max(0, ...copies.filter(one => one.container === "posts").map(one => one.partitions));
  const places = posts ? count(posts, "post") : [...new Set(copies.map(one => one.container))].sort().reverse().join(" and ");
  const what = group.requests.length === 1 && first.title.includes("fifty times") ? "50 likes" : count(group.requests.length, noun);
  if (!isCommand(group)) return `${what}: ${ru(atOnce(group))}.`;
  const charges = [`${ru(atOnce(group))} at once`];
  if (group.deliveries.length) {
    const seconds = (Math.max(...group.deliveries.map(({ record }) => record.finishedAt)) - first.finishedAt) / 1000;
    charges.push(`${ru(byFeeds(group))} by the change feeds`);
    // The feed of the container that the command wrote to. Changes that its fan-out wrote can be delivered before it ends.
    const own = group.deliveries.filter(({ record }) => record.name === (first.name === "C1" ? "on_users_changed" : "on_posts_changed"));
    const isDone = own.at(-1)?.record.finished && group.deliveries.at(-1).record.finished;
    charges.push(isDone ? `done after ${seconds.toFixed(1)} s` : "not done yet");
  }
  return `${what}${copied ? `: ${count(copied, "copy")} in ${places}` : ""}. ${charges.join(", ")}.`;
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
