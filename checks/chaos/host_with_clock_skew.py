"""`python -m checks.chaos.host_with_clock_skew SECONDS …`: run the Functions host with a skewed clock.

SECONDS can be negative; the other arguments go to the host.
"""

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
