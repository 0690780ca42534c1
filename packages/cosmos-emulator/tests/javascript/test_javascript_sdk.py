"""The JavaScript SDK, @azure/cosmos, tested against the emulator by Node.js.

The tests are skipped if Node.js is not installed or npm cannot install the SDK.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest
from cosmos_emulator import CosmosEmulator, EmulatorSettings

fcntl = pytest.importorskip("fcntl", reason="the lock that test processes share is POSIX only")

HERE = Path(__file__).parent
OLDEST_NODE = 20
TIMEOUT_S = 120.0
INSTALL = ["npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0", "--fetch-timeout=20000"]


@pytest.fixture(scope="session")
def node() -> str:
    """The path of Node.js, with the SDK installed for it."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        pytest.skip("Install Node.js and npm to run the tests of the JavaScript SDK.")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - Node.js
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Install Node.js {OLDEST_NODE} or newer to run the tests of the JavaScript SDK (found {version}).")
    _install()
    return found


def _install() -> None:
    """Install the locked packages, once for all test processes."""
    with (HERE / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed, locked = HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"
        if installed.exists() and installed.stat().st_mtime >= locked.stat().st_mtime:
            return
        result = subprocess.run(INSTALL, cwd=HERE, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    if result.returncode:
        pytest.skip(f"npm failed to install the JavaScript SDK: {' '.join(result.stderr.split())[:300]}")


@pytest.mark.nightly
@pytest.mark.parametrize("suite", [path.name for path in sorted(HERE.glob("*.test.js"))])
async def test_the_javascript_sdk_works(emulator: CosmosEmulator, node: str, suite: str) -> None:
    environment = {"COSMOS_ENDPOINT": emulator.endpoint, "COSMOS_KEY": emulator.key}

    status, output = await run(node, suite, environment=environment)

    assert status == 0, output


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
async def test_the_example_of_the_guide_runs(node: str, tmp_path: Path, tls: bool) -> None:
    guide = (HERE.parents[1] / "docs" / "sdks.md").read_text(encoding="utf-8")
    example = guide.partition("```javascript\n")[2].partition("```")[0]
    async with CosmosEmulator(EmulatorSettings(data_dir=tmp_path, tls=tls)) as emulator:
        trust = {"NODE_EXTRA_CA_CERTS": str(tmp_path / "certificate.pem")} if tls else {}

        status, output = await run(
            node, "--input-type=module", "--eval", example, environment={"COSMOS_ENDPOINT": emulator.endpoint, **trust}
        )

    assert (status, output) == (0, "42\n")


async def run(*command: str, environment: dict[str, str]) -> tuple[int | None, str]:
    """Return the exit status and the output."""
    variables = {**os.environ, **environment}
    process = await asyncio.create_subprocess_exec(*command, cwd=HERE, env=variables, stdout=PIPE, stderr=STDOUT)
    try:
        output, _ = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, output.decode()
