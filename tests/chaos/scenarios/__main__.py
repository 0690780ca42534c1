"""`python -m tests.chaos.scenarios`: large items under kills, one scenario after the other."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
from pathlib import Path

from tests.chaos.scenarios import liked_post, renamed_user


def main() -> None:
    """Each says what it saw; the first that fails ends it, and its logs stay."""
    logging.getLogger("azure").setLevel(logging.ERROR)  # it warns of each time that the database is away
    for play in (renamed_user.play, liked_post.play):
        directory = Path(tempfile.mkdtemp(prefix="chaos-scenario-"))
        sys.stdout.write(asyncio.run(play(directory)) + "\n")
        sys.stdout.flush()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
