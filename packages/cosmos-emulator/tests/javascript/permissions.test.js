import assert from "node:assert/strict";
import { test } from "node:test";

import { CosmosClient } from "@azure/cosmos";

import { failsWith, newContainer } from "./account.js";

test("a resource token of a user's permission gives access to one container", async () => {
  const container = await newContainer();
  await container.items.create({ id: "a", pk: "p", n: 1 });
  const { user } = await container.database.users.create({ id: "ada" });
  const { permission, resource } = await user.permissions.create(
    { id: "read", permissionMode: "Read", resource: container.url },
    { resourceTokenExpirySeconds: 60 },
  );
  const reader = new CosmosClient({
    endpoint: process.env.COSMOS_ENDPOINT,
    resourceTokens: { [container.url]: resource._token },
  });
  const items = reader.database(container.database.id).container(container.id);

  assert.equal((await items.item("a", "p").read()).resource.n, 1);
  assert.equal((await items.items.query("SELECT * FROM c").fetchAll()).resources.length, 1);
  await assert.rejects(items.items.create({ id: "b", pk: "p" }), failsWith(403));
  assert.equal((await permission.read()).resource.permissionMode, "Read");
  assert.deepEqual((await user.permissions.readAll().fetchAll()).resources.map((one) => one.id), ["read"]);
  await permission.delete();
  await user.delete();
  assert.deepEqual((await container.database.users.readAll().fetchAll()).resources, []);
});

test("a permission feed gives access to its containers", async () => {
  const container = await newContainer();
  await container.items.create({ id: "a", pk: "p", n: 1 });
  const { user } = await container.database.users.create({ id: "ada" });
  await user.permissions.create({ id: "all", permissionMode: "All", resource: container.url, resourcePartitionKey: ["p"] });
  const { resources: permissionFeed } = await user.permissions.readAll().fetchAll();
  const writer = new CosmosClient({ endpoint: process.env.COSMOS_ENDPOINT, permissionFeed });
  const items = writer.database(container.database.id).container(container.id);

  await items.items.upsert({ id: "a", pk: "p", n: 2 });
  assert.equal((await items.item("a", "p").read()).resource.n, 2);
  await assert.rejects(items.items.create({ id: "b", pk: "other" }), failsWith(403));
});
