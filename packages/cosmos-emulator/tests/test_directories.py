"""Temporary data directories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cosmos_emulator.store import directories
from cosmos_emulator.store.directories import temporary_directory


@pytest.fixture(autouse=True)
def parent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(directories, "_MEMORY", tmp_path)
    return tmp_path


def test_the_directory_of_a_running_process_in_another_pid_namespace_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such_process(process_id: int, signal: int) -> None:
        raise ProcessLookupError(process_id, signal)

    with temporary_directory() as running:
        monkeypatch.setattr(os, "kill", no_such_process)  # what a container sees that shares only /dev/shm

        with temporary_directory():
            assert running.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes the directory of a killed process later")
def test_the_directory_of_a_killed_process_is_removed(parent: Path) -> None:
    program = (
        "import os, pathlib\n"
        "from cosmos_emulator.store import directories\n"
        f"directories._MEMORY = pathlib.Path({str(parent)!r})\n"
        "with directories.temporary_directory():\n"
        "    os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603 - written here
    [abandoned] = parent.iterdir()

    with temporary_directory() as own:
        assert not abandoned.exists()
        assert own.exists()

    assert list(parent.iterdir()) == []
