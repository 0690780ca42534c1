"""Download Microsoft's test suite, which is part of the azure-cosmos source distribution."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
CACHE = ROOT / ".data" / "sdk-suite"
LOCK = ROOT / "requirements.txt"


def suite() -> Path:
    """Return the folder of the suite of the locked version, and download it first if necessary."""
    locked = re.search(r"^azure-cosmos==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    installed = version("azure-cosmos")
    if locked is None or locked[1] != installed:
        raise SystemExit(f"azure-cosmos {installed} is installed, but {LOCK.name} has another. Run: make setup")
    folder = CACHE / f"azure_cosmos-{installed}"
    if not folder.exists():
        _download(installed, folder)
    return folder / "tests"


def _download(locked: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        subprocess.run(  # noqa: S603 - a fixed command
            [*pip, "--no-binary", "azure-cosmos", "--dest", directory, f"azure-cosmos=={locked}"], check=True
        )
        (archive,) = Path(directory).glob("*.tar.gz")
        with tarfile.open(archive) as content:
            content.extractall(directory, filter="data")
        # An interrupted download must not leave a part of the suite.
        (Path(directory) / folder.name).rename(folder)
