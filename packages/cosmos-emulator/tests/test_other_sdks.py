"""Requests as the .NET SDK sends them in gateway mode, replayed because it is not run here.

Also requests of the Java and Go SDKs that their programs in `sdks` do not send. Sources: azure-cosmos-dotnet-v3
(AuthorizationHelper.cs, CosmosHttpClientCore.cs, PartitionKeyRangeCache.cs, QueryPlanRetriever.cs);
azure-sdk-for-java (QueryPlanRetriever.java); azure-sdk-for-go (cosmos_container.go, partition_key.go).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from azure.cosmos import auth
from azure.cosmos.aio import ContainerProxy
from cosmos_emulator import CosmosEmulator
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient, RawResponse

SDKS = {
    ".NET": {
        "user-agent": "cosmos-netstandard-sdk/3.62.0|1|X64|Ubuntu 24.04.1 LTS|.NET 8.0.11|N|F 00000001|",
        "accept": "application/json",
        "cache-control": "no-cache",
        "x-ms-version": "2020-07-15",
        "x-ms-cosmos-sdk-supportedcapabilities": "1",
        "x-ms-activity-id": "7f6bd4a3-5f0e-4a21-9c19-43a1f3a2b0aa",
    },
    "Java": {
        "user-agent": "azsdk-java-cosmos/4.75.0 Linux/6.8.0 JRE/17.0.13",
        "accept": "application/json",
        "cache-control": "no-cache",
        "x-ms-version": "2020-07-15",
        "x-ms-cosmos-sdk-supportedcapabilities": "5",
        "x-ms-cosmos-apitype": "Sql",
        "x-ms-activity-id": "7f6bd4a3-5f0e-4a21-9c19-43a1f3a2b0aa",
        "x-ms-consistency-level": "Session",
    },
    "Go": {
        "user-agent": "azsdk-go-azcosmos/v1.4.1 (go1.24.2; linux)",
        "accept": "application/json",
        "x-ms-version": "2020-11-05",
        "x-ms-cosmos-sdk-supportedcapabilities": "1",
    },
}
NET_FEATURES = (
    "Aggregate, Distinct, GroupBy, MultipleAggregates, MultipleOrderBy, OffsetAndLimit, OrderBy, Top, "
    "NonValueAggregate, DCount, NonStreamingOrderBy, CountIf, HybridSearch, WeightedRankFusion, "
    "HybridSearchSkipOrderByRewrite"
)
JAVA_FEATURES = (
    "Aggregate, CompositeAggregate, MultipleOrderBy, MultipleAggregates, OrderBy, OffsetAndLimit, Distinct, GroupBy, "
    "Top, DCount, NonValueAggregate, NonStreamingOrderBy, HybridSearch, WeightedRankFusion"
)
PLANS = {
    ".NET": {"content-type": "application/query+json", "x-ms-cosmos-query-version": "1.0"},
    "Java": {"content-type": "application/json", "x-ms-cosmos-query-version": "1.4"},
}
GO_QUERY = {
    "content-type": "application/query+json",
    "x-ms-documentdb-query": "True",
    "x-ms-documentdb-query-enablecrosspartition": "true",
    "x-ms-documentdb-partitionkey": "[]",
}


async def post(raw: RawClient, body: Any, headers: dict[str, str], data: bytes | None = None) -> RawResponse:
    return await raw.send(
        "POST", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, body=body, data=data, headers=headers
    )


@pytest.fixture
async def filled(container: ContainerProxy) -> ContainerProxy:
    """Twelve items in twelve logical partitions."""
    for number in range(12):
        await container.create_item({"id": str(number), "pk": f"key {number}", "n": number})
    return container


async def test_a_signature_is_accepted_as_net_encodes_it(raw: RawClient, emulator: CosmosEmulator) -> None:
    # No date is certain to have + and / in its signature, so several are sent.
    for second in range(5):
        date = datetime.now(UTC).replace(second=second).strftime("%a, %d %b %Y %H:%M:%S GMT")
        headers = {**SDKS[".NET"], "x-ms-date": date}
        account = SimpleNamespace(master_key=emulator.key)
        signed = auth._get_authorization_header(account, "GET", "/dbs", "", True, "dbs", headers)
        # HttpUtility.UrlEncode writes lower-case digits.
        encoded = re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), quote(signed, safe="-_.!*()"))
        headers["authorization"] = encoded

        response = await raw.send("GET", "/dbs", kind="dbs", headers=headers)

        assert response.status == 200, response.text


async def test_an_item_is_written_and_read_with_the_headers_of_net(raw: RawClient, container: ContainerProxy) -> None:
    created = await raw.create_item({"id": "a", "pk": "p"}, headers=SDKS[".NET"])
    token = created.headers["x-ms-session-token"]
    read = await raw.read_item("a", {**SDKS[".NET"], "x-ms-session-token": token})

    assert (created.status, read.status, read.json["id"]) == (201, 200, "a")
    assert created.headers["etag"] == created.json["_etag"]
    assert float(read.headers["x-ms-request-charge"]) > 0
    # .NET parses a vector session token: range:version#LSN.
    assert re.fullmatch(r"\d+:-1#\d+", token)


async def test_the_routing_map_is_read_by_rid_until_304(raw: RawClient, container: ContainerProxy) -> None:
    rid = (await container.read())["_rid"]
    database = (await raw.send("GET", "/dbs/db", kind="dbs", link="dbs/db")).json["_rid"]
    headers = {**SDKS[".NET"], "a-im": "Incremental Feed", "x-ms-max-item-count": "-1"}
    path = f"/dbs/{quote(database)}/colls/{quote(rid)}/pkranges"

    pages = [await raw.send("GET", path, kind="pkranges", link=rid.lower(), by_rid=True, headers=headers)]
    headers["if-none-match"] = pages[0].headers["etag"]
    pages.append(await raw.send("GET", path, kind="pkranges", link=rid.lower(), by_rid=True, headers=headers))

    assert [page.status for page in pages] == [200, 304]
    assert pages[1].text == ""
    ranges = sorted(pages[0].json["PartitionKeyRanges"], key=lambda one: one["minInclusive"])
    assert [one["minInclusive"] for one in ranges] == ["", *(one["maxExclusive"] for one in ranges[:-1])]
    assert ranges[-1]["maxExclusive"] == "FF"


@pytest.mark.parametrize("features", [pytest.param(NET_FEATURES, id=".NET"), pytest.param(JAVA_FEATURES, id="Java")])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM c",
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT AVG(c.n) AS mean, SUM(c.n) AS total FROM c",
        "SELECT c.pk, COUNT(1) AS n, AVG(c.n) AS mean FROM c GROUP BY c.pk",
        "SELECT DISTINCT VALUE c.n FROM c",
        "SELECT COUNT(1) AS n FROM (SELECT DISTINCT VALUE c.n FROM c)",
        "SELECT * FROM c ORDER BY c.n DESC",
        "SELECT TOP 3 * FROM c ORDER BY c.n",
        "SELECT * FROM c ORDER BY c.n OFFSET 1 LIMIT 2",
    ],
)
async def test_a_query_gets_a_plan_with_each_sdks_features(
    raw: RawClient, container: ContainerProxy, features: str, query: str
) -> None:
    sdk = ".NET" if features == NET_FEATURES else "Java"
    headers = {
        **SDKS[sdk],
        **PLANS[sdk],
        "x-ms-cosmos-is-query-plan-request": "True",
        "x-ms-cosmos-supported-query-features": features,
    }

    response = await post(raw, {"query": query}, headers)

    assert response.status == 200, response.text
    assert response.json["partitionedQueryExecutionInfoVersion"] == 2
    assert response.json["queryInfo"]["hasSelectValue"] is ("VALUE" in query and "FROM (" not in query)
    assert set(response.json["queryRanges"][0]) >= {"min", "max", "isMinInclusive", "isMaxInclusive"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('SELECT VALUE root["id"] FROM root WHERE (root["n"] > 9) ORDER BY root["n"] DESC', ["11", "10"]),
        ('SELECT VALUE {"key" : root["pk"], "twice" : (root["n"] * 2)} FROM root', [{"key": "key 3", "twice": 6}]),
        ('SELECT VALUE item0 FROM root JOIN item0 IN root["tags"] WHERE STARTSWITH(item0, "a")', ["a3"]),
        ('SELECT VALUE root["id"] FROM root WHERE EXISTS(SELECT VALUE t FROM t IN root["tags"] WHERE t = "b")', ["3"]),
        ('SELECT VALUE COUNT(1) FROM root WHERE (root["pk"] IN ("key 1", "key 3"))', [1]),
        ('SELECT VALUE c FROM root c WHERE (c["$type"] = "Order")', []),
    ],
)
async def test_sql_that_linq_and_entity_framework_generate_runs(
    filled: ContainerProxy, query: str, expected: list[Any]
) -> None:
    await filled.patch_item("3", "key 3", [{"op": "set", "path": "/tags", "value": ["a3", "b"]}])
    key = None if "ORDER BY" in query else "key 3"

    found = [row async for row in filled.query_items(query, partition_key=key)]

    assert found == expected


@pytest.mark.parametrize("formats", ["JsonText, CosmosBinary", "CosmosBinary"])
async def test_a_client_that_also_reads_binary_gets_json_text(
    raw: RawClient, filled: ContainerProxy, formats: str
) -> None:
    headers = {
        **SDKS[".NET"],
        "content-type": "application/query+json",
        "x-ms-documentdb-query-iscontinuationexpected": "True",
        "x-ms-documentdb-query-enablecrosspartition": "True",
        "x-ms-cosmos-supported-serialization-formats": formats,
        "x-ms-max-item-count": "2147483647",  # int.MaxValue, without a limit
        "x-ms-documentdb-partitionkeyrangeid": "0",
        "x-ms-cosmos-correlated-activityid": "7f6bd4a3-5f0e-4a21-9c19-43a1f3a2b0aa",
    }

    response = await post(raw, {"query": "SELECT * FROM c", "parameters": []}, headers)

    assert response.status == 200, response.text
    assert response.headers["content-type"].startswith("application/json")
    assert response.json["_count"] == len(response.json["Documents"])


async def test_the_change_feed_of_a_range_resumes_at_its_etag(raw: RawClient, filled: ContainerProxy) -> None:
    headers = {**SDKS[".NET"], "a-im": "Incremental feed", "x-ms-max-item-count": "5"}
    headers |= {"x-ms-documentdb-partitionkeyrangeid": "0", "x-ms-read-key-type": "EffectivePartitionKeyRange"}
    headers |= {"x-ms-start-epk": "", "x-ms-end-epk": "FF"}
    seen: list[str] = []

    while True:
        response = await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=headers)
        headers["if-none-match"] = response.headers["etag"]
        if response.status == 304:
            break
        seen += [item["id"] for item in response.json["Documents"]]

    assert seen
    assert len(set(seen)) == len(seen)
    await filled.upsert_item({"id": seen[0], "pk": f"key {seen[0]}", "n": -1})
    changed = await raw.send("GET", f"/{CONTAINER}/docs", kind="docs", link=CONTAINER, headers=headers)
    assert [item["n"] for item in changed.json["Documents"]] == [-1]


async def test_a_go_query_with_an_empty_key_runs_in_the_partition_of_its_filter(
    raw: RawClient, filled: ContainerProxy
) -> None:
    query = {"query": "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'key 3'"}

    assert (await post(raw, query, {**SDKS["Go"], **GO_QUERY})).json["Documents"] == [1]


async def test_without_the_cross_partition_flag_an_empty_key_is_that_of_items_without_one(
    raw: RawClient, container: ContainerProxy
) -> None:
    """azure-cosmos sends it for containers created without a partition key."""
    await container.create_item({"id": "none"})
    await container.create_item({"id": "a", "pk": "p"})
    headers = {"content-type": "application/query+json", "x-ms-documentdb-partitionkey": "[]"}

    response = await post(raw, {"query": "SELECT VALUE c.id FROM c"}, headers)

    assert response.json["Documents"] == ["none"]


async def test_direct_mode_is_rejected_by_name(raw: RawClient, container: ContainerProxy) -> None:
    """It is the default of .NET and Java; they sign a request for addresses like one for items."""
    path = (
        "//addresses/?$resolveFor=dbs%2fdb%2fcolls%2fitems%2fdocs&$filter=protocol%20eq%20rntbd&$partitionKeyRangeIds=0"
    )

    response = await raw.send("GET", path, kind="docs", link=CONTAINER, headers=SDKS[".NET"])

    assert response.status == 501
    assert "set the client's connection mode to gateway" in response.json["message"]


@pytest.mark.parametrize(
    ("query", "needs_plan"),
    [
        ("SELECT * FROM c", "False"),
        ("SELECT TOP 1 * FROM c ORDER BY c.n", "False"),
        ("SELECT * FROM c OFFSET 1 LIMIT 1", "False"),
        ("SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n", "True"),
        ("SELECT VALUE COUNT(1) FROM c", "True"),
    ],
)
async def test_a_net_query_of_one_partition_says_whether_it_needs_a_plan(
    raw: RawClient, filled: ContainerProxy, query: str, needs_plan: str
) -> None:
    """Without the header, .NET fetches a plan and the first page again if a query has several pages."""
    headers = {
        **SDKS[".NET"],
        "content-type": "application/query+json",
        "x-ms-documentdb-isquery": "True",
        "x-ms-cosmos-query-optimisticdirectexecute": "True",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    response = await post(raw, {"query": query}, headers)

    assert (response.status, response.headers["x-ms-cosmos-query-requiresdistribution"]) == (200, needs_plan)


async def test_the_owners_path_lets_net_make_name_links_of_resources(raw: RawClient, container: ContainerProxy) -> None:
    database = (await raw.send("GET", "/dbs/db", kind="dbs", link="dbs/db")).json["_rid"]
    rid = (await container.read())["_rid"]
    script = {"id": "s", "body": "function () {}"}

    created = await raw.send("POST", f"/{CONTAINER}/sprocs", kind="sprocs", link=CONTAINER, body=script)
    feed = await raw.send("GET", f"/{CONTAINER}/sprocs", kind="sprocs", link=CONTAINER)
    by_name = await raw.send("GET", f"/{CONTAINER}", kind="colls", link=CONTAINER)
    by_rid = await raw.send("GET", f"/dbs/{database}/colls/{rid}", kind="colls", link=rid.lower(), by_rid=True)

    assert [one.headers["x-ms-alt-content-path"] for one in (created, feed)] == [CONTAINER] * 2
    assert [one.headers["x-ms-alt-content-path"] for one in (by_name, by_rid)] == ["dbs/db"] * 2


@pytest.mark.parametrize("name", ["tab\there", "line\nfeed", "carriage\rreturn"])
async def test_raw_breaks_in_strings_are_accepted_but_not_in_paths(
    raw: RawClient, container: ContainerProxy, name: str
) -> None:
    created = await raw.create_item(data=f'{{"id": "{name}",\n\t"pk": "p", "text": "a\\"b{name}"}}'.encode())
    link = f"{CONTAINER}/docs/{name}"
    read = await raw.send("GET", f"/{quote(link)}", kind="docs", link=link, headers=PARTITION_KEY)

    assert (created.status, read.status) == (201, 400)
    assert (created.json["id"], created.json["text"]) == (name, f'a"b{name}')


@pytest.mark.parametrize("text", ['{"id": "a\\\n"}', '{"id": "a\x01"}', '{"id": "a\n", "n": 1e999}', '{"id": "a\t'])
async def test_other_malformed_strings_are_rejected(raw: RawClient, container: ContainerProxy, text: str) -> None:
    assert (await raw.create_item(data=text.encode())).status == 400


async def test_net_sends_an_ids_question_mark_as_it_is(raw: RawClient, container: ContainerProxy) -> None:
    await raw.create_item({"id": "a?b", "pk": "p"})
    link = f"{CONTAINER}/docs/a?b"

    answers = [
        await raw.send("GET", f"/{path}", kind="docs", link=link, headers=PARTITION_KEY)
        for path in (link, link.replace("?", "%3F"))
    ]

    assert [(read.status, read.json["id"]) for read in answers] == [(200, "a?b")] * 2


@pytest.mark.parametrize("item_id", ["a/b", "a\\b"])
async def test_an_id_can_have_a_slash_or_backslash_but_no_path_names_it(
    raw: RawClient, container: ContainerProxy, item_id: str
) -> None:
    link = f"{CONTAINER}/docs/{item_id}"

    created = await raw.create_item({"id": item_id, "pk": "p"})
    read = await raw.send(
        "GET", f"/{CONTAINER}/docs/{quote(item_id, safe='')}", kind="docs", link=link, headers=PARTITION_KEY
    )

    assert (created.status, read.status) == (201, 404)
    assert [item["id"] async for item in container.read_all_items()] == [item_id]
