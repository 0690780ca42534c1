// Creates containers for tests, in the emulator that the environment variables name.
import { randomUUID } from "node:crypto";

import { CosmosClient } from "@azure/cosmos";

export const client = new CosmosClient({
  endpoint: process.env.COSMOS_ENDPOINT,
  key: process.env.COSMOS_KEY,
});

/** Create a database with one container, partitioned by `/pk` by default. */
export async function newContainer(definition = {}) {
  const { database } = await client.databases.create({ id: `db ${randomUUID()}` });
  const { container } = await database.containers.create({
    id: "items",
    partitionKey: { paths: ["/pk"] },
    ...definition,
  });
  return container;
}

/** Create 24 items with 12 keys: `n` is 0 to 23, `kind` is n modulo 3, and `text` exists if `n` is odd. */
export async function newSpread() {
  const orders = ["ascending", "descending"].map((order) => [{ path: "/kind", order }, { path: "/n" }]);
  const container = await newContainer({ indexingPolicy: { compositeIndexes: orders } });
  const items = Array.from({ length: 24 }, (_, n) => ({
    id: `${n}`,
    pk: `key ${n % 12}`,
    n,
    kind: n % 3,
    ...(n % 2 ? { text: `t${n}` } : {}),
  }));
  await Promise.all(items.map((item) => container.items.create(item)));
  return container;
}

/** For assert.rejects: match an SDK error by status and optional sub-status. */
export function failsWith(code, substatus) {
  return (error) => error.code === code && (substatus === undefined || error.substatus === substatus);
}
