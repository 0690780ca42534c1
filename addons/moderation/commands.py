"""The commands of the moderation in manage.py: `audit`, and `migrate-moderation`."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Protocol

import typer

from addons.moderation.container import NAME
from addons.moderation.deletions import AUDIT_TYPE
from addons.moderation.verification import ADDON
from management.account import open_client, open_containers
from management.addons import ADDONS
from management.errors import ManagementError
from management.terminal import counted, printable, say
from shared.models.user import User
from shared.platform.database.container import Container
from shared.platform.models import Item
from shared.settings import Settings

_AUDIT = "SELECT * FROM c WHERE c.type = @type"
_PAGE_SIZE = 1000
_SHOWN = ("creationDate", "itemType", "itemId", "authorId", "moderatorId", "isBan", "reason")


class Run(Protocol):
    """Runs a command of manage.py with its settings, and exits."""

    def __call__(
        self,
        context: typer.Context,
        command: Callable[[Settings], Coroutine[Any, Any, int]],
        *,
        writes: bool = False,
        charge_to_stderr: bool = False,
    ) -> None: ...


def add_to(app: typer.Typer, run: Run) -> None:
    """Add the commands, and let `verify` and `rebuild` handle the container."""
    ADDONS[:] = [*(addon for addon in ADDONS if addon is not ADDON), ADDON]

    @app.command("audit")
    def audit_command(
        context: typer.Context,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    ) -> None:
        """List the deletions by moderators of the last year: who deleted what, whose, and why."""
        run(context, lambda configuration: _show_audit(configuration, as_json=as_json), charge_to_stderr=as_json)

    @app.command("migrate-moderation")
    def migrate_command(context: typer.Context) -> None:
        """Move bans, reports and audit items of versions before the add-on; docs/upgrade.md says when."""
        run(context, _migrate, writes=True)


async def _show_audit(configuration: Settings, *, as_json: bool) -> int:
    async with open_client(configuration) as client:
        container = await _open_moderation(client, configuration.database)
        if container is None:
            raise ManagementError(
                f"There is no container {NAME!r}. Set BLOG_MODERATION=1, and run `manage.py provision`."
            )
        found = [item async for item in container.query_across(_AUDIT, {"type": AUDIT_TYPE}, page_size=_PAGE_SIZE)]
    _say_audit(sorted(found, key=lambda item: (str(item.get("creationDate")), item["id"])), as_json=as_json)
    return 0


async def _migrate(configuration: Settings) -> int:
    from addons.moderation import migration

    async with open_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        say(f"Bans that never expire: {await migration.keep_bans(blog):,}")
        container = await _open_moderation(client, configuration.database)
        if container is None:
            say(f"There is no container {NAME!r}, so reports and audit items stay where they are.")
            return 0
        say(f"Audit items moved: {await migration.move_audit_items(blog, container):,}")
        say(f"Reports moved or deleted: {await migration.move_reports(blog, container):,}")
    return 0


async def _open_moderation(client: Any, database: str) -> Container | None:
    proxy = client.get_database_client(database)
    present = {properties["id"] async for properties in proxy.list_containers()}
    return Container(proxy.get_container_client(NAME)) if NAME in present else None


def _say_audit(items: list[Item], *, as_json: bool) -> None:
    for item in items:
        shown = {name: item.get(name) for name in _SHOWN}
        if as_json:
            say(json.dumps(shown, ensure_ascii=True))
            continue
        by = f"moderator {item['moderatorId']}" if item.get("moderatorId") else "a back end"
        banned = " and banned them" if item.get("isBan") else ""
        what = "account" if item.get("itemType") == User.TYPE else f"{item.get('itemType')} {item.get('itemId')}"
        deleted = f"{by} deleted the {what} of the user {item.get('authorId')}{banned}"
        say(printable(f"{item.get('creationDate')}  {deleted}: {item.get('reason')}"))
    if not as_json:
        say(f"{counted(len(items), 'recorded deletion')}." if items else "No recorded deletions.")
