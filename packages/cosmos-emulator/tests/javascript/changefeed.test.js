import assert from "node:assert/strict";
import { test } from "node:test";

import { ChangeFeedMode, ChangeFeedStartFrom, StatusCodes } from "@azure/cosmos";

import { newContainer } from "./account.js";

const ITEMS = Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, pk: `key ${n % 6}` }));

/** Reads to the end of what is there; the ids and the token that goes on from there. */
async function drained(container, options) {
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

test("from the beginning every item comes once, and the token goes on", async () => {
  const container = await newFilled();

  const all = await drained(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });
  await container.items.upsert({ id: "3", pk: "key 3", changed: true });
  const rest = await drained(container, { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(all.token) });

  assert.deepEqual(ascending(all.ids), ITEMS.map((one) => one.id));
  assert.deepEqual(rest.ids, ["3"]);
});

test("pages of one item visit everything", async () => {
  const container = await newFilled();

  const { ids } = await drained(container, { maxItemCount: 1, changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });

  assert.deepEqual(ascending(ids), ITEMS.map((one) => one.id));
});

test("from now only later writes come", async () => {
  const container = await newFilled();
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now() });

  const before = await iterator.readNext();
  await container.items.create({ id: "later", pk: "key 1" });
  const after = await drained(container, {
    changeFeedStartFrom: ChangeFeedStartFrom.Continuation(before.continuationToken),
  });

  assert.equal(before.statusCode, StatusCodes.NotModified);
  assert.deepEqual(after.ids, ["later"]);
});

test("a start time in the past gives everything and one in the future nothing", async () => {
  const container = await newFilled();
  const hour = 3_600_000;

  const past = await drained(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() - hour)) });
  const future = await drained(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() + hour)) });

  assert.equal(past.ids.length, 12);
  assert.deepEqual(future.ids, []);
});

test("one partition key and one feed range are read alone", async () => {
  const container = await newFilled();
  const ranges = await container.getFeedRanges();

  const byKey = await drained(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("key 2") });
  const byRange = [];
  for (const range of ranges) {
    byRange.push(...(await drained(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range) })).ids);
  }

  assert.equal(ranges.length, 4);
  assert.deepEqual(byKey.ids, ["2", "8"]);
  assert.deepEqual(ascending(byRange), ITEMS.map((one) => one.id));
});

test("the older iterator reads one partition key", async () => {
  const container = await newFilled();
  const iterator = container.items.changeFeed("key 2", { startFromBeginning: true });

  const page = await iterator.fetchNext();

  assert.deepEqual(page.result.map((one) => one.id), ["2", "8"]);
});

test("all versions and deletes are refused by name", async () => {
  const container = await newFilled();
  const iterator = container.items.getChangeFeedIterator({ changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes });

  await assert.rejects(iterator.readNext(), (error) => error.code === 400 && error.message.includes("Full-Fidelity"));
});
