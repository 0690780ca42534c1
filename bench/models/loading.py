"""Load the planned blog by import into the emulator, or through the SDK."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import orjson
from azure.cosmos.aio import CosmosClient
from cosmos_emulator.container_definition import completed
from cosmos_emulator.importing import import_items
from cosmos_emulator.store.account import Account, Container

from bench.loading import send_batches
from bench.models.interface import ContainerPlan, Model
from bench.models.plan import ArticlePlan
from bench.timing import BenchmarkError
from shared.database.containers import POSTS
from shared.models.base import Item
from shared.settings import Settings

# For every container but `posts`.
OTHER_PARTITIONS: Final = 4
_LOADED: Final = "loaded.json"
_AT_ONCE: Final = 20_000  # lines per import call

Count = Callable[[int], None]


def database_of(kind: type[Model]) -> str:
    return f"bench-{kind.NAME.lower()}"


async def import_models(kinds: Sequence[type[Model]], plan: ArticlePlan, data_dir: Path, partitions: int) -> None:
    """Create a data directory with every model's database, with `partitions` physical partitions of `posts`.

    Reuses a directory with the same content. Raises BenchmarkError if the content differs.
    """
    content = {"plan": repr(plan), "partitions": partitions, "models": [kind.NAME for kind in kinds]}
    if _is_loaded(data_dir, content):
        return
    account = Account(data_dir, time.time, durable=True)
    try:
        for kind in kinds:
            with _progress(f"{kind.NAME}, {plan.users:,} users") as count:
                await _import(kind, plan, account, partitions, count)
    finally:
        await account.close()
    (data_dir / _LOADED).write_bytes(orjson.dumps(content))


def _is_loaded(data_dir: Path, content: Item) -> bool:
    marker = data_dir / _LOADED
    if marker.is_file() and orjson.loads(marker.read_bytes()) == content:
        return True
    if data_dir.exists() and any(data_dir.iterdir()):
        raise BenchmarkError(f"{data_dir} has other content; delete it, or choose another directory")
    return False


async def _import(kind: type[Model], plan: ArticlePlan, account: Account, partitions: int, count: Count) -> None:
    database = account.add_database({"id": database_of(kind)})
    containers: dict[str, Container] = {}
    for container in kind.CONTAINERS:
        number = partitions if container.name == POSTS else OTHER_PARTITIONS
        containers[container.name] = account.add_container(database, completed(_body(container)), number)
    waiting: dict[str, list[bytes]] = {name: [] for name in containers}
    for name, item in kind.items(plan):
        waiting[name].append(orjson.dumps(item))
        if len(waiting[name]) == _AT_ONCE:
            count(await import_items(containers[name], waiting.pop(name), time.time))
            waiting[name] = []
    for name, lines in waiting.items():
        count(await import_items(containers[name], lines, time.time))


def _body(container: ContainerPlan) -> Item:
    """Return the definition without this project's lists of scripts."""
    return {name: value for name, value in container.definition.items() if name not in ("storedProcedures", "triggers")}


async def send_model(kind: type[Model], plan: ArticlePlan, client: CosmosClient, configuration: Settings) -> None:
    """Load a model's empty containers. Raises the SDK's errors."""
    database = client.get_database_client(configuration.database)
    for container in kind.CONTAINERS:
        with _progress(f"{kind.NAME}, {container.name}") as count:
            items = _counted(_items_in(kind, plan, container.name), count)
            await send_batches(database.get_container_client(container.name), container.key, items)


def _items_in(kind: type[Model], plan: ArticlePlan, container: str) -> Iterator[Item]:
    return (item for name, item in kind.items(plan) if name == container)


def _counted(items: Iterator[Item], count: Count) -> Iterator[Item]:
    for item in items:
        count(1)
        yield item


@contextmanager
def _progress(what: str) -> Iterator[Count]:
    """Count items; show progress on a terminal, then the total."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    total, started = 0, time.perf_counter()
    console = Console(file=sys.stderr)
    columns = (SpinnerColumn(), "{task.description}", "{task.completed:,.0f} items", TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(f"loading {what}", total=None)

        def count(number: int) -> None:
            nonlocal total
            total += number
            bars.update(task, completed=total)

        yield count
    seconds = time.perf_counter() - started
    sys.stderr.write(f"loaded {what}: {total:,} items in {seconds:.1f} s\n")
