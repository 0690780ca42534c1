"""Load data before a measurement."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from azure.cosmos.aio import ContainerProxy

from bench.servers import REPOSITORY
from bench.timing import BenchmarkError
from shared.platform.models import Item

_BATCH: Final = 100  # the service's limit
_AT_ONCE: Final = 4


async def send_batches(container: ContainerProxy, key: str, items: Iterable[Item]) -> None:
    """Create items in transactional batches. Items with equal values of `key` must be adjacent."""
    batches = _batches(key, items)

    async def work() -> None:
        for partition_key, batch in batches:
            await container.execute_item_batch([("create", (item,)) for item in batch], partition_key)

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))


def _batches(key: str, items: Iterable[Item]) -> Iterator[tuple[Any, list[Item]]]:
    for partition_key, group in groupby(items, lambda item: item[key]):
        members = list(group)
        for start in range(0, len(members), _BATCH):
            yield partition_key, members[start : start + _BATCH]


async def import_items(data_dir: Path, database: str, container: str, items: Iterable[Item]) -> float:
    """Import items into an unused data directory.

    Returns the items per second of the import's process, including its start. Raises BenchmarkError.
    """
    count, file = 0, data_dir.parent / "items.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for item in items:
            lines.write(json.dumps(item, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    where = ["--data-dir", str(data_dir), "--database", database, "--container", container]
    started = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cosmos_emulator", "import", *where, str(file)), cwd=REPOSITORY, stdout=sys.stderr
    )
    if status := await process.wait():
        raise BenchmarkError(f"the import into {database}/{container} exited with {status}")
    file.unlink()
    return count / (time.perf_counter() - started)
