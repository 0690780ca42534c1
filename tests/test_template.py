"""The commands of docs/template.md. tests/test_add_ons.py tests those that take an add-on off."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from management.template import ADD_ONS, NAME, main, rename, take_off
from tests.repository_copy import NEEDS_GIT, copy_repository
from tests.running_app import REPOSITORY

pytestmark = NEEDS_GIT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    copy_repository(tmp_path)
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)  # noqa: S603, S607 - fixed
    return tmp_path


def run_tests(copy: Path, *files: str) -> None:
    # Rewriting assertions takes longer than the tests.
    command = [sys.executable, "-m", "pytest", "-q", "--assert=plain", "-p", "no:cacheprovider", *files]
    tested = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)  # noqa: S603 - fixed
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.nightly
def test_a_renamed_product_works(copy: Path) -> None:
    name = "shop" if NAME != "shop" else "store"
    shutil.copy(copy / "local" / "local.settings.example.json", copy / "local.settings.json")
    assert rename(name, copy) > 200

    former = re.compile(rf"(?i)(?<![a-z]){NAME}(?![a-z])|{NAME.title()}(?![a-z])")
    kept = copy / "packages"
    files = (file for file in copy.rglob("*.py") if kept not in file.parents)
    assert [f"{file}: {found[0]}" for file in files if (found := former.search(file.read_text("utf-8")))] == []
    assert (copy / "shared" / "data" / f"{name}.py").exists()
    for settings in ("local/local.settings.example.json", "local.settings.json"):
        assert f"{name.upper()}_AUTH" in (copy / settings).read_text("utf-8")
    run_tests(copy, "tests/functions/test_comments.py", "tests/functions/test_health.py", "tests/test_settings.py")


@pytest.mark.nightly
def test_group_commit_can_be_removed_as_its_file_says(copy: Path) -> None:
    for file in [*copy.rglob("test_group_commit*.py"), copy / "shared/transactions/group_commit.py"]:
        file.unlink()
    for name, pattern, replacement in (
        (
            "transactions/__init__.py",
            r"transactions\.group_commit import GroupCommit\b",
            "transactions.batches import add_item",
        ),
        ("transactions/__init__.py", r"GroupCommit\(\)\.add", "add_item"),
    ):
        module = copy / "shared" / name
        text, changes = re.subn(pattern, replacement, module.read_text("utf-8"))
        assert changes == 1, name
        module.write_text(text, "utf-8")

    run_tests(copy, "tests/functions/test_likes.py", "tests/transactions")


@pytest.mark.nightly
@pytest.mark.parametrize("add_on", ["search", "moderation"])
def test_an_add_on_that_is_taken_off_leaves_nothing_in_the_templates(copy: Path, add_on: str) -> None:
    take_off(add_on, copy)

    files = [*(copy / "infra").glob("*.bicep"), *(copy / "infra").glob("*.json"), copy / "docs" / "deploy.md"]
    files += [copy / "docs" / "parameters.md", copy / ".github" / "workflows" / "deploy.yml"]
    start = {"search": "SEARCH", "moderation": "MODERAT"}[add_on]
    named = re.compile(rf"{NAME.upper()}_{start}|{add_on}\.bicep|param {start.lower()}|{add_on}(Index|Container)")
    assert [file.name for file in files if named.search(file.read_text("utf-8"))] == []
    json.loads((copy / "infra" / "main.parameters.json").read_text("utf-8"))
    run_tests(copy, "tests/infra/test_syntax.py", "tests/infra/test_deploy_page.py")


@pytest.mark.parametrize("name", ["", "Shop", "my-shop", "2shops", "a" * 13, "class"])
def test_a_name_that_settings_cannot_have_changes_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{NAME}.py").write_text(NAME, "utf-8")

    with pytest.raises(ValueError, match="lower-case letters"):
        rename(name, tmp_path)
    assert (tmp_path / f"{NAME}.py").read_text("utf-8") == NAME


def test_without_a_git_repository_nothing_is_renamed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="git init"):
        rename("shop", tmp_path)


def test_invalid_commands_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["take-off", "core"], ["rename", "My Shop"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert "error" in capsys.readouterr().err


def test_the_page_names_each_add_on() -> None:
    page = (REPOSITORY / "docs" / "template.md").read_text("utf-8")
    assert all(f"python -m management.template take-off {add_on}" in page for add_on in ADD_ONS)
