"""What the owner of a blog chooses: title, tagline, page about it, and color."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession

from addons.web.settings import WebSettings
from shared.platform.settings import Account, SettingsError, read_settings
from shared.settings import Settings
from tests.addons.web.pages import Site
from tests.blog import EmulatorThread
from tests.items import unique
from tests.running_app import RunningApp, provisioned, running_app

TITLE = 'Ada & "Co"'


@pytest.fixture(scope="module")
def named_app(emulator: EmulatorThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    settings = provisioned(Settings(account=Account(emulator.endpoint, emulator.key), database=unique("named")))
    environment = {
        "BLOG_TITLE": TITLE,
        "BLOG_TAGLINE": "Looms & engines.",
        "BLOG_ABOUT": "We *weave*.",
        "BLOG_ACCENT": "#004488",
    }
    with running_app(settings, tmp_path_factory.mktemp("named") / "host.log", environment=environment) as running:
        yield running


async def test_the_title_is_everywhere(named_app: RunningApp) -> None:
    async with ClientSession() as session:
        site = Site(session, named_app.url)
        front, feed = (await site.get("/")).page, await site.get("/feed.atom")
        manifest = await site.get(front.one("link", rel="manifest")["href"])
        docs = await site.get("/api/docs")

    assert [front.one(tag).text for tag in ("title", "h1")] == [TITLE, TITLE]
    assert front.one("meta", property="og:site_name")["content"] == TITLE
    assert front.one("meta", name="description")["content"] == "Looms & engines."
    assert "<title>Ada &amp; &#34;Co&#34;</title>" in feed.text
    assert '"name": "Ada & \\"Co\\""' in manifest.text
    assert "API – Ada &amp; &quot;Co&quot;</title>" in docs.text
    assert named_app.openapi["info"]["title"] == TITLE


async def test_the_page_about_the_blog_and_its_color(named_app: RunningApp) -> None:
    async with ClientSession() as session:
        site = Site(session, named_app.url)
        about = (await site.get("/about")).page
        styles = await site.get(about.one("link", rel="stylesheet")["href"])

    assert about.one("em").text == "weave"
    assert "#004488" in styles.text
    assert "#b3401c" not in styles.text


def test_the_page_about_the_blog_can_be_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOG_ABOUT", "README.md")

    assert read_settings(WebSettings).about == Path("README.md").read_text(encoding="utf-8")


def test_the_app_does_not_start_with_another_value() -> None:
    """Otherwise, it would start, and each page would be an error."""
    environment = os.environ | {"BLOG_ACCENT": "yellow"}
    command = [
        sys.executable,
        "-c",
        "import azure.functions as func; from addons import web; web.register(func.FunctionApp())",
    ]

    started = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - fixed

    assert started.returncode == 1
    assert "set BLOG_ACCENT to a color such as #b3401c" in started.stderr


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("BLOG_ACCENT", "#ffcc00", "dark enough for text on white"),
        ("BLOG_ACCENT", "red", "a color such as #b3401c"),
        ("BLOG_ABOUT", "missing.md", "a .md file in the app"),
        ("BLOG_TITLE", "x" * 61, "at most 60 characters"),
    ],
)
def test_another_value_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, advice: str) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=f"set {name} to .*{advice}"):
        read_settings(WebSettings)
