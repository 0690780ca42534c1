"""Every page with the inspector, and every step of the tour, is valid HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.addons.web.pages import ParsedPage, Site
from tests.addons.web.validation import NEEDS_VNU, errors_in, pages_of, save_pages
from tests.api import Api
from tests.running_app import RunningApp


@pytest.mark.nightly
@NEEDS_VNU
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
