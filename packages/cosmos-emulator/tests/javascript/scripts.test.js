import assert from "node:assert/strict";
import { test } from "node:test";

import { failsWith, newContainer } from "./account.js";

// The SDK sends the source text of a function.
function createAll(items, fail) {
  const collection = getContext().getCollection();
  let created = 0;
  for (const item of items) {
    collection.createDocument(collection.getSelfLink(), item, (error) => {
      if (error) throw error;
      created += 1;
      if (fail && created === items.length) throw new Error(1234, "all for nothing");
      getContext().getResponse().setBody({ created });
    });
  }
}

test("a stored procedure writes in one transaction", async () => {
  const container = await newContainer();
  const { storedProcedure } = await container.scripts.storedProcedures.create({ id: "all", body: createAll });
  const items = ["a", "b"].map((id) => ({ id, pk: "p" }));

  await assert.rejects(storedProcedure.execute("p", [items, true]), failsWith(400, 1234));
  const afterFailure = await container.items.readAll().fetchAll();
  const { resource } = await storedProcedure.execute("p", [items, false]);

  assert.deepEqual(afterFailure.resources, []);
  assert.deepEqual(resource, { created: 2 });
  assert.equal((await container.items.readAll().fetchAll()).resources.length, 2);
});

test("a stored procedure cannot write to another partition", async () => {
  const container = await newContainer();
  const { storedProcedure } = await container.scripts.storedProcedures.create({ id: "all", body: createAll });

  await assert.rejects(storedProcedure.execute("p", [[{ id: "a", pk: "q" }], false]), failsWith(400, 400));
});

test("the log is returned on request", async () => {
  const container = await newContainer();
  const { storedProcedure } = await container.scripts.storedProcedures.create({
    id: "log",
    body: "function () { console.log('50% of é'); }",
  });

  const { headers } = await storedProcedure.execute("p", [], { enableScriptLogging: true });

  assert.equal(decodeURIComponent(headers["x-ms-documentdb-script-log-results"]), "50% of é");
});

test("scripts can be listed, replaced, and deleted", async () => {
  const container = await newContainer();
  const { storedProcedures, triggers, userDefinedFunctions } = container.scripts;
  await storedProcedures.create({ id: "s", body: "function () { getContext().getResponse().setBody(1); }" });
  await triggers.create({ id: "t", body: "function () {}", triggerType: "Pre", triggerOperation: "All" });
  await userDefinedFunctions.create({ id: "u", body: "function () {}" });

  await container.scripts.storedProcedure("s").replace({
    id: "s",
    body: "function () { getContext().getResponse().setBody(2); }",
  });

  assert.equal((await container.scripts.storedProcedure("s").execute("p")).resource, 2);
  for (const feed of [storedProcedures, triggers, userDefinedFunctions]) {
    assert.equal((await feed.readAll().fetchAll()).resources.length, 1);
  }
  await container.scripts.storedProcedure("s").delete();
  await container.scripts.trigger("t").delete();
  await container.scripts.userDefinedFunction("u").delete();
  for (const feed of [storedProcedures, triggers, userDefinedFunctions]) {
    assert.equal((await feed.readAll().fetchAll()).resources.length, 0);
  }
});

test("triggers run before and after the write that names them", async () => {
  const container = await newContainer();
  await container.scripts.triggers.create({
    id: "stamp",
    triggerType: "Pre",
    triggerOperation: "Create",
    body: "function () { const r = getContext().getRequest(), d = r.getBody(); d.stamped = true; r.setBody(d); }",
  });
  await container.scripts.triggers.create({
    id: "veto",
    triggerType: "Post",
    triggerOperation: "All",
    body: "function () { throw new Error(77, 'no'); }",
  });

  const { resource } = await container.items.create({ id: "a", pk: "p" }, { preTriggerInclude: "stamp" });

  assert.equal(resource.stamped, true);
  await assert.rejects(container.items.create({ id: "b", pk: "p" }, { postTriggerInclude: "veto" }), failsWith(400, 77));
  assert.equal((await container.item("b", "p").read()).statusCode, 404);
});

test("a user-defined function runs in a cross-partition query", async () => {
  const container = await newContainer();
  for (let n = 0; n < 6; n += 1) await container.items.create({ id: `${n}`, pk: `key ${n}`, n });
  await container.scripts.userDefinedFunctions.create({ id: "twice", body: "function (n) { return 2 * n; }" });

  const { resources } = await container.items
    .query("SELECT VALUE udf.twice(c.n) FROM c WHERE udf.twice(c.n) > 4")
    .fetchAll();

  assert.deepEqual(resources.sort((a, b) => a - b), [6, 8, 10]);
});
