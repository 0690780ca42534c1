"""The cost of importing the app."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).parent.parent
_RUNS = 8
_MEASURED = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"


def _import_s(modules: str) -> float:
    """The processor time of an import, in seconds. Other load affects it less than wall-clock time."""
    command = [sys.executable, "-c", _MEASURED.format(modules)]
    done = subprocess.run(command, cwd=_REPOSITORY, check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    return float(done.stdout)


def test_importing_the_app_takes_little_longer_than_importing_its_libraries() -> None:
    libraries = "azure.functions, azure.cosmos.aio, azure.core.pipeline.transport._aiohttp, pydantic.main"

    # The two take turns, so that a busy machine slows both.
    app_s, libraries_s = zip(*((_import_s("function_app"), _import_s(libraries)) for _ in range(_RUNS)), strict=True)

    assert min(app_s) <= 1.3 * min(libraries_s)
