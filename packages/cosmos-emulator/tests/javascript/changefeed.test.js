import assert from "node:assert/strict";
import { test } from "node:test";

import { ChangeFeedMode, ChangeFeedStartFrom, StatusCodes } from "@azure/cosmos";

import { newContainer } from "./account.js";

const ITEMS = Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, pk: `key ${n % 6}` }));

/** Read to the end of the feed; return the ids and the continuation token. */
async function readFeed(container, options) {
  const iterator = container.items.getChangeFeedIterator(options);
  const ids = [];
  let token;
  for (;;) {
    const page = await iterator.readNext();
    token = page.continuationToken;
    if (page.statusCode === StatusCodes.NotModified) return { ids, token };
    ids.push(...page.result.map((one) => one.id));
  }
}

const ascending = (ids) => ids.sort((a, b) => Number(a) - Number(b));

async function newFilled() {
  const container = await newContainer();
  for (const item of ITEMS) await container.items.create(item);
  return container;
}

test("reading from the beginning returns every item, and its token resumes", async () => {
  const container = await newFilled();

  const all = await readFeed(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });
  await container.items.upsert({ id: "3", pk: "key 3", changed: true });
  const rest = await readFeed(container, { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(all.token) });

  assert.deepEqual(ascending(all.ids), ITEMS.map((one) => one.id));
  assert.deepEqual(rest.ids, ["3"]);
});

test("pages of one item cover the whole feed", async () => {
  const container = await newFilled();

  const { ids } = await readFeed(container, { maxItemCount: 1, changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });

  assert.deepEqual(ascending(ids), ITEMS.map((one) => one.id));
});

test("reading from now returns only later writes", async () => {
  const container = await newFilled();
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now() });

  const before = await iterator.readNext();
  await container.items.create({ id: "later", pk: "key 1" });
  const after = await readFeed(container, {
    changeFeedStartFrom: ChangeFeedStartFrom.Continuation(before.continuationToken),
  });

  assert.equal(before.statusCode, StatusCodes.NotModified);
  assert.deepEqual(after.ids, ["later"]);
});

test("a past start time returns everything, a future one nothing", async () => {
  const container = await newFilled();
  const hour = 3_600_000;

  const past = await readFeed(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() - hour)) });
  const future = await readFeed(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() + hour)) });

  assert.equal(past.ids.length, 12);
  assert.deepEqual(future.ids, []);
});

test("the feed of one partition key or feed range can be read", async () => {
  const container = await newFilled();
  const ranges = await container.getFeedRanges();

  const byKey = await readFeed(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("key 2") });
  const byRange = [];
  for (const range of ranges) {
    byRange.push(...(await readFeed(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range) })).ids);
  }

  assert.equal(ranges.length, 4);
  assert.deepEqual(byKey.ids, ["2", "8"]);
  assert.deepEqual(ascending(byRange), ITEMS.map((one) => one.id));
});

test("the legacy iterator reads one partition key", async () => {
  const container = await newFilled();
  const iterator = container.items.changeFeed("key 2", { startFromBeginning: true });

  const page = await iterator.fetchNext();

  assert.deepEqual(page.result.map((one) => one.id), ["2", "8"]);
});

test("the feed of all versions has intermediate versions and deletes", async () => {
  const container = await newContainer({ changeFeedPolicy: { retentionDuration: 10 } });
  const options = {
    changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
    changeFeedStartFrom: ChangeFeedStartFrom.Now(),
  };
  const iterator = container.items.getChangeFeedIterator(options);
  assert.equal((await iterator.readNext()).statusCode, StatusCodes.NotModified);

  await container.items.create({ id: "a", pk: "p", n: 1 });
  await container.items.upsert({ id: "a", pk: "p", n: 2 });
  await container.item("a", "p").delete();

  const found = [];
  while (found.length < 3) found.push(...(await iterator.readNext()).result);
  assert.deepEqual(found.map((one) => one.metadata.operationType), ["create", "replace", "delete"]);
  assert.deepEqual(found.map((one) => one.current.n), [1, 2, undefined]);
  assert.equal(found[2].previous.n, 2);
});
