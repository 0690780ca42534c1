"""Each add-on can be taken off: without its folder, its tests and its lines in function_app.py, the rest works.

With `ADD_ONS=all`, each copy then runs all tests of the core, too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession

from management.template import ADD_ONS, take_off
from shared.platform.settings import Account
from shared.settings import Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.items import unique
from tests.plain_http import PlainClient
from tests.polling import eventually
from tests.repository_copy import NEEDS_GIT, copy_repository
from tests.running_app import REPOSITORY, RunningApp, provisioned, running_app

pytestmark = NEEDS_GIT

CORE = ["tests/functions/test_comments.py", "tests/functions/test_errors.py", "tests/test_settings.py"]
# Need the browser, an add-on, or a repository.
NOT_CORE = ["addons", "infra", "test_add_ons.py", "test_contributing.py", "test_template.py"]
# Need the packages, pictures and environment of the repository, or name files and pages of add-ons.
NOT_CORE += ["test_doc_links.py", "test_tasks.py"]
PAGES = ["/", "/posts/{post}", "/posts/{post}/edit", "/users/{user}", "/write", "/nope", "/feed.atom", "/sitemap.xml"]
API = ["/api/feed", "/api/posts/{post}", "/api/users/{user}", "/api/openapi.json"]


def pytest_in(folder: Path, *arguments: str) -> str:
    """Run pytest in a copy, and return its last line. Raises AssertionError if it fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    tested = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - fixed
    assert tested.returncode == 0, tested.stdout + tested.stderr
    return tested.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "add_ons",
    [["web", "openapi"], *(pytest.param([add_on], marks=pytest.mark.nightly) for add_on in ADD_ONS)],
    ids="+".join,
)
def test_the_tests_of_the_rest_pass(tmp_path: Path, add_ons: list[str]) -> None:
    copy_repository(tmp_path)
    for add_on in add_ons:
        take_off(add_on, tmp_path)
    assert [module for module in CORE if not (tmp_path / module).exists()] == []

    # Importing each test module notices a dependency on the add-on. Rewriting assertions would take longer.
    pytest_in(tmp_path, "--assert=plain", "-k", " or ".join(Path(module).name for module in CORE))

    if os.environ.get("ADD_ONS") == "all":
        pytest_in(tmp_path, "-n", "2", *(f"--ignore=tests/{name}" for name in NOT_CORE))


@pytest.fixture(scope="module")
def settings(emulator: EmulatorThread) -> Settings:
    return provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("add_ons")))


@pytest.fixture(scope="module")
def whole(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with running_app(settings, tmp_path_factory.mktemp("whole") / "host.log") as running:
        yield running


@pytest.mark.nightly
async def test_pages_and_api_are_the_same_without_the_inspector(
    whole: RunningApp, settings: Settings, tmp_path: Path
) -> None:
    """The inspector changes nothing as long as it is switched off."""
    copy_repository(tmp_path)
    take_off("inspector", tmp_path)
    async with ClientSession() as session:
        api = Api(session, whole.url, whole.openapi)
        author = await api.new_user()
        post = await api.new_post(author, content="# Some *content*")
        paths = [path.format(post=post["id"], user=author["id"]) for path in PAGES + API]
        with running_app(settings, tmp_path / "host.log", app_dir=tmp_path) as without:

            async def is_same() -> bool:
                shown = [[await content(session, app, path) for path in paths] for app in (whole, without)]
                return shown[0] == shown[1]

            # A relative time can change between two requests, and the lists show a new post after a short delay.
            await eventually(is_same)


async def content(session: ClientSession, app: RunningApp, path: str) -> bytes:
    shown = await PlainClient(session, app.url).get(path)
    return shown.content.replace(app.url.encode(), b"")


@pytest.mark.parametrize("folder", ["functions", "shared"])
def test_no_file_of_the_core_names_an_add_on(folder: str) -> None:
    named = re.compile(r"inspector|tour|openapi|moderat|\bbann?(ed)?\b|\baudit|\b(web|search)\.", re.IGNORECASE)
    files = [path for path in (REPOSITORY / folder).rglob("*") if path.suffix in (".py", ".json")]

    assert [path.name for path in files if named.search(path.read_text(encoding="utf-8"))] == []
