"""A cached virtual environment with Microsoft's worker library, which needs Python 3.13, and the app's requirements."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_DIRECTORY = REPOSITORY / ".venv-runtime"
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_LEAST = (3, 13)
_NAMES = ("python3.13", "python3.14")


class RuntimeUnavailable(Exception):
    """The environment cannot be created on this machine."""


def runtime_python() -> Path:
    """The environment's interpreter. Creates or updates the environment if needed (10 to 20 s).

    Raises RuntimeUnavailable.
    """
    if sys.platform == "win32":
        raise RuntimeUnavailable("this environment needs POSIX file locks")
    import fcntl

    base = next((found for found in _candidates() if _is_new_enough(found)), None)
    if base is None:
        raise RuntimeUnavailable("azure-functions-runtime needs Python 3.13 or newer, which is not on PATH")
    _DIRECTORY.mkdir(exist_ok=True)
    # Parallel test workers share the environment.
    with (_DIRECTORY / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _installed(base)


def _candidates() -> Iterator[str]:
    yield sys.executable
    for name in _NAMES:
        if found := shutil.which(name):
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from sorted(str(found) for name in _NAMES for found in pyenv.glob(f"*/bin/{name}"))


def _is_new_enough(python: str) -> bool:
    """Run it, because a version manager's shim can exist without an installed Python."""
    check = [python, "-c", f"import sys; sys.exit(sys.version_info < {_LEAST})"]
    return subprocess.run(check, capture_output=True, check=False).returncode == 0  # noqa: S603 - found on PATH


def _installed(base: str) -> Path:
    wanted = hashlib.sha256(_REQUIREMENTS.read_bytes() + (REPOSITORY / "requirements.txt").read_bytes()).hexdigest()
    python, stamp = _DIRECTORY / "bin" / "python", _DIRECTORY / "installed"
    if not (stamp.is_file() and stamp.read_text() == wanted):
        stamp.unlink(missing_ok=True)
        _run(base, "-m", "venv", str(_DIRECTORY))
        quick = ("--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "10")
        _run(str(python), "-m", "pip", "install", *quick, "-r", str(_REQUIREMENTS))
        stamp.write_text(wanted)
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed commands
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise RuntimeUnavailable(f"the environment of azure-functions-runtime cannot be installed: {reason}")
