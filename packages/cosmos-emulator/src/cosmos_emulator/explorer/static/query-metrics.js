// What the emulator reports about a page of a query: counts, and the indexes that it used.

import {cell, element, table} from "./dom.js";

const LABELS = {
  retrievedDocumentCount: "Items that the service would load",
  retrievedDocumentSize: "Bytes that the service would load",
  outputDocumentCount: "Rows returned",
  outputDocumentSize: "Bytes returned",
  indexHitDocumentCount: "Items loaded that match the filter",
};

export function metricsView(answer) {
  return element("div", {}, countsTable(answer.headers), ...indexTables(answer.headers));
}

function countsTable(headers) {
  const text = headers.get("x-ms-documentdb-query-metrics") ?? "";
  const counts = new Map(text.split(";").map((pair) => pair.split("=")));
  const rows = Object.entries(LABELS)
    .filter(([name]) => counts.has(name))
    .map(([name, label]) => element("tr", {}, cell(label), cell(Number(counts.get(name)).toLocaleString("en"), "number")));
  return table("Last page. The emulator does not measure times.", [{title: "Metric"}, {title: "Value", number: true}], rows);
}

function indexTables(headers) {
  const encoded = headers.get("x-ms-cosmos-index-utilization");
  if (!encoded) return [element("p", {className: "quiet"}, "The emulator reported no index metrics.")];
  const metrics = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(encoded), (one) => one.charCodeAt(0))));
  const used = [...specsOf(metrics.UtilizedSingleIndexes), ...specsOf(metrics.UtilizedCompositeIndexes)];
  const potential = [...specsOf(metrics.PotentialSingleIndexes), ...specsOf(metrics.PotentialCompositeIndexes)];
  return [
    ...(used.length ? [indexTable("Indexes used", used)] : [element("p", {}, "No index narrowed this query: it loaded every item in its scope.")]),
    ...(potential.length ? [indexTable("Indexes that would help", potential)] : []),
  ];
}

const indexTable = (caption, specs) =>
  table(caption, [{title: "Path"}, {title: "Impact"}], specs.map(([spec, impact]) => element("tr", {}, cell(spec, "key"), cell(impact))));

const specsOf = (indexes = []) =>
  indexes.map(({IndexSpec, IndexSpecs, IndexImpactScore}) => [IndexSpec ?? IndexSpecs.join(", "), IndexImpactScore]);
