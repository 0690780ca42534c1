"""What a running script needs of the store: operations on one logical partition, inside one open transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cosmos_emulator.json_text import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a feed or query; `continuation` is None at the end."""

    items: list[Json]
    continuation: str | None


class ScriptOperations(Protocol):
    """Synchronous; called from the thread that runs the script. Links come without a trailing slash.

    Every failure is a `CosmosError`, after which this operation, and only it, is undone. Operations on documents of
    another logical partition fail with 404 (read, replace, delete) or 400 (create, upsert, replace to another key).
    """

    @property
    def self_link(self) -> str:
        """`dbs/{rid}/colls/{rid}/`, with the slash at the end."""

    @property
    def alt_link(self) -> str:
        """`dbs/{name}/colls/{name}`."""

    def read_document(self, document_link: str, *, if_none_match: str | None) -> JsonObject | None:
        """The document as the transaction sees it; None when its etag is `if_none_match`."""

    def read_documents(self, page_size: int, continuation: str | None) -> Page:
        """A page of the documents as the transaction sees them."""

    def query_documents(
        self, text: str, parameters: list[JsonObject], page_size: int, continuation: str | None
    ) -> Page:
        """A page of a query's rows; whether it sees the transaction's own writes is the store's choice."""

    def create_document(self, body: JsonObject, *, index_action: str | None) -> JsonObject:
        """The document as stored. `index_action` is "default", "include", "exclude" or None."""

    def upsert_document(self, body: JsonObject, *, etag: str | None) -> JsonObject:
        """The document as stored."""

    def replace_document(self, document_link: str, body: JsonObject, *, etag: str | None) -> JsonObject:
        """The document as stored; 412 when `etag` is given and is not the document's."""

    def delete_document(self, document_link: str, *, etag: str | None) -> None:
        """Delete the document; 412 when `etag` is given and is not the document's."""

    def resource_usage(self) -> tuple[str, str]:
        """The texts of the headers `x-ms-resource-quota` and `x-ms-resource-usage`, such as `documentSize=0;…`."""
