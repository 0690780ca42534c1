"""Import the planned blog into data directories, and run the models on them."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import orjson
from cosmos_emulator.contents.importing import import_items
from cosmos_emulator.definitions.container import completed
from cosmos_emulator.store.account import Account

from bench.models.interface import ContainerPlan, Model
from bench.models.observation import observed_client
from bench.models.plan import ArticlePlan
from bench.servers import PARTITIONS, emulator
from shared.containers import POSTS
from shared.platform.models import Item
from shared.settings import Settings

_AT_ONCE: Final = 20_000  # lines per import call


def database_of(kind: type[Model]) -> str:
    return f"bench-{kind.NAME.lower()}"


@asynccontextmanager
async def running_models(kinds: Sequence[type[Model]], configuration: Settings) -> AsyncIterator[list[Model]]:
    """Open the models on an account; create missing databases."""
    async with observed_client(configuration) as client:
        models = []
        for kind in kinds:
            own = configuration.model_copy(update={"database": database_of(kind)})
            await kind.provision(client, own)
            models.append(kind(client.get_database_client(own.database)))
        yield models


@asynccontextmanager
async def emulated(kinds: Sequence[type[Model]], data_dir: Path | None, *options: str) -> AsyncIterator[list[Model]]:
    """Open the models on a new emulator with `data_dir`, or empty.

    The article's trigger counts the item that it follows in addition to those that its query returns.
    """
    hidden = "--no-script-queries-see-own-writes"
    async with emulator(data_dir, hidden, *options) as server, running_models(kinds, server.settings("none")) as models:
        yield models


async def import_models(kinds: Sequence[type[Model]], plan: ArticlePlan, data_dir: Path, partitions: int) -> None:
    """Create a data directory with every model's database, with `partitions` physical partitions of `posts`."""
    account = Account(data_dir, time.time, durable=True)
    try:
        for kind in kinds:
            sys.stderr.write(f"loading {kind.NAME}, {plan.users:,} users\n")
            await _import(kind, plan, account, partitions)
    finally:
        await account.close()


async def _import(kind: type[Model], plan: ArticlePlan, account: Account, partitions: int) -> None:
    database = account.add_database({"id": database_of(kind)})
    containers = {
        container.name: account.add_container(
            database, completed(_body(container)), partitions if container.name == POSTS else PARTITIONS
        )
        for container in kind.CONTAINERS
        if not container.is_index  # the emulator fills it when `running_models` creates it
    }
    waiting: dict[str, list[bytes]] = {name: [] for name in containers}
    for name, item in kind.items(plan):
        waiting[name].append(orjson.dumps(item))
        if len(waiting[name]) == _AT_ONCE:
            await import_items(containers[name], waiting.pop(name), time.time)
            waiting[name] = []
    for name, lines in waiting.items():
        await import_items(containers[name], lines, time.time)


def _body(container: ContainerPlan) -> Item:
    """Return the definition without this project's lists of scripts."""
    return {name: value for name, value in container.definition.items() if name not in ("storedProcedures", "triggers")}
