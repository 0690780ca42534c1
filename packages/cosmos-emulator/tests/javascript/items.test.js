import assert from "node:assert/strict";
import { test } from "node:test";

import { client, failsWith, newContainer } from "./account.js";

test("databases and containers can be created, listed, and deleted", async () => {
  const container = await newContainer();
  const database = container.database;

  const again = await database.containers.createIfNotExists({ id: "items", partitionKey: { paths: ["/pk"] } });
  const { resources: containers } = await database.containers.readAll().fetchAll();
  const { resources: found } = await client.databases
    .query({ query: "SELECT * FROM r WHERE r.id = @id", parameters: [{ name: "@id", value: database.id }] })
    .fetchAll();
  await database.delete();

  assert.equal(again.statusCode, 200);
  assert.deepEqual(containers.map((one) => one.id), ["items"]);
  assert.deepEqual(found.map((one) => one.id), [database.id]);
  await assert.rejects(container.item("a", "p").replace({ id: "a", pk: "p" }), failsWith(404, 1003));
});

test("a definition is completed with defaults and can be replaced", async () => {
  const container = await newContainer({ defaultTtl: 60 });

  const { resource: definition } = await container.read();
  await container.replace({ ...definition, defaultTtl: 30 });

  assert.deepEqual(definition.partitionKey, { paths: ["/pk"], kind: "Hash", version: 1 });
  assert.equal((await container.read()).resource.defaultTtl, 30);
});

test("throughput can be read and replaced", async () => {
  const { database } = await client.databases.create({ id: `offers ${Date.now()}` });
  const { container } = await database.containers.create({
    id: "items",
    partitionKey: { paths: ["/pk"] },
    throughput: 500,
  });

  const { offer, resource } = await container.readOffer();
  await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 900 } });

  assert.equal(resource.content.offerThroughput, 500);
  assert.equal((await container.readOffer()).resource.content.offerThroughput, 900);
});

test("an item can be created, read, upserted, replaced, and deleted", async () => {
  const container = await newContainer();

  const created = await container.items.create({ id: "a", pk: "p", n: 1 });
  const read = await container.item("a", "p").read();
  const upserted = await container.items.upsert({ id: "a", pk: "p", n: 2 });
  const replaced = await container.item("a", "p").replace({ id: "a", pk: "p", n: 3 });
  const deleted = await container.item("a", "p").delete();

  assert.deepEqual([created, read, upserted, replaced, deleted].map((one) => one.statusCode), [201, 200, 200, 200, 204]);
  assert.equal(replaced.resource._rid, created.resource._rid);
  assert.ok(created.requestCharge > 0);
  assert.equal((await container.item("a", "p").read()).statusCode, 404);
});

test("the SDK generates a missing id", async () => {
  const container = await newContainer();

  const { resource } = await container.items.create({ pk: "p" });

  assert.equal((await container.item(resource.id, "p").read()).statusCode, 200);
});

test("null, undefined, a number, and a string are distinct keys", async () => {
  const container = await newContainer();
  for (const pk of [null, undefined, 1, "1"]) await container.items.create({ id: "a", pk, name: `${typeof pk} ${pk}` });

  const names = [];
  for (const pk of [null, undefined, 1, "1"]) names.push((await container.item("a", pk).read()).resource.name);

  assert.deepEqual(names, ["object null", "undefined undefined", "number 1", "string 1"]);
});

test("a hierarchical key supports point reads and prefix queries", async () => {
  const container = await newContainer({
    partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 },
  });
  for (const user of ["u", "v"]) await container.items.create({ id: user, tenant: "t", user });
  await container.items.create({ id: "w", tenant: "other", user: "u" });

  const { resources } = await container.items.query("SELECT VALUE c.id FROM c", { partitionKey: ["t"] }).fetchAll();

  assert.equal((await container.item("u", ["t", "u"]).read()).resource.tenant, "t");
  assert.deepEqual(resources.sort(), ["u", "v"]);
});

test("an id can contain any allowed character", async () => {
  const container = await newContainer();

  for (const id of ["a b", "ü€😀", "100%", "%2F", "a+b", "a&b=c", "'q\"", "~!@$^*();,[]{}|<>`"]) {
    await container.items.create({ id, pk: "p" });
    assert.equal((await container.item(id, "p").read()).resource.id, id);
    assert.equal((await container.item(id, "p").delete()).statusCode, 204);
  }
});

test("a partition key can be any string, number, or boolean", async () => {
  const container = await newContainer();

  for (const pk of ["", "ü€😀", "\u0001'\"\\", -0, 1.5, 1e300, true]) {
    await container.items.create({ id: "a", pk });
    assert.equal((await container.item("a", pk).read()).statusCode, 200);
  }
});

test("a logical partition can be deleted", async () => {
  const container = await newContainer();
  for (const pk of ["p", "p", "q"]) await container.items.create({ pk });

  await container.deleteAllItemsForPartitionKey("p");

  assert.deepEqual((await container.items.readAll().fetchAll()).resources.map((one) => one.pk), ["q"]);
});

test("the account, the ranges, and the empty conflict feed can be read", async () => {
  const container = await newContainer();

  const { resource: account } = await client.getDatabaseAccount();
  const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
  const { resources: conflicts } = await container.conflicts.readAll().fetchAll();

  assert.equal(account.consistencyPolicy, "Session");
  assert.deepEqual(ranges.map((one) => one.id), ["0", "1", "2", "3"]);
  assert.deepEqual(conflicts, []);
});

test("writes and reads respect etag conditions", async () => {
  const container = await newContainer();
  const { resource: old } = await container.items.create({ id: "a", pk: "p" });
  const { resource: present } = await container.items.upsert({ id: "a", pk: "p", n: 2 });
  const stale = { accessCondition: { type: "IfMatch", condition: old._etag } };
  const unchanged = { accessCondition: { type: "IfNoneMatch", condition: present._etag } };

  await assert.rejects(container.item("a", "p").replace({ id: "a", pk: "p" }, stale), failsWith(412));
  await assert.rejects(container.items.upsert({ id: "a", pk: "p" }, stale), failsWith(412));
  await assert.rejects(container.item("a", "p").delete(stale), failsWith(412));
  assert.equal((await container.item("a", "p").read(unchanged)).statusCode, 304);
});

test("a patch can be a bare array or have a condition", async () => {
  const container = await newContainer();
  await container.items.create({ id: "a", pk: "p", n: 1, list: [1, 2] });
  const item = container.item("a", "p");

  await item.patch([
    { op: "incr", path: "/n", value: 2 },
    { op: "add", path: "/list/1", value: 9 },
  ]);
  const { resource } = await item.patch({
    condition: "from c where c.n = 3",
    operations: [{ op: "move", from: "/list", path: "/moved" }],
  });

  assert.deepEqual([resource.n, resource.list, resource.moved], [3, undefined, [1, 9, 2]]);
  await assert.rejects(
    item.patch({ condition: "from c where c.n = 0", operations: [{ op: "set", path: "/n", value: 1 }] }),
    failsWith(412),
  );
  await assert.rejects(item.patch([{ op: "set", path: "/pk", value: "q" }]), failsWith(400));
});

test("the read feed pages through all partitions", async () => {
  const container = await newContainer();
  for (let n = 0; n < 20; n += 1) await container.items.create({ id: `${n}`, pk: `key ${n}` });

  const sizes = [];
  const ids = [];
  const feed = container.items.readAll({ maxItemCount: 6 });
  while (feed.hasMoreResults()) {
    const { resources = [] } = await feed.fetchNext();
    sizes.push(resources.length);
    ids.push(...resources.map((one) => Number(one.id)));
  }

  assert.ok(sizes.every((size) => size <= 6));
  assert.deepEqual(ids.sort((a, b) => a - b), Array.from({ length: 20 }, (_, n) => n));
});

test("errors have the service's status, sub-status, and message", async () => {
  const container = await newContainer({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/name"] }] } });
  await container.items.create({ id: "a", pk: "p", name: "x" });

  await assert.rejects(container.items.create({ id: "a", pk: "p" }), failsWith(409));
  await assert.rejects(container.items.create({ id: "b", pk: "p", name: "x" }), failsWith(409));
  await assert.rejects(container.items.create({ id: "c", pk: "p", ttl: 0 }), failsWith(400));
  await assert.rejects(container.items.create({ id: "d", pk: "p", text: "x".repeat(2 ** 21) }), failsWith(413));
  await assert.rejects(container.item("none", "p").delete(), failsWith(404));
  await assert.rejects(
    container.items.query("SELECT * FROM c WHERE").fetchAll(),
    (error) => error.code === 400 && error.message.includes("SC1002"),
  );
});

test("a wrong key is rejected", async () => {
  const { CosmosClient } = await import("@azure/cosmos");
  const unauthorized = new CosmosClient({ endpoint: process.env.COSMOS_ENDPOINT, key: "d3Jvbmc=" });

  await assert.rejects(unauthorized.databases.readAll().fetchAll(), failsWith(401));
});
