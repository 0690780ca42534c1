"""Importing the app, a part of every cold start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).parent.parent
# The libraries that nearly every request uses, and two small ones.
_NEEDED = (
    "azure.functions, azure.cosmos.aio, azure.core.pipeline.transport._aiohttp, pydantic.main, cachetools, async_lru"
)
_LOADED = """
import sys
{needed}
before = set(sys.modules)
import {app}
added = {{module.partition(".")[0] for module in set(sys.modules) - before}}
print(*sorted(added - set(sys.stdlib_module_names)))
"""


def _packages_added_by(app: str) -> set[str]:
    script = _LOADED.format(needed=f"import {_NEEDED}", app=app)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=_REPOSITORY, check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    return set(done.stdout.split())


def test_importing_the_app_loads_only_the_libraries_that_requests_share() -> None:
    # Only some requests need the others: templates, Markdown, tokens, credentials and exporters.
    assert _packages_added_by("function_app") - {"addons"} - {
        "annotated_types",
        "dotenv",
        "opentelemetry",
        "pydantic",
        "pydantic_settings",
    } == {
        "function_app",
        "functions",
        "shared",
    }


def test_an_import_of_another_library_is_noticed() -> None:
    assert "jinja2" in _packages_added_by("jinja2, function_app")
