"""azure.yaml is valid, and its hooks do what they print."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.infra.conftest import Compiled
from tests.items import unique
from tests.running_app import REPOSITORY, RunningApp

AZURE = yaml.safe_load((REPOSITORY / "azure.yaml").read_text(encoding="utf-8"))
HOOKS = REPOSITORY / "infra" / "hooks"
OUTPUTS = {
    "AZURE_RESOURCE_GROUP": "rg-test",
    "AZURE_FUNCTION_NAME": "func-test",
    "APP_IDENTITY_PRINCIPAL_ID": "identity",
    "BLOG_MODERATION": "1",
    "BLOG_MODERATOR_ROLE": "Moderator",
    "BLOG_URL": "https://blog.example",
    "COSMOS__accountEndpoint": "https://account.example",
    "PRIVATE_NETWORKING": "false",
}

posix_only = pytest.mark.skipif(os.name == "nt", reason="runs sh")


def _commands(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from [item] if key == "run" else _commands(item)


def _run(script: Path, environment: dict[str, str], *, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own scripts
        ["/bin/sh", "-c", str(script)],  # as azd does, so the file must be executable
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _program(directory: Path, name: str, body: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / name
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)


def test_the_files_of_azure_yaml_exist() -> None:
    service = AZURE["services"]["api"]

    assert (REPOSITORY / service["project"] / "host.json").is_file()
    assert (service["language"], service["host"]) == ("python", "function")
    assert sorted(_commands(AZURE["hooks"])) == sorted(f"infra/hooks/{path.name}" for path in HOOKS.iterdir())


@pytest.mark.parametrize("hook", AZURE["hooks"])
def test_a_hook_has_a_script_for_each_platform_and_keeps_its_output(hook: str) -> None:
    scripts = {system: AZURE["hooks"][hook][system] for system in ("posix", "windows")}

    assert {system: script["shell"] for system, script in scripts.items()} == {"posix": "sh", "windows": "pwsh"}
    assert {Path(script["run"]).stem for script in scripts.values()} == {hook}
    assert all(script["interactive"] for script in scripts.values())


def test_hooks_use_only_outputs_of_the_template(compiled: Compiled) -> None:
    assert set(OUTPUTS) <= set(compiled.main["outputs"])


@posix_only
def test_the_printed_command_creates_a_user(app: RunningApp, tmp_path: Path) -> None:
    _program(
        tmp_path,
        "az",
        'test "$*" = "functionapp keys list --resource-group rg-test --name func-test'
        ' --query functionKeys.default --output tsv" && echo the-key',
    )

    printed = _run(HOOKS / "postup.sh", OUTPUTS | {"BLOG_URL": app.url}).stdout
    command = printed[printed.index("\ncurl ") :].replace('"ada"', f'"{unique("ada")}"').replace("-i", "-sv")
    _program(tmp_path, "try.sh", command)
    tried = _run(tmp_path / "try.sh", {"PATH": f"{tmp_path}:{os.environ['PATH']}"})

    assert "201 Created" in tried.stderr, tried.stderr
    assert "x-functions-key: the-key" in tried.stderr.lower()


@posix_only
def test_the_printed_command_creates_a_user_with_a_token(tmp_path: Path) -> None:
    _program(
        tmp_path,
        "az",
        'test "$*" = "account get-access-token --resource api://client --query accessToken --output tsv" && echo token',
    )
    _program(tmp_path, "curl", 'printf "%s\\n" "$@"')

    printed = _run(HOOKS / "postup.sh", OUTPUTS | {"AUTH_CLIENT_ID": "client"}).stdout
    _program(tmp_path, "try.sh", printed[printed.index("\ncurl ") :])
    sent = _run(tmp_path / "try.sh", {"PATH": f"{tmp_path}:{os.environ['PATH']}"}).stdout.splitlines()

    assert "https://blog.example/api/users" in sent
    assert "Authorization: Bearer token" in sent


@posix_only
def test_the_first_hook_runs_without_an_environment_and_says_what_is_missing(tmp_path: Path) -> None:
    programs = {"python3": sys.executable, "dirname": str(shutil.which("dirname"))}
    for name, program in programs.items():
        (tmp_path / name).symlink_to(program)
    (tmp_path / "infra" / "hooks").mkdir(parents=True)
    hook = shutil.copy(HOOKS / "preprovision.sh", tmp_path / "infra" / "hooks")
    (tmp_path / "management").mkdir()
    shutil.copy(HOOKS.parents[1] / "management" / "app_registration.py", tmp_path / "management")

    finished = _run(Path(hook), {"PATH": str(tmp_path), "AZURE_ENV_NAME": "test"})

    assert finished.returncode == 0, finished.stderr
    assert "az is not installed" in finished.stdout


@posix_only
def test_the_registration_is_completed_before_the_check(tmp_path: Path) -> None:
    hook = _checkout(tmp_path, check='echo "ran $*"')

    finished = _run(hook, OUTPUTS | {"AUTH_CLIENT_ID": "client"})

    assert finished.stdout.splitlines() == [
        "ran -m management.app_registration connect",
        "ran manage.py provision --check",
    ]


@posix_only
def test_the_printed_addresses_exist(app: RunningApp) -> None:
    printed = _run(HOOKS / "postup.sh", OUTPUTS | {"BLOG_URL": app.url}).stdout

    addresses = [word for line in printed.splitlines() if not line.startswith("curl") for word in line.split()]
    addresses = [word for word in addresses if word.startswith(app.url)]
    assert len(addresses) == 3
    for address in addresses:
        answer = subprocess.run(["curl", "-sf", "-o", os.devnull, address], timeout=30, check=False)  # noqa: S603, S607 - curl, as in the hook
        assert answer.returncode == 0, address


def _checkout(directory: Path, *, check: str) -> Path:
    """Return the hook in a folder whose Python runs `check` instead of manage.py."""
    _program(directory / ".venv" / "bin", "python", check)
    hooks = directory / "infra" / "hooks"
    hooks.mkdir(parents=True)
    return Path(shutil.copy(HOOKS / "postprovision.sh", hooks))


@posix_only
@pytest.mark.parametrize("code", [0, 1])
def test_the_check_compares_the_database_once(code: int, tmp_path: Path) -> None:
    hook = _checkout(tmp_path, check=f'echo "checked $*"; exit {code}')

    finished = _run(hook, OUTPUTS, cwd=tmp_path / "infra")

    assert finished.stdout.splitlines() == ["checked manage.py provision --check"]
    assert finished.returncode == code


@posix_only
def test_the_check_waits_until_new_permissions_apply(tmp_path: Path) -> None:
    hook = _checkout(tmp_path, check="echo x >> tries; test $(wc -l < tries) -ge 3 || exit 2")

    finished = _run(hook, OUTPUTS | {"HOOK_WAIT_S": "0"})

    assert finished.returncode == 0
    assert (tmp_path / "tries").read_text(encoding="utf-8") == "x\n" * 3


@posix_only
def test_the_check_gives_up_in_the_end(tmp_path: Path) -> None:
    hook = _checkout(tmp_path, check="exit 2")

    assert _run(hook, OUTPUTS | {"HOOK_WAIT_S": "0"}).returncode == 2


@posix_only
def test_the_check_needs_azds_environment() -> None:
    finished = _run(HOOKS / "postprovision.sh", {})

    assert finished.returncode != 0
    assert "azd hooks run postprovision" in finished.stderr


@posix_only
@pytest.mark.parametrize(("private", "advice"), [("true", "in its network"), ("false", "make setup")])
def test_the_check_is_skipped_if_it_cannot_run(private: str, advice: str, tmp_path: Path) -> None:
    hook = _checkout(tmp_path, check="exit 9")
    if private == "false":
        (tmp_path / ".venv" / "bin" / "python").unlink()

    finished = _run(hook, OUTPUTS | {"PRIVATE_NETWORKING": private})

    assert finished.returncode == 0
    assert advice in finished.stdout
