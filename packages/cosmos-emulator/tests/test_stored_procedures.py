"""Stored procedures and triggers over HTTP. The tests in scripts/ cover the language."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.documents import TriggerOperation, TriggerType
from azure.cosmos.exceptions import CosmosHttpResponseError
from azure.cosmos.partition_key import NonePartitionKeyValue
from cosmos_emulator import CosmosEmulator
from tests.errors import fails_with
from tests.raw_client import CONTAINER, PARTITION_KEY, RawClient

LINK = "dbs/db/colls/items"


async def run(container: ContainerProxy, body: str, *arguments: Any, key: Any = "p", **options: Any) -> Any:
    name = f"script {abs(hash(body))}"
    await container.scripts.create_stored_procedure({"id": name, "body": body})
    return await call(container, name, *arguments, key=key, **options)


async def call(container: ContainerProxy, name: str, *arguments: Any, key: Any = "p", **options: Any) -> Any:
    return await container.scripts.execute_stored_procedure(
        name, partition_key=key, parameters=list(arguments), **options
    )


async def only_name(container: ContainerProxy) -> str:
    (name,) = [one["id"] async for one in container.scripts.list_stored_procedures()]
    return str(name)


async def ids(container: ContainerProxy) -> list[str]:
    return sorted([item["id"] async for item in container.read_all_items()])


CREATE_TWO = """
function createTwo(first, second, failure) {
    const collection = getContext().getCollection();
    collection.createDocument(collection.getSelfLink(), first, function (error) {
        if (error) throw error;
        const accepted = collection.createDocument(collection.getSelfLink(), second, function (error, stored) {
            if (error) throw error;
            if (failure) throw new Error(failure, 'no');
            getContext().getResponse().setBody(stored);
        });
        if (!accepted) throw new Error('not accepted');
    });
}
"""


async def test_writes_of_a_script_are_committed_atomically(raw: RawClient, container: ContainerProxy) -> None:
    stored = await run(container, CREATE_TWO, {"id": "a", "pk": "p"}, {"id": "b", "pk": "p"})

    feed = [item async for item in container.query_items_change_feed(start_time="Beginning")]
    assert stored["_self"].endswith(f"docs/{stored['_rid']}/")
    assert await ids(container) == ["a", "b"]
    assert len({item["_lsn"] for item in feed}) == 1


@pytest.mark.parametrize(
    ("second", "failure", "sub_status"),
    [
        ({"id": "b", "pk": "p"}, 4444, 4444),
        ({"id": "a", "pk": "p"}, None, 409),
        ({"id": "b", "pk": "other"}, None, 400),
    ],
)
async def test_an_error_in_a_callback_rolls_everything_back(
    container: ContainerProxy, second: dict[str, str], failure: int | None, sub_status: int
) -> None:
    with fails_with(400, sub_status):
        await run(container, CREATE_TWO, {"id": "a", "pk": "p"}, second, failure)

    assert await ids(container) == []
    assert [one async for one in container.query_items_change_feed(start_time="Beginning")] == []


async def test_a_handled_error_undoes_only_its_operation(container: ContainerProxy) -> None:
    body = """
    function () {
        const collection = getContext().getCollection(), link = collection.getSelfLink();
        collection.createDocument(link, {id: 'a', pk: 'p'}, function () {
            collection.createDocument(link, {id: 'a', pk: 'p', twice: true}, function (error) {
                collection.createDocument(link, {id: 'b', pk: 'p', seen: error.number});
            });
        });
    }"""

    await run(container, body)

    assert (await container.read_item("b", "p"))["seen"] == 409
    assert "twice" not in await container.read_item("a", "p")


COUNTS = """
function () {
    const collection = getContext().getCollection(), link = collection.getSelfLink(), seen = {};
    collection.createDocument(link, {id: 'own', pk: 'p'}, function (error) {
        if (error) throw error;
        collection.queryDocuments(link, 'SELECT VALUE c.id FROM c', {}, function (error, rows) {
            if (error) throw error;
            seen.query = rows;
            collection.readDocuments(link, {}, function (error, documents) {
                if (error) throw error;
                seen.feed = documents.map(one => one.id);
                collection.readDocument(collection.getAltLink() + '/docs/own', {}, function (error, document) {
                    if (error) throw error;
                    seen.read = document.id;
                    getContext().getResponse().setBody(seen);
                });
            });
        });
    });
}"""


async def test_reads_see_own_writes(container: ContainerProxy) -> None:
    await container.create_item({"id": "before", "pk": "p"})
    await container.create_item({"id": "foreign", "pk": "q"})

    seen = await run(container, COUNTS)

    assert seen == {"query": ["before", "own"], "feed": ["before", "own"], "read": "own"}


async def test_a_setting_hides_own_writes_from_queries(container: ContainerProxy, emulator: CosmosEmulator) -> None:
    emulator.settings.script_queries_see_own_writes = False

    assert (await run(container, COUNTS))["query"] == []


DELETE_ALL = """
function () {
    const collection = getContext().getCollection(), link = collection.getSelfLink();
    let deleted = 0;
    query();
    function query() {
        const order = { query: 'SELECT c._self FROM c ORDER BY c.n' };
        collection.queryDocuments(link, order, { pageSize: 2 }, function (error, rows) {
            if (error) throw error;
            if (rows.length) remove(rows);
            else getContext().getResponse().setBody(deleted);
        });
    }
    function remove(rows) {
        if (!rows.length) return query();
        collection.deleteDocument(rows[0]._self, {}, function (error) {
            if (error) throw error;
            deleted++;
            remove(rows.slice(1));
        });
    }
}"""


@pytest.mark.parametrize("see_own_writes", [True, False])
async def test_queries_never_return_what_the_script_deleted(
    container: ContainerProxy, emulator: CosmosEmulator, see_own_writes: bool
) -> None:
    """Like Microsoft's sample bulkDelete.js, which queries until nothing is left."""
    emulator.settings.script_queries_see_own_writes = see_own_writes
    for number in range(5):
        await container.create_item({"id": str(number), "pk": "p", "n": number})

    assert await run(container, DELETE_ALL) == 5
    assert await ids(container) == []


async def test_an_etag_of_a_query_without_own_writes_names_the_setting(
    container: ContainerProxy, emulator: CosmosEmulator
) -> None:
    emulator.settings.script_queries_see_own_writes = False
    item = await container.create_item({"id": "a", "pk": "p"})
    body = """
    function (link) {
        const collection = getContext().getCollection(), found = collection.getSelfLink();
        collection.replaceDocument(link, {id: 'a', pk: 'p', n: 1}, function (error) {
            if (error) throw error;
            collection.queryDocuments(found, 'SELECT * FROM c', {}, function (error, rows) {
                collection.replaceDocument(link, {id: 'a', pk: 'p', n: 2}, {etag: rows[0]._etag});
            });
        });
    }"""

    with fails_with(400, 412, match="script_queries_see_own_writes"):
        await run(container, body, item["_self"])


async def test_queries_and_feeds_return_pages(container: ContainerProxy) -> None:
    for number in range(5):
        await container.create_item({"id": str(number), "pk": "p", "n": number})
    body = """
    function () {
        const collection = getContext().getCollection(), link = collection.getSelfLink(), seen = [];
        const query = {query: 'SELECT VALUE c.n FROM c WHERE c.n > @n', parameters: [{name: '@n', value: 0}]};
        function next(continuation) {
            collection.queryDocuments(link, query, {pageSize: 2, continuation}, function (error, rows, options) {
                if (error) throw error;
                seen.push(rows);
                if (options.continuation) next(options.continuation);
                else getContext().getResponse().setBody(seen);
            });
        }
        next();
    }"""

    assert await run(container, body) == [[1, 2], [3, 4]]


async def test_a_stale_etag_returns_412_and_a_missing_document_404(container: ContainerProxy) -> None:
    item = await container.create_item({"id": "a", "pk": "p"})
    current = await container.upsert_item({"id": "a", "pk": "p", "n": 1})
    body = """
    function (link, etag) {
        getContext().getCollection().replaceDocument(link, {id: 'a', pk: 'p', n: 2}, {etag}, function (error) {
            getContext().getResponse().setBody(error ? error.number : 0);
        });
    }"""

    assert await run(container, body, item["_self"], item["_etag"]) == 412
    name = await only_name(container)
    assert await call(container, name, f"{LINK}/docs/none") == 404
    assert await call(container, name, f"{LINK}/docs/a", key="q") == 404
    assert await call(container, name, f"{LINK}/docs/a", current["_etag"]) == 0


@pytest.mark.parametrize(("key", "value"), [(NonePartitionKeyValue, {}), (5, {"pk": 5}), ("", {"pk": ""})])
async def test_a_script_runs_in_the_partition_of_any_key(
    container: ContainerProxy, key: Any, value: dict[str, Any]
) -> None:

    await run(container, CREATE_TWO, {"id": "a", **value}, {"id": "b", **value}, key=key)

    assert (await container.read_item("b", key))["id"] == "b"


async def test_an_endless_script_returns_408_while_other_requests_are_served(
    container: ContainerProxy, emulator: CosmosEmulator
) -> None:
    emulator.settings.script_time_limit_s = 1.0
    await container.create_item({"id": "a", "pk": "p"})
    body = """
    function () {
        const collection = getContext().getCollection();
        collection.createDocument(collection.getSelfLink(), {id: 'b', pk: 'p'});
        while (true) {}
    }"""

    started = time.monotonic()
    endless = asyncio.ensure_future(run(container, body))
    reads = 0
    while not endless.done() and time.monotonic() < started + 10:
        assert (await container.read_item("a", "p"))["id"] == "a"
        await container.upsert_item({"id": "other", "pk": "key in another physical partition"})
        reads += 1

    with fails_with(408):
        await endless
    assert reads > 3
    assert await ids(container) == ["a", "other"]


async def test_a_setting_limits_accepted_operations(container: ContainerProxy, emulator: CosmosEmulator) -> None:
    emulator.settings.script_operations = 3
    body = """
    function () {
        const collection = getContext().getCollection();
        let done = 0;
        function next() {
            const item = {id: 'n' + done, pk: 'p'};
            const accepted = collection.createDocument(collection.getSelfLink(), item, function (error) {
                if (error) throw error;
                done += 1;
                next();
            });
            if (!accepted) getContext().getResponse().setBody(done);
        }
        next();
    }"""

    assert await run(container, body) == 3
    assert await ids(container) == ["n0", "n1", "n2"]


@pytest.mark.parametrize("value", ["text", 5, 1.5, {"a": [None]}, [1], True, None, "ü€😀"])
async def test_the_response_body_is_returned_unchanged(container: ContainerProxy, value: Any) -> None:
    assert await run(container, "function (v) { getContext().getResponse().setBody(v); }", value) == value


async def test_the_log_is_returned_only_on_request(container: ContainerProxy) -> None:
    body = "function () { console.log('50% of é'); console.log('!'); }"
    header = "x-ms-documentdb-script-log-results"

    assert await run(container, body, enable_script_logging=True) == ""
    assert container.client_connection.last_response_headers[header] == "50%25%20of%20%C3%A9!"
    await call(container, await only_name(container))
    assert header not in container.client_connection.last_response_headers


async def test_the_charge_of_a_script_is_the_sum_of_start_reads_and_writes(
    raw: RawClient, container: ContainerProxy
) -> None:
    async def charge(body: str) -> float:
        name = f"charged {abs(hash(body))}"
        await container.scripts.create_stored_procedure({"id": name, "body": body})
        path = f"{LINK}/sprocs/{name}"
        headers = {"x-ms-documentdb-partitionkey": '["p"]'}
        answer = await raw.send("POST", "/" + path.replace(" ", "%20"), kind="sprocs", link=path, headers=headers)
        return float(answer.headers["x-ms-request-charge"])

    nothing = await charge("function () {}")
    writing = await charge("function () { const c = __; c.createDocument(c.getSelfLink(), {id: 'a', pk: 'p'}); }")

    assert nothing == 4.27
    assert writing > nothing + 5


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("sprocs", {"id": "s"}),
        ("sprocs", {"body": "function () {}"}),
        ("triggers", {"id": "t", "body": "function () {}", "triggerType": "Pre"}),
        ("triggers", {"id": "t", "body": "function () {}", "triggerType": "Mid", "triggerOperation": "All"}),
        ("udfs", {"id": "u"}),
    ],
)
async def test_a_script_without_required_properties_is_rejected(
    raw: RawClient, container: ContainerProxy, kind: str, body: dict[str, str]
) -> None:
    answer = await raw.send("POST", f"/{LINK}/{kind}", kind=kind, link=LINK, body=body)

    assert answer.status == 400


async def test_scripts_are_listed_replaced_and_deleted(container: ContainerProxy) -> None:
    scripts = container.scripts
    created = await scripts.create_stored_procedure({"id": "s", "body": "function () { __.response.setBody(1); }"})
    with fails_with(409):
        await scripts.create_stored_procedure({"id": "s", "body": "function () {}"})
    await scripts.replace_stored_procedure("s", {"id": "s", "body": "function () { __.response.setBody(2); }"})
    await scripts.create_user_defined_function({"id": "u", "body": "function () {}"})
    await scripts.create_trigger({"id": "t", "body": "function () {}", "triggerType": "Pre", "triggerOperation": "All"})

    assert await call(container, "s") == 2
    assert (await scripts.get_stored_procedure("s"))["_rid"] == created["_rid"]
    assert [one["id"] async for one in scripts.list_user_defined_functions()] == ["u"]
    assert [one["id"] async for one in scripts.query_triggers("SELECT * FROM t WHERE t.triggerType = 'Pre'")] == ["t"]
    await scripts.delete_stored_procedure("s")
    with fails_with(404):
        await call(container, "s")


async def test_a_procedure_that_does_not_compile_fails_when_executed(container: ContainerProxy) -> None:
    await container.scripts.create_stored_procedure({"id": "broken", "body": "function ( {"})

    with pytest.raises(CosmosHttpResponseError) as caught:
        await call(container, "broken")

    assert (caught.value.status_code, caught.value.sub_status) == (400, 65535)


@pytest.fixture
async def triggers(database: DatabaseProxy) -> ContainerProxy:
    container = await database.create_container("fired", PartitionKey("/pk"))
    bodies = {
        "stamp": (
            "Pre",
            "Create",
            "const r = getContext().getRequest(), d = r.getBody(); d.stamped = 1; r.setBody(d);",
        ),
        "veto": ("Pre", "All", "throw new Error(4444, 'no');"),
        "count": (
            "Post",
            "All",
            """const c = getContext().getCollection(), stored = getContext().getResponse().getBody();
               c.upsertDocument(c.getSelfLink(), {id: 'last', pk: stored.pk, of: stored.id, etag: stored._etag},
                                function (error) { if (error) throw error; });""",
        ),
        "reply": ("Post", "All", "getContext().getResponse().setBody({only: 'the reply'});"),
        "undo": ("Post", "All", "throw new Error(7, 'undone');"),
    }
    for name, (side, operation, body) in bodies.items():
        await container.scripts.create_trigger(
            {"id": name, "triggerType": side, "triggerOperation": operation, "body": f"function () {{ {body} }}"}
        )
    return container


async def test_a_pre_trigger_changes_the_written_item(triggers: ContainerProxy) -> None:
    created = await triggers.create_item({"id": "a", "pk": "p"}, pre_trigger_include="stamp")

    assert created["stamped"] == 1
    assert (await triggers.read_item("a", "p"))["stamped"] == 1


async def test_a_post_trigger_sees_the_stored_item_and_can_write_others(triggers: ContainerProxy) -> None:
    created = await triggers.upsert_item({"id": "a", "pk": "p"}, post_trigger_include="count")

    last = await triggers.read_item("last", "p")
    assert (last["of"], last["etag"]) == ("a", created["_etag"])


async def test_a_post_trigger_changes_only_the_response(triggers: ContainerProxy) -> None:
    created = await triggers.create_item({"id": "a", "pk": "p"}, post_trigger_include="reply")

    assert dict(created) == {"only": "the reply"}
    assert (await triggers.read_item("a", "p"))["id"] == "a"


@pytest.mark.parametrize(
    ("options", "sub_status"), [({"pre_trigger_include": "veto"}, 4444), ({"post_trigger_include": "undo"}, 7)]
)
async def test_a_trigger_that_throws_rolls_back_the_write(
    triggers: ContainerProxy, options: dict[str, str], sub_status: int
) -> None:
    with fails_with(400, sub_status):
        await triggers.create_item({"id": "a", "pk": "p"}, **options)

    assert await ids(triggers) == []


@pytest.mark.parametrize(
    "options",
    [
        {"pre_trigger_include": "count"},
        {"post_trigger_include": "stamp"},
        {"pre_trigger_include": "nosuch"},
        {"pre_trigger_include": "stamp,veto"},
    ],
)
async def test_an_inapplicable_trigger_fails_the_write(triggers: ContainerProxy, options: dict[str, str]) -> None:
    with fails_with(400):
        await triggers.create_item({"id": "a", "pk": "p"}, **options)

    assert await ids(triggers) == []


async def test_the_sdks_lower_case_trigger_constants_are_accepted(container: ContainerProxy) -> None:
    stamp = "function () { const r = getContext().getRequest(), d = r.getBody(); d.stamped = 1; r.setBody(d); }"
    created = await container.scripts.create_trigger(
        {"id": "t", "triggerType": TriggerType.Pre, "triggerOperation": TriggerOperation.Create, "body": stamp}
    )

    item = await container.create_item({"id": "a", "pk": "p"}, pre_trigger_include="t")

    assert (created["triggerType"], created["triggerOperation"]) == ("pre", "create")  # as sent
    assert item["stamped"] == 1
    with fails_with(400):
        await container.create_item({"id": "b", "pk": "p"}, post_trigger_include="t")
    with fails_with(400):
        await container.upsert_item({"id": "a", "pk": "p"}, pre_trigger_include="t")


async def test_a_create_trigger_does_not_run_on_replace(triggers: ContainerProxy) -> None:
    await triggers.create_item({"id": "a", "pk": "p"})

    with fails_with(400):
        await triggers.replace_item("a", {"id": "a", "pk": "p"}, pre_trigger_include="stamp")


async def test_a_delete_runs_triggers(triggers: ContainerProxy) -> None:
    await triggers.create_item({"id": "a", "pk": "p"})

    with fails_with(400, 4444):
        await triggers.delete_item("a", "p", pre_trigger_include="veto")
    await triggers.delete_item("a", "p", post_trigger_include="reply")

    assert await ids(triggers) == []


@pytest.mark.parametrize("item_id", ["a?b", "a#b", "a%3Fb", "100%"])
async def test_a_script_names_items_by_their_ids(container: ContainerProxy, raw: RawClient, item_id: str) -> None:
    await container.create_item({"id": "a", "pk": "p"})
    await raw.create_item({"id": item_id, "pk": "p"})

    await run(container, "function (id) { __.deleteDocument(`${__.getAltLink()}/docs/${id}`); }", item_id)

    assert await ids(container) == ["a"]


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("null", ["undefined", "undefined"]),
        ("{}", ["undefined", "undefined"]),
        ('{"0": 4}', ["undefined", "undefined"]),
        ('{"0": 4, "length": 1}', ["number", "undefined"]),
        ('{"0": 4, "1": "x", "length": "2"}', ["number", "string"]),
        ('{"0": 4, "1": "x", "length": 1.5}', ["number", "undefined"]),
        ('{"0": 4, "length": 10000}', ["number", "object"]),
    ],
)
async def test_arguments_can_be_an_array_like_object(
    raw: RawClient, container: ContainerProxy, body: str, result: list[str]
) -> None:
    script = "function (a, b) { getContext().getResponse().setBody([typeof a, typeof b]); }"
    await container.scripts.create_stored_procedure({"id": "types", "body": script})
    link = f"{CONTAINER}/sprocs/types"

    response = await raw.send("POST", f"/{link}", kind="sprocs", link=link, data=body.encode(), headers=PARTITION_KEY)

    assert response.json == result


async def test_too_many_arguments_are_rejected(raw: RawClient, container: ContainerProxy) -> None:
    await container.scripts.create_stored_procedure({"id": "none", "body": "function () {}"})
    link = f"{CONTAINER}/sprocs/none"

    response = await raw.send(
        "POST", f"/{link}", kind="sprocs", link=link, data=b'{"length": 1e9}', headers=PARTITION_KEY
    )

    assert response.status == 400


async def test_every_container_has_the_procedure_echo(container: ContainerProxy) -> None:
    assert (
        await container.scripts.execute_stored_procedure("__.sys.echo", partition_key="p", parameters=["said"])
        == "said"
    )
