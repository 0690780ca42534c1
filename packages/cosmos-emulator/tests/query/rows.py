"""Runs queries in tests."""

# ruff: noqa: S608 - the tests build these queries themselves
from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.query import CompiledQuery, compile_query, parse


def rows(
    text: str, items: Iterable[dict[str, Any]] = (), parameters: dict[str, Any] | None = None, udfs: Any = None
) -> list[Any]:
    return list(compile_query(parse(text), parameters or {}, udfs).run(items))


def ordered_rows(query: CompiledQuery, items: Iterable[dict[str, Any]], after: Any = None) -> Iterator[Any]:
    """Return the rows of a query with a plain ORDER BY, each with its position, after a position."""
    found = query.ordered_rows(after, sys.maxsize)
    found.add(items)
    return found.finished()


def value(expression: str, item: dict[str, Any] | None = None, /, **parameters: Any) -> list[Any]:
    """Return `[value]` of an expression over one item `c`, `[]` if undefined."""
    named = {f"@{name}": content for name, content in parameters.items()}
    return rows(f"SELECT VALUE {expression} FROM c", [item or {}], named)


def refusal(text: str, items: Iterable[dict[str, Any]] = ({},), parameters: dict[str, Any] | None = None) -> Any:
    """Return the error from the service's error document: severity, location, code, message."""
    with pytest.raises(CosmosError) as raised:
        rows(text, items, parameters)
    assert raised.value.status == 400
    error = raised.value
    return json.loads(error.message)["errors"][0] if error.is_document else {"message": error.message}
