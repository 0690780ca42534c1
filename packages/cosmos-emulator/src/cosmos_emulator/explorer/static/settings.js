// A container's definition, which can be edited in part, its throughput and its physical partitions.

import * as api from "./api.js";
import {CodeEditor} from "./code-editor.js";
import {confirmed, formDialog} from "./dialogs.js";
import {button, cell, element, field, json, table} from "./dom.js";
import {go} from "./route.js";
import {Status, cost, count} from "./status.js";

export function settingsView({container, database, reload}) {
  const status = new Status();
  const node = element("div", {}, status.node);
  status.during(async () => {
    const [read, ranges, throughput] = await Promise.all([
      api.read(container._self, {"x-ms-documentdb-populatepartitionstatistics": "true"}),
      api.list(container._self, "pkranges"),
      provisioned(container, database),
    ]);
    node.append(
      facts(read.body, throughput?.text ?? "not shown: with --rbac, this key is limited to data operations"),
      partitions(read.body.statistics, ranges.body.PartitionKeyRanges),
      definitionForm(read.body),
      element("h3", {}, "Deletion"),
      button("Delete this container…", () => deleted(container, status, reload), {className: "danger"}),
      " ",
      button("Delete the whole database…", () => deletedByName(database, reload), {className: "danger"}),
    );
    status.say("");
  });
  return node;
}

async function deleted(resource, status, reload) {
  if (!(await confirmed(`Delete ${resource.id}?`, "All of its items and scripts are deleted, too. They cannot be restored.", "Delete"))) return;
  status.during(async () => {
    await api.remove(resource._self);
    go({page: "overview"});
    await reload();
  });
}

/** Delete a database after its name is entered. */
function deletedByName(database, reload) {
  const name = element("input", {id: "database-to-delete", spellcheck: false, autocomplete: "off"});
  const text = "All of its containers, items and scripts are deleted, too. They cannot be restored.";
  formDialog(`Delete the database ${database.id}?`, [element("p", {}, text), field("Name", name, "Enter it to confirm.")], "Delete", async () => {
    if (name.value !== database.id) throw new Error(`Enter the name of the database: ${database.id}`);
    await api.remove(database._self);
    go({page: "overview"});
    await reload();
  });
}

/** The throughput of a container or its database, or null if the key cannot read it. */
export async function provisioned(container, database) {
  let offers;
  try {
    offers = (await api.list("", "offers")).body.Offers;
  } catch (error) {
    if (error.status === 403) return null;
    throw error;
  }
  const own = offers.find((offer) => offer.offerResourceId === container._rid);
  const shared = offers.find((offer) => offer.offerResourceId === database._rid);
  if (own) return described(own.content);
  if (!shared) return {text: "none provisioned: throttled as 400 RU/s", ruPerSecond: 400};
  const {text, ruPerSecond} = described(shared.content);
  return {text: `${text}, shared by the database`, ruPerSecond};
}

function described({offerThroughput, offerAutopilotSettings}) {
  const most = offerAutopilotSettings?.maxThroughput;
  return most ? {text: `autoscale up to ${most} RU/s`, ruPerSecond: most} : {text: `${offerThroughput} RU/s`, ruPerSecond: offerThroughput};
}

function facts({partitionKey, defaultTtl, uniqueKeyPolicy, globalSecondaryIndexDefinition: source, _etag, _rid}, throughput) {
  const unique = (uniqueKeyPolicy?.uniqueKeys ?? []).map(({paths}) => paths.join(", ")).join("; ");
  const entries = {
    "Partition key": `${partitionKey.paths.join(", ")} (${partitionKey.kind}, version ${partitionKey.version ?? 1})`,
    Throughput: throughput,
    "Time to live": defaultTtl === undefined || defaultTtl === null ? "off" : defaultTtl === -1 ? "on, per item" : `${defaultTtl} s`,
    "Unique keys": unique || "none",
    ...(source && {"Index of": `${source.sourceCollectionId} (${source.definition})`, Status: source.status}),
    "Resource ID": _rid,
    ETag: _etag,
  };
  const pairs = Object.entries(entries).map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text)));
  return element("dl", {id: "facts"}, ...pairs);
}

/** What can change after creation: the indexing policy and the time to live. */
function definitionForm(definition) {
  const status = new Status();
  const ttl = element("input", {id: "ttl", type: "number", min: -1, value: definition.defaultTtl ?? "", placeholder: "off"});
  const policy = new CodeEditor("json", {id: "indexing-policy", value: json(definition.indexingPolicy)});
  let current = definition;
  const onsubmit = (event) => {
    event.preventDefault();
    status.during(async () => {
      const {defaultTtl, statistics, ...rest} = current;
      const changed = {...rest, indexingPolicy: policy.parsed("The indexing policy"), ...(ttl.value && {defaultTtl: Number(ttl.value)})};
      const answer = await api.replace(current._self, changed, {"if-match": current._etag});
      current = answer.body;
      policy.value = json(current.indexingPolicy);
      status.say(`Saved: ${cost(answer)}`, "success");
    });
  };
  return element(
    "form",
    {onsubmit, className: "editor"},
    element("h3", {}, "Time to live and indexing policy"),
    field("Time to live in seconds", ttl, "Empty: off. -1: only for items with a ttl."),
    field("Indexing policy (JSON)", policy.node),
    element("div", {className: "actions"}, element("button", {type: "submit", "aria-keyshortcuts": "Control+S"}, "Save")),
    status.node,
  );
}

function partitions(statistics, ranges) {
  const total = statistics.reduce((sum, {documentCount}) => sum + documentCount, 0);
  const lines = ranges.map(({id, minInclusive, maxExclusive}) => {
    const {documentCount = 0, sizeInKB = 0} = statistics.find((one) => one.id === id) ?? {};
    return element(
      "tr",
      {},
      cell(id),
      cell(`${minInclusive || "start"} – ${maxExclusive}`, "key"),
      cell(documentCount.toLocaleString("en"), "number"),
      cell(sizeInKB.toLocaleString("en"), "number"),
    );
  });
  const columns = [{title: "Partition"}, {title: "Range of hashed keys"}, {title: "Items", number: true}, {title: "KB on disk", number: true}];
  return table(`${count(total, "item")} in ${count(ranges.length, "physical partition")}`, columns, lines);
}
