"""What importing the app costs before it is asked for anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).parent.parent
_RUNS = 5
_MEASURED = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"


def _printed_by(program: str) -> str:
    """What a Python process of its own prints."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=_REPOSITORY, check=True, capture_output=True, text=True).stdout  # noqa: S603 - ours


def _cheapest_import_s(modules: str) -> float:
    """Seconds of processor time, which other work on the machine changes least, of the cheapest of some imports."""
    return min(float(_printed_by(_MEASURED.format(modules))) for _ in range(_RUNS))


def test_the_app_takes_hardly_longer_to_import_than_the_libraries_it_stands_on() -> None:
    libraries = "azure.functions, azure.cosmos.aio, azure.core.pipeline.transport._aiohttp, pydantic.main"

    assert _cheapest_import_s("function_app") <= 1.3 * _cheapest_import_s(libraries)


def test_every_route_leads_to_a_function() -> None:
    """A module that cannot be imported must not wait for its first request to say so."""
    checked = (
        "from importlib import import_module; from functions.routes import ROUTES;"
        "print(sum(callable(getattr(import_module(f'functions.{name}'), route.function))"
        " for name, routes in ROUTES.items() for route in routes))"
    )

    assert int(_printed_by(checked)) == 19
