"""functions-host parses changes like Microsoft's host: the same texts are rewritten, and the same stop a lease."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient
from functions_host.date_texts import UnparsableChangesError, parsed

from shared.settings import Account, Settings
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.real_host.real_host import RealHost, real_host

SEED = 20
TEXTS = 300
# Each stops the lease for a moment.
MOST_FATAL = 5
_SECONDS = 60

_APP = """
import json
import azure.functions as func

app = func.FunctionApp()

@app.cosmos_db_trigger(
    arg_name="docs", connection="COSMOS", database_name="%BLOG_DATABASE%", container_name="items",
    lease_container_name="leases", create_lease_container_if_not_exists=True, start_from_beginning=True,
    feed_poll_delay=100, lease_acquire_interval=500,
)
def changed(docs: func.DocumentList) -> None:
    with open({path!r}, "a", encoding="utf-8") as output:
        for doc in docs:
            output.write(json.dumps([doc["id"], doc["texts"]]) + chr(10))
"""


def _texts(chosen: random.Random) -> list[str]:
    """Return texts like dates, half of them with one character changed."""

    def iso() -> str:
        year = chosen.choice(["0000", "0001", "2024", "2026", "9999"])
        day = f"{chosen.choice([1, 2, 12, 13]):02}-{chosen.choice([0, 1, 28, 29, 30, 31, 32]):02}"
        time = f"{chosen.choice([0, 1, 23, 24, 25]):02}:{chosen.choice([0, 59, 60]):02}:{chosen.choice([0, 59]):02}"
        fraction = chosen.choice(["", "", ".", "." + "0120000789"[: chosen.randint(1, 10)]])
        zone = chosen.choice(["", "", "Z", "z", "+02:00", "-0230", "+14", "-14:", "+99:99", ":30", "30", " Z"])
        return f"{year}-{day}T{time}{fraction}{zone}"

    def number() -> str:
        digits = chosen.choice(["0", "-1", "253402300799999", "253402300800000", "9223372036854775807", "-", "1" * 19])
        return f"/Date({digits}{chosen.choice(['', '', '+0100', '-02', '+', '+1', '-01+02'])})/"

    texts = [chosen.choice([iso, iso, number])() for _ in range(TEXTS)]
    for index in range(0, TEXTS, 2):
        text, place = texts[index], chosen.randrange(len(texts[index]))
        texts[index] = text[:place] + chosen.choice("0:9T-Z.٣/") + text[place + 1 :]
    return [*texts, *(f"2026-01-{day:02}T{hour:02}:00:00.{day}0Z" for day in range(1, 29) for hour in (0, 24))]


def _is_fatal(text: str) -> bool:
    try:
        parsed(text)
    except UnparsableChangesError:
        return True
    return False


async def test_functions_host_parses_texts_like_the_real_host(emulator: EmulatorThread, tmp_path: Path) -> None:
    texts = _texts(random.Random(SEED))
    fatal = list(dict.fromkeys(text for text in texts if _is_fatal(text)))[:MOST_FATAL]
    harmless = [text for text in texts if not _is_fatal(text)]
    assert len(fatal) >= 3
    assert sum(parsed(text) != text for text in harmless) >= 40
    settings = Settings(account=Account(emulator.endpoint, emulator.key), database=unique("texts"))
    output = _app(tmp_path)

    async with _items(settings) as items:
        with real_host(settings, tmp_path / "real-host.log", app=tmp_path / "app") as host:
            await items.upsert_item({"id": "harmless", "texts": harmless})
            await eventually(lambda: "harmless" in _delivered(output), _SECONDS)
            for number, text in enumerate(fatal):
                await _expect_that_it_stops_the_lease(host, items, text, f"repaired{number}", output)

    assert dict(zip(harmless, _delivered(output)["harmless"], strict=True)) == {text: parsed(text) for text in harmless}


async def _expect_that_it_stops_the_lease(
    host: RealHost, items: ContainerProxy, text: str, repaired: str, output: Path
) -> None:
    def errors() -> int:
        return len(host.log_lines(containing="System.ArgumentOutOfRangeException"))

    before = errors()
    await items.upsert_item({"id": "fatal", "texts": [text]})
    await eventually(lambda: errors() > before, _SECONDS)
    assert text not in _delivered(output).get("fatal", [])
    await items.upsert_item({"id": "fatal", "texts": [repaired]})
    await eventually(lambda: _delivered(output).get("fatal") == [repaired], _SECONDS)


def _app(folder: Path) -> Path:
    app, output = folder / "app", folder / "delivered.jsonl"
    app.mkdir()
    output.touch()
    (app / "function_app.py").write_text(_APP.format(path=str(output)), encoding="utf-8")
    (app / "host.json").write_text(
        json.dumps(
            {
                "version": "2.0",
                "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
                "extensions": {"cosmosDB": {"connectionMode": "Gateway"}},
            }
        ),
        encoding="utf-8",
    )
    return output


def _delivered(output: Path) -> dict[str, list[str]]:
    return dict(map(json.loads, output.read_text(encoding="utf-8").splitlines()))


@asynccontextmanager
async def _items(settings: Settings) -> AsyncIterator[ContainerProxy]:
    async with CosmosClient(settings.account.endpoint, settings.account.key) as client:
        database = await client.create_database(settings.database)
        yield await database.create_container("items", PartitionKey("/id"))
