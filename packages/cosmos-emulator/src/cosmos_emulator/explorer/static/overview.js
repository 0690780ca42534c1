// The first page: how to connect, and what there is.

import * as api from "./api.js";
import {button, copyable, element, field, select} from "./dom.js";
import {createSample} from "./new-resources.js";
import {processors} from "./processors.js";
import {linkTo} from "./route.js";
import {currentKey, hasOwnKey} from "./signature.js";
import {Status, count} from "./status.js";

export function overview(databases, reload, signal) {
  const endpoint = `${location.origin}/`;
  const shownKey = hasOwnKey() ? "(the key that you entered)" : currentKey();
  const connection = (key) => `AccountEndpoint=${endpoint};AccountKey=${key};`;
  const example = element("div");
  const language = select({id: "language"}, [["python", "Python"], ["javascript", "JavaScript"], ["csharp", ".NET"]]);
  const showExample = () => example.replaceChildren(copyable("the sample code", SAMPLES[language.value](endpoint, currentKey()), SAMPLES[language.value](endpoint, shownKey)));
  language.addEventListener("change", showExample);
  showExample();
  return element(
    "div",
    {className: "page"},
    element("h2", {}, databases.length ? "Overview" : "Welcome: this account is empty"),
    ...(databases.length ? [contents(databases), processors(databases, signal)] : [beginning(reload)]),
    element("h3", {}, "Connection string"),
    copyable("the connection string", connection(currentKey()), connection(shownKey)),
    element("h3", {}, "Sample code"),
    field("Language", language),
    example,
  );
}

function beginning(reload) {
  const status = new Status();
  return element(
    "div",
    {},
    element("p", {}, "Create sample data to look around, make a database of your own with “New database…”, or let your app do it with the connection string below."),
    element("div", {className: "actions"}, button("Create sample data", () => status.during(() => createSample(reload)), {className: "primary"})),
    status.node,
  );
}

function contents(databases) {
  const counts = new Map(databases.flatMap(([, containers]) => containers).map((one) => [one, element("span", {className: "quiet"})]));
  showCounts(counts);
  const entries = databases.map(([database, containers]) => {
    const links = containers.map((one) =>
      element("li", {}, element("a", {href: linkTo({database: database.id, container: one.id})}, one.id), " ", counts.get(one)),
    );
    return element(
      "section",
      {className: "card", "aria-label": database.id},
      element("h3", {}, database.id),
      element("p", {className: "quiet"}, count(containers.length, "container")),
      element("ul", {}, ...links),
    );
  });
  return element("div", {className: "cards"}, ...entries);
}

/** Fill in the number of items of each container, one request at a time. */
async function showCounts(counts) {
  for (const [container, node] of counts) {
    try {
      const {statistics} = (await api.read(container._self, {"x-ms-documentdb-populatepartitionstatistics": "true"})).body;
      node.textContent = count(statistics.reduce((sum, {documentCount}) => sum + documentCount, 0), "item");
    } catch (error) {
      node.title = error.message; // for example, the container was deleted
    }
  }
}

const SAMPLES = {
  python: (endpoint, key) => `# pip install azure-cosmos
from azure.cosmos import CosmosClient, PartitionKey

client = CosmosClient("${endpoint}", "${key}")
shop = client.create_database_if_not_exists("shop")
orders = shop.create_container_if_not_exists("orders", PartitionKey("/customer"))
orders.upsert_item({"id": "1", "customer": "ada", "total": 42})
`,
  javascript: (endpoint, key) => `// npm install @azure/cosmos
import {CosmosClient} from "@azure/cosmos";

const client = new CosmosClient({endpoint: "${endpoint}", key: "${key}"});
const {database} = await client.databases.createIfNotExists({id: "shop"});
const {container} = await database.containers.createIfNotExists({id: "orders", partitionKey: "/customer"});
await container.items.upsert({id: "1", customer: "ada", total: 42});
`,
  csharp: (endpoint, key) => `// dotnet add package Microsoft.Azure.Cosmos
using Microsoft.Azure.Cosmos;

// The emulator does not emulate direct mode.
var options = new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway };
using var client = new CosmosClient("${endpoint}", "${key}", options);
Database shop = await client.CreateDatabaseIfNotExistsAsync("shop");
Container orders = await shop.CreateContainerIfNotExistsAsync("orders", "/customer");
await orders.UpsertItemAsync(new { id = "1", customer = "ada", total = 42 });
`,
};
