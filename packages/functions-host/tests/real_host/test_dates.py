"""Microsoft's host that is installed here delivers texts like dates as this host parses them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from functions_host.date_texts import UnparsableChangesError, parsed
from tests.cosmos_apps import Account
from tests.real_host.core_tools import RealHost, real_host
from tests.recordings import record_dates, recorded_dates
from tests.running import eventually

_APP = """
import json
import azure.functions as func

app = func.FunctionApp()

@app.cosmos_db_trigger(
    arg_name="docs", connection="COSMOS", database_name="db", container_name="items",
    lease_container_name="leases", create_lease_container_if_not_exists=True, start_from_beginning=True,
    feed_poll_delay=100, lease_acquire_interval=500,
)
def changed(docs: func.DocumentList) -> None:
    with open({path!r}, "a", encoding="utf-8") as output:
        for doc in docs:
            output.write(json.dumps([doc["id"], doc["texts"]]) + chr(10))
"""
_HOST_JSON = {
    "version": "2.0",
    "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
    "extensions": {"cosmosDB": {"connectionMode": "Gateway"}},
}
# Depends on the text's place in a buffer; test_date_texts.py says why.
_MINUTES_THAT_ARE_NOT_DIGITS = re.compile(r"/Date\(-?\d+[+-]\d\d(?!\d\d\)|\))")


async def test_the_real_host_delivers_texts_as_functions_host_parses_them(
    account: Account, tmp_path: Path, records: bool
) -> None:
    recorded, fatal = recorded_dates()
    app, output = _app(tmp_path, _HOST_JSON)

    async with real_host(app, account.environment, tmp_path) as host:
        await account.write("harmless", texts=list(recorded))
        await eventually(lambda: "harmless" in _delivered(output))
        for number, text in enumerate(fatal):
            await _expect_that_it_stops_the_lease(host, account, text, f"repaired{number}", output)
    delivered = dict(zip(recorded, _delivered(output)["harmless"], strict=True))

    if records:
        record_dates(host.version, delivered, fatal)
    changed = {text: answer for text, answer in delivered.items() if answer != recorded[text]}
    sys.stdout.write(f"\n{host.version}: {len(delivered)} texts, {len(changed)} changed since recorded: {changed}\n")
    assert all(map(_is_fatal, fatal))
    certain = {text: answer for text, answer in delivered.items() if not _MINUTES_THAT_ARE_NOT_DIGITS.match(text)}
    assert certain == {text: parsed(text) for text in certain}


async def test_the_real_host_delivers_texts_unchanged_without_date_parsing(account: Account, tmp_path: Path) -> None:
    """Needs a bundle with version 4.9.0 of the Cosmos DB extension; earlier ones ignore the setting."""
    recorded, fatal = recorded_dates()
    texts = [*recorded, *fatal]
    serializer = {"connectionMode": "Gateway", "serializerSettings": {"dateParseHandling": "None"}}
    app, output = _app(tmp_path, _HOST_JSON | {"extensions": {"cosmosDB": serializer}})

    async with real_host(app, account.environment, tmp_path):
        await account.write("texts", texts=texts)
        await eventually(lambda: "texts" in _delivered(output))

    assert _delivered(output)["texts"] == texts


async def _expect_that_it_stops_the_lease(
    host: RealHost, account: Account, text: str, repaired: str, output: Path
) -> None:
    def errors() -> int:
        return len(host.log_lines(containing="System.ArgumentOutOfRangeException"))

    before = errors()
    await account.write("fatal", texts=[text])
    await eventually(lambda: errors() > before)
    assert text not in _delivered(output).get("fatal", [])
    await account.write("fatal", texts=[repaired])
    await eventually(lambda: _delivered(output).get("fatal") == [repaired])


def _is_fatal(text: str) -> bool:
    try:
        parsed(text)
    except UnparsableChangesError:
        return True
    return False


def _app(folder: Path, host_json: dict[str, Any]) -> tuple[Path, Path]:
    """Return the folders of the app and the file to which it writes what it receives."""
    app, output = folder / "app", folder / "delivered.jsonl"
    app.mkdir()
    output.touch()
    (app / "function_app.py").write_text(_APP.format(path=str(output)), encoding="utf-8")
    (app / "host.json").write_text(json.dumps(host_json), encoding="utf-8")
    return app, output


def _delivered(output: Path) -> dict[str, list[str]]:
    return dict(map(json.loads, output.read_text(encoding="utf-8").splitlines()))
