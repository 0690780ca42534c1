// Change feed processors, such as Cosmos DB triggers, and how far each is behind.
//
// A processor keeps a lease for each physical partition, in a container partitioned by /id or /partitionKey. The lease's id is
// <prefix><account host>_<database rid>_<container rid>..<partition key range>. The lag is that of the SDKs' estimator: read one
// change after the lease's continuation token; the lag is the page's LSN, minus that of the change, plus one.

import * as api from "./api.js";
import {cell, element, table} from "./dom.js";
import {everySecond} from "./polling.js";
import {linkTo} from "./route.js";
import {lsnOf} from "./session-tokens.js";
import {Status} from "./status.js";

const LEASES = "SELECT * FROM c WHERE IS_DEFINED(c.LeaseToken) AND IS_DEFINED(c.ContinuationToken)";
const LEASE_ID = /^(.*)_([^_]+)_([^_]+)\.\.[^.]+$/;
const EXPIRED_AFTER_MS = 60_000; // the default expiration interval of a lease

export function processors(databases, signal) {
  const status = new Status();
  const shown = element("div");
  const containers = databases.flatMap(([database, found]) => found.map((container) => ({database, container})));
  const refresh = async () => {
    const found = await measured(containers);
    status.say("");
    const next = element("div", {}, ...(found.length ? [processorTable(found)] : []));
    if (next.textContent !== shown.textContent) shown.replaceChildren(...next.children); // keeps the focus if nothing changed
    return found.length > 0;
  };
  refresh()
    .then((some) => some && everySecond(() => refresh().catch((error) => status.fail(error)), signal))
    .catch((error) => status.fail(error));
  return element("div", {}, shown, status.node);
}

async function measured(containers) {
  const found = new Map();
  for (const {container} of containers.filter((one) => canHaveLeases(one.container))) {
    const leases = (await api.query(container._self, "docs", LEASES, [], {"x-ms-max-item-count": "1000"})).body.Documents;
    for (const lease of leases) {
      const [, name, , rid] = LEASE_ID.exec(lease.id) ?? [];
      const watched = containers.find((one) => one.container._rid === rid);
      if (!watched) continue; // the leases of a deleted container
      const one = found.get(name) ?? {name: name.replace(location.hostname, "").replace(/-$/, ""), watched, changes: 0, states: new Set()};
      one.changes += await waiting(watched.container, lease);
      one.states.add(stateOf(lease));
      found.set(name, one);
    }
  }
  return [...found.values()];
}

const canHaveLeases = ({partitionKey}) => ["/id", "/partitionKey"].includes(partitionKey.paths.join());

/** The number of transactions after a lease's continuation token. */
async function waiting(container, {LeaseToken: range, ContinuationToken: continuation}) {
  const page = await api.list(container._self, "docs", {
    "a-im": "Incremental Feed",
    "x-ms-max-item-count": "1",
    "x-ms-documentdb-partitionkeyrangeid": range,
    ...(continuation && {"if-none-match": continuation}),
  });
  const [change] = page.body?.Documents ?? [];
  return change ? lsnOf(page.headers.get("x-ms-session-token")) - change._lsn + 1 : 0;
}

function stateOf({Owner: owner, timestamp}) {
  if (!owner) return "stopped";
  return Date.now() - Date.parse(timestamp) > EXPIRED_AFTER_MS ? "lease expired" : "running";
}

function processorTable(found) {
  const lines = found.map(({name, watched: {database, container}, changes, states}) =>
    element(
      "tr",
      {},
      cell(name),
      element("td", {}, element("a", {href: linkTo({database: database.id, container: container.id})}, container.id)),
      cell(changes.toLocaleString("en"), "number"),
      cell([...states].sort().join(", ")),
    ),
  );
  const titles = [{title: "Processor"}, {title: "Container"}, {title: "Changes waiting", number: true}, {title: "State"}];
  return table("Change feed processors", titles, lines);
}
