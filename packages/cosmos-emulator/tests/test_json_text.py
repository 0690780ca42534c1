"""JSON texts: what cannot be parsed is refused quickly, and what can be computed can be written."""

from __future__ import annotations

import time

import pytest
from cosmos_emulator import json_text
from cosmos_emulator.errors import CosmosError


def test_a_text_that_ends_in_a_string_with_quotes_is_refused_at_once() -> None:
    """Such as an item with embedded JSON whose connection broke. It took two seconds for each 26 KB, squared."""
    started = time.monotonic()

    with pytest.raises(CosmosError, match="not a JSON text"):
        json_text.parse('{"payload": "' + r"{\"a\":\"b\"}" * 10_000)

    assert time.monotonic() - started < 5


def test_raw_tabs_and_line_breaks_in_strings_are_accepted() -> None:
    assert json_text.parse('{"a": "x\ty\\"\n", "b": "\\\\"}') == {"a": 'x\ty"\n', "b": "\\"}


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_integers_beyond_64_bits_become_doubles(number: int) -> None:
    assert json_text.dump({"a": [number, 1]}) == json_text.dump({"a": [float(number), 1]})
