// Which work belongs to which command. A delivery of changes names the commands that caused it, by trace.

const NOUNS = {
  "C1 POST": "new user", "C1 PUT": "rename", "C2 POST": "new post", "C2 PUT": "edit", "C3 POST": "comment", "C4 POST": "like",
};
const WRITES = /^(batch|create|patch|replace|upsert|delete|stored procedure)/;
const REFUSED = 207;
// A command is done if nothing more arrives for some polls of the change feeds and of inspector.js.
const QUIET_MS = 2000;

/** Numbers with thousands separators; charges with two decimals if they are small. */
export const number = value => value.toLocaleString("en", { maximumFractionDigits: 1 });
export const ru = charge =>
  `${charge.toLocaleString("en", charge < 1000 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumFractionDigits: 0 })} RU`;
export const sum = values => values.reduce((total, value) => total + value, 0);
export const count = (value, noun) => `${number(value)} ${value === 1 ? noun : noun.replace(/y$/, "ie").replace(/(ch)$/, "$1e")}${value === 1 ? "" : "s"}`;

/**
 * Each request, newest first, with its share of the deliveries that it caused.
 * @returns {{key: number, request: object, deliveries: {record: object, share: number, charge: number, items: number}[]}[]}
 */
export function groupsOf(records) {
  const groups = records.filter(one => one.kind === "request").map(request => ({ key: request.number, request, deliveries: [] }));
  const byTrace = new Map(groups.map(group => [group.request.trace, group]));
  const deliveries = records.filter(one => one.kind === "delivery").sort((a, b) => a.startedAt - b.startedAt);
  for (const record of deliveries) {
    for (const [trace, cause] of Object.entries(record.causes)) byTrace.get(trace)?.deliveries.push({ record, ...cause });
  }
  return groups.reverse();
}

export const isCommand = group => !["GET", "HEAD"].includes(group.request.method);
export const byFeeds = group => sum(group.deliveries.map(one => one.charge));

/** The operations of a group with their share of items and charge, and when they ran, in ms after the request began. */
export function operationsOf({ request, deliveries, members }) {
  if (members) return members.flatMap(operationsOf);
  const timed = (record, operation, share) => ({
    ...operation,
    source: record === request ? "requests" : record.name,
    at: record.startedAt - request.startedAt + operation.atMs,
    until: record.startedAt - request.startedAt + operation.untilMs,
    count: operation.count * share,
    items: operation.items * share,
    charge: operation.charge * share,
  });
  return [
    ...request.operations.map(one => timed(request, one, 1)),
    // A fan-out belongs to one command; the others share the rest of a delivery.
    ...deliveries.flatMap(({ record, share }) =>
      record.operations
        .filter(one => !one.cause || one.cause === request.trace)
        .map(one => timed(record, one, one.cause ? 1 : share)),
    ),
  ];
}

/** What the change feeds wrote to copies. The users change feed itself writes only reservations and the user to `users`. */
const copiesOf = operations => operations.filter(
  one => WRITES.test(one.kind) && one.status < 400 && one.status !== REFUSED &&
    (one.source === "on_posts_changed" || (one.source === "on_users_changed" && one.container === "posts")),
);
/** The tour likes fifty times in one request. */
export const timesOf = ({ request, requests = 1 }) => request.title.includes("fifty times") ? 50 * requests : requests;

/** Groups of the same command as one, with the total of their charges; `failures` are the refused ones, which were repeated. */
export function merged(groups) {
  const found = Map.groupBy(groups, ({ request }) => `${request.method} ${request.title}`);
  return [...found.values()].map(same => {
    const done = same.filter(({ request }) => request.status < 400);
    const [last] = done.length ? done : same;
    const requests = same.map(one => one.request);
    return {
      ...last,
      request: { ...last.request, charge: sum(requests.map(one => one.charge)), finishedAt: Math.max(...requests.map(one => one.finishedAt)) },
      members: same,
      requests: done.length || 1,
      failures: done.length ? same.length - done.length : 0,
      deliveries: same.flatMap(one => one.deliveries).sort((a, b) => a.record.startedAt - b.record.startedAt),
    };
  });
}

/** The deliveries that failed, each counted once. */
const failuresOf = group => new Set(group.deliveries.filter(({ record }) => !record.finished).map(({ record }) => record.number)).size;

/** The charge of fifty likes per like, and of a rename per copy; empty for others. */
export function perUnit(group) {
  // Repeated work is charged again, so the price of one would mislead.
  if (group.failures || failuresOf(group) || group.request.status >= 400) return "";
  if (timesOf(group) > 1) return `${ru((group.request.charge + byFeeds(group)) / timesOf(group))} per like.`;
  const copied = sum(copiesOf(operationsOf(group)).map(one => one.items));
  return copied && group.request.name === "C1" ? `${ru(byFeeds(group) / copied)} per copy.` : "";
}

/** The charges of a command, and whether it is done: "17.96 RU by the command, 11,057 RU by the change feeds, done after 1.9 s". */
export function chargesOf(group) {
  const { request, deliveries } = group;
  const charges = [`${ru(request.charge)} by the command`];
  if (deliveries.length) {
    const seconds = (Math.max(...deliveries.map(({ record }) => record.finishedAt)) - request.finishedAt) / 1000;
    charges.push(`${ru(byFeeds(group))} by the change feeds`);
    // The feed of the container that the command wrote to. Changes that its fan-out wrote can be delivered before it ends.
    const wroteUser = request.operations.some(({ container, kind }) => container === "users" && WRITES.test(kind));
    const own = deliveries.filter(({ record }) => record.name === (wroteUser ? "on_users_changed" : "on_posts_changed"));
    const isDone = own.at(-1)?.record.finished && deliveries.at(-1).record.finished;
    const isQuiet = Date.now() - Math.max(...deliveries.map(({ record }) => record.seenAt)) > QUIET_MS;
    charges.push(isDone && isQuiet ? `done after ${seconds.toFixed(seconds < 1 ? 2 : 1)} s` : "still running");
  }
  return charges.join(", ");
}

/** One line such as "1 rename: 1,012 copies in posts. 17.96 RU by the command, 11,057 RU by the change feeds, done after 1.9 s." */
export function summaryOf(group) {
  const { request, failures = 0 } = group;
  const { name, method, charge, status } = request;
  const noun = NOUNS[`${name} ${method}`] ?? (method === "DELETE" ? "deletion" : isCommand(group) ? "command" : "request");
  const what = `${count(timesOf(group), noun)}${status < 400 ? "" : `, answered with ${status}`}`;
  if (!isCommand(group)) return `${what}: ${ru(charge)}.`;
  const operations = operationsOf(group);
  const copies = copiesOf(operations);
  const copied = Math.round(sum(copies.map(one => one.items)));
  const containers = [...new Set(copies.map(one => one.container))].sort().reverse();
  const places = containers.includes("posts") ? "posts" : containers.join(" and ");
  const refused = sum(operations.filter(one => one.status === 429).map(one => one.count));
  const failed = failuresOf(group);
  return [
    `${what}${copied ? `: ${count(copied, "copy")} in ${places}` : ""}. ${chargesOf(group)}.`,
    ...(refused ? [`${count(Math.ceil(refused), "request")} got 429, waited and ran again.`] : []),
    ...(failures ? [`${count(failures, "request")} failed and ran again.`] : []),
    ...(failed ? [`${count(failed, "delivery")} failed and ran again.`] : []),
  ].join(" ");
}
