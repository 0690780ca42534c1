"""Static files: names, caching, and what is not served."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.addons.web.pages import Site

ROOT = Path(__file__).parents[3]
YEAR = "public, max-age=31536000, immutable"


async def test_every_file_that_a_page_names_is_cached_for_a_year(site: Site) -> None:
    page = (await site.get("/")).page
    links = [
        link for kind in ("stylesheet", "icon", "manifest", "modulepreload") for link in page.all("link", rel=kind)
    ]
    paths = [link["href"] for link in links] + [script["src"] for script in page.all("script")]

    assert len(paths) >= 4
    for path in paths:
        file = await site.get(path)
        assert (file.status, file.headers["cache-control"]) == (200, YEAR)
        assert file.content == (await site.get(path, {"Accept-Encoding": "identity"})).content
        assert (await site.get(path, {"If-None-Match": file.headers["etag"]})).status == 304


async def test_a_page_of_another_version_gets_current_files_that_are_not_cached(site: Site) -> None:
    old = await site.get("/assets/0123456789abcdef/site.css")

    assert (old.status, old.headers["cache-control"]) == (200, "no-cache")


@pytest.mark.parametrize(
    "name", ["base.html", "../templates/base.html", "..%2f..%2fhost.json", "%2e%2e", ".", "nope.js"]
)
async def test_nothing_else_is_served(site: Site, name: str) -> None:
    version = (await site.get("/")).page.one("script")["src"].split("/")[2]

    assert (await site.get(f"/assets/{version}/{name}")).status == 404


async def test_the_icon_and_the_manifest_are_served(site: Site) -> None:
    page = (await site.get("/")).page
    manifest = await site.get(page.one("link", rel="manifest")["href"])
    icon = await site.get(page.one("link", rel="icon")["href"])

    assert manifest.headers["content-type"] == "application/manifest+json"
    assert json.loads(manifest.content)["start_url"] == "/"
    assert icon.headers["content-type"] == "image/svg+xml"
    assert (await site.get("/favicon.ico")).content == icon.content


async def test_an_avatar_is_the_same_on_every_page_and_for_every_name(site: Site) -> None:
    first, again, other = [await site.get(f"/avatars/{user}.svg") for user in ("ada", "ada", "grace")]

    assert first.headers["cache-control"] == YEAR
    assert first.content == again.content != other.content
    assert "style" not in first.text


def test_static_files_have_different_names() -> None:
    files = [path for path in (ROOT / "addons" / "web" / "static").rglob("*.*") if path.is_file()]
    names = [path.name for path in files]

    assert len(names) == len(set(names))


def test_templates_have_no_inline_scripts_or_styles() -> None:
    for template in (ROOT / "addons" / "web" / "templates").glob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|javascript:", text) == [], template.name
