"""The blog's database from the terminal: provision, seed, verify, rebuild, lag, failures. See `manage.py --help`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from management import commands
from management.configuration import read_configuration
from management.errors import EXPECTED, sentence
from management.provision import provision
from management.seeding.plan import SeedPlan, Span
from management.terminal import say, say_charge, say_error
from shared.charges import metered
from shared.settings import Settings

FAILED = 2
_LOCAL_SETTINGS = Path(__file__).with_name("local.settings.json")
_SMALL = SeedPlan()
_POSTS, _COMMENTS, _LIKES = (
    str(span) for span in (_SMALL.posts_per_user, _SMALL.comments_per_post, _SMALL.likes_per_post)
)
_CONCURRENCY = 32

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
failures_app = typer.Typer(no_args_is_help=True)
app.add_typer(failures_app, name="failures", help="Changes that a change-feed function could not handle.")

_Source = Annotated[str | None, typer.Option(metavar="FUNCTION", help="Only those of one function.")]
_Json = Annotated[bool, typer.Option("--json", help="For machines: a JSON object on each line, nothing else.")]


@app.callback()
def manage(
    context: typer.Context,
    local_settings: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to look for what the environment lacks.")
    ] = _LOCAL_SETTINGS,
) -> None:
    """The blog's database. The account is that of the app's settings: COSMOS (or COSMOS__accountEndpoint) and
    BLOG_DATABASE, from the environment or from local.settings.json."""
    context.obj = local_settings


@app.command("provision")
def provision_command(
    context: typer.Context,
    throughput: Annotated[
        int | None, typer.Option(min=400, help="RU/s that the containers share; default: the account's own.")
    ] = None,
    seed: Annotated[bool, typer.Option("--seed", help="Then fill an empty database with a small blog.")] = False,
) -> None:
    """Create or bring up to date the database, its containers and scripts."""

    async def command(configuration: Settings) -> int:
        await provision(configuration, throughput=throughput, say=say)
        if not seed:
            return commands.SUCCESS
        return await commands.seed_database(configuration, _SMALL, if_empty=True, concurrency=_CONCURRENCY)

    _run(context, command)


@app.command("seed")
def seed_command(
    context: typer.Context,
    users: Annotated[int, typer.Option(min=0)] = _SMALL.users,
    posts_per_user: Annotated[str, typer.Option(metavar="A-B")] = _POSTS,
    comments_per_post: Annotated[str, typer.Option(metavar="A-B")] = _COMMENTS,
    likes_per_post: Annotated[str, typer.Option(metavar="A-B", help="Never more than there are users.")] = _LIKES,
    seed: Annotated[int, typer.Option(help="The same seed and sizes make the same blog.")] = _SMALL.seed,
    if_empty: Annotated[bool, typer.Option("--if-empty", help="Do nothing where there are users.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Transactions at a time.")] = _CONCURRENCY,
) -> None:
    """Fill the database with a made-up blog. One that was cut off goes on when the same is run again."""
    plan = SeedPlan(users, _span(posts_per_user), _span(comments_per_post), _span(likes_per_post), seed)
    _run(
        context,
        lambda configuration: commands.seed_database(configuration, plan, if_empty=if_empty, concurrency=concurrency),
    )


@app.command("verify")
def verify_command(
    context: typer.Context,
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Look again until all is well or the time is up.")
    ] = 0,
) -> None:
    """Report every broken promise of the data; exit with 1 if there is one.

    While the app is in use, changes on their way to copies and names count as broken: give them time with --wait.
    """
    _run(context, lambda configuration: commands.verify_database(configuration, wait_s=wait))


@app.command("rebuild")
def rebuild_command(context: typer.Context) -> None:
    """Make copies, feed, names, counts and reservations again from the beginning of the change feed; then verify."""
    _run(context, commands.rebuild_database)


@app.command("lag")
def lag_command(
    context: typer.Context,
    watch: Annotated[bool, typer.Option("--watch", help="Update every 2 seconds until interrupted.")] = False,
    as_json: _Json = False,
) -> None:
    """Show how far the change-feed functions are behind.

    Exits with 1 if the lag of a function is unknown.
    """
    with suppress(KeyboardInterrupt):
        _run(
            context,
            lambda configuration: commands.show_lag(configuration, watch=watch, as_json=as_json),
            plain=not as_json,
        )


@failures_app.command("list")
def list_failures_command(context: typer.Context, source: _Source = None, as_json: _Json = False) -> None:
    """Show them, oldest first."""
    _run(
        context,
        lambda configuration: commands.list_failures(configuration, source=source, as_json=as_json),
        plain=not as_json,
    )


@failures_app.command("replay")
def replay_failures_command(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="As `list` shows them.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All there are.")] = False,
    source: _Source = None,
    as_json: _Json = False,
) -> None:
    """Let the function's reaction handle the present state of the items; exit with 1 if one fails again.

    A failure whose reaction went well is deleted, as is one whose item is gone; one that fails again stays with its new
    error.
    """
    if bool(ids) == every:
        raise typer.BadParameter("name failures by their ids, or all with --all.")
    _run(
        context,
        lambda configuration: commands.replay_failures(configuration, ids or [], source=source, as_json=as_json),
        plain=not as_json,
    )


def _span(text: str) -> Span:
    try:
        return Span.parse(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a span such as 5-50, nor a number.") from error


def _run(
    context: typer.Context, command: Callable[[Settings], Coroutine[Any, Any, int]], *, plain: bool = True
) -> None:
    """Run a command on the account of the settings, and exit with its code; with FAILED where it cannot be run. Where
    the output is not for people, what it cost is said on standard error."""
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    configuration = None
    with metered() as charge:
        try:
            configuration = read_configuration(os.environ, context.obj)
            code = asyncio.run(command(configuration))
        except EXPECTED as error:
            say_error(sentence(error, configuration))
            code = FAILED
    say_charge(charge, aside=not plain)
    raise typer.Exit(code)


if __name__ == "__main__":
    app()
