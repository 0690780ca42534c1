// A container's definition, throughput, and physical partitions.

import * as api from "./api.js";
import {Status, cell, element, json, table} from "./dom.js";

export function settingsView(container, database) {
  const status = new Status();
  const node = element("section", {"aria-label": "Settings"}, status.node);
  status.during(async () => {
    const [read, ranges, offers] = await Promise.all([
      api.read(container._self, {"x-ms-documentdb-populatepartitionstatistics": "true"}),
      api.list(container._self, "pkranges"),
      readableOffers(),
    ]);
    node.append(
      facts(read.body, throughput(offers, container, database)),
      partitions(read.body.statistics, ranges.body.PartitionKeyRanges),
      element("h3", {}, "Indexing policy"),
      element("pre", {id: "indexing-policy", tabIndex: 0, "aria-label": "Indexing policy"}, json(read.body.indexingPolicy)),
    );
    status.say("");
  });
  return node;
}

/** The account's offers, or null if the key cannot read them. */
async function readableOffers() {
  try {
    return (await api.list("", "offers")).body.Offers;
  } catch (error) {
    if (error.status === 403) return null;
    throw error;
  }
}

function facts({partitionKey, defaultTtl, uniqueKeyPolicy, _etag}, offered) {
  const unique = (uniqueKeyPolicy?.uniqueKeys ?? []).map(({paths}) => paths.join(", ")).join("; ");
  const entries = {
    "Partition key": `${partitionKey.paths.join(", ")} (${partitionKey.kind}, version ${partitionKey.version ?? 2})`,
    Throughput: offered,
    "Time to live": defaultTtl === undefined || defaultTtl === null ? "off" : defaultTtl === -1 ? "on, per item" : `${defaultTtl} s`,
    "Unique keys": unique || "none",
    ETag: _etag,
  };
  const pairs = Object.entries(entries).flatMap(([term, text]) => [element("dt", {}, term), element("dd", {}, text)]);
  return element("dl", {id: "facts"}, ...pairs);
}

function throughput(offers, container, database) {
  if (offers === null) return "not shown: with --rbac, this key is limited to data operations";
  const own = offers.find((offer) => offer.offerResourceId === container._rid);
  const shared = offers.find((offer) => offer.offerResourceId === database._rid);
  if (own) return describe(own.content);
  return shared ? `${describe(shared.content)}, shared by the database` : "none provisioned";
}

function describe({offerThroughput, offerAutopilotSettings}) {
  return offerAutopilotSettings ? `autoscale up to ${offerAutopilotSettings.maxThroughput} RU/s` : `${offerThroughput} RU/s`;
}

function partitions(statistics, ranges) {
  const total = statistics.reduce((sum, {documentCount}) => sum + documentCount, 0);
  const lines = ranges.map(({id, minInclusive, maxExclusive}) => {
    const {documentCount, sizeInKB} = statistics.find((one) => one.id === id);
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
  return table(`${total.toLocaleString("en")} items in ${ranges.length} physical partitions`, columns, lines);
}
