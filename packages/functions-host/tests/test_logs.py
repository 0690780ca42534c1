"""Log lines: their levels, and their colors on a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.cosmos_apps import Account, trigger
from tests.running import eventually, host_process, write_app


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


async def test_loggers_of_the_app_are_at_info_and_the_hosts_own_requests_are_not_logged(
    tmp_path: Path, account: Account
) -> None:
    """As with Microsoft's worker, which sets the root logger to INFO and no other level."""
    app = trigger(start_from_beginning=True, body="logging.getLogger('azure.sdk').info('called')")
    app_dir = write_app(tmp_path, f"import logging\n{app}")
    async with host_process(app_dir, "a", account.environment) as host:
        await account.write("one")
        await eventually(lambda: "azure.sdk called" in host.log.read_text())

    assert "Request URL" not in host.log.read_text()
