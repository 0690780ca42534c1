"""Validators from npm on all pages and on the API's description: `npm ci --prefix tests/site/validators`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api import Api
from tests.running_app import RunningApp
from tests.site.pages import ParsedPage, Site

VALIDATORS = Path(__file__).parent / "validators"
VNU = VALIDATORS / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
REDOCLY = VALIDATORS / "node_modules" / ".bin" / "redocly"
MARKDOWN = (
    "# A\n\n- *b* `c`\n\n| d |\n|---|\n| e |\n\n```\nf\n```\n\nג[^1] ![](https://e.com/x.png) <i>\n\n[^1]: note\n"
)


def pages_of(site: Site, post: dict[str, str]) -> dict[str, str]:
    about = {"post": f"/posts/{post['id']}", "edit": f"/posts/{post['id']}/edit", "user": f"/users/{post['userId']}"}
    return about | {"front": "/", "write": "/write", "missing": "/nope", "malformed": "/?limit=0"}


@pytest.mark.skipif(shutil.which("java") is None or not VNU.exists(), reason="Java or vnu-jar is not installed")
async def test_every_page_is_valid_html(api: Api, site: Site, tmp_path: Path) -> None:
    author = await api.new_user()
    post = await api.new_post(author, "A title", MARKDOWN)
    await api.new_comment(post, author, "https://e.com/a")
    await api.new_like(post, author)
    await save_pages(site, pages_of(site, post), tmp_path)

    assert errors_in(tmp_path) == []


@pytest.mark.skipif(shutil.which("java") is None or not VNU.exists(), reason="Java or vnu-jar is not installed")
async def test_every_page_with_the_inspector_is_valid_html(
    inspected: Api, inspected_app: RunningApp, tmp_path: Path
) -> None:
    site = Site(inspected.session, inspected_app.url)
    post = await inspected.new_post(await inspected.new_user())
    tour = {f"tour-{step}": f"/tour/{step}" for step in range(1, 9)} | {"tour": "/tour"}
    await save_pages(site, pages_of(site, post) | tour, tmp_path)

    assert errors_in(tmp_path) == []
    for step in range(1, 9):
        shown = ParsedPage((tmp_path / f"tour-{step}.html").read_text(encoding="utf-8"))
        assert [link["href"] for link in shown.all("a", aria_current="step")] == [f"/tour/{step}"]


async def save_pages(site: Site, paths: dict[str, str], folder: Path) -> None:
    """Save each page, after checking its status: an error page is valid HTML, too."""
    for name, path in paths.items():
        shown = await site.get(path)
        assert shown.status == {"missing": 404, "malformed": 400}.get(name, 200), path
        (folder / f"{name}.html").write_bytes(shown.content)


def errors_in(folder: Path) -> list[tuple[str, str, str | None]]:
    """The file, message and place of each error in HTML files."""
    command = ["java", "-jar", str(VNU), "--errors-only", "--format", "json", *map(str, folder.glob("*.html"))]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our files
    messages = json.loads(checked.stderr)["messages"]
    return [(Path(one["url"]).name, one["message"], one.get("extract")) for one in messages]


@pytest.mark.skipif(not REDOCLY.exists(), reason="Redocly is not installed")
def test_the_description_of_the_api_has_no_errors(app: RunningApp, tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(app.openapi), encoding="utf-8")

    command = [str(REDOCLY), "lint", "--config", str(VALIDATORS / "redocly.yaml"), str(tmp_path / "openapi.json")]
    # Without telemetry and the check for a later version.
    environment = {"PATH": str(Path(shutil.which("node") or "node").parent), "REDOCLY_TELEMETRY": "off", "CI": "true"}
    checked = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603 - ours

    assert checked.returncode == 0, checked.stdout + checked.stderr
