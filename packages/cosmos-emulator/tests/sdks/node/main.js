// Runs the scenarios of test_sdk_programs.py with @azure/cosmos, and prints one line of JSON for each.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Agent } from "node:https";

import { BulkOperationType, ChangeFeedStartFrom, CosmosClient, PatchOperationType, StatusCodes } from "@azure/cosmos";

const { COSMOS_ENDPOINT, COSMOS_KEY, COSMOS_TLS_ENDPOINT, COSMOS_CERTIFICATE } = process.env;

const SPREAD = Array.from({ length: 24 }, (_, n) => ({ id: `${n}`, pk: `key ${n % 12}`, n, kind: n % 3 }));
const SPREAD_IDS = SPREAD.map((one) => one.id).sort();

let database;
let items; // 24 items with 12 keys, in several physical partitions

/** Return an item without its system properties. */
const user = (item) => Object.fromEntries(Object.entries(item).filter(([name]) => !name.startsWith("_")));

const ids = (found) => found.map((one) => one.id).sort();

const fails = (operation, code) => assert.rejects(operation, (error) => error.code === code);

async function newDatabase(client) {
  return (await client.databases.create({ id: `node-${randomUUID()}` })).database;
}

async function newContainer(owner, id, ...paths) {
  const kind = paths.length > 1 ? "MultiHash" : "Hash";
  return (await owner.containers.create({ id, partitionKey: { paths, kind, version: 2 } })).container;
}

/** Return the rows of a query, and how many pages had them. */
async function pages(query, options) {
  const iterator = items.items.query(query, options);
  const rows = [];
  let charge = 0;
  let count = 0;
  while (iterator.hasMoreResults()) {
    const page = await iterator.fetchNext();
    const found = page.resources ?? [];
    assert.ok(found.length <= options.maxItemCount);
    rows.push(...found);
    charge += page.requestCharge;
    count += found.length > 0;
  }
  assert.ok(charge > 0);
  return { rows, charge, count };
}

async function create() {
  const expected = { id: "a", pk: "created", n: 1.5, text: "Grüße ☃", none: null, list: [true, "x"] };
  const created = await items.items.create(expected);
  assert.equal(created.statusCode, 201);
  assert.deepEqual(user(created.resource), expected);
  assert.equal(created.etag, created.resource._etag);
  assert.ok(created.requestCharge > 0);
  assert.ok(created.headers["x-ms-session-token"]);
  await fails(items.items.create(expected), 409);
  await created.item.delete();
  return `charge ${created.requestCharge}; twice: 409`;
}

async function read() {
  const created = await items.items.create({ id: "r", pk: "read", n: 1 });
  const found = await items.item("r", "read").read();
  assert.deepEqual(found.resource, created.resource);
  assert.equal(found.etag, created.etag);
  assert.ok(found.requestCharge > 0);
  assert.equal((await items.item("missing", "read").read()).statusCode, StatusCodes.NotFound);

  const accessCondition = { type: "IfMatch", condition: found.etag };
  const replaced = await found.item.replace({ id: "r", pk: "read", n: 2 }, { accessCondition });
  assert.equal(replaced.resource.n, 2);
  assert.notEqual(replaced.etag, found.etag);
  await fails(found.item.replace({ id: "r", pk: "read", n: 3 }, { accessCondition }), 412);
  await found.item.delete();
  return `charge ${found.requestCharge}; missing: 404; old ETag: 412`;
}

async function queryOrderBy() {
  const query = "SELECT c.id, c.n FROM c WHERE c.n >= 4 ORDER BY c.n DESC";
  const { rows, charge, count } = await pages(query, { maxItemCount: 5 });
  assert.deepEqual(rows, SPREAD.slice(4).reverse().map(({ id, n }) => ({ id, n })));
  return `20 rows in ${count} pages, charge ${charge.toFixed(2)}`;
}

async function queryGroupBy() {
  const query = "SELECT c.kind, COUNT(1) AS count, SUM(c.n) AS sum, AVG(c.n) AS mean FROM c GROUP BY c.kind";
  const { rows, charge } = await pages(query, { maxItemCount: 5 });
  const groups = [0, 1, 2].map((kind) => ({ kind, count: 8, sum: 84 + 8 * kind, mean: 10.5 + kind }));
  assert.deepEqual(rows.sort((a, b) => a.kind - b.kind), groups);
  return `3 groups, charge ${charge.toFixed(2)}`;
}

async function batch() {
  const { result, code, headers } = await items.items.batch(
    [
      { operationType: BulkOperationType.Create, resourceBody: { id: "b1", pk: "batch", n: 1 } },
      { operationType: BulkOperationType.Upsert, resourceBody: { id: "b2", pk: "batch" } },
      {
        operationType: BulkOperationType.Patch,
        id: "b1",
        resourceBody: { operations: [{ op: PatchOperationType.incr, path: "/n", value: 41 }] },
      },
      { operationType: BulkOperationType.Read, id: "b1" },
      { operationType: BulkOperationType.Delete, id: "b2" },
    ],
    "batch",
  );
  assert.equal(code, 200);
  assert.deepEqual(result.map((one) => one.statusCode), [201, 201, 200, 200, 204]);
  assert.ok(result.every((one) => one.requestCharge > 0));
  assert.deepEqual(user(result[3].resourceBody), { id: "b1", pk: "batch", n: 42 });
  assert.equal(result[3].eTag, result[3].resourceBody._etag);

  const failed = await items.items.batch(
    ["b3", "b1"].map((id) => ({ operationType: BulkOperationType.Create, resourceBody: { id, pk: "batch" } })),
    "batch",
  );
  assert.deepEqual(failed.result.map((one) => one.statusCode), [424, 409]);
  assert.equal((await items.item("b3", "batch").read()).statusCode, 404);
  await items.item("b1", "batch").delete();
  return `charge ${headers["x-ms-request-charge"]}; conflict: 424, 409, rolled back`;
}

async function patch() {
  const created = await items.items.create({ id: "p", pk: "patch", n: 1, tags: ["a"], old: true });
  const body = {
    condition: "FROM c WHERE c.n = 1",
    operations: [
      { op: PatchOperationType.set, path: "/text", value: "new" },
      { op: PatchOperationType.incr, path: "/n", value: 2 },
      { op: PatchOperationType.add, path: "/tags/-", value: "b" },
      { op: PatchOperationType.remove, path: "/old" },
    ],
  };
  const patched = await created.item.patch(body);
  assert.deepEqual(user(patched.resource), { id: "p", pk: "patch", n: 3, tags: ["a", "b"], text: "new" });
  assert.ok(patched.requestCharge > 0);
  assert.notEqual(patched.etag, created.etag);
  await fails(created.item.patch(body), 412);
  await created.item.delete();
  return `charge ${patched.requestCharge}; false condition: 412`;
}

async function bulk() {
  const container = await newContainer(database, "bulk", "/pk");
  const operations = Array.from({ length: 100 }, (_, n) => ({
    operationType: BulkOperationType.Create,
    partitionKey: `key ${n % 20}`,
    resourceBody: { id: `${n}`, pk: `key ${n % 20}`, n },
  }));
  const created = await container.items.executeBulkOperations(operations);
  assert.ok(created.every(({ response }) => response.statusCode === 201 && response.requestCharge > 0));
  assert.deepEqual(created.map(({ response }) => response.resourceBody.n), operations.map((one) => one.resourceBody.n));
  const again = await container.items.executeBulkOperations([
    { operationType: BulkOperationType.Create, partitionKey: "key 0", resourceBody: { id: "0", pk: "key 0" } },
    { operationType: BulkOperationType.Delete, partitionKey: "key 1", id: "1" },
  ]);
  assert.deepEqual(again.map(({ response, error }) => response?.statusCode ?? error.code), [409, 204]);
  const { resources } = await container.items.query("SELECT VALUE c.n FROM c").fetchAll();
  assert.deepEqual(resources.sort((a, b) => a - b), Array.from({ length: 100 }, (_, n) => n).filter((n) => n !== 1));
  return "100 creates, then a conflict (409) and a delete";
}

async function changeFeed() {
  let charge = 0;
  const drain = async (changeFeedStartFrom) => {
    const iterator = items.items.getChangeFeedIterator({ maxItemCount: 5, changeFeedStartFrom });
    const found = [];
    for (;;) {
      const page = await iterator.readNext();
      charge += page.requestCharge;
      if (page.statusCode === StatusCodes.NotModified) {
        return { found, next: ChangeFeedStartFrom.Continuation(page.continuationToken) };
      }
      found.push(...page.result);
    }
  };
  const all = await drain(ChangeFeedStartFrom.Beginning());
  assert.deepEqual(ids(all.found), SPREAD_IDS);
  assert.ok(charge > 0);
  const rest = await drain(all.next);
  assert.deepEqual(rest.found, []);
  await items.items.upsert({ ...SPREAD[3], changed: true });
  const changed = await drain(rest.next);
  assert.deepEqual(changed.found.map(user), [{ ...SPREAD[3], changed: true }]);
  return `24 items of ${(await items.getFeedRanges()).length} ranges, then the changed one`;
}

async function hierarchicalKeys() {
  const container = await newContainer(database, "hierarchical", "/tenant", "/user", "/session");
  for (const tenant of ["t1", "t2", "t3"]) {
    for (const name of ["u1", "u2"]) {
      for (const session of [0, 1]) {
        await container.items.create({ id: `${tenant} ${name} ${session}`, tenant, user: name, session });
      }
    }
  }
  const found = await container.item("t2 u1 1", ["t2", "u1", 1]).read();
  assert.deepEqual(user(found.resource), { id: "t2 u1 1", tenant: "t2", user: "u1", session: 1 });
  assert.equal((await container.item("t2 u1 1", ["t2", "u1", 0]).read()).statusCode, 404);
  const query = async (partitionKey) => ids((await container.items.query("SELECT * FROM c", { partitionKey }).fetchAll()).resources);
  assert.deepEqual(await query(["t2", "u1", 1]), ["t2 u1 1"]);
  assert.deepEqual(await query(["t2", "u1"]), ["t2 u1 0", "t2 u1 1"]);
  assert.deepEqual(await query(["t2"]), ["t2 u1 0", "t2 u1 1", "t2 u2 0", "t2 u2 1"]);
  return "12 items; full key, and prefixes of one and two levels";
}

/** Add a rule; return a function that removes it and returns how many requests it struck. */
async function fault(rule) {
  const url = `${COSMOS_ENDPOINT}_emulator/faults`;
  const { id } = await (await fetch(url, { method: "POST", body: JSON.stringify(rule) })).json();
  return async () => (await (await fetch(`${url}/${id}`, { method: "DELETE" })).json()).struck;
}

async function throttling() {
  const rule = { fault: 429, operation: "create", database: database.id, "retry-after-ms": 20 };
  let struck = await fault({ ...rule, times: 2 });
  const start = performance.now();
  const created = await items.items.create({ id: "t", pk: "throttled" });
  assert.ok(performance.now() - start >= 38, "the SDK did not wait for x-ms-retry-after-ms");
  assert.equal(created.statusCode, 201);
  assert.equal(await struck(), 2);
  struck = await fault(rule);
  await fails(items.items.create({ id: "never", pk: "throttled" }), 429);
  assert.equal(await struck(), 10);
  await created.item.delete();
  return "created after 2 retries; gives up after 9";
}

async function tls() {
  const client = (ca) => new CosmosClient({ endpoint: COSMOS_TLS_ENDPOINT, key: COSMOS_KEY, agent: new Agent({ ca }) });
  let untrusted;
  await assert.rejects(client([]).databases.readAll().fetchAll(), (error) => Boolean((untrusted = error.code)));
  const trusting = client(await readFile(COSMOS_CERTIFICATE));
  const own = await newDatabase(trusting);
  const container = await newContainer(own, "items", "/pk");
  await container.items.create({ id: "a", pk: "p" });
  assert.deepEqual(user((await container.item("a", "p").read()).resource), { id: "a", pk: "p" });
  await own.delete();
  return `created and read; without the certificate: ${untrusted}`;
}

const scenarios = {
  create,
  read,
  "query ORDER BY": queryOrderBy,
  "query GROUP BY": queryGroupBy,
  "transactional batch": batch,
  patch,
  bulk,
  "change feed": changeFeed,
  "hierarchical keys": hierarchicalKeys,
  throttling,
  TLS: tls,
};

database = await newDatabase(new CosmosClient({ endpoint: COSMOS_ENDPOINT, key: COSMOS_KEY }));
items = await newContainer(database, "items", "/pk");
for (const item of SPREAD) await items.items.create(item);
for (const [scenario, run] of Object.entries(scenarios)) {
  let line;
  try {
    line = { scenario, result: "passed", detail: await run() };
  } catch (error) {
    line = { scenario, result: "failed", detail: String(error.stack ?? error.message) };
  }
  console.log(JSON.stringify(line));
}
await database.delete();
process.exit();
