"""Command line for the blog's database."""

from __future__ import annotations

import os
import signal
import sys

if __name__ == "__main__":
    # The imports take most of a second. Until a command runs, Ctrl+C ends the process here, without a traceback.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import addons.moderation.commands
from management import commands
from management.configuration import read_configuration
from management.errors import EXPECTED, FAILED, sentence
from management.local_settings import NAME, LocalSettingsError
from management.provision import provision
from management.terminal import say, say_charge, say_error, say_to_stderr
from shared.platform.database.scope import request_scope
from shared.settings import Settings

INTERRUPTED = 130
_LOCAL_SETTINGS = Path(__file__).with_name(NAME)

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
failures_app = typer.Typer(no_args_is_help=True)
app.add_typer(
    failures_app, name="failures", help="List or replay changes that the change-feed functions could not handle."
)

leases_app = typer.Typer(no_args_is_help=True)
app.add_typer(leases_app, name="leases", help="Repair the leases of the change-feed functions.")


class ChangeFeedFunction(StrEnum):
    """The functions that handle change feeds."""

    on_users_changed = "on_users_changed"
    on_posts_changed = "on_posts_changed"


_Source = Annotated[
    ChangeFeedFunction | None, typer.Option(metavar="FUNCTION", help="Only failures of this change-feed function.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


@app.callback()
def manage(
    context: typer.Context,
    local_settings: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            show_default=_LOCAL_SETTINGS.name,
            help="File with settings that the environment does not set.",
        ),
    ] = _LOCAL_SETTINGS,
) -> None:
    """Manage the blog's database.

    COSMOS (or COSMOS__accountEndpoint) and BLOG_DATABASE select the account and the database.
    """
    context.obj = local_settings


@app.command("provision")
def provision_command(
    context: typer.Context,
    throughput: Annotated[
        int | None,
        typer.Option(min=400, help="Throughput in RU/s, shared by the containers. By default, the account decides."),
    ] = None,
    seed: Annotated[bool, typer.Option("--seed", help="Add a small sample blog if the database is empty.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Print what differs from the definitions; only read.")] = False,
) -> None:
    """Create or update the database, containers and stored procedures.

    With --check, exits with 1 if anything differs. An identity without a key can only check.
    """
    if check:
        if seed or throughput is not None:
            raise typer.BadParameter("--check changes nothing. Omit --seed and --throughput.")
        _run(context, commands.check_definitions)
        return

    async def command(configuration: Settings) -> int:
        await provision(configuration, throughput=throughput, say=say)
        if not seed:
            return commands.SUCCESS
        return await commands.seed_database(configuration, if_empty=True)

    _run(context, command, writes=True)


@app.command("seed")
def seed_command(
    context: typer.Context,
    if_empty: Annotated[bool, typer.Option("--if-empty", help="Do nothing if the database has other users.")] = False,
) -> None:
    """Fill the database with the sample blog. To continue an interrupted run, repeat it."""
    _run(
        context,
        lambda configuration: commands.seed_database(configuration, if_empty=if_empty),
        writes=True,
        interrupted="Interrupted. To continue, repeat the command.",
    )


@app.command("verify")
def verify_command(
    context: typer.Context,
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Repeat until the data is consistent or the time is up.")
    ] = 0,
    as_json: _Json = False,
) -> None:
    """Check every stored item, and that copies, counts and reservations are consistent.

    Exits with 1 if anything is wrong. Updates still in progress count as wrong; use --wait to let them finish.
    """
    _run(
        context,
        lambda configuration: commands.verify_database(configuration, wait_s=wait, as_json=as_json),
        charge_to_stderr=as_json,
    )


@app.command("rebuild")
def rebuild_command(
    context: typer.Context,
    restore_texts: Annotated[
        bool,
        typer.Option("--restore-texts", help="Restore texts in the form of an earlier version; see docs/upgrade.md."),
    ] = False,
    as_json: _Json = False,
) -> None:
    """Rebuild copies, the feed, usernames, counts and reservations, then verify.

    The app can run at the same time. Exits with 1 if anything is still wrong, and says what to do by hand.
    """
    _run(
        context,
        lambda configuration: commands.rebuild_database(configuration, restores_texts=restore_texts, as_json=as_json),
        writes=True,
        charge_to_stderr=as_json,
    )


@app.command("lag")
def lag_command(
    context: typer.Context,
    watch: Annotated[bool, typer.Option("--watch", help="Update every 2 seconds until you press Ctrl+C.")] = False,
    most: Annotated[
        float | None, typer.Option("--max", min=0, metavar="SECONDS", help="Exit with 1 if the lag is longer.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Record the result in Application Insights, for the alert `standstill`.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Show how far the change-feed functions are behind.

    Exits with 1 if a function is stalled: it has never run although changes wait, no host renews a lease, or the
    leases are damaged. `manage.py leases reset` repairs leases.

    --record needs APPLICATIONINSIGHTS_CONNECTION_STRING. Use it only in a schedule: the alert fires if results stop.
    """
    if watch and (record or most is not None):
        raise typer.BadParameter("--watch never ends. Omit it to check or record the result.")
    _run(
        context,
        lambda configuration: commands.show_lag(
            configuration, watch=watch, as_json=as_json, most_s=most, record=record
        ),
        charge_to_stderr=as_json,
    )


@failures_app.command("list")
def list_failures_command(
    context: typer.Context,
    source: _Source = None,
    most: Annotated[
        int | None, typer.Option("--max", min=0, metavar="N", help="Exit with 1 if there are more failures.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """List failures, in the order of their last attempt, and whether their items have changed or been deleted since."""
    _run(
        context,
        lambda configuration: commands.list_failures(configuration, source=source, as_json=as_json, most=most),
        charge_to_stderr=as_json,
    )


@failures_app.command("replay")
def replay_failures_command(
    context: typer.Context,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="IDs of failures, from `failures list`.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Replay all failures.")] = False,
    source: _Source = None,
    as_json: _Json = False,
) -> None:
    """Handle the current state of failed items again.

    Deletes a failure if the replay succeeds or the item no longer exists. Exits with 1 if any item fails again,
    or if there are more failures than one run replays.
    """
    if bool(ids) == every:
        raise typer.BadParameter("Pass failure IDs, or --all to replay every failure.")
    _run(
        context,
        lambda configuration: commands.replay_failures(configuration, ids or [], source=source, as_json=as_json),
        writes=True,
        charge_to_stderr=as_json,
    )


@leases_app.command("reset")
def reset_leases_command(
    context: typer.Context, function: Annotated[ChangeFeedFunction, typer.Argument(help="The change-feed function.")]
) -> None:
    """Delete a function's leases, so that it reads its change feed from the beginning.

    Stop all hosts first. It is safe to handle a change again.
    """
    _run(context, lambda configuration: commands.reset_leases(configuration, function), writes=True)


def _run(
    context: typer.Context,
    command: Callable[[Settings], Coroutine[Any, Any, int]],
    *,
    writes: bool = False,
    charge_to_stderr: bool = False,
    interrupted: str = "Interrupted.",
) -> NoReturn:
    """Run a command and exit with its code, with FAILED after an expected error, or with INTERRUPTED after Ctrl-C.

    Before it writes, say where.
    """
    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    configuration = None
    with request_scope() as scope:
        try:
            if context.obj != _LOCAL_SETTINGS and not context.obj.is_file():
                raise LocalSettingsError(f"There is no file {context.obj}.")
            configuration = read_configuration(context.obj)
            if writes:
                say_to_stderr(f"Writing to database {configuration.database} of {configuration.account.endpoint}")
            code = asyncio.run(command(configuration))
        except EXPECTED as error:
            say_error(sentence(error, configuration))
            code = FAILED
        except KeyboardInterrupt:
            say_error(interrupted)
            code = INTERRUPTED
    say_charge(scope, to_stderr=charge_to_stderr)
    raise typer.Exit(code)


addons.moderation.commands.add_to(app, _run)


if __name__ == "__main__":
    # On Windows, a file or a pipe has the code page of the system, which may lack characters of usernames.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except OSError as error:
        with suppress(OSError):
            say_error(f"Input or output failed: {error}.")
        os._exit(FAILED)  # Python would try to write the rest of the output, and exit with 120
