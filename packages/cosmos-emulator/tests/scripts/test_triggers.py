"""Pre- and post-triggers."""

from __future__ import annotations

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json
from cosmos_emulator.scripts import ScriptLimits, run_post_trigger, run_pre_trigger
from tests.scripts.memory_operations import MemoryOperations, create_with_triggers


def test_a_pre_trigger_edits_the_document() -> None:
    operations = MemoryOperations()
    pre = """function () {
        const request = getContext().getRequest(), d = request.getBody();
        d.seen = [typeof d, request.getOperationType(), request.getValue('OperationType'), __.request === request];
        request.setBody(d);
    }"""

    create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=pre)

    assert operations.documents["1"]["seen"] == ["object", "Create", "Create", True]


@pytest.mark.parametrize(
    "statement",
    [
        "__.request.setBody({ id: '2', pk: 'p' });",
        "__.request.setValue('Body', { id: '2', pk: 'p' });",
        "__.request.getBody().id = '2';",
    ],
)
def test_a_pre_trigger_can_replace_the_document(statement: str) -> None:
    operations = MemoryOperations()

    create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=f"function () {{ {statement} }}")

    assert list(operations.documents) == ["2"]


def test_an_idle_pre_trigger_leaves_the_document_unchanged() -> None:
    document: dict[str, Json] = {"id": "1", "pk": "p", "n": 1.5, "t": "\U0001f600"}

    assert run_pre_trigger("t", "() => {}", document, "Create", MemoryOperations(), ScriptLimits()) == document


@pytest.mark.parametrize("body", ["'text'", "5", "null", "[1]", "undefined"])
def test_a_pre_trigger_must_leave_an_object(body: str) -> None:
    operations = MemoryOperations()

    with pytest.raises(CosmosError) as failure:
        create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=f"() => {{ __.request.setBody({body}); }}")

    assert failure.value.status == 400
    assert operations.documents == {}


def test_a_pre_trigger_has_no_response() -> None:
    operations = MemoryOperations()
    pre = """function () {
        const d = __.request.getBody();
        d.seen = [typeof getContext().getResponse, typeof __.response];
    }"""

    create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=pre)
    assert operations.documents["1"]["seen"] == ["undefined", "undefined"]
    with pytest.raises(CosmosError, match="TypeError"):
        create_with_triggers(operations, {"id": "2", "pk": "p"}, pre="() => getContext().getResponse().setBody(1)")


def test_a_pre_trigger_cannot_set_the_operation_type() -> None:
    pre = (
        "() => { try { __.request.setValue('OperationType', 'x'); } catch (e) { __.request.getBody().n = e.number; } }"
    )
    operations = MemoryOperations()

    create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=pre)

    assert operations.documents["1"]["n"] == 403


def test_a_pre_trigger_can_write_other_documents_and_cannot_log() -> None:
    operations = MemoryOperations()
    pre = """function () {
        console.log(1, 2);
        __.createDocument(__.getSelfLink(), { id: 'log', pk: 'p' }, (e, d) => { __.request.getBody().by = d.id; });
    }"""

    create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=pre)

    assert sorted(operations.documents) == ["1", "log"]
    assert operations.documents["1"]["by"] == "log"


@pytest.mark.parametrize("thrown", [409, 4444])
def test_an_exception_in_a_pre_trigger_prevents_the_write(thrown: int) -> None:
    operations = MemoryOperations()
    pre = f"""function () {{
        __.createDocument(__.getSelfLink(), {{ id: 'log', pk: 'p' }}, () => {{ throw new Error({thrown}, 'no'); }});
    }}"""

    with pytest.raises(CosmosError) as failure:
        create_with_triggers(operations, {"id": "1", "pk": "p"}, pre=pre)

    assert (failure.value.status, failure.value.sub_status) == (400, thrown)
    assert operations.documents == {}


def test_a_post_trigger_sees_the_document_as_sent_and_as_stored() -> None:
    post = """function () {
        const sent = __.request.getBody(), stored = __.response.getBody();
        __.response.setBody([sent._etag === undefined, typeof stored._etag, stored.n, __.request.getOperationType(),
            __.response.getMaxResourceQuota(), __.response.getResourceQuotaCurrentUsage(),
            typeof __.request.setBody]);
    }"""

    assert create_with_triggers(MemoryOperations(), {"id": "1", "pk": "p", "n": 5}, post=post) == [
        *(True, "string", 5, "Create"),
        *("documentsSize=10485760;", "documentsSize=1;", "undefined"),
    ]


def test_a_post_trigger_changes_only_the_reply() -> None:
    operations = MemoryOperations()
    post = "() => { const d = __.response.getBody(); d.n = 99; __.response.setBody(d); }"

    reply = create_with_triggers(operations, {"id": "1", "pk": "p", "n": 5}, post=post)

    assert isinstance(reply, dict)
    assert reply["n"] == 99
    assert operations.documents["1"]["n"] == 5


def test_the_reply_defaults_to_the_stored_document() -> None:
    operations = MemoryOperations()

    reply = create_with_triggers(operations, {"id": "1", "pk": "p"}, post="() => {}")

    assert reply == operations.documents["1"]


def test_an_exception_in_a_post_trigger_rolls_back_the_write() -> None:
    operations = MemoryOperations({"id": "0"})

    with pytest.raises(CosmosError) as failure:
        create_with_triggers(operations, {"id": "1", "pk": "p"}, post="() => { throw new Error(4444, 'no'); }")

    assert (failure.value.status, failure.value.sub_status) == (400, 4444)
    assert list(operations.documents) == ["0"]


def test_a_post_trigger_can_delete_the_new_document() -> None:
    operations = MemoryOperations()
    post = """function () {
        __.readDocuments(__.getSelfLink(), (e, docs) => __.deleteDocument(docs[0]._self, (e) => { if (e) throw e; }));
    }"""

    reply = create_with_triggers(operations, {"id": "1", "pk": "p"}, post=post)

    assert isinstance(reply, dict)
    assert reply["id"] == "1"
    assert operations.documents == {}


def test_triggers_of_a_delete_have_no_documents() -> None:
    body = "() => { if (__.request.getBody() !== null || __.request.getOperationType() !== 'Delete') throw 1; }"

    assert run_pre_trigger("t", body, None, "Delete", MemoryOperations(), ScriptLimits()) is None
    assert run_post_trigger("t", body, None, None, "Delete", MemoryOperations(), ScriptLimits()) is None


def test_an_endless_trigger_times_out() -> None:
    operations = MemoryOperations()

    with pytest.raises(CosmosError) as failure:
        create_with_triggers(
            operations, {"id": "1", "pk": "p"}, post="() => { for (;;); }", limits=ScriptLimits(time_limit_s=0.1)
        )

    assert failure.value.status == 408
    assert operations.documents == {}
