"""Readiness: whether the account has one write region, the database and scripts exist, containers can be read, and
people can sign in if they have to."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, Literal, cast

from async_lru import alru_cache
from azure.core.exceptions import AzureError
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError
from pydantic import BaseModel, ConfigDict, Field

from shared.platform.database.client import get_container, has_multiple_write_regions
from shared.platform.database.container import MISSING_ID, Container
from shared.platform.database.refusals import answer_of
from shared.platform.database.scope import deadline, nested_scope
from shared.platform.errors import DatabaseThrottled, DatabaseUnavailable, NotReady
from shared.platform.settings import SettingsError, app_settings
from shared.platform.telemetry import log

Check = Literal["ready", "unchecked"]

_FORBIDDEN, _THROTTLED = 403, 429
_READY, _UNCHECKED = "ready", "unchecked"
_SIGN_IN = "sign-in"
_SINGLE_WRITE_REGION = "single write region"


class Health(BaseModel):
    """Everything the app needs exists.

    `unchecked`: a script that the app's identity can run but not list, or the database throttles the check.
    """

    model_config = ConfigDict(frozen=True)

    status: Literal["ready"] = "ready"
    checks: dict[str, Check] = Field(
        description="By name: the single write region, the database, a container, a script of a container.",
        examples=[{"database": "ready", "leases": "ready"}],
    )


class Readiness:
    """Checks the database at most once in `cache_s` seconds, regardless of the result and the traffic."""

    def __init__(
        self,
        definitions: Callable[[], Sequence[Mapping[str, Any]]],
        get_container: Callable[[str], Container] = get_container,
        *,
        uses_scripts: Callable[[], bool] = lambda: False,
        deadline_s: float = 2.0,
        cache_s: float = 10.0,
    ) -> None:
        """Check the containers of `definitions`, and their scripts if requests run them."""
        self._definitions = definitions
        self._get_container = get_container
        self._uses_scripts = uses_scripts
        self._deadline_s = deadline_s
        # Failures are part of the result, because alru_cache does not keep exceptions.
        self._cached_states = alru_cache(maxsize=1, ttl=cache_s)(self._states)

    async def checks(self) -> dict[str, Check]:
        """Return the state of each part by its name. Raises NotReady with the names of the parts that are not ready.

        Reads account, database, every container and one of its items, and, if requests run scripts, the lists of
        scripts, all at once. Only the items, 1 RU each, use the provisioned throughput; definitions have another limit:
        https://learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-request-rate-too-large
        """
        states = await self._cached_states()
        if failed := _failed(states):
            raise NotReady(list(failed))
        return cast(dict[str, Check], states)

    async def _states(self) -> dict[str, str]:
        try:
            found = await asyncio.gather(*self._probes())
        except SettingsError as error:
            found = [{"settings": str(error)}]
        states = {name: state for part in found for name, state in part.items()}
        if app_settings().auth.users_sign_in:
            states[_SIGN_IN] = _READY if app_settings().can_sign_in else "WEBSITE_AUTH_ENABLED is not True"
        if failed := _failed(states):
            log(logging.WARNING, "not ready", failed=failed)
        return states

    def _probes(self) -> Iterator[Awaitable[dict[str, str]]]:
        uses_scripts, definitions = self._uses_scripts(), self._definitions()
        proxies = [self._get_container(definition["id"]).proxy for definition in definitions]
        yield self._probe([_SINGLE_WRITE_REGION], _write_regions(proxies[0]), is_listing=True)
        yield self._probe(["database"], proxies[0].client_connection.ReadDatabase(proxies[0].database_link))
        for definition, proxy in zip(definitions, proxies, strict=True):
            yield self._probe([proxy.id], _read(proxy))
            if uses_scripts:
                triggers = [trigger["id"] for trigger in definition.get("triggers", [])]
                yield self._probe_scripts(
                    proxy.id, definition.get("storedProcedures", []), proxy.scripts.list_stored_procedures
                )
                yield self._probe_scripts(proxy.id, triggers, proxy.scripts.list_triggers)

    async def _probe_scripts(
        self, container: str, scripts: list[str], list_scripts: Callable[[], AsyncIterable[dict[str, Any]]]
    ) -> dict[str, str]:
        async def list_names() -> set[str]:
            return {f"{container}/{script['id']}" async for script in list_scripts()}

        names = [f"{container}/{script}" for script in scripts]
        return await self._probe(names, list_names(), is_listing=True) if names else {}

    async def _probe(self, names: list[str], request: Awaitable[Any], *, is_listing: bool = False) -> dict[str, str]:
        """Return the state of each name: `ready` if the request succeeds and, for a listing, returns the name."""
        try:
            with nested_scope():
                async with deadline(self._deadline_s):
                    found = await request
        except DatabaseThrottled:
            return dict.fromkeys(names, _UNCHECKED)
        except DatabaseUnavailable as error:
            return dict.fromkeys(names, error.reason)
        except CosmosHttpResponseError as error:
            # No data-plane role can list scripts: https://learn.microsoft.com/azure/cosmos-db/how-to-setup-rbac
            is_unchecked = error.status_code == _THROTTLED or (is_listing and error.status_code == _FORBIDDEN)
            return dict.fromkeys(names, _UNCHECKED if is_unchecked else answer_of(error, ""))
        except (AzureError, OSError) as error:
            return dict.fromkeys(names, type(error).__name__)
        return {name: _READY if not is_listing or name in found else "missing" for name in names}


async def _read(proxy: ContainerProxy) -> None:
    """Read the definition, then an item that does not exist: a definition can be read while items cannot."""
    await proxy.read()
    with suppress(CosmosResourceNotFoundError):
        await proxy.read_item(MISSING_ID, MISSING_ID)


async def _write_regions(proxy: ContainerProxy) -> Set[str]:
    return set() if await has_multiple_write_regions(proxy) else {_SINGLE_WRITE_REGION}


def _failed(states: dict[str, str]) -> dict[str, str]:
    return {name: state for name, state in states.items() if state not in (_READY, _UNCHECKED)}
