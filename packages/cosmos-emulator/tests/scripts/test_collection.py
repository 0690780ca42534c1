"""Document operations of the collection: arguments, callbacks, order, acceptance."""

from __future__ import annotations

import re

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.scripts import ScriptLimits
from tests.scripts.memory_operations import MemoryOperations, Rows, execute

PRELUDE = "const c = __, link = c.getSelfLink(), doc = (id) => c.getAltLink() + '/docs/' + id, out = c.response;"


def _run(statements: str, *documents: JsonObject, limits: ScriptLimits | None = None) -> Json:
    return execute(MemoryOperations(*documents), f"function () {{ {PRELUDE} {statements} }}", limits=limits).body


def _documents(count: int) -> list[JsonObject]:
    return [{"id": str(n), "n": n} for n in range(count)]


def test_a_read_returns_the_document_and_options() -> None:
    statements = "out.setBody([c.readDocument(doc('1'), {}, (e, d, o) => out.setBody([typeof e, d.n, o]))]);"

    assert _run(statements, {"id": "1", "n": 7}) == [
        "undefined",
        7,
        {
            "currentCollectionSizeInMB": "documentsSize=1;",
            "maxCollectionSizeInMB": "documentsSize=10485760;",
            "statusCode": 200,
            "notModified": False,
        },
    ]


def test_a_conditional_read_of_an_unmodified_document_returns_none() -> None:
    statements = """c.readDocument(doc('1'), (e, d) => c.readDocument(d._self, { ifNoneMatch: d._etag },
        (...all) => out.setBody([all.length, typeof all[0], typeof all[1], all[2].notModified])));"""

    assert _run(statements, {"id": "1"}) == [3, "undefined", "undefined", True]


@pytest.mark.parametrize("form", ["doc('1')", "doc('1') + '/'", "link + 'docs/1'", "link + 'docs/1/'"])
def test_documents_are_found_by_either_link_with_or_without_a_slash(form: str) -> None:
    assert _run(f"c.readDocument({form}, (e, d) => out.setBody(d.id));", {"id": "1"}) == "1"


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("c.readDocument(doc('none'), cb)", 404),
        ("c.replaceDocument(doc('none'), { id: 'none', pk: 'p' }, cb)", 404),
        ("c.deleteDocument(doc('none'), cb)", 404),
        ("c.createDocument(link, { id: '1', pk: 'p' }, cb)", 409),
        ("c.createDocument(link, { id: '2', pk: 'q' }, cb)", 400),
        ("c.createDocument(link, { pk: 'p' }, { disableAutomaticIdGeneration: true }, cb)", 400),
        ("c.createDocument(link, '[1]', cb)", 400),
        ("c.createDocument(link, [1], { disableAutomaticIdGeneration: true }, cb)", 400),
        ("c.createDocument(link, { id: '2', pk: 'p', text: '\\ud83d' }, cb)", 400),
        ("c.replaceDocument(doc('1'), '{ not json', cb)", 400),
        ("c.replaceDocument(doc('1'), { id: '1', pk: 'p' }, { etag: 'other' }, cb)", 412),
        ("c.deleteDocument(doc('1'), { etag: 'other' }, cb)", 412),
        ("c.queryDocuments(link, 'SELEKT', cb)", 400),
        ("c.queryDocuments(link, { query: 'SELECT * FROM c', parameters: [1] }, cb)", 400),
    ],
)
def test_a_failed_operation_passes_its_status_to_the_callback(call: str, status: int) -> None:
    statements = f"""const cb = (...all) => out.setBody([all.length, all[0].number, all[0] instanceof Error,
        all[0].body === all[0].message, JSON.parse(all[0].body).Errors.length]); {call};"""

    assert _run(statements, {"id": "1"}) == [1, status, True, True, 1]


@pytest.mark.parametrize(
    "call",
    [
        "c.readDocument('dbs/other/colls/posts/docs/1')",
        "c.readDocument('dbs/blog/colls/posts2/docs/1')",
        "c.readDocument('dbs/blog/colls/posts')",
        "c.readDocument('dbs/blog/colls/posts/docs/')",
        "c.readDocument('dbs/blog/colls/posts/docs/1/attachments/2')",
        "c.readDocument('1')",
        "c.readDocument('\\ud83d')",
        "c.readDocument({})",
        "c.readDocument()",
        "c.readDocuments('dbs/other/colls/posts')",
        "c.readDocuments(c.getAltLink() + '/')",
        "c.readDocuments()",
        "c.queryDocuments(link)",
        "c.queryDocuments(link, 5)",
        "c.queryDocuments(link, null)",
        "c.queryDocuments(link, { parameters: [] })",
        "c.queryDocuments('dbs/x/colls/y', 'SELECT * FROM c')",
        "c.createDocument(link)",
        "c.createDocument(link, null)",
        "c.createDocument(link, 5)",
        "c.createDocument(link, '{')",
        "c.createDocument('dbs/x/colls/y', {})",
        "c.createDocument(link, {}, 5)",
        "c.createDocument(link, {}, null)",
        "c.createDocument(link, {}, {}, 5)",
        "c.createDocument(link, {}, { indexAction: 'maybe' })",
        "c.upsertDocument(link, null)",
        "c.upsertDocument(link, {}, { etag: 5 })",
        "c.replaceDocument(doc('1'), null)",
        "c.replaceDocument(doc('1'))",
        "c.deleteDocument(link)",
        "c.deleteDocument(doc('1'), 'options')",
        "c.readDocuments(link, { pageSize: 'x' })",
        "c.readDocuments(link, { continuation: 5 })",
        "c.createAttachment(doc('1'), {})",
        "c.spatial.distance({}, {})",
    ],
)
def test_invalid_arguments_throw_400_immediately(call: str) -> None:
    operations = MemoryOperations({"id": "1"})
    body = f"function () {{ {PRELUDE} try {{ {call}; }} catch (e) {{ out.setBody(e.number); }} }}"

    assert execute(operations, body).body == 400
    assert operations.performed == []


def test_the_error_for_a_foreign_link_names_it() -> None:
    with pytest.raises(CosmosError, match=r"dbs/a/colls/b/docs/1.*resources outside current collection") as failure:
        _run("c.readDocument('dbs/a/colls/b/docs/1');")

    assert failure.value.sub_status == 400


def test_documents_of_other_partitions_fail_in_the_callback() -> None:
    statements = "c.createDocument(link, { id: '1', pk: 'q' }, (e) => out.setBody(e.message));"

    assert "cannot reference partition keys other than the one" in str(_run(statements))


def test_a_generated_id_does_not_modify_the_scripts_object() -> None:
    statements = """const mine = { pk: 'p' };
        c.createDocument(link, mine, (e, d) => out.setBody([d.id, mine.id === undefined]));"""

    identifier, untouched = _list(_run(statements))

    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(identifier))
    assert untouched is True


@pytest.mark.parametrize("method", ["createDocument", "upsertDocument"])
def test_documents_can_be_json_strings(method: str) -> None:
    statements = f"""c.{method}(link, '{{"pk":"p","n":1}}', (e, d) => out.setBody([d.n, typeof d.id]));"""

    assert _run(statements) == [1, "string"]


def test_writes_return_the_stored_document() -> None:
    statements = """const seen = [];
        c.createDocument(link, { id: '2', pk: 'p' }, (e, d, o) => { seen.push([d.id, typeof d._etag, o.statusCode]);
            c.replaceDocument(d._self, { ...d, n: 2 }, { etag: d._etag }, (e, d, o) => { seen.push([d.n, o.statusCode]);
                c.upsertDocument(link, { ...d, n: 3 }, (e, d) => { seen.push(d.n);
                    c.deleteDocument(d._self, { etag: d._etag }, (...all) => {
                        out.setBody([...seen, all.length, typeof all[0], all[1].statusCode]); }); }); }); });"""

    assert _run(statements) == [["2", "string", 201], [2, 200], 3, 2, "undefined", 204]


def test_callbacks_run_after_the_current_function_and_in_order() -> None:
    statements = """const seen = [];
        const queue = (name, then) => c.readDocument(doc('1'), () => { seen.push(name); then?.(); });
        seen.push(queue('a', () => queue('c', () => out.setBody(seen))), queue('b'), 'returned');"""

    assert _run(statements, {"id": "1"}) == [True, True, "returned", "a", "b", "c"]


def test_feeds_are_read_page_by_page() -> None:
    statements = """const pages = [];
        const next = (continuation) => c.readDocuments(link, { pageSize: 2, continuation }, (e, docs, o) => {
            pages.push([docs.map((d) => d.id).join(), !!o.continuation]);
            if (o.continuation) next(o.continuation); else out.setBody(pages); });
        next();"""

    assert _run(statements, *_documents(5)) == [["0,1", True], ["2,3", True], ["4", False]]


@pytest.mark.parametrize(("page_size", "length"), [("undefined", 100), ("0", 100), ("150", 150), ("-1", 1000)])
def test_the_page_size_is_100_unless_given(page_size: str, length: int) -> None:
    statements = f"c.readDocuments(c.getAltLink(), {{ pageSize: {page_size} }}, (e, d) => out.setBody(d.length));"

    assert _run(statements, *_documents(1100)) == length


def test_queries_pass_parameters_options_and_continuations() -> None:
    older: Rows = lambda rows, values: [row for row in rows if _number(row["n"]) > _number(values["@n"])]  # noqa: E731 - shorter than a function
    operations = MemoryOperations(*_documents(6), queries={"older": older})
    body = f"""function () {{ {PRELUDE}
        const query = {{ query: 'older', parameters: [{{ name: '@n', value: 2 }}] }};
        c.queryDocuments(link, query, {{ pageSize: 2 }}, (e, first, o) =>
            c.queryDocuments(link, query, {{ continuation: o.continuation }}, (e, rest) =>
                out.setBody([first.map((d) => d.n), rest.map((d) => d.n)])));
    }}"""

    assert execute(operations, body).body == [[3, 4], [5]]


def test_point_reads_and_feeds_see_own_writes() -> None:
    statements = """c.createDocument(link, { id: '2', pk: 'p' }, () => c.readDocument(doc('2'), (e, d) =>
        c.readDocuments(link, (e, docs) => out.setBody([d.id, docs.length]))));"""

    assert _run(statements, {"id": "1"}) == ["2", 2]


def test_only_accepted_operations_run() -> None:
    operations = MemoryOperations()
    body = f"""function () {{ {PRELUDE}
        const accepted = [];
        for (let n = 0; n < 4; n++) {{
            accepted.push(c.createDocument(link, {{ id: String(n), pk: 'p' }}, () => accepted.push(n)));
        }}
        out.setBody(accepted);
    }}"""

    result = execute(operations, body, limits=ScriptLimits(accepted_operations=2))

    assert result.body == [True, True, False, False, 0, 1]
    assert sorted(operations.documents) == ["0", "1"]


def test_operations_are_refused_before_the_time_limit() -> None:
    operations = MemoryOperations({"id": "1"})
    body = f"""function () {{ {PRELUDE} let n = 0;
        const next = () => c.readDocument(doc('1'), () => {{ n += 1; if (!next()) out.setBody(n); }});
        next();
    }}"""

    # Operations are refused after 90% of the limit; the rest must be longer than a busy machine pauses.
    result = execute(operations, body, limits=ScriptLimits(time_limit_s=2.0))

    assert isinstance(result.body, int)
    assert result.body == len(operations.performed) > 10


def _number(value: Json) -> int:
    assert isinstance(value, int)
    return value


def _list(value: Json) -> list[Json]:
    assert isinstance(value, list)
    return value
