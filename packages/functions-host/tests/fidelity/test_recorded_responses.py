"""This host's responses are those recorded from Microsoft's host, except for the accepted differences."""

from __future__ import annotations

from pathlib import Path

from tests.fidelity.cases import CASES
from tests.fidelity.differences import assert_only_accepted, differences
from tests.fidelity.odd_host import responses
from tests.fidelity.own_host import own_host
from tests.recordings import recorded_responses


async def test_responses_are_as_recorded_from_microsofts_host(tmp_path: Path) -> None:
    recorded = recorded_responses()
    async with own_host(tmp_path) as port:
        ours = await responses(port)

    assert recorded.keys() == CASES.keys()
    assert_only_accepted(differences(recorded, ours))
