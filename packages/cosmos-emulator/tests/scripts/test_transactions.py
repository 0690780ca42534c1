"""Commits and rollbacks."""

from __future__ import annotations

import pytest
from cosmos_emulator.errors import CosmosError
from tests.scripts.memory_operations import MemoryOperations, execute

CREATE = "const c = __, create = (id, cb) => c.createDocument(c.getSelfLink(), { id, pk: 'p' }, cb);"


def _failed(operations: MemoryOperations, statements: str) -> CosmosError:
    with pytest.raises(CosmosError) as failure:
        execute(operations, f"function () {{ {CREATE} {statements} }}")
    return failure.value


@pytest.mark.parametrize(
    "statements",
    [
        "create('1'); throw new Error(1234, 'x');",
        "create('1', () => { throw new Error(1234, 'x'); });",
        "create('1', () => create('2', () => create('3', () => { throw new Error(1234, 'x'); })));",
        "create('1', () => Promise.resolve().then(() => getContext().abort(new Error(1234, 'x'))));",
        "create('1'); try { getContext().abort(new Error(1234, 'x')); } catch {}",
        "(async () => { await null; create('1'); getContext().abort(new Error(1234, 'x')); })();",
        "create('1'); __.response.setBody({ toJSON() { throw new Error(1234, 'x'); } });",
        "create('1', () => __.response.setBody({ toJSON() { getContext().abort(new Error(1234, 'x')); } }));",
    ],
)
def test_any_throw_or_abort_rolls_everything_back(statements: str) -> None:
    operations = MemoryOperations()

    failure = _failed(operations, statements)

    assert (failure.status, failure.sub_status) == (400, 1234)
    assert "Exception = Error: x\r\n" in failure.message
    assert operations.documents == {}


def test_a_rethrown_operation_error_has_its_status_as_sub_status() -> None:
    operations = MemoryOperations({"id": "1"})

    failure = _failed(operations, "create('2'); create('1', (e) => { if (e) throw e; });")

    assert (failure.status, failure.sub_status) == (400, 409)
    assert 'Exception = Error: {"Errors":["Resource with specified id or name already exists."]}' in failure.message
    assert list(operations.documents) == ["1"]


def test_an_operation_error_without_a_callback_aborts() -> None:
    operations = MemoryOperations({"id": "1"})

    failure = _failed(operations, "create('2'); create('1'); create('3');")

    assert (failure.status, failure.sub_status) == (400, 409)
    assert operations.performed == ["create", "create"]
    assert list(operations.documents) == ["1"]


def test_the_rest_commits_after_a_handled_operation_error() -> None:
    operations = MemoryOperations({"id": "1"})

    result = execute(
        operations,
        f"function () {{ {CREATE} create('1', (e) => {{ __.response.setBody(e.number); create('2'); }}); }}",
    )

    assert result.body == 409
    assert list(operations.documents) == ["1", "2"]


@pytest.mark.parametrize(
    "body",
    [
        f"async function () {{ {CREATE} create('1'); throw new Error('lost'); }}",
        f"function () {{ {CREATE} create('1'); Promise.reject(new Error('lost')); }}",
        f"function () {{ {CREATE} create('1', async () => {{ throw new Error('lost'); }}); }}",
        f"function () {{ {CREATE} create('1', () => Promise.resolve().then(() => {{ throw new Error('lost'); }})); }}",
    ],
)
def test_an_unhandled_rejection_still_commits(body: str) -> None:
    operations = MemoryOperations()

    assert execute(operations, body).body == ""
    assert list(operations.documents) == ["1"]


def test_operations_can_be_awaited() -> None:
    operations = MemoryOperations({"id": "1", "n": 1}, {"id": "2", "n": 2})
    body = """async function () {
        const read = (id) => new Promise((resolve, reject) => {
            const accepted = __.readDocument(__.getAltLink() + '/docs/' + id, (e, d) => e ? reject(e) : resolve(d));
            if (!accepted) reject(new Error('refused'));
        });
        const [one, two] = await Promise.all([read('1'), read('2')]);
        let missing;
        try { await read('3'); } catch (e) { missing = e.number; }
        __.response.setBody([one.n + two.n, missing]);
    }"""

    assert execute(operations, body).body == [3, 404]


def test_nothing_is_performed_after_a_failure() -> None:
    operations = MemoryOperations()

    _failed(operations, "create('1', () => { create('2'); throw new Error('x'); });")

    assert operations.performed == ["create"]


def test_an_aborted_script_cannot_queue_operations() -> None:
    operations = MemoryOperations()

    _failed(operations, "try { getContext().abort(new Error('x')); } catch {} create('1');")

    assert operations.performed == []


def test_the_first_failure_is_reported() -> None:
    failure = _failed(
        MemoryOperations(), "try { getContext().abort(new Error(1, 'a')); } catch {} throw new Error(2, 'b');"
    )

    assert failure.sub_status == 1


def test_abort_without_an_error_rolls_back() -> None:
    operations = MemoryOperations()

    assert _failed(operations, "create('1', () => getContext().abort());").status == 400
    assert operations.documents == {}


def test_unexpected_exceptions_of_the_store_propagate() -> None:
    operations = MemoryOperations()
    operations.queries["broken"] = lambda rows, values: [rows[99]]

    with pytest.raises(IndexError):
        execute(operations, "function () { __.queryDocuments(__.getSelfLink(), 'broken'); }")
