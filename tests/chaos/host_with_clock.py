"""`python -m tests.chaos.host_with_clock SECONDS …`: the Functions host in a process whose clock is ahead by so many
seconds (behind: a negative number); the other arguments are the host's. The host and the app know nothing of it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

import time_machine
from functions_host.__main__ import main

if __name__ == "__main__":
    now = datetime.now(UTC) + timedelta(seconds=float(sys.argv[1]))
    with time_machine.travel(now, tick=True):
        code = main(sys.argv[2:])
    sys.exit(code)
