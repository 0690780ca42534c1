"""The validator of HTML from npm, for all pages: `npm ci --prefix tests/validators`."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.addons.web.pages import Site
from tests.running_app import REPOSITORY

VNU = REPOSITORY / "tests" / "validators" / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
NEEDS_VNU = pytest.mark.skipif(shutil.which("java") is None or not VNU.exists(), reason="Java or vnu-jar is missing")


def pages_of(site: Site, post: dict[str, str]) -> dict[str, str]:
    about = {"post": f"/posts/{post['id']}", "edit": f"/posts/{post['id']}/edit", "user": f"/users/{post['userId']}"}
    return about | {"front": "/", "write": "/write", "missing": "/nope", "malformed": "/?limit=0"}


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
