"""The store operations of a script, on one logical partition in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cosmos_emulator.json_text import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a feed or query; `continuation` is None at the end."""

    items: list[Json]
    continuation: str | None


class ScriptOperations(Protocol):
    """Synchronous operations, called from the script's thread. Links have no trailing slash.

    A `CosmosError` undoes only the failed operation. Documents of another logical partition fail with 404 (read,
    replace, delete) or 400 (create, upsert, replace with another key).
    """

    @property
    def self_link(self) -> str:
        """Return `dbs/{rid}/colls/{rid}/`."""

    @property
    def alt_link(self) -> str:
        """Return `dbs/{name}/colls/{name}`."""

    def read_document(self, document_link: str, *, if_none_match: str | None) -> JsonObject | None:
        """Return the document, or None if its etag is `if_none_match`."""

    def read_documents(self, page_size: int, continuation: str | None) -> Page:
        """Return a page of documents in the transaction."""

    def query_documents(
        self, text: str, parameters: list[JsonObject], page_size: int, continuation: str | None
    ) -> Page:
        """Return a page of rows, without documents that the script deleted."""

    def create_document(self, body: JsonObject) -> JsonObject:
        """Return the stored document."""

    def upsert_document(self, body: JsonObject, *, etag: str | None) -> JsonObject:
        """Return the stored document."""

    def replace_document(self, document_link: str, body: JsonObject, *, etag: str | None) -> JsonObject:
        """Return the stored document; 412 if `etag` is stale."""

    def delete_document(self, document_link: str, *, etag: str | None) -> None:
        """Delete the document; 412 if `etag` is stale."""

    def resource_usage(self) -> tuple[str, str]:
        """Return `x-ms-resource-quota` and `x-ms-resource-usage`, such as `documentSize=0;…`."""
