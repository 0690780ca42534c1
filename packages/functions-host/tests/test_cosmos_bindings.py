"""Input and output bindings of Cosmos DB, against the emulator."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import RawTestServer
from azure.core.credentials import AccessToken
from azure.cosmos import PartitionKey
from tests.cosmos_apps import Account
from tests.running import app_module, eventually, running, write_app

EVERYTHING = "SELECT * FROM c"
BY_QUERY = "SELECT * FROM c WHERE c.id = {Query.id}"
ITEMS = "connection='COSMOS', database_name='db', container_name='items'"


def reader(properties: str, route: str = "x", parameter: str = "docs: func.DocumentList") -> str:
    """Return the source of a function that responds with the documents of an input binding."""
    return f"""
import json

@app.route(route={route!r})
@app.cosmos_db_input(arg_name='docs', {properties})
def read(req: func.HttpRequest, {parameter}) -> func.HttpResponse:
    shown = docs if docs is None or isinstance(docs, str) else [doc.to_dict() for doc in docs]
    return func.HttpResponse(json.dumps(shown, default=str))
"""


def writer(value: str, properties: str = ITEMS, annotation: str = "func.Out[func.Document]") -> str:
    """Return the source of a function that sets an output binding to `value`."""
    return f"""
import json

@app.route(route='x')
@app.cosmos_db_output(arg_name='out', {properties})
def write(req: func.HttpRequest, out: {annotation}) -> func.HttpResponse:
    out.set({value})
    return func.HttpResponse('written')
"""


async def stored_ids(account: Account) -> list[str]:
    return sorted([item["id"] async for item in account.items.read_all_items()])


async def get(http: ClientSession, url: str, **request: Any) -> tuple[int, str]:
    async with http.request(request.pop("method", "GET"), url, **request) as response:
        return response.status, await response.text()


async def ids_at(http: ClientSession, url: str, **request: Any) -> list[str]:
    status, text = await get(http, url, **request)
    assert status == 200, text
    return sorted(item["id"] for item in json.loads(text))


@pytest.mark.parametrize(
    ("route", "expression", "path"),
    [
        ("todo/{pk}/{itemId}", "id='{itemId}', partition_key='{pk}'", "todo/ada/one"),
        ("x", "id='{Query.id}', partition_key='{Query.pk}'", "x?id=one&pk=ada"),
        ("x", "id='{id}', partition_key='{PK}'", "x?id=one&pk=ada"),
        ("x", "id='o{middle}e', partition_key='%AUTHOR%'", "x?middle=n"),
        ("x", "id='{Headers.X-Item}', partition_key='ada'", "x"),
        ("x", "id='{item.id}', partition_key='{author}'", "x"),
    ],
)
async def test_an_input_binding_reads_one_item(
    tmp_path: Path, account: Account, http: ClientSession, route: str, expression: str, path: str
) -> None:
    await account.write("one", pk="ada", text="Grüße")
    app_dir = write_app(tmp_path, reader(f"{ITEMS}, {expression}", route))
    request = {"headers": {"x-item": "one"}, "json": {"item": {"Id": "one"}, "author": "ada"}}

    async with running(app_dir, {**account.environment, "AUTHOR": "ada"}) as host:
        _, text = await get(http, f"{host.url}/api/{path}", **request)

    (item,) = json.loads(text)
    assert (item["id"], item["pk"], item["text"]) == ("one", "ada", "Grüße")
    assert item["_etag"]


async def test_the_route_overrides_the_query_which_overrides_the_body(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    await account.write("route", "query", "body", pk="p")
    source = reader(f"{ITEMS}, id='{{id}}', partition_key='p'", "x/{id?}")

    async with running(write_app(tmp_path, source), account.environment) as host:
        url, body = f"{host.url}/api/x", {"id": "body"}

        assert await ids_at(http, f"{url}/route?id=query", json=body) == ["route"]
        assert await ids_at(http, f"{url}?id=query", json=body) == ["query"]
        assert await ids_at(http, url, json=body) == ["body"]


async def test_a_missing_item_is_none(tmp_path: Path, account: Account, http: ClientSession) -> None:
    source = reader(f"{ITEMS}, id='missing', partition_key='p'")

    async with running(write_app(tmp_path, source), account.environment) as host:
        assert await get(http, f"{host.url}/api/x") == (200, "null")


async def test_an_input_without_partition_key_finds_only_items_without_one(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    await account.items.upsert_item({"id": "keyless"})
    await account.write("keyed", pk="p")
    source = reader(f"{ITEMS}, id='{{id}}'", "x/{id}")

    async with running(write_app(tmp_path, source), account.environment) as host:
        assert await ids_at(http, f"{host.url}/api/x/keyless") == ["keyless"]
        assert await get(http, f"{host.url}/api/x/keyed") == (200, "null")


@pytest.mark.parametrize("partitions", [3])
async def test_a_query_binding_passes_expressions_as_parameters(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    await account.write("a", "b", owner="ada")
    await account.write("c", owner="x' OR true --")
    query = "SELECT * FROM c WHERE c.owner = {owner} OR c.owner = {owner} ORDER BY c.id"
    source = reader(f"{ITEMS}, sql_query={query!r}")

    async with running(write_app(tmp_path, source), account.environment) as host:
        assert await ids_at(http, f"{host.url}/api/x?owner=ada") == ["a", "b"]
        assert await ids_at(http, f"{host.url}/api/x", params={"owner": "x' OR true --"}) == ["c"]
        assert await ids_at(http, f"{host.url}/api/x?owner=nobody") == []


async def test_a_query_binding_reads_every_page_of_one_partition(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    await account.write(*(f"i{n}" for n in range(1200)), pk="p")
    await account.write("other")
    query = "SELECT c.id FROM c"

    source = reader(f"{ITEMS}, sql_query={query!r}, partition_key='p'")
    async with running(write_app(tmp_path, source), account.environment) as host:
        assert len(await ids_at(http, f"{host.url}/api/x")) == 1200


async def test_a_binding_without_id_and_query_reads_the_container(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    await account.write("a", "b")

    async with running(write_app(tmp_path, reader(ITEMS)), account.environment) as host:
        assert await ids_at(http, f"{host.url}/api/x") == ["a", "b"]


async def test_a_str_parameter_receives_json(tmp_path: Path, account: Account, http: ClientSession) -> None:
    await account.write("one", pk="p")
    source = reader(f"{ITEMS}, id='one', partition_key='p'", parameter="docs: str")

    async with running(write_app(tmp_path, source), account.environment) as host:
        _, text = await get(http, f"{host.url}/api/x")

    assert json.loads(json.loads(text))["id"] == "one"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("id='{nowhere}', partition_key='p'", "the binding expression {nowhere} has no value"),
        ("id='{Query.id}', partition_key='p'", "the binding expression {Query.id} has no value"),
        ("id='{id.name}', partition_key='p'", "the binding expression {id.name} has no value"),
        ("sql_query='SELECT * FROM c WHERE c.id = {id}'", "the binding expression {id} has no value"),
    ],
)
async def test_an_expression_without_value_fails_the_invocation(
    tmp_path: Path,
    account: Account,
    http: ClientSession,
    caplog: pytest.LogCaptureFixture,
    expression: str,
    message: str,
) -> None:
    app_dir = write_app(tmp_path, reader(f"{ITEMS}, {expression}"))

    async with running(app_dir, account.environment) as host:
        assert await get(http, f"{host.url}/api/x") == (500, "")

    assert message in caplog.text


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        (f"{ITEMS}, id='a', sql_query={EVERYTHING!r}", "only one of id and sqlQuery"),
        (f"{ITEMS}, sql_query={BY_QUERY!r}", "sqlQuery supports only expressions such as {name}"),
        (f"{ITEMS}, id='{{id'", "unbalanced"),
        (f"{ITEMS}, id='{{}}'", "empty"),
        (f"{ITEMS}, id='{{9}}'", "invalid"),
        (f"{ITEMS}, id='%MISSING%'", "cannot be resolved"),
        (ITEMS.replace("COSMOS", "NONE"), "Cosmos DB connection 'NONE' does not exist"),
    ],
)
async def test_a_function_with_an_invalid_binding_is_skipped(
    tmp_path: Path, account: Account, caplog: pytest.LogCaptureFixture, properties: str, message: str
) -> None:
    good = "@app.route(route='good')\ndef good(req): return 'x'\n"
    app_dir = write_app(tmp_path, good + reader(properties))

    async with running(app_dir, account.environment) as host:
        assert list(host.functions) == ["good"]

    assert message in caplog.text


async def test_a_binding_of_extension_version_3_is_skipped_with_a_reason(
    tmp_path: Path, account: Account, caplog: pytest.LogCaptureFixture
) -> None:
    source = reader("database_name='db', collection_name='items', connection_string_setting='COSMOS'")

    async with running(write_app(tmp_path, source.replace("cosmos_db_input", "cosmos_db_input_v3"))) as host:
        assert list(host.functions) == []

    assert "['collectionName', 'connectionStringSetting'] are property names of extension version 3" in caplog.text


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ("func.Document.from_dict({'id': 'a', 'pk': 'p'})", "func.Out[func.Document]"),
        ("func.DocumentList([func.Document.from_dict({'id': 'a'})])", "func.Out[func.DocumentList]"),
        ("[func.Document.from_dict({'id': 'a'})]", "func.Out[func.Document]"),
        ("json.dumps({'id': 'a'})", "func.Out[str]"),
        ("json.dumps([{'id': 'a'}]).encode()", "func.Out[bytes]"),
    ],
)
async def test_an_output_binding_upserts_documents(
    tmp_path: Path, account: Account, http: ClientSession, value: str, annotation: str
) -> None:
    app_dir = write_app(tmp_path, writer(value, annotation=annotation))

    async with running(app_dir, account.environment) as host:
        assert await get(http, f"{host.url}/api/x") == (200, "written")
        assert await get(http, f"{host.url}/api/x") == (200, "written")

    assert await stored_ids(account) == ["a"]


async def test_a_list_upserts_each_document_before_the_response(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    value = "[func.Document.from_dict({'id': f'i{n}', 'pk': f'p{n}'}) for n in range(5)]"

    async with running(write_app(tmp_path, writer(value)), account.environment) as host:
        await get(http, f"{host.url}/api/x")
        assert await stored_ids(account) == ["i0", "i1", "i2", "i3", "i4"]


async def test_an_output_that_is_not_set_writes_nothing(tmp_path: Path, account: Account, http: ClientSession) -> None:
    async with running(write_app(tmp_path, writer("None")), account.environment) as host:
        assert await get(http, f"{host.url}/api/x") == (200, "written")

    assert await stored_ids(account) == []


@pytest.mark.parametrize(
    ("value", "properties", "message"),
    [
        ("{'id': 'a'}", ITEMS, "unable to encode outgoing TypedData: unsupported type"),
        ("func.Document.from_dict({'pk': 'p'})", ITEMS, "id"),
        (
            "func.Document.from_dict({'id': 'a'})",
            ITEMS.replace("items", "none"),
            "The container 'none' (in database 'db') does not exist. To create it, set create_if_not_exists to True",
        ),
        (
            "func.Document.from_dict({'id': 'a'})",
            ITEMS.replace("items", "none") + ", create_if_not_exists=True",
            "set partition_key to a path such as /id",
        ),
    ],
)
async def test_an_output_that_cannot_be_written_fails_the_invocation(
    tmp_path: Path,
    account: Account,
    http: ClientSession,
    caplog: pytest.LogCaptureFixture,
    value: str,
    properties: str,
    message: str,
) -> None:
    async with running(write_app(tmp_path, writer(value, properties)), account.environment) as host:
        assert await get(http, f"{host.url}/api/x") == (500, "")

    assert message in caplog.text
    assert await stored_ids(account) == []


async def test_create_if_not_exists_creates_database_and_container(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    properties = "connection='COSMOS', database_name='new', container_name='%NAME%', create_if_not_exists=True"
    source = writer(
        "func.Document.from_dict({'id': 'a', 'tenant': 't'})",
        f"{properties}, partition_key='/tenant', container_throughput=500",
    )

    async with running(write_app(tmp_path, source), {**account.environment, "NAME": "made"}) as host:
        assert await get(http, f"{host.url}/api/x") == (200, "written")

    container = account.client.get_database_client("new").get_container_client("made")
    assert (await container.read())["partitionKey"]["paths"] == ["/tenant"]
    assert (await container.get_throughput()).offer_throughput == 500
    assert (await container.read_item("a", "t"))["id"] == "a"


async def test_a_function_can_read_and_replace_an_item(tmp_path: Path, account: Account, http: ClientSession) -> None:
    await account.write("counter", pk="p", count=1)
    source = f"""
@app.route(route='count/{{id}}')
@app.cosmos_db_input(arg_name='docs', id='{{id}}', partition_key='p', {ITEMS})
@app.cosmos_db_output(arg_name='out', {ITEMS})
async def count(req: func.HttpRequest, docs: func.DocumentList, out: func.Out[func.Document]) -> func.HttpResponse:
    docs[0]['count'] += 1
    out.set(docs[0])
    return func.HttpResponse(str(docs[0]['count']))
"""
    async with running(write_app(tmp_path, source), account.environment) as host:
        assert [await get(http, f"{host.url}/api/count/counter") for _ in range(3)] == [
            (200, "2"),
            (200, "3"),
            (200, "4"),
        ]


async def test_a_trigger_function_copies_changes_with_its_return_value(tmp_path: Path, account: Account) -> None:
    copies = await account.database.create_container_if_not_exists("copies", PartitionKey("/id"))
    source = f"""
seen = []

@app.cosmos_db_trigger(
    arg_name='docs', {ITEMS}, create_lease_container_if_not_exists=True, start_from_beginning=True, feed_poll_delay=50
)
@app.cosmos_db_output(arg_name='$return', {ITEMS.replace("items", "copies")})
@app.cosmos_db_input(arg_name='limit', id='limit', partition_key='limit', {ITEMS.replace("items", "copies")})
def copy(docs: func.DocumentList, limit: func.DocumentList):
    seen.append(limit)
    return func.DocumentList([func.Document.from_dict({{'id': doc['id'], 'copied': True}}) for doc in docs])
"""
    await account.write("a", "b")

    async def copied() -> list[str]:
        return sorted([item["id"] async for item in copies.read_all_items()])

    async def has_both() -> bool:
        return await copied() == ["a", "b"]

    async with running(write_app(tmp_path, source), account.environment):
        await eventually(has_both)

        assert set(app_module().seen) == {None}


async def test_a_failed_output_is_retried_like_the_function(tmp_path: Path, account: Account) -> None:
    source = f"""
attempts = []

@app.retry(strategy='fixed_delay', max_retry_count='2', delay_interval='00:00:00')
@app.timer_trigger(arg_name='t', schedule='0 0 0 1 1 *', run_on_startup=True)
@app.cosmos_db_output(arg_name='out', {ITEMS.replace("items", "none")})
def tick(t: func.TimerRequest, out: func.Out[func.Document], context: func.Context):
    attempts.append(context.retry_context.retry_count)
    out.set(func.Document.from_dict({{'id': 'a'}}))
"""
    async with running(write_app(tmp_path, source), account.environment):
        await eventually(lambda: len(app_module().attempts) == 3)

        assert app_module().attempts == [0, 1, 2]


class Identity:
    """A credential."""

    async def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("header.payload.signature", int(time.time()) + 3600)

    async def close(self) -> None: ...


async def test_an_identity_connection_authenticates_with_a_token(
    tmp_path: Path,
    account: Account,
    http: ClientSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("functions_host.cosmos_connection._identity", lambda _options: Identity())
    app_dir = write_app(tmp_path, reader(f"{ITEMS}, id='one', partition_key='p'"))

    async with running(app_dir, {"COSMOS__accountEndpoint": account.endpoint}) as host:
        assert await get(http, f"{host.url}/api/x") == (500, "")

    # The SDK has the credential, and refuses to send its token to the emulator without TLS.
    assert "Bearer token authentication is not permitted for non-TLS" in caplog.text


async def test_an_account_that_does_not_respond_delays_no_other_connection(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    await account.write("one", pk="p")
    item = f"{ITEMS}, id='one', partition_key='p'"
    stuck = reader(item.replace("COSMOS", "SILENT"), "stuck").replace("def read", "def read_stuck")
    connected, released = asyncio.Event(), asyncio.Event()

    async def respond_late(_: web.BaseRequest) -> web.Response:
        connected.set()
        await released.wait()
        return web.Response(status=401)

    async with RawTestServer(respond_late) as silent:
        environment = {**account.environment, "SILENT": f"AccountEndpoint={silent.make_url('/')};AccountKey=a2V5;"}
        async with running(write_app(tmp_path, stuck + reader(item)), environment) as host:
            waiting = asyncio.create_task(get(http, f"{host.url}/api/stuck"))
            await asyncio.wait_for(connected.wait(), 60)

            assert await asyncio.wait_for(ids_at(http, f"{host.url}/api/x"), 60) == ["one"]
            assert not waiting.done()

            released.set()
            assert await waiting == (500, "")


@pytest.mark.parametrize(
    "source",
    [
        reader(f"{ITEMS}, id='a'", parameter="docs: int"),
        reader(f"{ITEMS}, id='a'", parameter="docs: func.Out[func.Document]"),
        writer("None", annotation="func.Out[int]"),
        writer("None", annotation="func.Out[list[func.Document]]"),
        writer("None", annotation="func.Document"),
    ],
)
async def test_an_annotation_that_does_not_fit_the_binding_is_an_error(
    tmp_path: Path, account: Account, caplog: pytest.LogCaptureFixture, source: str
) -> None:
    async with running(write_app(tmp_path, source), account.environment) as host:
        assert list(host.functions) == []

    assert "function is in error: cannot load" in caplog.text


async def test_a_container_name_can_contain_an_expression(
    tmp_path: Path, account: Account, http: ClientSession
) -> None:
    container = await account.database.create_container_if_not_exists("write", PartitionKey("/pk"))
    value = "func.Document.from_dict({'id': 'a'})"
    source = writer(value, ITEMS.replace("'items'", "'{sys.MethodName}'"))

    async with running(write_app(tmp_path, source), account.environment) as host:
        assert (await get(http, f"{host.url}/api/x"))[0] == 200

    assert [item["id"] async for item in container.read_all_items()] == ["a"]
