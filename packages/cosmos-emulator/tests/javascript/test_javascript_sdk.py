"""The third unmodified client: @azure/cosmos from npm, its tests run by node against the emulator.

Skipped, with the reason said, where there is no node or where npm cannot install the SDK.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import subprocess
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest
from cosmos_emulator import CosmosEmulator

HERE = Path(__file__).parent
OLDEST_NODE = 20
TIMEOUT_S = 120.0
INSTALL = ["npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0", "--fetch-timeout=20000"]


@pytest.fixture(scope="session")
def node() -> str:
    """The node that runs the suite, the SDK being installed beside it."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        pytest.skip("node and npm are needed for the suite of the JavaScript SDK, and are not here")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"node {OLDEST_NODE} or newer is needed for the suite of the JavaScript SDK; here is {version}")
    _install()
    return found


def _install() -> None:
    """`node_modules` as the lock file has it; once, however many processes run the tests."""
    with (HERE / "package.json").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        installed, wanted = HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"
        if installed.exists() and installed.stat().st_mtime >= wanted.stat().st_mtime:
            return
        done = subprocess.run(INSTALL, cwd=HERE, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        pytest.skip(f"npm could not install the JavaScript SDK: {' '.join(done.stderr.split())[:300]}")


@pytest.mark.parametrize("suite", [path.name for path in sorted(HERE.glob("*.test.js"))])
async def test_the_javascript_sdk_works(emulator: CosmosEmulator, node: str, suite: str) -> None:
    environment = {**os.environ, "COSMOS_ENDPOINT": emulator.endpoint, "COSMOS_KEY": emulator.key}

    process = await asyncio.create_subprocess_exec(node, suite, cwd=HERE, env=environment, stdout=PIPE, stderr=STDOUT)
    try:
        output, _ = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert process.returncode == 0, output.decode()
