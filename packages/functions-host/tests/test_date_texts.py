"""Texts that look like dates are rewritten or stop the lease, as recorded from the real host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from functions_host.date_texts import UnparsableChangesError, parsed
from tests.cosmos_apps import Account, calls, ids_of, trigger
from tests.recordings import recorded_dates
from tests.running import eventually, running, write_app

REWRITTEN = {
    "2026-01-01T00:00:00+02:00": "2025-12-31T22:00:00+00:00",
    "2026-01-01T00:00:00-0230": "2026-01-01T02:30:00+00:00",
    "2026-01-01T00:00:00+02": "2025-12-31T22:00:00+00:00",
    "2026-01-01T00:00:00+02:": "2025-12-31T22:00:00+00:00",
    "2026-01-01T00:00:00+99:99": "2025-12-27T19:21:00+00:00",
    "2026-01-01T00:00:00:30": "2026-01-01T00:00:00",
    "2026-01-01T00:00:0030": "2026-01-01T00:00:00",
    "2026-01-01T00:00:00z": "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.1200000Z": "2026-01-01T00:00:00.12Z",
    "2026-01-01T00:00:00.123456789": "2026-01-01T00:00:00.1234567",
    "2026-01-01T00:00:00.000": "2026-01-01T00:00:00",
    "2026-01-01T24:00:00": "2026-01-02T00:00:00",
    "0001-01-01T00:00:00+01:00": "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59-01:00": "9999-12-31T23:59:59.9999999+00:00",
    "/Date(0)/": "1970-01-01T00:00:00Z",
    "/Date(-1)/": "1969-12-31T23:59:59.999Z",
    "/Date(0+0100)/": "1970-01-01T00:00:00+00:00",
    "/Date(0-01)/": "1970-01-01T00:00:00+00:00",
    "/Date(253402300799999)/": "9999-12-31T23:59:59.999Z",
}
UNTOUCHED = [
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "2026-01-01 00:00:00",
    "2026-01-01t00:00:00",
    "2026-02-30T00:00:00",
    "0000-01-01T00:00:00",
    "2026-01-01T24:00:01",
    "2026-01-01T24:00:00.1",
    "2026-01-01T25:00:00",
    "2026-01-01T00:60:00",
    "2026-01-01T00:00:00.",
    "2026-01-01T00:00:00.12345678",
    "2026-01-01T00:00:00 Z",
    "2026-01-01T00:00:00ZZ",
    "2026-01-01T00:00:00+2",
    "٢٠٢٦-01-01T00:00:00",
    "/Date()/",
    "/Date(a)/",
    "/Date(99999999999999999999)/",
    "/Date(0+)/",
    "/Date(0-01+02)/",
    "/date(0)/",
    "/Date(0)",
]
FATAL = [
    "/Date(99999999999999999)/",
    "/Date(253402300800000)/",
    "/Date(-62135596800001)/",
    "/Date(922337203685477)/",
    *(f"9999-12-31T24:00:00{rest}" for rest in ("", "Z", ".0000000", "+00:00", "-14:00", "+14:00")),
]

DELIVERED, STOPS_THE_LEASE = recorded_dates()
# Newtonsoft.Json reads the minutes of an offset only if the text stands at the start of the reader's buffer, because
# TryReadOffset subtracts a position in the buffer from the length of the text. This text did, by chance, and its
# minutes are not digits. Elsewhere in the buffer, it is a date.
AT_THE_START_OF_A_BUFFER = {"/Date(-1+01T0)/"}


def test_texts_are_delivered_as_recorded_from_microsofts_host() -> None:
    differences = {text for text, delivered in DELIVERED.items() if parsed(text) != delivered}

    assert len(DELIVERED) > 2_000
    assert differences == AT_THE_START_OF_A_BUFFER


@pytest.mark.parametrize("text", STOPS_THE_LEASE)
def test_texts_stop_the_lease_as_recorded_from_microsofts_host(text: str) -> None:
    with pytest.raises(UnparsableChangesError):
        parsed(text)


async def test_without_date_parsing_every_recorded_text_is_delivered_unchanged(
    account: Account, tmp_path: Path
) -> None:
    """As Microsoft's host does with a serializer that does not parse dates (measured with all of these texts)."""
    texts = [*DELIVERED, *STOPS_THE_LEASE]
    app = write_app(tmp_path, trigger())
    serializer = {"extensions": {"cosmosDB": {"serializerSettings": {"dateParseHandling": "None"}}}}
    (app / "host.json").write_text(json.dumps({"version": "2.0", **serializer}))

    async with running(app, account.environment) as host:
        await host.ready()
        await account.write("texts", texts=texts)
        await eventually(lambda: "texts" in ids_of(calls()))
        [delivered] = [item["texts"] for _, _, items in calls() for item in items]

    assert delivered == texts


@pytest.mark.parametrize(("text", "delivered"), REWRITTEN.items())
def test_a_date_is_written_again(text: str, delivered: str) -> None:
    assert parsed({"a": [text]}) == {"a": [delivered]}


@pytest.mark.parametrize("text", UNTOUCHED)
def test_another_text_stays(text: str) -> None:
    assert parsed([text, {text: 1}, 1.5, None, True]) == [text, {text: 1}, 1.5, None, True]


@pytest.mark.parametrize("text", FATAL)
def test_a_date_that_does_not_exist_cannot_be_parsed(text: str) -> None:
    with pytest.raises(UnparsableChangesError):
        parsed({"a": text})


async def test_a_page_that_cannot_be_parsed_stops_the_lease_until_the_item_changes(
    account: Account, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    retry = 'strategy="fixed_delay", max_retry_count="1", delay_interval="00:00:01"'
    async with running(write_app(tmp_path, trigger(retry=retry)), account.environment) as host:
        await host.ready()
        await account.write("bad", text=FATAL[0])
        await account.write("later", text="2026-01-01T00:00:00+02:00")
        await eventually(lambda: sum("Ticks must be between" in line for line in caplog.messages) >= 3)
        called_before = list(calls())
        await account.write("bad", text="repaired")
        await eventually(lambda: {"bad", "later"} <= set(ids_of(calls())))
        delivered = {item["id"]: item["text"] for _, _, items in calls() for item in items}

    assert called_before == []
    assert delivered == {"bad": "repaired", "later": "2025-12-31T22:00:00+00:00"}
