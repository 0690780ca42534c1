"""Log lines on a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.running import write_app


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudoterminals")
@pytest.mark.parametrize(("no_color", "in_color"), [("", True), ("1", False)])
async def test_logs_are_colored_on_a_terminal_unless_no_color_is_set(
    tmp_path: Path, no_color: str, in_color: bool
) -> None:
    app_dir = write_app(tmp_path, "")
    terminal, stderr = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "functions_host", "--port", "0", "--app-dir", str(app_dir)),
        stderr=stderr,
        env={**os.environ, "NO_COLOR": no_color},
    )
    os.close(stderr)

    line = await asyncio.to_thread(os.read, terminal, 1000)
    process.terminate()
    await process.wait()
    os.close(terminal)

    assert b"INFO" in line or b"WARNING" in line
    assert (b"\033[" in line) is in_color
