"""The packages can be released: their tags are checked, and their READMEs have links that work on PyPI."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.running_app import REPOSITORY

PACKAGES = ("cosmos-emulator", "functions-host")
URL = "https://example.com/owner/blog"
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- New.\n"
LINK = re.compile(r"\[[^]]*]\(([^)\s]+)\)")


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], dict[str, Any]]:
    """What a package's setup.py passes to setuptools, with a URL of the repository."""

    def run(package: str, url: str) -> dict[str, Any]:
        passed: dict[str, Any] = {}
        monkeypatch.setitem(sys.modules, "setuptools", SimpleNamespace(setup=lambda **given: passed.update(given)))
        monkeypatch.setenv("REPOSITORY_URL", url)
        runpy.run_path(str(REPOSITORY / "packages" / package / "setup.py"))
        return passed

    return run


@pytest.mark.parametrize("package", PACKAGES)
def test_links_of_a_readme_lead_to_the_files_of_the_release(
    package: str, metadata: Callable[[str, str], dict[str, Any]]
) -> None:
    written = metadata(package, f"{URL}/")

    links = LINK.findall(written["long_description"])
    assert [link for link in links if not link.startswith(("https://", "http://"))] == []
    own = [link.removeprefix(f"{URL}/") for link in links if link.startswith(URL)]
    assert own
    for link in own:
        kind, tag, path = link.split("/", 2)
        assert re.fullmatch(rf"{package}-v[0-9.]+", tag)
        assert kind == ("raw" if path.endswith(".png") else "blob")
        assert (REPOSITORY / path.partition("#")[0]).exists()
    assert written["project_urls"]["Repository"] == URL


@pytest.mark.parametrize("package", PACKAGES)
def test_without_a_url_a_readme_keeps_its_links(package: str, metadata: Callable[[str, str], dict[str, Any]]) -> None:
    written = metadata(package, "")

    readme = (REPOSITORY / "packages" / package / "README.md").read_text(encoding="utf-8")
    assert (written["long_description"], written["project_urls"]) == (readme, {})


@pytest.mark.parametrize(
    ("tag", "changelog", "problem"),
    [
        ("cosmos-emulator-v1.2.3", CHANGELOG, None),
        ("cosmos-emulator-v1.2.4", CHANGELOG, "does not have the version 1.2.4"),
        (
            "cosmos-emulator-v1.2.3",
            CHANGELOG.replace(" - 2026-01-31", " - unreleased"),
            "no section [1.2.3] with a date",
        ),
        ("cosmos-emulator-v1.2.3", CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- New.\n"), "an empty section"),
        ("cosmos-emulator-v1.2.3", CHANGELOG.replace("[Unreleased]", "[Next]"), "an empty section"),
        ("emulator-v1.2.3", CHANGELOG, "is not the tag of a package"),
        ("v1.2.3", CHANGELOG, "is not the tag of a package"),
    ],
)
def test_a_tag_that_does_not_match_its_package_is_not_released(
    tmp_path: Path, tag: str, changelog: str, problem: str | None
) -> None:
    source = tmp_path / "packages/cosmos-emulator/src/cosmos_emulator"
    source.mkdir(parents=True)
    (source / "version.py").write_text('__version__ = "1.2.3"\n', encoding="utf-8")
    (source.parents[1] / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    (tmp_path / ".ci").mkdir()
    check = (tmp_path / ".ci/check_release.py").write_text
    check((REPOSITORY / ".ci/check_release.py").read_text(encoding="utf-8"), encoding="utf-8")

    finished = subprocess.run(  # noqa: S603 - a fixed command
        [sys.executable, tmp_path / ".ci/check_release.py", tag], capture_output=True, text=True, check=False
    )

    assert finished.returncode == (0 if problem is None else 1)
    assert (problem or "") in finished.stderr
