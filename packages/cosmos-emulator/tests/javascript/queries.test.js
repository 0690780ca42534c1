import assert from "node:assert/strict";
import { before, test } from "node:test";

import { newContainer, newSpread } from "./account.js";

let spread;

before(async () => {
  spread = await newSpread();
});

async function rows(query, options = {}) {
  return (await spread.items.query(query, options).fetchAll()).resources;
}

/** Read page by page, and return all rows in order. */
async function paged(query, options) {
  const iterator = spread.items.query(query, options);
  const found = [];
  while (iterator.hasMoreResults()) {
    const { resources = [] } = await iterator.fetchNext();
    assert.ok(resources.length <= options.maxItemCount);
    found.push(...resources);
  }
  return found;
}

const numbers = (length, of = (n) => n) => Array.from({ length }, (_, n) => of(n));

// The SDK's pipeline merges the results of four ranges.
const merged = [
  ["SELECT VALUE c.n FROM c ORDER BY c.n", numbers(24)],
  ["SELECT VALUE c.n FROM c ORDER BY c.n DESC", numbers(24, (n) => 23 - n)],
  ["SELECT VALUE c.n FROM c ORDER BY c.kind DESC, c.n OFFSET 7 LIMIT 3", [23, 1, 4]],
  ["SELECT VALUE c.n FROM c WHERE IS_DEFINED(c.text) ORDER BY c.text OFFSET 1 LIMIT 2", [11, 13]],
  ["SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC", [23, 22, 21]],
  ["SELECT VALUE COUNT(1) FROM c", [24]],
  ["SELECT VALUE COUNT(c.text) FROM c", [12]],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.n < 0", [0]],
  ["SELECT VALUE SUM(c.n) FROM c", [276]],
  ["SELECT VALUE AVG(c.n) FROM c", [11.5]],
  ["SELECT VALUE MIN(c.n) FROM c WHERE c.n > 4", [5]],
  ["SELECT VALUE MAX(c.text) FROM c", ["t9"]],
  ["SELECT COUNT(1) AS n, MAX(c.n) AS m FROM c", [{ n: 24, m: 23 }]],
  ["SELECT DISTINCT c.kind FROM c ORDER BY c.kind", [{ kind: 0 }, { kind: 1 }, { kind: 2 }]],
  ["SELECT DISTINCT VALUE c.kind + 1 FROM c ORDER BY c.kind", [1, 2, 3]],
];

for (const [query, expected] of merged) {
  test(`across four partitions: ${query}`, async () => {
    assert.deepEqual(await rows(query), expected);
  });
}

test("unordered distinct rows are distinct across partitions", async () => {
  // The SDK's DISTINCT drops rows that are 0, null, false, or "", so add 1.
  assert.deepEqual((await rows("SELECT DISTINCT VALUE c.kind + 1 FROM c")).sort(), [1, 2, 3]);
  assert.deepEqual((await rows("SELECT DISTINCT c.kind, c.none FROM c")).length, 3);
});

test("groups are merged across partitions", async () => {
  const found = await rows("SELECT c.kind, COUNT(1) AS n, SUM(c.n) AS sum, AVG(c.n) AS mean FROM c GROUP BY c.kind");

  assert.deepEqual(
    found.sort((a, b) => a.kind - b.kind),
    [0, 1, 2].map((kind) => ({ kind, n: 8, sum: 84 + 8 * kind, mean: 10.5 + kind })),
  );
});

test("items without the group key form one group", async () => {
  const found = await rows("SELECT c.none, COUNT(1) AS n FROM c GROUP BY c.none");

  assert.deepEqual(found, [{ n: 24 }]);
});

for (const maxItemCount of [1, 5]) {
  test(`an ordered query returns pages of ${maxItemCount}`, async () => {
    assert.deepEqual(await paged("SELECT VALUE c.n FROM c ORDER BY c.n DESC", { maxItemCount }), numbers(24, (n) => 23 - n));
  });

  test(`a filter returns pages of ${maxItemCount}`, async () => {
    const found = await paged("SELECT VALUE c.n FROM c WHERE c.n >= 10", { maxItemCount });

    assert.deepEqual(found.sort((a, b) => a - b), numbers(14, (n) => n + 10));
  });
}

test("offset and limit apply across partitions without an order", async () => {
  assert.equal((await rows("SELECT VALUE c.n FROM c OFFSET 20 LIMIT 10")).length, 4);
  assert.deepEqual(await rows("SELECT VALUE c.n FROM c OFFSET 30 LIMIT 10"), []);
  assert.deepEqual(await rows("SELECT VALUE c.n FROM c OFFSET 0 LIMIT 0"), []);
});

for (const query of ["SELECT VALUE c.n FROM c ORDER BY c.n DESC", "SELECT VALUE c.n FROM c WHERE c.n >= 0"]) {
  // One sort key only: with several, the SDK's own filter drops rows.
  test(`a continuation token resumes across partitions: ${query}`, async () => {
    const found = [];
    let continuationToken;
    do {
      const options = { maxItemCount: 5, enableQueryControl: true, continuationToken };
      const page = await spread.items.query(query, options).fetchNext();
      found.push(...(page.resources ?? []));
      continuationToken = page.continuationToken;
    } while (continuationToken);

    assert.deepEqual(query.includes("DESC") ? found.reverse() : found.sort((a, b) => a - b), numbers(24));
  });
}

for (const direction of ["", " DESC"]) {
  test(`ties are not repeated when a page resumes across partitions: ORDER BY c.kind${direction}`, async () => {
    const query = `SELECT VALUE c.n FROM c ORDER BY c.kind${direction}`;
    const found = [];
    let continuationToken;
    do {
      const options = { maxItemCount: 5, enableQueryControl: true, continuationToken };
      const page = await spread.items.query(query, options).fetchNext();
      found.push(...(page.resources ?? []));
      continuationToken = page.continuationToken;
    } while (continuationToken);

    assert.deepEqual(found.sort((a, b) => a - b), numbers(24));
  });
}

for (const options of [{ forceQueryPlan: true }, { maxDegreeOfParallelism: -1, bufferItems: true }]) {
  test(`the pipeline supports ${JSON.stringify(options)}`, async () => {
    assert.deepEqual(await rows("SELECT VALUE c.n FROM c ORDER BY c.kind, c.n OFFSET 7 LIMIT 3", options), [21, 1, 4]);
    assert.equal((await rows("SELECT * FROM c", options)).length, 24);
  });
}

test("lists, sets, and conditional counts are merged", async () => {
  assert.deepEqual((await rows("SELECT VALUE MAKELIST(c.kind) FROM c WHERE c.n < 3"))[0].sort(), [0, 1, 2]);
  assert.deepEqual((await rows("SELECT VALUE MAKESET(c.kind) FROM c"))[0].sort(), [0, 1, 2]);
  assert.deepEqual(await rows("SELECT VALUE COUNTIF(c.n > 5) FROM c"), [18]);
});

test("a query of one partition needs no merging", async () => {
  const options = { partitionKey: "key 3" };

  assert.deepEqual(await rows("SELECT VALUE c.n FROM c ORDER BY c.n DESC", options), [15, 3]);
  assert.deepEqual(await rows("SELECT COUNT(1) AS n FROM c", options), [{ n: 2 }]);
});

test("a query of one partition resumes from its continuation token", async () => {
  const query = "SELECT VALUE c.n FROM c ORDER BY c.n";
  const options = { partitionKey: "key 3", maxItemCount: 1 };

  const first = await spread.items.query(query, options).fetchNext();
  const second = await spread.items.query(query, { ...options, continuationToken: first.continuationToken }).fetchNext();

  assert.deepEqual([first.resources, second.resources], [[3], [15]]);
});

test("a parameter can be any JSON value", async () => {
  const container = await newContainer();
  const values = ["quote ' \" \\", 1.5, true, null, [1, "b"], { x: [null] }];
  for (const [n, value] of values.entries()) await container.items.create({ id: `${n}`, pk: "p", v: value });

  for (const [n, value] of values.entries()) {
    const query = { query: "SELECT VALUE c.id FROM c WHERE c.v = @value", parameters: [{ name: "@value", value }] };
    assert.deepEqual((await container.items.query(query).fetchAll()).resources, [`${n}`]);
  }
});

test("metrics are returned on request", async () => {
  const options = { partitionKey: "key 3", populateQueryMetrics: true, populateIndexMetrics: true };

  const page = await spread.items.query("SELECT * FROM c WHERE c.n = 3", options).fetchNext();

  assert.ok(page.headers["x-ms-documentdb-query-metrics"]);
  assert.ok(page.indexMetrics.includes("/n/?"));
});

test("a query plan can be requested without running the query", async () => {
  const { result } = await spread.items.container.getQueryPlan("SELECT TOP 3 * FROM c ORDER BY c.n");

  assert.equal(result.queryInfo.top, 3);
  assert.deepEqual(result.queryInfo.orderBy, ["Ascending"]);
});
