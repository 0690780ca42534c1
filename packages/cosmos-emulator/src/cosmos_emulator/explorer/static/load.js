// Request charge and load of each physical partition, as charts and as a table.

import * as api from "./api.js";
import {bars, columns, legend} from "./charts.js";
import {cell, element, table} from "./dom.js";
import {readLoad} from "./emulator.js";
import {everySecond} from "./polling.js";
import {provisioned} from "./settings.js";
import {Status, count, ru} from "./status.js";

const HOT_SHARE = 0.6; // of the charge, with several partitions

export function loadView({container, database, signal}) {
  const status = new Status();
  const body = element("div");
  const node = element("div", {}, status.node, body);
  status.during(async () => {
    const [read, ranges, throughput] = await Promise.all([
      api.read(container._self, {"x-ms-documentdb-populatepartitionstatistics": "true"}),
      api.list(container._self, "pkranges"),
      provisioned(container, database),
    ]);
    const partitions = ranges.body.PartitionKeyRanges.map(({id}) => ({id, ...read.body.statistics.find((one) => one.id === id)}));
    const refresh = async () => render(body, partitions, throughput, await readLoad(container._rid));
    await refresh();
    status.say("Updated every second. The explorer's own requests count, too.");
    everySecond(refresh, signal).catch((error) => status.fail(error));
  });
  return node;
}

function render(body, partitions, throughput, load) {
  const rows = partitions.map((one) => ({...one, ...totals(load.partitions[one.id] ?? [])}));
  const totalRu = rows.reduce((sum, one) => sum + one.chargeRu, 0);
  const ids = rows.map(({id}) => id);
  const seconds = Array.from({length: load.windowS}, (_, index) => load.now - load.windowS + 1 + index);
  const chargeIn = (id, second) => load.partitions[id]?.find((one) => one.second === second)?.chargeRu ?? 0;
  body.replaceChildren(
    element("h3", {}, "Request charge per second, last two minutes"),
    legend(ids),
    columns({
      label: `${ru(totalRu)} in the last two minutes`,
      series: ids.map((id) => seconds.map((second) => chargeIn(id, second))),
      limit: throughput?.ruPerSecond,
      limitLabel: throughput && `provisioned: ${throughput.text}`,
    }),
    element("h3", {}, "Request charge by physical partition"),
    bars(rows.map(({id, chargeRu}) => ({name: `Partition ${id}`, value: chargeRu, text: ru(chargeRu)}))),
    ...hot(rows, totalRu),
    details(rows),
  );
}

const totals = (seconds) => ({
  chargeRu: seconds.reduce((sum, one) => sum + one.chargeRu, 0),
  requests: seconds.reduce((sum, one) => sum + one.requests, 0),
  throttled: seconds.reduce((sum, one) => sum + one.throttled, 0),
});

function hot(rows, totalRu) {
  const hottest = rows.reduce((one, other) => (other.chargeRu > one.chargeRu ? other : one), rows[0]);
  if (rows.length < 2 || !totalRu || hottest.chargeRu < totalRu * HOT_SHARE) return [];
  const share = Math.round((hottest.chargeRu / totalRu) * 100);
  return [element("p", {className: "note"}, `Partition ${hottest.id} took ${share}% of the charge. If this lasts, its partition key values are hot: a partition can use only its share of the throughput.`)];
}

function details(rows) {
  const lines = rows.map((one) =>
    element(
      "tr",
      {},
      cell(one.id),
      cell(ru(one.chargeRu), "number"),
      cell(one.requests.toLocaleString("en"), "number"),
      cell(one.throttled.toLocaleString("en"), "number"),
      cell(one.documentCount.toLocaleString("en"), "number"),
      cell(one.sizeInKB.toLocaleString("en"), "number"),
    ),
  );
  const columns = [["Partition"], ["Charge"], ["Requests"], ["Throttled"], ["Items"], ["KB on disk"]].map(([title], index) => ({title, number: index > 0}));
  return table(`${count(rows.length, "physical partition")}: the last two minutes, and what is stored`, columns, lines);
}
