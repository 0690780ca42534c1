// A container of its own for each test, in the emulator that the environment names.
import { randomUUID } from "node:crypto";

import { CosmosClient } from "@azure/cosmos";

export const client = new CosmosClient({
  endpoint: process.env.COSMOS_ENDPOINT,
  key: process.env.COSMOS_KEY,
});

/** A new database with one container, partitioned by `/pk` unless `definition` says otherwise. */
export async function newContainer(definition = {}) {
  const { database } = await client.databases.create({ id: `db ${randomUUID()}` });
  const { container } = await database.containers.create({
    id: "items",
    partitionKey: { paths: ["/pk"] },
    ...definition,
  });
  return container;
}

/** 24 items over 12 keys: `n` is 0 to 23, `kind` is n modulo 3, `text` is missing from every second one. */
export async function newSpread() {
  const container = await newContainer();
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

/** For assert.rejects: the error of the SDK with this status and, where given, this sub-status. */
export function refused(code, substatus) {
  return (error) => error.code === code && (substatus === undefined || error.substatus === substatus);
}
