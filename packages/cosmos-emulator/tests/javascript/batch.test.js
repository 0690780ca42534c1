import assert from "node:assert/strict";
import { test } from "node:test";

import { newContainer } from "./account.js";

test("a transactional batch runs its operations in order", async () => {
  const container = await newContainer();

  const { result } = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "a", pk: "p", n: 1 } },
      { operationType: "Upsert", resourceBody: { id: "b", pk: "p" } },
      { operationType: "Replace", id: "a", resourceBody: { id: "a", pk: "p", n: 2 } },
      { operationType: "Patch", id: "a", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
      { operationType: "Read", id: "a" },
      { operationType: "Delete", id: "b" },
    ],
    "p",
  );

  assert.deepEqual(result.map((one) => one.statusCode), [201, 201, 200, 200, 200, 204]);
  assert.equal(result[4].resourceBody.n, 3);
});

test("one failure rolls back the batch", async () => {
  const container = await newContainer();

  const { code, result } = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "a", pk: "p" } },
      { operationType: "Read", id: "none" },
      { operationType: "Create", resourceBody: { id: "b", pk: "p" } },
    ],
    "p",
  );

  assert.equal(code, 207);
  assert.deepEqual(result.map((one) => one.statusCode), [424, 404, 424]);
  assert.deepEqual((await container.items.readAll().fetchAll()).resources, []);
});

test("bulk operations succeed or fail independently", async () => {
  const container = await newContainer();
  await container.items.create({ id: "there", pk: "key 0" });
  const creates = Array.from({ length: 150 }, (_, n) => ({
    operationType: "Create",
    partitionKey: `key ${n % 40}`,
    resourceBody: { id: `${n}`, pk: `key ${n % 40}` },
  }));
  const others = [
    { operationType: "Create", partitionKey: "key 0", resourceBody: { id: "there", pk: "key 0" } },
    { operationType: "Read", partitionKey: "key 0", id: "none" },
    { operationType: "Delete", partitionKey: "key 0", id: "there" },
  ];

  const results = await container.items.executeBulkOperations([...creates, ...others]);

  const statuses = results.map((one) => one.response?.statusCode ?? one.error?.code);
  assert.ok(statuses.slice(0, 150).every((status) => status === 201));
  assert.deepEqual(statuses.slice(150), [409, 404, 204]);
  assert.equal((await container.items.readAll().fetchAll()).resources.length, 150);
});

test("the legacy bulk call returns results in order", async () => {
  const container = await newContainer();

  const results = await container.items.bulk(
    [
      { operationType: "Create", partitionKey: "p", resourceBody: { id: "a", pk: "p", n: 1 } },
      { operationType: "Create", partitionKey: "q", resourceBody: { id: "a", pk: "q" } },
      { operationType: "Patch", partitionKey: "p", id: "none", resourceBody: { operations: [{ op: "remove", path: "/n" }] } },
    ],
    { continueOnError: true },
  );

  assert.deepEqual(results.map((one) => one.statusCode), [201, 201, 404]);
});

test("a batch can omit response bodies", async () => {
  const container = await newContainer();
  const create = { operationType: "Create", resourceBody: { id: "a", pk: "p" } };

  const { result } = await container.items.batch([create], "p", { contentResponseOnWriteEnabled: false });

  assert.deepEqual([result[0].statusCode, result[0].resourceBody], [201, undefined]);
});

test("a batch without content responses returns no items", async () => {
  const container = await newContainer();
  const operations = [{ operationType: "Create", resourceBody: { id: "a", pk: "p" } }];

  const { result } = await container.items.batch(operations, "p", { contentResponseOnWriteEnabled: false });

  assert.equal(result[0].statusCode, 201);
  assert.equal(result[0].resourceBody, undefined);
});
