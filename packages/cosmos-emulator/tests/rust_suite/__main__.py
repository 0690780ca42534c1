"""Run the emulator tests of azure_data_cosmos, the Rust SDK, and compare the outcomes with the expected failures.

    python -m tests.rust_suite [--update]

The crate contains its tests, so Cargo downloads them by name. They run in a copy, without Cosmos binary JSON, against
an empty emulator. The first build takes minutes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cosmos_emulator import WELL_KNOWN_KEY
from tests.processes import running_emulator
from tests.sdk_suite import packaged
from tests.sdk_suite.execution import Outcome

CRATE, VERSION = "azure_data_cosmos", "1.0.0"
LOGS = Path(__file__).resolve().parents[4] / ".data" / "rust-suite"
LIST = Path(__file__).with_name("expected_failures.json")
TIMEOUT_S = 1800.0
_TEST = ("--locked", "--test", "emulator", "--features", "key_auth,control_plane,fault_injection")
_LINE = re.compile(r"^test (?P<test>\S+)(?: - should panic)? \.\.\. (?P<outcome>ok|FAILED|ignored)", re.MULTILINE)
_MESSAGE = re.compile(r"^---- (?P<test>\S+) stdout ----\n+thread .*\n(?P<message>.*)", re.MULTILINE)
_OUTCOMES = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def main() -> int:
    if (cargo := packaged.tool("cargo")) is None:
        return 0
    try:
        source = _downloaded(cargo)
    except subprocess.CalledProcessError as error:
        sys.stdout.write(f"Skipped: {CRATE} cannot be downloaded: {error.stderr}\n")
        return 0
    suite = shutil.copytree(source, LOGS / "crate", dirs_exist_ok=True)
    return packaged.check(LIST, LOGS, lambda tests, name: _run(cargo, suite, tests, name))


def _downloaded(cargo: str) -> Path:
    """Return the folder to which Cargo downloads the crate."""
    folder = LOGS / "download"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "lib.rs").touch()
    manifest = f'[package]\nname = "download"\nedition = "2024"\n[dependencies]\n{CRATE} = "={VERSION}"\n[workspace]\n'
    (folder / "Cargo.toml").write_text(manifest, encoding="utf-8")
    found = subprocess.run(  # noqa: S603 - a fixed command
        [cargo, "metadata", "--format-version", "1"], cwd=folder, capture_output=True, text=True, check=True
    )
    packages = json.loads(found.stdout)["packages"]
    return Path(next(one["manifest_path"] for one in packages if one["name"] == CRATE)).parent


def _run(cargo: str, suite: Path, tests: Sequence[str], name: str) -> list[Outcome]:
    with running_emulator(LOGS / f"{name}.emulator.log", "--tls") as endpoint:
        endpoint = endpoint.replace("127.0.0.1", "localhost")
        account = f"AccountEndpoint={endpoint};AccountKey={WELL_KNOWN_KEY};"
        environment = {
            **os.environ,
            "RUSTFLAGS": '--cfg test_category="emulator"',
            "CARGO_PROFILE_TEST_DEBUG": "0",
            "CARGO_PROFILE_DEV_DEBUG": "0",
            "CARGO_TARGET_DIR": str(LOGS / "target"),
            "AZURE_COSMOS_CONNECTION_STRING": account,
            "SSL_CERT_FILE": str(packaged.certificate(endpoint, LOGS)),
            "AZURE_COSMOS_ALLOW_INVALID_CERT": "true",
            "AZURE_COSMOS_BINARY_ENCODING_ENABLED": "false",
            "RUST_BACKTRACE": "0",
        }
        done = subprocess.run(  # noqa: S603 - a fixed command
            [cargo, "test", *_TEST, "--", "--test-threads", "4", *(["--exact", *tests] if tests else [])],
            cwd=suite,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    (LOGS / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not (outcomes := read(done.stdout)):
        raise SystemExit(f"The tests cannot be built:\n{done.stderr}")
    return outcomes


def read(printed: str) -> list[Outcome]:
    """Return the outcomes from what `cargo test` prints."""
    messages = {found["test"]: found["message"] for found in _MESSAGE.finditer(printed)}
    return [
        Outcome(found["test"], _OUTCOMES[found["outcome"]], messages.get(found["test"], ""))
        for found in _LINE.finditer(printed)
    ]


if __name__ == "__main__":
    sys.exit(main())
