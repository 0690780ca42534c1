"""The commands in docs/deploy.md can be copied."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap

import pytest
from typer.testing import CliRunner

from manage import app
from tests.running_app import REPOSITORY

PAGE = (REPOSITORY / "docs" / "deploy.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)
BASH = shutil.which("bash")
POWERSHELL = "ForEach-Object"


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize("block", [block for language, block in BLOCKS if not language and POWERSHELL not in block])
def test_a_block_of_commands_is_valid(block: str) -> None:
    commands = textwrap.dedent(block)
    checked = subprocess.run([str(BASH), "-n"], input=commands, capture_output=True, text=True, check=False)  # noqa: S603

    assert checked.stderr == ""


@pytest.mark.parametrize(("command", "option"), re.findall(r"manage\.py (\w+)(?: (--\w+))?", PAGE))
def test_the_commands_of_manage_exist(command: str, option: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})

    assert shown.exit_code == 0
    assert option in shown.output
