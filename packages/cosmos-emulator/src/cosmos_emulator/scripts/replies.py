"""Performs a script's queued operations and formats the replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.scripts.operations import Page, ScriptOperations

Operation = dict[str, str | int]
Outcome = tuple[Json, JsonObject]
"""The result (document, list of documents or None) and the operation's callback options."""


class Replies:
    """Performs operations; a reply is `{error, result, options}`.

    `options` has the fields of IRequestCallbackOptions and IFeedCallbackOptions (DefinitelyTyped documentdb-server).
    """

    def __init__(self, operations: ScriptOperations) -> None:
        self._operations = operations
        self._usage: JsonObject | None = None

    def perform(self, operation: Operation) -> str:
        """Return the reply as JSON, also for a failure, which the callback handles."""
        try:
            result, options = _PERFORM[str(operation["name"])](self._operations, operation)
        except CosmosError as error:
            failure: JsonObject = {"number": error.status, "message": error.message}
            return _text({"error": failure, "result": None, "options": None})
        return _text({"error": None, "result": result, "options": {**self._sizes(), **options}})

    def _sizes(self) -> JsonObject:
        if self._usage is None:
            quota, usage = self._operations.resource_usage()
            self._usage = {"currentCollectionSizeInMB": usage, "maxCollectionSizeInMB": quota}
        return self._usage


def _read(operations: ScriptOperations, operation: Operation) -> Outcome:
    document = operations.read_document(_link(operation), if_none_match=_optional(operation, "ifNoneMatch"))
    if document is None:
        return None, {"statusCode": 304, "notModified": True}
    return document, {"statusCode": 200, "notModified": False}


def _read_feed(operations: ScriptOperations, operation: Operation) -> Outcome:
    return _page(operations.read_documents(int(operation["pageSize"]), _optional(operation, "continuation")))


def _query(operations: ScriptOperations, operation: Operation) -> Outcome:
    parameters = json_text.parse(str(operation["parameters"]))
    if not isinstance(parameters, list) or not all(isinstance(parameter, dict) for parameter in parameters):
        raise CosmosError(400, "The parameters of a query must be a list of {name, value}.")
    return _page(
        operations.query_documents(
            str(operation["text"]),
            cast(list[JsonObject], parameters),
            int(operation["pageSize"]),
            _optional(operation, "continuation"),
        )
    )


def _create(operations: ScriptOperations, operation: Operation) -> Outcome:
    return operations.create_document(_body(operation)), {"statusCode": 201}


def _upsert(operations: ScriptOperations, operation: Operation) -> Outcome:
    return operations.upsert_document(_body(operation), etag=_optional(operation, "etag")), {"statusCode": 200}


def _replace(operations: ScriptOperations, operation: Operation) -> Outcome:
    etag = _optional(operation, "etag")
    return operations.replace_document(_link(operation), _body(operation), etag=etag), {"statusCode": 200}


def _delete(operations: ScriptOperations, operation: Operation) -> Outcome:
    operations.delete_document(_link(operation), etag=_optional(operation, "etag"))
    return None, {"statusCode": 204}


_PERFORM: dict[str, Callable[[ScriptOperations, Operation], Outcome]] = {
    "read": _read,
    "readFeed": _read_feed,
    "query": _query,
    "create": _create,
    "upsert": _upsert,
    "replace": _replace,
    "delete": _delete,
}


def _page(page: Page) -> Outcome:
    options: JsonObject = {"statusCode": 200}
    if page.continuation:
        options["continuation"] = page.continuation
    return page.items, options


def _link(operation: Operation) -> str:
    return str(operation["link"])


def _optional(operation: Operation, name: str) -> str | None:
    """Return an option; omitted options arrive as empty strings."""
    return str(operation[name]) or None


def _body(operation: Operation) -> JsonObject:
    """Return the document to write. Raises 400, for the callback, if it has a lone surrogate."""
    return json_text.parse_object(str(operation["body"]))


def _text(reply: JsonObject) -> str:
    return json_text.dump(reply).decode()
