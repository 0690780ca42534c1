"""One page of a query over slices of a container: rows, where the next page starts, and what was loaded for it.

A query whose items answer independently resumes behind an item; one with a plain ORDER BY behind a row's place in
the order; every other one by the number of rows given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from local.cosmos import json_text
from local.cosmos.charges import ChargeModel
from local.cosmos.errors import CosmosError
from local.cosmos.indexing import IndexingPolicy
from local.cosmos.json_text import JsonObject
from local.cosmos.paging import (
    ItemPosition,
    PageLimits,
    Steps,
    decode_continuation,
    encode_continuation,
    item_chunks,
    malformed_continuation,
)
from local.cosmos.query import CompiledQuery, Predicate, UdfCaller
from local.cosmos.query_text import QueryText
from local.cosmos.slices import Slice
from local.cosmos.store.items import StoredItem

# Clients read headers of 8 KB; a place in an order of long strings would be longer, a number of rows never is.
_MAX_CONTINUATION: Final = 4096


@dataclass(slots=True)
class Load:
    """What an index would have loaded: the items that fulfil every condition that it serves."""

    served: list[Predicate]
    items: int = 0
    size_bytes: int = 0

    def add(self, item: StoredItem, document: JsonObject) -> None:
        """Counts an item, unless an index rules it out."""
        if all(predicate.matches(document) for predicate in self.served):
            self.items += 1
            self.size_bytes += len(item.body)

    def reduce_to(self, items: int) -> None:
        """Only so many were loaded after all, of the mean size."""
        if items < self.items:
            self.size_bytes = self.size_bytes * items // self.items
            self.items = items


@dataclass(slots=True)
class QueryPage:
    """`rows` are JSON texts; `scanned` counts the items that were looked at, indexed or not."""

    rows: list[bytes] = field(default_factory=list)
    continuation: str | None = None
    charge_ru: float = 0.0
    scanned: int = 0
    load: Load = field(default_factory=lambda: Load([]))


class PagedQuery:
    """A query bound to a container's policy; `page` may be asked again and again."""

    def __init__(
        self,
        text: QueryText,
        policy: IndexingPolicy,
        charges: ChargeModel,
        udfs: UdfCaller | None = None,
        *,
        require_order_index: bool = False,
    ) -> None:
        self._compiled: CompiledQuery = text.compile(udfs)
        self._served = text.served_predicates(policy)
        self._order_served = text.order_is_served(policy, self._served)
        self._filtered = text.query.where is not None
        self._charges = charges
        if require_order_index and self._compiled.features.has_order_by and not self._order_served:
            raise CosmosError(
                400,
                "The order by query does not have a corresponding index that it can be served from: the path is "
                "excluded, or several paths have no composite index.",
            )

    def page(self, slices: list[Slice], continuation: str | None, limits: PageLimits) -> Steps[QueryPage]:
        """The next page; 400 for a continuation that is not one of this query."""
        token = decode_continuation(continuation)
        page = QueryPage(load=Load(self._served))
        if self._compiled.is_streaming:
            yield from self._stream(page, slices, token, limits)
        else:
            documents = yield from self._matching(page, slices)
            if self._compiled.is_ordered:
                self._order(page, documents, token, limits)
            else:
                self._run(page, documents, token, limits)
        page.charge_ru = self._charge(page, len(slices))
        return page

    def _stream(self, page: QueryPage, slices: list[Slice], token: JsonObject, limits: PageLimits) -> Steps[None]:
        position = ItemPosition.of_json(token)
        cut_item, skip = _cut(token)
        for one, chunk in item_chunks(slices, position):
            for item in chunk:
                if limits.is_full or (page.scanned and limits.is_late):
                    page.continuation = _streaming_token(position, None, 0)
                    return
                document = item.document()
                page.scanned += 1
                page.load.add(item, document)
                first = skip if item.number == cut_item else 0
                for index, row in enumerate(islice(self._compiled.rows(document), first, None), start=first):
                    text = json_text.dump(row)
                    if not limits.admit(len(text)):
                        page.continuation = _streaming_token(position, item, index)
                        return
                    page.rows.append(text)
                position = ItemPosition.behind(one, item)
            yield

    def _matching(self, page: QueryPage, slices: list[Slice]) -> Steps[list[JsonObject]]:
        """All items that WHERE lets pass; a query without FROM has none."""
        documents: list[JsonObject] = []
        if not self._compiled.features.has_from:
            return documents
        for _, chunk in item_chunks(slices, None):
            for item in chunk:
                document = item.document()
                page.scanned += 1
                page.load.add(item, document)
                if self._compiled.matches(document):
                    documents.append(document)
            yield
        return documents

    def _order(self, page: QueryPage, documents: list[JsonObject], token: JsonObject, limits: PageLimits) -> None:
        given, after = _given(token), token.get("after")
        if after is not None and not isinstance(after, dict):
            raise malformed_continuation()
        rows = self._compiled.run_ordered(documents, after)
        if after is None:
            rows = islice(rows, given, None)
        filter_is_served = page.load.items == len(documents)
        position: JsonObject | None = None
        for row, place in rows:
            text = json_text.dump(row)
            if not limits.admit(len(text)):
                page.continuation = _ordered_token(position, given + len(page.rows))
                break
            page.rows.append(text)
            position = place
        if self._order_served and filter_is_served:
            page.load.reduce_to(len(page.rows) + (0 if token else self._compiled.counts.skipped))

    def _run(self, page: QueryPage, documents: list[JsonObject], token: JsonObject, limits: PageLimits) -> None:
        given = _given(token)
        for row in islice(self._compiled.run(documents), given, None):
            text = json_text.dump(row)
            if not limits.admit(len(text)):
                page.continuation = encode_continuation({"given": given + len(page.rows)})
                return
            page.rows.append(text)

    def _charge(self, page: QueryPage, partitions: int) -> float:
        features = self._compiled.features
        # An aggregate is read off the index; one over a filter that no index serves loads its items.
        answered = not self._filtered or bool(self._served)
        return self._charges.query(
            partitions,
            page.load.items,
            page.load.size_bytes,
            filtered=self._filtered,
            aggregate=features.has_aggregates and not features.has_group_by and answered,
        )


def _cut(token: JsonObject) -> tuple[int | None, int]:
    """The item whose rows the last page ended among, and how many of them it had."""
    match token.get("cut"):
        case {"number": int() as number, "rows": int() as rows}:
            return number, rows
        case None:
            return None, 0
    raise malformed_continuation()


def _given(token: JsonObject) -> int:
    given = token.get("given", 0)
    if not isinstance(given, int) or given < 0 or (token and "given" not in token):
        raise malformed_continuation()
    return given


def _streaming_token(position: ItemPosition | None, item: StoredItem | None, rows: int) -> str:
    token: JsonObject = {} if position is None else position.as_json()
    if item is not None and rows:
        token["cut"] = {"number": item.number, "rows": rows}
    return encode_continuation(token or {"start": True})


def _ordered_token(position: JsonObject | None, given: int) -> str:
    token = encode_continuation({"after": position, "given": given})
    return token if len(token) <= _MAX_CONTINUATION else encode_continuation({"given": given})
