"""The commands of manage.py. Each returns an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import partial

from management import terminal
from management.account import PacedTransport, open_all, open_client, open_containers
from management.seeding import has_others, seed
from management.seeding.sample import Sample
from management.verification.findings import Finding
from management.verify import any_broken, verify, verify_within
from shared.settings import Settings

SUCCESS, BROKEN = 0, 1


async def check_definitions(configuration: Settings) -> int:
    """Compare the account and the database with their definitions; return BROKEN if they differ."""
    from management.comparison import is_as_defined

    return SUCCESS if await is_as_defined(configuration, terminal.say) else BROKEN


async def seed_database(configuration: Settings, *, if_empty: bool) -> int:
    """Write the sample blog, with recent dates. With `if_empty`, only if nobody else has written anything."""
    async with open_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        if if_empty and await has_others(blog):
            terminal.say("The database already has users; nothing was seeded.")
            return SUCCESS
        written = await seed(blog, Sample(datetime.now(UTC).replace(microsecond=0)))
        terminal.say(f"Seeded {written}.")
        return SUCCESS


async def verify_database(configuration: Settings, *, wait_s: float, as_json: bool) -> int:
    """Print all findings; return BROKEN unless all are informational."""
    async with open_client(configuration, transport=PacedTransport()) as client:
        blog, addons = await open_all(client, configuration.database)
        with terminal.reading_progress() as count:
            findings = await verify_within(blog, wait_s, count, addons)
    return _report(findings, count.items, as_json=as_json)


def _report(findings: Sequence[Finding], items: int, *, as_json: bool) -> int:
    if as_json:
        terminal.say_findings_as_json(findings, items=items)
    else:
        terminal.say_findings(findings, items=items)
    return BROKEN if any_broken(findings) else SUCCESS


async def list_failures(configuration: Settings, *, source: str | None, as_json: bool, most: int | None) -> int:
    """Print failures; return BROKEN if there are more than `most`."""
    from management import failure_report, failures

    async with open_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        listed = ((each, await failures.state_of(blog, each)) async for each in failures.list_failures(blog, source))
        number = await failure_report.say_failures(listed, as_json=as_json)
    return BROKEN if most is not None and number > most else SUCCESS


async def replay_failures(configuration: Settings, ids: Collection[str], *, source: str | None, as_json: bool) -> int:
    """Replay failures by ID, or all up to a limit; return BROKEN if any fails again or is left."""
    from management import failure_report, failures

    async with open_client(configuration) as client:
        blog = await open_containers(client, configuration.database)
        with failure_report.replay_report(as_json=as_json) as report:
            found = await failures.find_failures(blog, ids, source)
            went_well = await failures.replay_failures(blog, found[: failures.MOST], report)
    if len(found) > failures.MOST:
        terminal.say_to_stderr("More failures are stored. Run the command again.")
        return BROKEN
    return SUCCESS if went_well else BROKEN


async def show_lag(configuration: Settings, *, watch: bool, as_json: bool, most_s: float | None, record: bool) -> int:
    """Show the lag; return BROKEN if a function is stalled, or its lag is unknown or above `most_s`.

    With `record`, send the result to Application Insights. Raises SettingsError.
    """
    from management.lag import measure_lags, record_check, report_lag

    async with open_client(configuration) as client:
        await open_containers(client, configuration.database)
        database = client.get_database_client(configuration.database)
        measure = partial(measure_lags, database, account_endpoint=configuration.account.endpoint)
        are_fine = await report_lag(measure, watch=watch, as_json=as_json, most_s=most_s)
    if record:
        await asyncio.to_thread(record_check, configuration, are_fine)
    return SUCCESS if all(are_fine.values()) else BROKEN


async def reset_leases(configuration: Settings, function: str) -> int:
    """Delete a function's leases. Raises ManagementError while a host runs it."""
    from management import lag
    from shared.propagation.change_feeds import CHANGE_FEEDS

    async with open_client(configuration) as client:
        await open_containers(client, configuration.database)
        database = client.get_database_client(configuration.database)
        endpoint = configuration.account.endpoint
        number = await lag.reset_leases(database, CHANGE_FEEDS[function], account_endpoint=endpoint)
    deleted = terminal.counted(number, "lease document")
    terminal.say(f"Deleted {deleted} of {function}. Start the app; it reads all changes again.")
    return SUCCESS


async def rebuild_database(configuration: Settings, *, restores_texts: bool, as_json: bool) -> int:
    """Rebuild, then verify and print all findings; return BROKEN unless all are informational."""
    from management.rebuild import rebuild

    async with open_client(configuration, transport=PacedTransport()) as client:
        blog, addons = await open_all(client, configuration.database)
        with terminal.reading_progress() as count:
            say = terminal.say_to_stderr if as_json else terminal.say
            await rebuild(blog, say, count, addons, restores_texts=restores_texts)
        with terminal.reading_progress() as count:
            findings = await verify(blog, count, addons)
    return _report(findings, count.items, as_json=as_json)
