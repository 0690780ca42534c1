"""Models running in one account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bench.models.interface import Model
from bench.models.loading import database_of
from bench.models.observation import observed_client
from bench.servers import emulator
from shared.settings import Settings


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
    """Open the models on a new emulator with `data_dir`, or empty."""
    async with emulator(data_dir, *options) as server, running_models(kinds, server.settings("none")) as models:
        yield models
