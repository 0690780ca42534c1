"""The operations of scripts, on one logical partition in the script's transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cosmos_emulator import json_text
from cosmos_emulator.charges import ChargeModel
from cosmos_emulator.documents.create import create
from cosmos_emulator.documents.delete import delete
from cosmos_emulator.documents.feed import feed_page
from cosmos_emulator.documents.logical_partition import LogicalPartition
from cosmos_emulator.documents.read import ItemReference, ItemResult, read
from cosmos_emulator.documents.replace import replace
from cosmos_emulator.documents.upsert import upsert
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.gateway import Gateway
from cosmos_emulator.json_text import JsonObject
from cosmos_emulator.messages.links import parse_link
from cosmos_emulator.messages.quota import QUOTA, usage
from cosmos_emulator.reads.execution import PagedQuery
from cosmos_emulator.reads.paging import (
    ItemPosition,
    PageLimits,
    complete_at_once,
    decode_continuation,
    encode_continuation,
)
from cosmos_emulator.reads.query_text import parse_query
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.reads.udfs import udf_caller
from cosmos_emulator.runtime.pacing import in_worker
from cosmos_emulator.scripts import Page
from cosmos_emulator.store.items import ItemScope


class PartitionOperations:
    """Implements `ScriptOperations` and adds up the modeled charges.

    Queries see the script's own writes: on the service, one returned the uncommitted version after a replace
    (azure-cosmosdb-js-server#33), and the sample bulkDelete.js needs it. The documentation only says that they may not
    (stored-procedures-triggers-udfs), so a setting hides what the script created and replaced.
    """

    def __init__(self, gateway: Gateway, target: LogicalPartition) -> None:
        self._gateway = gateway
        self._target = target
        self._charges: ChargeModel = target.charges
        self.reads_ru = 0.0
        self.writes_ru = 0.0

    @property
    def self_link(self) -> str:
        """`dbs/{rid}/colls/{rid}/`."""
        return self._target.container.self_link

    @property
    def alt_link(self) -> str:
        """`dbs/{name}/colls/{name}`."""
        return self._target.container.alt_link

    def read_document(self, document_link: str, *, if_none_match: str | None) -> JsonObject | None:
        """Return a document, or None if unchanged. Raises 404."""
        target = self._target
        result = read(target.items, target.key, self._reference(document_link), self._charges, if_none_match)
        self.reads_ru += result.charge_ru
        return None if result.status == 304 or result.item is None else result.item.document()

    def read_documents(self, page_size: int, continuation: str | None) -> Page:
        """Return a page of documents, including the script's own writes."""
        start = ItemPosition.of_json(decode_continuation(continuation))
        slices = [self._slice(own_writes=True)]
        items, end = complete_at_once(feed_page(slices, start, PageLimits(page_size)))
        self.reads_ru += self._charges.feed([len(item.body) for item in items])
        return Page([item.document() for item in items], None if end is None else encode_continuation(end.as_json()))

    def query_documents(
        self, text: str, parameters: list[JsonObject], page_size: int, continuation: str | None
    ) -> Page:
        """Return a page of a query."""
        container, settings = self._target.container, self._gateway.settings
        parsed = parse_query(text, [*parameters], container.definition.dialect)
        slices = [self._slice(own_writes=settings.script_queries_see_own_writes)]
        limit_s = self._gateway.script_limits.time_limit_s
        with udf_caller(self._gateway, container, parsed) as udfs, in_worker(None, limit_s):
            query = PagedQuery(
                parsed,
                container.definition.indexing,
                self._charges,
                udfs,
                lenient_order_by=settings.lenient_order_by,
                clock=settings.clock,
            )
            page, _ = complete_at_once(query.page(slices, decode_continuation(continuation), PageLimits(page_size)))
        self.reads_ru += page.charge_ru
        return Page([json_text.parse(row) for row in page.rows], page.continuation)

    def create_document(self, body: JsonObject) -> JsonObject:
        """Create a document. Raises 409, and 400 without an id or with another key."""
        with self._target.items.savepoint():
            return self._written(create(self._target, body))

    def upsert_document(self, body: JsonObject, *, etag: str | None) -> JsonObject:
        """Create or replace a document. Raises 412."""
        with self._target.items.savepoint(), self._explained():
            return self._written(upsert(self._target, body, etag))

    def replace_document(self, document_link: str, body: JsonObject, *, etag: str | None) -> JsonObject:
        """Replace a document. Raises 404, 412."""
        with self._target.items.savepoint(), self._explained():
            return self._written(replace(self._target, self._reference(document_link), body, etag))

    def delete_document(self, document_link: str, *, etag: str | None) -> None:
        """Delete a document. Raises 404, 412."""
        with self._target.items.savepoint(), self._explained():
            self.writes_ru += delete(self._target, self._reference(document_link), etag).charge_ru

    def resource_usage(self) -> tuple[str, str]:
        """Return quota and usage."""
        return QUOTA, usage()

    def _reference(self, document_link: str) -> ItemReference:
        """Return the item of a link, which is not a URL: the id can have `?` or `%`."""
        if document_link.startswith(self.self_link):
            return ItemReference.of_link(parse_link(document_link))
        return ItemReference(document_link.rpartition("/")[2])

    def _written(self, result: ItemResult) -> JsonObject:
        self.writes_ru += result.charge_ru
        return {} if result.item is None else result.item.document()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Let a 412 name the setting with which a query returns etags of before the script's writes."""
        try:
            yield
        except CosmosError as error:
            if error.status == 412 and not self._gateway.settings.script_queries_see_own_writes:
                hint = "The setting script_queries_see_own_writes is off: queries return earlier etags."
                raise CosmosError(412, f"{error.message} {hint}") from error
            raise

    def _slice(self, *, own_writes: bool) -> Slice:
        target = self._target
        view = target.items if own_writes else target.partition.before(target.items)
        return Slice(target.partition, ItemScope(key=target.key), view)
