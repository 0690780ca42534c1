"""Microsoft's host that is installed here and this host respond alike, except for the accepted differences."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fidelity.differences import ACCEPTED, assert_only_accepted, differences
from tests.fidelity.odd_host import ENVIRONMENT, copied_app, responses
from tests.fidelity.own_host import own_host
from tests.real_host.core_tools import real_host
from tests.recordings import record_responses, recorded_responses


async def test_the_hosts_differ_only_where_that_is_accepted(tmp_path: Path, records: bool) -> None:
    theirs_in, ours_in = tmp_path / "theirs", tmp_path / "ours"
    theirs_in.mkdir()
    ours_in.mkdir()
    async with real_host(copied_app(theirs_in), ENVIRONMENT, theirs_in) as host:
        theirs = await responses(host.port)
    async with own_host(ours_in) as port:
        ours = await responses(port)

    recorded = recorded_responses()
    changed = differences({name: recorded.get(name, theirs[name]) for name in theirs}, theirs)
    differing = differences(theirs, ours)
    if records:
        record_responses(host.version, theirs)
    sys.stdout.writelines(
        [
            f"\n{host.version}: {len(theirs)} requests, {len(changed)} changed since they were recorded\n",
            *(f"  {name}: {text}\n" for name, text in changed.items()),
            f"{len(differing)} differ from functions-host\n",
            *(f"  {name}: {ACCEPTED.get(name, 'NOT ACCEPTED')}\n" for name in differing),
        ]
    )
    assert_only_accepted(differing)
