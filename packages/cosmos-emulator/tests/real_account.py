"""Run the tests of behavior against a real account, as getmoto/moto's `aws_verified` does.

COSMOS_TEST_ENDPOINT and COSMOS_TEST_KEY name an account without databases. Then the fixtures `client`, `database`,
`container` and `raw` use it, so every test that needs only these runs, with a container of its own. The others are
skipped with a reason.

The cost is capped: all containers share the least throughput of one database (a serverless account has none), and the
run stops at COSMOS_TEST_MAX_RU request units.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.aio import CosmosClient as AioCosmosClient
from azure.cosmos.aio import DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError

DATABASE = "db"
_THROUGHPUT = {"x-ms-offer-throughput", "x-ms-cosmos-offer-autopilot-settings"}
_MAX_RU = float(os.environ.get("COSMOS_TEST_MAX_RU", "200000"))
_ACCOUNT_FIXTURES = {"client", "database", "container", "raw"}
# Why a test that uses a fixture itself, overrides it or parametrizes it cannot run.
_REASONS = {
    "settings": "needs settings of the emulator",
    "partitions": "needs a number of physical partitions",
    "clock": "changes the time",
    "emulator": "controls the emulator",
    "monkeypatch": "changes the emulator's code",
    "caplog": "reads the emulator's log",
    "client": "creates databases, whose throughput is billed separately",
}


@dataclass
class RealAccount:
    """The account, the throughput of its database (None if it is serverless), and the request units used so far."""

    endpoint: str
    key: str
    throughput: int | None = 400
    spent: float = 0

    def refuse_throughput(self, verb: str, path: str, headers: Mapping[str, str]) -> None:
        """Skip a test that is about to buy throughput, which is billed by the hour, even if it is deleted at once."""
        is_own = path.strip("/") != "dbs" and _THROUGHPUT & {name.lower() for name in headers}
        if (verb == "POST" and is_own) or (verb == "PUT" and path.startswith("/offers")):
            pytest.skip("buys throughput")

    def meter(self, headers: Mapping[str, str]) -> None:
        """Add the charge of a response."""
        self.spent += float(headers.get("x-ms-request-charge", 0))


ACCOUNT = (
    RealAccount(os.environ["COSMOS_TEST_ENDPOINT"], os.environ["COSMOS_TEST_KEY"])
    if os.environ.get("COSMOS_TEST_ENDPOINT")
    else None
)


@contextmanager
def reserved(account: RealAccount) -> Iterator[None]:
    """Use an account until the block ends. Ends the run if it has databases, because tests delete them."""
    with CosmosClient(account.endpoint, account.key) as client:
        if names := [database["id"] for database in client.list_databases()]:
            pytest.exit(
                f"COSMOS_TEST_ENDPOINT has databases ({', '.join(names)}). Use an empty account, without -n.", 1
            )
        try:
            client.create_database(DATABASE, offer_throughput=account.throughput)
        except CosmosHttpResponseError as error:
            if "serverless" not in str(error):
                raise
            account.throughput = None
        try:
            yield
        finally:
            for database in client.list_databases():
                client.delete_database(database)


@asynccontextmanager
async def emptied_database(account: RealAccount, client: AioCosmosClient) -> AsyncIterator[DatabaseProxy]:
    """Yield the database of all tests, and delete what the test has created in it."""
    database = await client.create_database_if_not_exists(DATABASE, offer_throughput=account.throughput)
    yield database
    if DATABASE not in [one["id"] async for one in client.list_databases()]:
        return
    for container in [one["id"] async for one in database.list_containers()]:
        await database.delete_container(container)
    for user in [one["id"] async for one in database.list_users()]:
        await database.delete_user(user)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that use an account, and skip those that cannot use a real one."""
    of_account = [item for item in items if _ACCOUNT_FIXTURES & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=[item for item in items if item not in of_account])
    items[:] = of_account
    for item in items:
        if reason := _reason(item):
            item.add_marker(pytest.mark.skip(reason=reason))


def stop_at_the_cap(account: RealAccount, session: pytest.Session) -> None:
    """End the run if it has used too many request units."""
    if account.spent > _MAX_RU:
        session.shouldstop = f"{account.spent:.0f} RU are used, and COSMOS_TEST_MAX_RU is {_MAX_RU:.0f}"


def _reason(item: Any) -> str | None:
    if marker := item.get_closest_marker("emulator_only"):
        return str(marker.args[0])
    info = item._fixtureinfo
    used = {*info.argnames, *getattr(getattr(item, "callspec", None), "params", ())}
    for name, definitions in info.name2fixturedefs.items():
        if definitions[-1].baseid not in ("", "tests"):  # a fixture of the test's own module or folder
            used |= {name, *definitions[-1].argnames}
    return next((reason for name, reason in _REASONS.items() if name in used), None)
