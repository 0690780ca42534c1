"""`python -m checks.chaos.scenarios`: run the large scenarios while hosts are killed."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
from pathlib import Path

from checks.chaos.scenarios import liked_post, renamed_user


def main() -> None:
    """Run and report each scenario; stop at the first failure and keep its logs."""
    logging.getLogger("azure").setLevel(logging.ERROR)  # the SDK warns each time the database is down
    for run_scenario in (renamed_user.run_scenario, liked_post.run_scenario):
        directory = Path(tempfile.mkdtemp(prefix="chaos-scenario-"))
        sys.stdout.write(asyncio.run(run_scenario(directory)) + "\n")
        sys.stdout.flush()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
