"""One chaos run: a storm of faults, then a calm phase in which the data must become consistent."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

from aiohttp import ClientSession, TCPConnector
from azure.cosmos.aio import CosmosClient

import manage  # noqa: F401 - adds the add-ons
from checks.chaos.api_client import ApiClient
from checks.chaos.authors import Author
from checks.chaos.consistency_check import ConsistencyCheck
from checks.chaos.database import Database
from checks.chaos.faults import Faults
from checks.chaos.hosts import Hosts
from checks.chaos.leases import Leases
from checks.chaos.likers import Likers
from checks.chaos.plan import Plan
from checks.chaos.poison import Poison
from checks.chaos.reader import Reader
from checks.chaos.rename_storm import RenameStorm
from checks.chaos.report import Report
from checks.chaos.run_record import RunRecord
from checks.pages import not_shown
from management.account import open_all, open_client
from management.addons import OpenAddon
from management.provision import provision
from management.verify import verify_within
from shared.containers import LEASES
from shared.data.blog import Blog
from shared.platform.database.container import Container
from shared.platform.database.sessions import Session

_LONGEST_DOWN_S = 0.5
_INFORMATIONAL = ("ABANDONED", "REPORT")

Say = Callable[[str], None]


async def run(plan: Plan, directory: Path, say: Say) -> Report:
    """Run the plan. Leaves all logs in `directory`."""
    started = time.monotonic()
    async with _set_up(plan, directory) as stage:
        say(f"seed {plan.seed}: storm started")
        await stage.prepare()
        await stage.storm()
        stormed_s = time.monotonic() - started
        answered = sum(stage.record.acknowledged.values())
        say(f"seed {plan.seed}: {answered} commands answered in {stormed_s:.0f} s; calm phase started")
        await stage.calm()
        return stage.report(stormed_s, time.monotonic() - started)


@asynccontextmanager
async def _set_up(plan: Plan, directory: Path) -> AsyncIterator[_ChaosRun]:
    async with AsyncExitStack() as stack:
        # For the provisioning and the hosts.
        stack.enter_context(patch.dict(os.environ, {"BLOG_MODERATION": "1"}))
        database = Database(directory, *(("--replica-lag", plan.replica_lag) if plan.replica_lag else ()))
        stack.push_async_callback(database.end)
        hosts = Hosts(
            database.settings.model_copy(update={"transactions": plan.transactions}), directory, plan.host_clocks_s
        )
        stack.push_async_callback(hosts.end)
        await database.start()
        await provision(database.settings)
        await hosts.start()
        log = stack.enter_context((directory / "commands.jsonl").open("w", encoding="utf-8"))
        session = await stack.enter_async_context(ClientSession(connector=TCPConnector(limit=0)))
        client = await stack.enter_async_context(open_client(database.settings))
        blog, addons = await open_all(client, database.settings.database)
        yield _ChaosRun(plan, database, hosts, session, client, blog, addons, log)


class _ChaosRun:
    def __init__(
        self,
        plan: Plan,
        database: Database,
        hosts: Hosts,
        session: ClientSession,
        client: CosmosClient,
        blog: Blog,
        addons: Sequence[OpenAddon],
        log: TextIO,
    ) -> None:
        self.plan = plan
        # With lagging replicas, clients see each other's commands only if they share a session.
        self.record = RunRecord(session=Session() if plan.replica_lag else None)
        self._database = database
        self._hosts = hosts
        self._session = session
        self._log = log
        self._blog = blog
        self._addons = addons
        self._faults = Faults(database, session, plan.random("faults"))
        leases = client.get_database_client(database.settings.database).get_container_client(LEASES)
        self._leases = Leases(leases, plan.random("leases"))
        self._reader = Reader(self._api_client("reader"))
        self._participants: _Participants
        self._findings: list[str] = []

    @property
    def _moderation(self) -> Container | None:
        """The container of the moderation, unless this add-on is taken off."""
        return next((each.container for each in self._addons if each.addon.container == "moderation"), None)

    def _api_client(self, name: str, *, hasty: bool = False) -> ApiClient:
        commands, way = self.plan.random(name, "commands"), self.plan.random(name, "way")
        return ApiClient(self._session, self._hosts, self.record, commands, way, self._log, name, hasty)

    async def prepare(self) -> None:
        """Create the participants' users and post, without faults."""
        self._participants = await _create_participants(
            self.plan, self.record, self._reader, self._api_client, self._blog, moderates=self._moderation is not None
        )

    async def storm(self) -> None:
        """Send commands under faults until each has a response."""
        over = asyncio.Event()
        self.record.calm_since = float("inf")
        strikes = asyncio.create_task(self._strike(over))
        async with asyncio.TaskGroup() as group:
            for author in self._participants.authors:
                group.create_task(author.run(over))
            group.create_task(self._participants.likers.run(over))
            group.create_task(self._participants.renaming.run(self.plan.renames, self.plan.seconds * 0.9))
            group.create_task(_propagate(strikes))

    async def _strike(self, over: asyncio.Event) -> None:
        """Inject faults until the storm ends with a kill of all hosts."""
        plan, kills, lives = self.plan, self.plan.random("kills"), self.plan.random("lives")
        faults = asyncio.create_task(self._faults.strike())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_at(plan.moments("kills", plan.host_kills), lambda: self._hosts.kill_one(kills)))
                group.create_task(
                    _at(
                        plan.moments("lives", plan.database_kills),
                        lambda: self._faults.outlive(self._database, lives.uniform(0, _LONGEST_DOWN_S)),
                    )
                )
                group.create_task(_at(plan.moments("leases", plan.lease_strikes), self._leases.strike))
                group.create_task(_at(plan.moments("poison", plan.poison), self._participants.poison.strike))
                group.create_task(asyncio.sleep(plan.seconds))
        finally:
            faults.cancel()
            await asyncio.gather(faults, return_exceptions=True)
            over.set()
        await self._faults.cease()
        await self._hosts.kill_all()
        self.record.calm_since = time.monotonic()
        if self.plan.is_short:
            await self._leases.take_all()  # saves the wait until the dead hosts' leases expire

    async def calm(self) -> None:
        """Wait until the data is consistent, then compare it with the record."""
        missing = await self._participants.poison.wait_until_failed()
        self._findings += [f"poison {item_id} is not among the failures" for item_id in missing]
        self._findings += await self._participants.poison.repair()
        findings = await verify_within(self._blog, self.plan.settling_s, addons=self._addons)
        self._findings += [
            f"{finding.kind.name} {finding}"
            for finding in findings
            # A registration whose client gave up can leave a reservation, until `rebuild` or another registration.
            if finding.kind.name not in _INFORMATIONAL and "who does not exist" not in finding.detail
        ]
        self._check = ConsistencyCheck(self.record, self._reader, self._blog, self._moderation)
        await self._check.run()
        await self._request_pages()

    async def _request_pages(self) -> None:
        url = self._hosts.api(self.plan.random("pages")).removesuffix("/api")
        post = next((one for one, states in self.record.posts.items() if None not in states), None)
        user = next((one for one, names in self.record.names.items() if None not in names), None)
        if post and user:
            failed = await not_shown(self._session, url, post, user)
            self._findings += [f"{path} returned {status}" for path, status in failed.items()]

    def report(self, stormed_s: float, took_s: float) -> Report:
        struck = {
            "hosts killed": self._hosts.kills,
            "database killed": self._database.kills,
            **self._leases.struck,
            "poison items": self._participants.poison.number,
            **self._faults.struck,
        }
        return Report(
            seed=self.plan.seed,
            struck=struck,
            acknowledged=dict(self.record.acknowledged),
            repeated=self.record.repeated,
            given_up=self.record.given_up,
            rejected_although_applied=self.record.rejected_although_applied,
            renames=self._participants.renaming.renames,
            like_counts_checked=self._participants.likers.counted,
            most_likes=self._participants.likers.largest,
            slowest_s=round(self.record.slowest_s, 2),
            storm_s=round(stormed_s, 1),
            took_s=round(took_s, 1),
            lost=self._check.lost,
            divergences=[*self.record.divergences, *self._findings, *self._check.diverged],
        )


@dataclass
class _Participants:
    authors: list[Author]
    likers: Likers
    renaming: RenameStorm
    poison: Poison


async def _create_participants(
    plan: Plan,
    record: RunRecord,
    reader: Reader,
    api_client: Callable[..., ApiClient],
    blog: Blog,
    *,
    moderates: bool,
) -> _Participants:
    setting_up = api_client("setting-up")

    async def user(name: str) -> str:
        answer = await setting_up.create("/users", {"username": name})
        user_id: str = answer.body["id"]
        record.names[user_id] = {name}
        return user_id

    likers = {
        await user(f"liker-{number}"): api_client(f"liker-{number}", hasty=number % 2 == 0)
        for number in range(plan.likers)
    }
    body = {"userId": await user("crowd"), "title": "crowd", "content": "A post that many users like."}
    post = await setting_up.create("/posts", body)
    record.post_created(post.body["id"], "crowd", for_all=False)
    writers = [api_client(f"writer-{number}", hasty=number % 2 == 0) for number in range(plan.writers)]
    clients = [api_client(f"author-{number}", hasty=number % 2 == 0) for number in range(plan.authors)]
    return _Participants(
        authors=[Author(client, moderates=moderates) for client in clients],
        likers=Likers(post.body["id"], likers, record, reader),
        renaming=RenameStorm(await user("storm"), api_client("renamer"), writers, record),
        poison=Poison(blog, record, await user("poisoner"), "poisoner", plan.random("poison")),
    )


async def _at(moments: Sequence[float], action: Callable[[], Awaitable[None]]) -> None:
    """Run the action at each moment, or when the previous run has ended."""
    started = time.monotonic()
    for moment in moments:
        await asyncio.sleep(max(0.0, started + moment - time.monotonic()))
        await action()


async def _propagate(task: asyncio.Task[None]) -> None:
    """Raise the task's error in the task group."""
    await task
