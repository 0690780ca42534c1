"""Import a JSON Lines file into a container. First stop any emulator that uses the data directory."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from cosmos_emulator.contents.importing import import_items
from cosmos_emulator.definitions.container import completed
from cosmos_emulator.errors import CosmosError
from cosmos_emulator.json_text import parse_object
from cosmos_emulator.store.account import Account, Container
from cosmos_emulator.store.contents import current_directory


def main(arguments: list[str]) -> int:
    """Import a file and print the count; returns 1 if the import fails."""
    given = _parse(arguments)
    try:
        count, seconds = asyncio.run(_import(given))
    except (CosmosError, OSError) as error:
        sys.stderr.write(f"The import stopped: {error}\n")
        return 1
    sys.stdout.write(f"{count} items in {seconds:.1f} s ({count / max(seconds, 0.001):.0f} a second)\n")
    return 0


async def _import(given: argparse.Namespace) -> tuple[int, float]:
    account = Account(current_directory(given.data_dir), time.time, durable=True)
    try:
        container = _container(account, given)
        started = time.perf_counter()
        with given.file.open("rb") as lines:
            count = await import_items(container, lines, time.time)
        return count, time.perf_counter() - started
    finally:
        await account.close()


def _container(account: Account, given: argparse.Namespace) -> Container:
    database = account.resources.find("dbs", "", given.database) or account.add_database({"id": given.database})
    found = account.resources.find("colls", database.rid, given.container)
    if found is not None:
        return account.container(found.rid)
    if given.definition is not None:
        body = parse_object(given.definition.read_bytes())
    elif given.partition_key is not None:
        body = {"partitionKey": {"paths": [given.partition_key], "version": 2}}
    else:
        raise CosmosError(
            404, f"The container {given.container!r} does not exist; pass --partition-key or --definition to create it."
        )
    return account.add_container(database, completed({**body, "id": given.container}), given.partitions)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cosmos-emulator import", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="data directory of a stopped emulator")
    parser.add_argument("--database", required=True, help="created if missing")
    parser.add_argument("--container", required=True, help="created if missing, from --partition-key or --definition")
    made = parser.add_mutually_exclusive_group()
    made.add_argument("--partition-key", metavar="PATH", help="partition key of a new container, such as /userId")
    made.add_argument(
        "--definition", type=Path, metavar="FILE", help="definition of a new container as JSON, with its policies"
    )
    parser.add_argument("--partitions", type=int, default=1, help="physical partitions of a new container (default: 1)")
    parser.add_argument("file", type=Path, help="JSON Lines file: one item per line")
    given = parser.parse_args(arguments)
    if given.partitions < 1:
        parser.error("--partitions must be at least 1")
    return given
