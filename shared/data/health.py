"""Readiness: whether the database, its containers, and the scripts that requests run exist."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from async_lru import alru_cache
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
KEPT_S = 1.0

_FORBIDDEN = 403
_READY, _UNCHECKED = "ready", "unchecked"


def _uses_scripts() -> bool:
    return settings().transactions == "procedure"


class Readiness:
    """Checks what is ready, at most once in `kept_s` seconds."""

    def __init__(
        self,
        open_container: Callable[[str], Container] = open_container,
        *,
        uses_scripts: Callable[[], bool] = _uses_scripts,
        deadline_s: float = DEADLINE_S,
        kept_s: float = KEPT_S,
    ) -> None:
        self._open_container = open_container
        self._uses_scripts = uses_scripts
        self._deadline_s = deadline_s
        # Failures are part of the result, because alru_cache does not keep exceptions.
        self._cached_states = alru_cache(maxsize=1, ttl=kept_s)(self._states)

    async def checks(self) -> dict[str, Check]:
        """Return the state of everything, by name. Raises NotReady, with the names of all that is not ready.

        Reads the database, every container and, if requests run scripts, the lists of scripts, all at once.
        """
        states = await self._cached_states()
        failed = [name for name, state in states.items() if state not in (_READY, _UNCHECKED)]
        if failed:
            raise NotReady(failed)
        return cast(dict[str, Check], states)

    async def _states(self) -> dict[str, str]:
        states: dict[str, str] = {}
        try:
            for found in await asyncio.gather(
                *(_probe_states(probe, self._deadline_s) for probe in self._probes() if probe.names)
            ):
                states |= found
        except SettingsError as error:
            states = {"settings": str(error)}
        failed = {name: state for name, state in states.items() if state not in (_READY, _UNCHECKED)}
        if failed:
            log(logging.WARNING, "not ready", failed=failed)
        return states

    def _probes(self) -> Iterator[_Probe]:
        """Raises SettingsError."""
        definitions, uses_scripts = container_definitions(), self._uses_scripts()
        first = self._open_container(definitions[0]["id"]).proxy
        yield _Probe(["database"], partial(first.client_connection.ReadDatabase, first.database_link))
        for definition in definitions:
            proxy = self._open_container(definition["id"]).proxy
            yield _Probe([proxy.id], proxy.read)
            if uses_scripts:
                triggers = [trigger["id"] for trigger in definition["triggers"]]
                yield _script_probe(proxy, definition["storedProcedures"], proxy.scripts.list_stored_procedures)
                yield _script_probe(proxy, triggers, proxy.scripts.list_triggers)


@dataclass(frozen=True)
class _Probe:
    """A request that succeeds if `names` exist; with `is_listing`, if it returns them."""

    names: list[str]
    request: Callable[[], Awaitable[Any]]
    is_listing: bool = False


def _script_probe(
    proxy: ContainerProxy, scripts: list[str], list_scripts: Callable[[], AsyncIterable[dict[str, Any]]]
) -> _Probe:
    async def request() -> list[str]:
        return [f"{proxy.id}/{script['id']}" async for script in list_scripts()]

    return _Probe([f"{proxy.id}/{script}" for script in scripts], request, is_listing=True)


async def _probe_states(probe: _Probe, deadline_s: float) -> dict[str, str]:
    """Return `ready`, `unchecked` or the failure for each name; here the SDK's exceptions are the result."""
    try:
        async with asyncio.timeout(deadline_s):
            found = await probe.request()
    except TimeoutError:
        return dict.fromkeys(probe.names, f"no answer within {deadline_s:g} s")
    except CosmosHttpResponseError as error:
        # No data-plane role can list scripts: https://learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac
        is_unchecked = probe.is_listing and error.status_code == _FORBIDDEN
        return dict.fromkeys(probe.names, _UNCHECKED if is_unchecked else f"the database answered {error.status_code}")
    except (AzureError, OSError) as error:
        return dict.fromkeys(probe.names, type(error).__name__)
    return {name: _READY if not probe.is_listing or name in found else "missing" for name in probe.names}
