"""Indexes never change results: for any policy, items, and query, pages equal a full scan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from cosmos_emulator import json_text
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.definitions.container import completed
from cosmos_emulator.documents.create import create
from cosmos_emulator.documents.delete import delete
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.documents.read import ItemReference
from cosmos_emulator.documents.replace import replace
from cosmos_emulator.reads import entry_access, entry_lookup, order_by
from cosmos_emulator.reads.entry_lookup import KeptLookups
from cosmos_emulator.reads.execution import PagedQuery
from cosmos_emulator.reads.paging import PageLimits, complete_at_once, decode_continuation
from cosmos_emulator.reads.query_text import QueryText, parse_query
from cosmos_emulator.reads.slices import Slice, slices_of_key
from cosmos_emulator.store.account import Account, Container
from cosmos_emulator.store.index_definition import IndexDefinition, IndexPart
from cosmos_emulator.store.items import SCAN_START, ItemScope
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PATHS = ("a", "b", "c.d")
KEYS = ("x", "y")
NOW_S = 1_000_000
LONG = "long" * 200

values = st.one_of(
    st.sampled_from(
        [None, False, True, 0, 1, -1, 1.5, -0.25, 2**53, 2**53 + 1, 2**63 - 1, 1e300, "", "a", "b", "ab", "aa"]
    ),
    st.sampled_from(["\0", "a\0", "a\1", "\0\0", "\ud7ff", "\ue000", "😀", "a😀", LONG, LONG + "a", LONG + "b"]),
    st.sampled_from([[], [1], {}, {"e": 1}]),
    st.integers(-3, 3),
)
paths = st.sampled_from(PATHS)
conditions = st.one_of(
    st.tuples(paths, st.sampled_from(["=", "<", "<=", ">", ">=", "!="]), values).map(lambda t: (t[0], t[1], [t[2]])),
    st.tuples(paths, st.sampled_from(["IN", "NOT IN"]), st.lists(values, min_size=1, max_size=3)),
    st.tuples(paths, st.just("STARTSWITH"), st.sampled_from(["", "a", "a\0", LONG, "😀"]).map(lambda value: [value])),
    st.tuples(paths, st.sampled_from(["OR", "NEITHER"]), st.tuples(values, values).map(list)),
    st.tuples(paths, st.just("EITHER"), st.tuples(values, values, values).map(list)),
)
orders = st.lists(st.tuples(paths, st.booleans()), max_size=3, unique_by=lambda each: each[0])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    document: dict[str, Any] = {"pk": draw(st.sampled_from(KEYS))}
    for path in PATHS:
        if draw(st.integers(0, 5)):
            outer, _, inner = path.partition(".")
            document[outer] = {inner: draw(values)} if inner else draw(values)
    return document


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    named = draw(st.lists(paths, unique=True))
    composites = draw(
        st.lists(st.permutations(PATHS).flatmap(lambda each: st.sampled_from([each[:2], each])), max_size=2)
    )
    return {
        "includedPaths": [{"path": f"/{path.replace('.', '/')}/?"} for path in named] + [{"path": "/*"}],
        "excludedPaths": [],
        "compositeIndexes": [
            [
                {"path": f"/{path.replace('.', '/')}", "order": draw(st.sampled_from(["ascending", "descending"]))}
                for path in composite
            ]
            for composite in composites
        ],
    }


@st.composite
def queries(draw: st.DrawFn) -> QueryText:
    parameters: list[Any] = []

    def parameter(value: Any) -> str:
        parameters.append({"name": f"@p{len(parameters)}", "value": value})
        return f"@p{len(parameters) - 1}"

    wheres = [
        _condition(path, operator, [parameter(value) for value in operands])
        for path, operator, operands in draw(st.lists(conditions, max_size=3))
    ]
    where = f" WHERE {' AND '.join(wheres)}" if wheres else ""
    order = ", ".join(f"c.{path} {'DESC' if descending else 'ASC'}" for path, descending in draw(orders))
    window = draw(st.sampled_from(["", "", " OFFSET 0 LIMIT 3", " OFFSET 2 LIMIT 4"]))
    select = draw(st.sampled_from(["SELECT c.id, c.a", "SELECT *", "SELECT VALUE c.id"]))
    return parse_query(f"{select} FROM c{where}{' ORDER BY ' + order if order else ''}{window}", parameters)


def _condition(path: str, operator: str, operands: list[str]) -> str:
    if operator in ("IN", "NOT IN"):
        return f"c.{path} {operator} ({', '.join(operands)})"
    if operator == "STARTSWITH":
        return f"STARTSWITH(c.{path}, {operands[0]})"
    if operator == "OR":
        return f"(c.{path} = {operands[0]} OR c.{path} > {operands[1]})"
    if operator == "NEITHER":
        return f"NOT (c.{path} = {operands[0]} OR c.a = {operands[1]})"
    if operator == "EITHER":
        return f"((c.{path} = {operands[0]} AND c.a = {operands[1]}) OR c.{path} = {operands[2]})"
    return f"c.{path} {operator} {operands[0]}"


@pytest.fixture(scope="module", autouse=True)
def _small_chunks() -> Iterator[None]:
    """Lower the limits so that a few items exercise chunked and ordered reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_access, "_FEW", 3)
        patch.setattr(entry_lookup, "_BLOCK", 2)
        patch.setattr(entry_lookup, "_MOST", 6)
        patch.setattr(entry_lookup, "_MOST_WRITTEN", 3)
        patch.setattr(entry_access, "_FIRST_CHUNK", 2)
        for module in (entry_lookup, entry_access):
            patch.setattr(module, "CHUNK", 3)
        patch.setattr(order_by, "_PIECE", 2)
        yield


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as running:
        yield running


@pytest.mark.nightly
@settings(max_examples=75, suppress_health_check=list(HealthCheck))
@given(
    policy=policies(),
    stored=st.lists(documents(), max_size=14),
    changed=st.lists(st.tuples(st.integers(0, 20), st.none() | documents()), max_size=4),
    on_demand=st.lists(st.tuples(st.lists(paths, min_size=1, max_size=2, unique=True), st.booleans()), max_size=2),
    texts=st.lists(queries(), min_size=1, max_size=6),
    page_size=st.sampled_from([1, 2, 5, 100]),
)
def test_paged_results_equal_a_full_scan(
    tmp_path_factory: pytest.TempPathFactory,
    runner: asyncio.Runner,
    policy: dict[str, Any],
    stored: list[dict[str, Any]],
    changed: list[tuple[int, dict[str, Any] | None]],
    on_demand: list[tuple[list[str], bool]],
    texts: list[QueryText],
    page_size: int,
) -> None:
    async def check() -> None:
        account = Account(tmp_path_factory.mktemp("data"), lambda: NOW_S, durable=False)
        try:
            container = _container(account, policy)
            await _write(container, stored[: len(stored) // 2], 0)
            for names, is_local in on_demand:
                parts = tuple(IndexPart(tuple(name.split("."))) for name in names)
                container.partitions[0].want_index(IndexDefinition(parts, is_local))
            await account.background.idle()
            await _write(container, stored[len(stored) // 2 :], len(stored) // 2)
            await _change(container, changed, stored)
            for text in texts:
                for slices in _scopes(container):
                    assert _paged(container, text, slices, page_size) == _scanned(text, slices)
        finally:
            await account.close()

    runner.run(check())


def _container(account: Account, policy: dict[str, Any]) -> Container:
    database = account.add_database({"id": "db"})
    body = completed({"id": "items", "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": policy})
    return account.add_container(database, body, partitions=1)


async def _write(container: Container, stored: list[dict[str, Any]], first: int) -> None:
    for number, document in enumerate(stored, start=first):
        async with container.partitions[0].transaction() as items:
            create(_logical(container, items, document["pk"]), {**document, "id": str(number)})


async def _change(
    container: Container, changed: list[tuple[int, dict[str, Any] | None]], stored: list[dict[str, Any]]
) -> None:
    deleted: set[int] = set()
    for number, document in changed:
        if number >= len(stored) or number in deleted:
            continue
        async with container.partitions[0].transaction() as items:
            partition, reference = _logical(container, items, stored[number]["pk"]), ItemReference(str(number))
            if document is None:
                deleted.add(number)
                delete(partition, reference)
            else:
                replace(partition, reference, {**document, "pk": stored[number]["pk"], "id": str(number)})


def _logical(container: Container, items: Any, key: str) -> LogicalPartition:
    partition_key = container.definition.partition_key.of_values([key])
    return LogicalPartition(
        container, container.partitions[0], partition_key, items, ChargeModel("service-2026"), NOW_S
    )


def _scopes(container: Container) -> list[list[Slice]]:
    partition = container.partitions[0]
    keys = [container.definition.partition_key.of_values([key]) for key in KEYS]
    return [[Slice(partition, ItemScope(), partition.committed)], *(slices_of_key(container, key) for key in keys)]


def _paged(container: Container, text: QueryText, slices: list[Slice], page_size: int) -> list[str]:
    rows: list[str] = []
    continuation: str | None = None
    lookups = KeptLookups()
    while True:
        query = PagedQuery(
            text, container.definition.indexing, ChargeModel("service-2026"), lenient_order_by=True, lookups=lookups
        )
        page, _ = complete_at_once(query.page(slices, decode_continuation(continuation), PageLimits(page_size)))
        rows += [row.decode() for row in page.rows]
        continuation = page.continuation
        if continuation is None:
            return rows


def _scanned(text: QueryText, slices: list[Slice]) -> list[str]:
    (whole,) = slices
    found = [item.document() for item in whole.items.scan(whole.scope, SCAN_START, 1000)]
    return [json_text.dump(row).decode() for row in text.compile().run(found)]
