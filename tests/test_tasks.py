"""tasks.py: what `make` and `python -m tasks` have in common, and how a task ends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tasks

ROOT = Path(__file__).parents[1]
WAITS_FOR_A_SIGNAL = """
import signal, sys, time
signal.signal(signal.{name}, lambda *_: (time.sleep(0.5), sys.exit(7)))
print("ready", flush=True)
time.sleep(60)
"""


def test_make_has_the_same_tasks() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")

    listed = re.search(r"^TASKS := (.+)$", makefile, re.MULTILINE)

    assert listed is not None
    assert listed[1].split() == list(tasks.TASKS)


def test_the_tasks_are_listed_with_the_standard_library_alone() -> None:
    listed = subprocess.run([sys.executable, "-S", "-m", "tasks"], cwd=ROOT, capture_output=True, text=True, check=True)

    assert re.search(r"^  test-runtime +\S.+\.$", listed.stdout, re.MULTILINE)


def test_an_unknown_task_fails() -> None:
    finished = subprocess.run([sys.executable, "-m", "tasks", "tset"], cwd=ROOT, capture_output=True, text=True)

    assert finished.returncode == 1
    assert "There is no task tset." in finished.stderr


def test_a_failing_command_ends_the_task_with_its_status() -> None:
    with pytest.raises(SystemExit) as ended:
        tasks.python("-c", "raise SystemExit(3)")

    assert ended.value.code == 3


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups that receive SIGINT")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_stopped_task_waits_for_its_command(name: str, tmp_path: Path) -> None:
    command = tmp_path / "command.py"
    command.write_text(WAITS_FOR_A_SIGNAL.format(name=name))
    task = [sys.executable, "-c", f"import tasks; tasks.python({str(command)!r})"]
    with subprocess.Popen(task, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:  # noqa: S603 - a fixed command
        assert process.stdout is not None
        assert "ready\n" in iter(process.stdout.readline, "")

        # Ctrl-C reaches the whole process group, SIGTERM only the task.
        if name == "SIGINT":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()

        assert process.wait(30) == 7


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process can handle")
def test_a_task_that_is_stopped_while_its_command_starts_waits_for_it(tmp_path: Path) -> None:
    command, started = tmp_path / "command.py", tmp_path / "started"
    command.write_text(
        "import pathlib, signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        f"pathlib.Path({str(started)!r}).touch()\n"
        "signal.pause()\n"
    )
    # Popen returns only after the command runs and the signal has arrived.
    task = (
        "import os, pathlib, signal, subprocess, tasks, time\n"
        "class Slow(subprocess.Popen):\n"
        "    def __init__(self, *arguments, **options):\n"
        "        super().__init__(*arguments, **options)\n"
        f"        while not pathlib.Path({str(started)!r}).exists(): time.sleep(0.01)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "subprocess.Popen = Slow\n"
        f"tasks.python({str(command)!r})\n"
    )

    ended = subprocess.run([sys.executable, "-c", task], cwd=ROOT, check=False, timeout=60)  # noqa: S603 - a fixed command

    assert ended.returncode == 7


@pytest.mark.parametrize("task", ["bench", "bench-load"])
@pytest.mark.parametrize("write", ["", "1"])
def test_a_benchmark_changes_files_only_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], task: str, write: str
) -> None:
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(tasks, "setup", lambda: None)
    monkeypatch.setattr(tasks, "python", lambda *command: commands.append(command))
    monkeypatch.setenv("WRITE", write)

    tasks.TASKS[task]()

    assert ["--write" in command for command in commands] == [bool(write)]
    assert "This takes " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["run"], []),
        (["run", "PORT=7072"], ["--port=7072"]),
        (["run", "--port", "7072", "--cosmos-port=8082"], ["--port=7072", "--cosmos-port=8082"]),
    ],
)
def test_the_blog_runs_on_the_chosen_ports(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], options: list[str]
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(tasks, "setup", lambda: None)
    monkeypatch.setattr(tasks, "python", lambda *command: commands.append(list(command)))
    monkeypatch.setattr(os, "environ", {})

    tasks.main(arguments)

    assert commands == [["-m", "local", "--seed", *options]]


@pytest.mark.parametrize("with_uv", [True, False])
def test_uv_installs_if_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_uv: bool) -> None:
    programs: list[str] = []
    (tmp_path / "venv").mkdir()
    (tmp_path / "requirements.txt").touch()
    monkeypatch.setattr(tasks, "ROOT", tmp_path)
    monkeypatch.setattr(tasks, "_call", lambda *command: programs.append(" ".join(map(str, command))))
    monkeypatch.setattr(shutil, "which", lambda _: "uv" if with_uv else None)

    tasks._create(tmp_path / "venv", "requirements.txt")

    assert programs[-1].startswith("uv pip install ") == with_uv
    assert programs[-1].endswith(" -r requirements.txt")


@pytest.mark.nightly
def test_setup_creates_what_is_missing_and_keeps_the_rest(tmp_path: Path) -> None:
    for name in ("tasks.py", "local/local.settings.example.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    for name in ("requirements/dev.txt", *(f"{package}/pyproject.toml" for package in tasks.PACKAGES)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    settings = tmp_path / "local.settings.json"

    first = _setup(tmp_path)
    created = settings.read_text(encoding="utf-8")
    settings.write_text("changed")
    second = _setup(tmp_path)

    assert json.loads(created)["Values"]["BLOG_DATABASE"] == "blog"
    assert "pip install" in first
    assert second == ""
    assert settings.read_text() == "changed"


def _setup(directory: Path) -> str:
    command = [sys.executable, "-m", "tasks", "setup"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True).stdout  # noqa: S603 - a fixed command
