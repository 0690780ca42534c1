"""Measure the ten requests on an existing account, with its own charges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from azure.cosmos.aio import CosmosClient
from functions_host.cosmos_trigger.partitions import read_partitions

from bench.models.interface import Model
from bench.models.loading import database_of, send_model
from bench.models.observation import observed_client
from bench.models.plan import ArticlePlan
from bench.models.project_model import ProjectModel, ProjectModelWithProcedures
from bench.models.request_costs import Costs, measure_reads, measure_writes
from bench.models.running_models import running_models
from bench.timing import BenchmarkError
from shared.database.containers import POSTS
from shared.settings import Settings


@dataclass(frozen=True)
class AccountCosts:
    """Costs of the requests, and the physical partitions of `posts`."""

    costs: Costs
    partitions: int


async def measure_here(models: Sequence[Model], plan: ArticlePlan, repetitions: int) -> AccountCosts:
    """Measure reads first, because writes change the data."""
    costs = await measure_reads(models, plan, repetitions)
    both_ways = [ProjectModelWithProcedures(model.database) for model in models if isinstance(model, ProjectModel)]
    costs |= await measure_writes([*models, *both_ways], plan, repetitions)
    posts = models[0].database.get_container_client(POSTS)
    return AccountCosts(costs, len(await read_partitions(posts)))


async def measure_account(
    kinds: Sequence[type[Model]], configuration: Settings, plan: ArticlePlan, repetitions: int, throughput: int | None
) -> AccountCosts:
    """Create and load a database per model, measure, and delete the databases.

    `throughput` is in RU/s per database. Raises BenchmarkError if a database already exists.
    """
    async with observed_client(configuration) as client:
        await _refuse_present(client, kinds)
        try:
            for kind in kinds:
                own = configuration.model_copy(update={"database": database_of(kind)})
                await kind.provision(client, own, throughput=throughput)
                await send_model(kind, plan, client, own)
            async with running_models(kinds, configuration) as models:
                return await measure_here(models, plan, repetitions)
        finally:
            await _delete(client, kinds)


async def _refuse_present(client: CosmosClient, kinds: Sequence[type[Model]]) -> None:
    present = {str(database["id"]) async for database in client.list_databases()}
    if taken := sorted(present & set(map(database_of, kinds))):
        raise BenchmarkError(f"the account already has {', '.join(taken)}; delete leftovers of an earlier run first")


async def _delete(client: CosmosClient, kinds: Sequence[type[Model]]) -> None:
    present = {str(database["id"]) async for database in client.list_databases()}
    for kind in kinds:
        if database_of(kind) in present:
            await client.delete_database(database_of(kind))
