"""An in-memory logical partition with transactions, and functions that run scripts on it."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.scripts import (
    Page,
    ScriptLimits,
    ScriptResult,
    execute_stored_procedure,
    run_post_trigger,
    run_pre_trigger,
)

Rows = Callable[[list[JsonObject], dict[str, Json]], list[Json]]

ALT_LINK = "dbs/blog/colls/posts"
SELF_LINK = "dbs/AbCdEA==/colls/AbCdEFgHiJk=/"
FOREIGN_KEY = (
    "Requests originating from scripts cannot reference partition keys other than the one for which client request"
    " was submitted."
)


class MemoryOperations:
    """Documents of partition key `pk` = "p" by ID. `queries` maps query texts to their rows."""

    def __init__(self, *documents: JsonObject, queries: dict[str, Rows] | None = None) -> None:
        self.documents: dict[str, JsonObject] = {}
        self.queries: dict[str, Rows] = {"SELECT * FROM c": lambda rows, _: list(rows), **(queries or {})}
        self.performed: list[str] = []
        self._etags = itertools.count(1)
        for document in documents:
            self.create_document({"pk": "p", **document})
        self.performed.clear()
        self._before: dict[str, JsonObject] = copy.deepcopy(self.documents)

    @property
    def self_link(self) -> str:
        return SELF_LINK

    @property
    def alt_link(self) -> str:
        return ALT_LINK

    def read_document(self, document_link: str, *, if_none_match: str | None) -> JsonObject | None:
        self.performed.append("read")
        document = self._existing(document_link)
        return None if document["_etag"] == if_none_match else document

    def read_documents(self, page_size: int, continuation: str | None) -> Page:
        self.performed.append("readFeed")
        return _page(list(self.documents.values()), page_size, continuation)

    def query_documents(
        self, text: str, parameters: list[JsonObject], page_size: int, continuation: str | None
    ) -> Page:
        self.performed.append("query")
        if text not in self.queries:
            raise CosmosError(400, f"Syntax error in {text}")
        values = {str(parameter["name"]): parameter["value"] for parameter in parameters}
        return _page(self.queries[text](list(self.documents.values()), values), page_size, continuation)

    def create_document(self, body: JsonObject) -> JsonObject:
        self.performed.append("create")
        if body.get("id") in self.documents:
            raise CosmosError(409, "Resource with specified id or name already exists.")
        return self._stored(body)

    def upsert_document(self, body: JsonObject, *, etag: str | None) -> JsonObject:
        self.performed.append("upsert")
        return self._stored(body)

    def replace_document(self, document_link: str, body: JsonObject, *, etag: str | None) -> JsonObject:
        self.performed.append("replace")
        self._check_etag(document_link, etag)
        return self._stored(body)

    def delete_document(self, document_link: str, *, etag: str | None) -> None:
        self.performed.append("delete")
        self._check_etag(document_link, etag)
        del self.documents[_id_of(document_link)]

    def resource_usage(self) -> tuple[str, str]:
        return "documentsSize=10485760;", f"documentsSize={len(self.documents)};"

    def begin(self) -> None:
        self._before = copy.deepcopy(self.documents)

    def roll_back(self) -> None:
        self.documents = copy.deepcopy(self._before)

    def _existing(self, document_link: str) -> JsonObject:
        document = self.documents.get(_id_of(document_link))
        if document is None:
            raise CosmosError(404, "Resource Not Found.")
        return document

    def _check_etag(self, document_link: str, etag: str | None) -> None:
        if self._existing(document_link)["_etag"] != etag and etag is not None:
            raise CosmosError(412, "One of the specified pre-condition is not met.")

    def _stored(self, body: JsonObject) -> JsonObject:
        identifier = body.get("id")
        if not isinstance(identifier, str):
            raise CosmosError(400, "The id is missing.")
        if body.get("pk") != "p":
            raise CosmosError(400, FOREIGN_KEY)
        stored: JsonObject = {
            **body,
            "_etag": f'"{next(self._etags)}"',
            "_self": f"{SELF_LINK}docs/{identifier}/",
        }
        self.documents[identifier] = stored
        return stored


def execute(
    operations: MemoryOperations,
    body: str,
    *arguments: Json,
    limits: ScriptLimits | None = None,
    log: bool = False,
) -> ScriptResult:
    """Execute a procedure in a transaction, which a failure rolls back."""
    operations.begin()
    try:
        return execute_stored_procedure(
            "underTest", body, list(arguments), operations, limits or ScriptLimits(), capture_log=log
        )
    except CosmosError:
        operations.roll_back()
        raise


def result_of(body: str, *arguments: Json, limits: ScriptLimits | None = None) -> Json:
    """Return the response body of a procedure in an empty partition."""
    return execute(MemoryOperations(), body, *arguments, limits=limits).body


def create_with_triggers(
    operations: MemoryOperations,
    document: JsonObject,
    *,
    pre: str | None = None,
    post: str | None = None,
    limits: ScriptLimits | None = None,
) -> Json:
    """Create a document with triggers in one transaction and return the client's reply."""
    bounds = limits or ScriptLimits()
    operations.begin()
    try:
        sent: JsonObject | None = document
        if pre is not None:
            sent = run_pre_trigger("before", pre, document, "Create", operations, bounds)
        stored = operations.create_document(sent or {})
        if post is None:
            return stored
        return run_post_trigger("after", post, sent, stored, "Create", operations, bounds)
    except CosmosError:
        operations.roll_back()
        raise


def _id_of(document_link: str) -> str:
    return document_link.split("/")[5]


def _page(rows: list[Json] | list[JsonObject], page_size: int, continuation: str | None) -> Page:
    start = int(continuation or 0)
    end = start + page_size
    return Page(copy.deepcopy(list(rows[start:end])), str(end) if end < len(rows) else None)
