"""Whether everything is there that the blog needs: the database, its containers, and the scripts in them where
transactions are stored procedures."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, cast

from azure.core.exceptions import AzureError
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosHttpResponseError

from shared.containers import container_definitions
from shared.cosmos import Container, open_container
from shared.errors import NotReady
from shared.logs import log
from shared.models.health import Check
from shared.settings import SettingsError, settings

DEADLINE_S = 2.0
# Probes come often and from several sides; the database is asked once for all that come within this time.
KEPT_S = 1.0

_FORBIDDEN = 403
_READY, _UNCHECKED = "ready", "unchecked"


def _uses_scripts() -> bool:
    """Raises SettingsError."""
    return settings().transactions == "procedure"


class Readiness:
    """Finds out what is ready, at most once in `KEPT_S` seconds however many want to know."""

    def __init__(
        self,
        open_container: Callable[[str], Container] = open_container,
        clock: Callable[[], float] = time.monotonic,
        deadline_s: float = DEADLINE_S,
        uses_scripts: Callable[[], bool] = _uses_scripts,
    ) -> None:
        self._open_container = open_container
        self._uses_scripts = uses_scripts
        self._clock = clock
        self._deadline_s = deadline_s
        self._asking = asyncio.Lock()
        self._asked_at = float("-inf")
        self._outcome: dict[str, Check] | NotReady = NotReady([])

    async def checks(self) -> dict[str, Check]:
        """What is ready, by name. Reads the database, every container, and where requests run scripts the lists of
        those, all at once; an answer is there when the deadline is over. Raises NotReady, naming everything that is
        not."""
        async with self._asking:
            if self._clock() - self._asked_at >= KEPT_S:
                self._outcome = await _ask(self._open_container, self._deadline_s, self._uses_scripts)
                self._asked_at = self._clock()
        if isinstance(self._outcome, NotReady):
            raise NotReady(self._outcome.names)
        return self._outcome


@dataclass(frozen=True)
class _Check:
    """`names` are asked for together; `find` answers those of them that exist."""

    names: tuple[str, ...]
    find: Callable[[], Awaitable[Collection[str]]]
    may_be_forbidden: bool = False


async def _ask(
    open_container: Callable[[str], Container], deadline_s: float, uses_scripts: Callable[[], bool]
) -> dict[str, Check] | NotReady:
    try:
        checks = list(_checks(open_container, uses_scripts=uses_scripts()))
    except SettingsError as error:
        log(logging.WARNING, "not ready", settings=str(error))
        return NotReady(["settings"])
    states: dict[str, str] = {}
    for found in await asyncio.gather(*(_states(check, deadline_s) for check in checks)):
        states |= found
    failed = {name: state for name, state in states.items() if state not in (_READY, _UNCHECKED)}
    if failed:
        log(logging.WARNING, "not ready", failed=failed)
        return NotReady(list(failed))
    return cast(dict[str, Check], states)


async def _states(check: _Check, deadline_s: float) -> dict[str, str]:
    """Ready, unchecked, or what is the matter, for each name. The SDK's exceptions are the very answer here, so unlike
    elsewhere they come this far."""
    try:
        async with asyncio.timeout(deadline_s):
            found = await check.find()
    except TimeoutError:
        return dict.fromkeys(check.names, f"no answer within {deadline_s:g} s")
    except CosmosHttpResponseError as error:
        # No data-plane role lists scripts: https://learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac
        forbidden = check.may_be_forbidden and error.status_code == _FORBIDDEN
        return dict.fromkeys(check.names, _UNCHECKED if forbidden else f"the database answered {error.status_code}")
    except (AzureError, OSError) as error:
        return dict.fromkeys(check.names, type(error).__name__)
    return {name: _READY if name in found else "missing" for name in check.names}


def _checks(open_container: Callable[[str], Container], *, uses_scripts: bool) -> Iterator[_Check]:
    """Raises SettingsError."""
    definitions = container_definitions()
    yield _database_check(open_container(definitions[0]["id"]).proxy)
    for definition in definitions:
        proxy = open_container(definition["id"]).proxy
        yield _container_check(proxy)
        if not uses_scripts:
            continue
        procedures, triggers = definition["storedProcedures"], [trigger["id"] for trigger in definition["triggers"]]
        if procedures:
            yield _scripts_check(proxy, procedures, proxy.scripts.list_stored_procedures)
        if triggers:
            yield _scripts_check(proxy, triggers, proxy.scripts.list_triggers)


def _database_check(proxy: ContainerProxy) -> _Check:
    async def find() -> Collection[str]:
        await proxy.client_connection.ReadDatabase(proxy.database_link)
        return ("database",)

    return _Check(("database",), find)


def _container_check(proxy: ContainerProxy) -> _Check:
    async def find() -> Collection[str]:
        await proxy.read()
        return (proxy.id,)

    return _Check((proxy.id,), find)


def _scripts_check(
    proxy: ContainerProxy, scripts: list[str], list_scripts: Callable[[], AsyncIterable[dict[str, Any]]]
) -> _Check:
    async def find() -> Collection[str]:
        return {f"{proxy.id}/{script['id']}" async for script in list_scripts()}

    return _Check(tuple(f"{proxy.id}/{script}" for script in scripts), find, may_be_forbidden=True)
