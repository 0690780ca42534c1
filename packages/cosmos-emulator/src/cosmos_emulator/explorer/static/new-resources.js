// Dialogs that create databases and containers, and a sample to try the explorer with.

import * as api from "./api.js";
import {element, field, select} from "./dom.js";
import {formDialog} from "./dialogs.js";
import {go, route} from "./route.js";
import {KINDS} from "./script-kinds.js";

const CUSTOMERS = ["ada", "grace", "alan", "edsger", "barbara", "katherine"];
const SAMPLE_ITEMS = 60;

export function newDatabase(reload) {
  const name = element("input", {id: "database-name", required: true, spellcheck: false, autocomplete: "off"});
  formDialog("New database", [field("Name", name)], "Create database", async () => {
    await api.create("", "dbs", {id: name.value.trim()});
    await reload();
  });
}

/** `databases` are [database, containers]. */
export function newContainer(databases, reload) {
  const owner = select({id: "container-database"}, databases.map(([{id}]) => [id, id]));
  owner.value = route().database ?? databases.at(-1)[0].id;
  const name = element("input", {id: "container-name", required: true, spellcheck: false, autocomplete: "off"});
  const key = element("input", {id: "container-key", required: true, spellcheck: false, placeholder: "/customer"});
  const throughput = element("input", {id: "container-ru", type: "number", min: 400, step: 100, placeholder: "400"});
  const fields = [
    field("Database", owner),
    field("Name", name),
    field("Partition key", key, "A path such as /customer. Up to three, separated by commas, make a hierarchical key."),
    field("Throughput in RU/s", throughput, "Each 10,000 RU/s add a physical partition. Empty: the database's or 400."),
  ];
  formDialog("New container", fields, "Create container", async () => {
    const id = name.value.trim();
    const [database] = databases.find(([one]) => one.id === owner.value);
    const paths = key.value.split(",").map((path) => path.trim().replace(/^(?!\/)/, "/"));
    const kind = paths.length > 1 ? "MultiHash" : "Hash";
    const headers = throughput.value ? {"x-ms-offer-throughput": throughput.value} : {};
    await api.create(database._self, "colls", {id, partitionKey: {paths, kind, version: 2}}, headers);
    await reload();
    go({database: database.id, container: id, view: "items"});
  });
}

/** Create the container `sample` / `orders` with items and scripts. */
export async function createSample(reload) {
  const database = (await api.create("", "dbs", {id: "sample"})).body;
  const definition = {id: "orders", partitionKey: {paths: ["/customer"], kind: "Hash", version: 2}};
  const container = (await api.create(database._self, "colls", definition)).body;
  const items = Array.from({length: SAMPLE_ITEMS}, (_, number) => orderOf(number));
  for (const item of items) await api.create(container._self, "docs", item, api.partitionKeyHeader([item.customer]));
  await api.create(container._self, "sprocs", {id: "countOrders", body: COUNT_ORDERS});
  await api.create(container._self, "udfs", {id: "withTax", body: KINDS.udfs.code});
  await api.create(container._self, "triggers", {id: "setCreated", triggerType: "Pre", triggerOperation: "Create", body: KINDS.triggers.code});
  await reload();
  go({database: "sample", container: "orders", view: "items"});
}

const orderOf = (number) => ({
  id: `order-${String(number + 1).padStart(3, "0")}`,
  customer: CUSTOMERS[(number * 5 + Math.floor(number / 6)) % CUSTOMERS.length],
  status: ["open", "paid", "shipped"][number % 3],
  total: Math.round((19.5 + ((number * 37) % 240)) * 100) / 100,
  lines: [{product: ["tea", "coffee", "cocoa"][number % 3], quantity: (number % 4) + 1}],
});

const COUNT_ORDERS = `// Count the orders of a customer with at least this total.
function countOrders(least) {
  const query = {query: "SELECT VALUE COUNT(1) FROM c WHERE c.total >= @least",
                 parameters: [{name: "@least", value: least || 0}]};
  const isAccepted = __.queryDocuments(__.getSelfLink(), query, (error, rows) => {
    if (error) throw error;
    console.log("counted " + rows[0] + " orders");
    getContext().getResponse().setBody({orders: rows[0]});
  });
  if (!isAccepted) throw new Error("The query was not accepted.");
}
`;
