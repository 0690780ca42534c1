"""Redocly on the API's description: `npm ci --prefix tests/validators`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.running_app import REPOSITORY, RunningApp

VALIDATORS = REPOSITORY / "tests" / "validators"
REDOCLY = VALIDATORS / "node_modules" / ".bin" / "redocly"


@pytest.mark.skipif(not REDOCLY.exists(), reason="Redocly is not installed")
def test_the_description_of_the_api_has_no_errors(app: RunningApp, tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(app.openapi), encoding="utf-8")

    command = [str(REDOCLY), "lint", "--config", str(VALIDATORS / "redocly.yaml"), str(tmp_path / "openapi.json")]
    # Without telemetry and the check for a later version.
    environment = {"PATH": str(Path(shutil.which("node") or "node").parent), "REDOCLY_TELEMETRY": "off", "CI": "true"}
    checked = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603 - ours

    assert checked.returncode == 0, checked.stdout + checked.stderr
