"""What tests import of each other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGES = TESTS.parent / "packages"
FOLDERS = [TESTS, *PACKAGES.glob("*/tests")]
EACH_FOLDER = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)


def _importing(folder: Path, module: str) -> list[str]:
    """The files in a folder that import a module whose name matches a pattern."""
    pattern = re.compile(rf"^\s*(?:from|import) {module}\b", re.MULTILINE)
    files = [file for file in folder.rglob("*.py") if "node_modules" not in file.parts]
    assert files
    return [str(file.relative_to(TESTS.parent)) for file in files if pattern.search(file.read_text(encoding="utf-8"))]


@EACH_FOLDER
def test_no_test_module_is_imported(folder: Path) -> None:
    assert _importing(folder, r"tests\.(?:\w+\.)*test_\w+") == []


def test_only_tests_of_add_ons_import_them_and_the_browser() -> None:
    """An add-on can be taken off. The inspector, the search and the moderation are part of the site's pages."""
    allowed = {name: {name, "web"} for name in ("inspector", "moderation", "search", "web")}
    allowed |= {name: {name} for name in ("export", "openapi")}
    for path in [*TESTS.iterdir(), *(TESTS / "addons").iterdir()]:
        if list(path.glob("*.py")) and path.name != "addons":
            others = "|".join({*allowed} - allowed.get(path.name, set()))
            browser = "|playwright" if path.name not in allowed else ""
            assert (
                _importing(path, rf"(?:(?:tests\.)?addons(?:\.(?:{others})| import (?:.*, )?(?:{others}))\b{browser})")
                == []
            )


@pytest.mark.parametrize("folder", ["", "functions.", "auth."])
def test_the_fixtures_of_the_api_do_not_load_the_browser(folder: str) -> None:
    program = f"import sys, tests.{folder}conftest; sys.exit('playwright' in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], cwd=TESTS.parent, check=False)  # noqa: S603 - our own code

    assert loaded.returncode == 0


@EACH_FOLDER
def test_packages_and_the_blog_do_not_import_each_others_tests(folder: Path) -> None:
    """A package's tests are also run alone, without the blog."""
    blog = r"(?:shared|functions|management|local|addons)" if folder != TESTS else r"packages"

    assert _importing(folder, blog) == []
