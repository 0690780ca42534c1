"""The tour, on an emulator of its own, whose switches it sets."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings
from playwright.async_api import Page, expect

from bench.capacity import demand
from shared.database import emulator_switches
from shared.database.emulator_switches import EmulatorSwitches
from shared.settings import Account, Settings
from tests.api import Api
from tests.blog import EmulatorThread
from tests.browser import PageLog, running_chromium
from tests.items import unique
from tests.polling import eventually
from tests.running_app import REPOSITORY, RunningApp, provisioned, running_app
from tests.site.browser.test_every_page import AXE
from tests.site.pages import Site

WAIT_MS = 40_000


@pytest.fixture(scope="module")
def emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(partitions=2)) as running:
        yield running


@pytest.fixture(scope="module")
def settings(emulator: EmulatorThread) -> Settings:
    return Settings(account=Account(emulator.endpoint, emulator.key), database=unique("toured"), inspector=True)


@pytest.fixture(scope="module")
def toured_app(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with running_app(provisioned(settings), tmp_path_factory.mktemp("toured-app") / "host.log") as running:
        yield running


@pytest.fixture
async def toured(toured_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, toured_app.url, toured_app.openapi)


@asynccontextmanager
async def at_step(app: RunningApp, step: int, **options: Any) -> AsyncIterator[Page]:
    async with running_chromium() as browser:
        page = await browser.new_page(viewport={"width": 1280, "height": 900}, **options)
        log = PageLog(page)
        await page.goto(f"{app.url}/tour/{step}", wait_until="networkidle")
        yield page
        # Steps 6 and 7 make the database refuse requests, also those that the SDK repeats in vain.
        expected = ("status of 429", "status of 503") if step in (6, 7) else ()
        assert [error for error in log.errors if not any(text in error for text in expected)] == []


async def press(page: Page, button: str, *texts: str | re.Pattern[str]) -> None:
    """Press a button, and wait for its measurement."""
    await page.get_by_role("button", name=button, exact=True).click()
    for text in texts:
        await expect(page.locator(".costs")).to_contain_text(text, timeout=WAIT_MS)


async def test_a_step_has_an_address(toured_app: RunningApp, toured: Api) -> None:
    site = Site(toured.session, toured_app.url)

    titles = [(await site.get(path)).page.one("h1").text for path in ("/tour", "/tour/1", "/tour/8")]

    assert titles == ["Read a post", "Read a post", "The bill"]
    assert (await site.get("/tour/9")).status == 404
    assert not any("tour" in path for path in toured_app.openapi["paths"])


async def test_reading_a_post_is_one_point_read(toured_app: RunningApp, toured: Api) -> None:
    await toured.new_post(await toured.new_user())
    async with at_step(toured_app, 2) as page:
        await press(page, "Write a post", "1 new post: 2 copies in users and feed.", "done after")
        await page.get_by_role("link", name="Read a post").last.click()
        await press(page, "Read the newest post", "1 request: 1.0")


async def test_fifty_likes_are_a_few_transactions(toured_app: RunningApp) -> None:
    async with at_step(toured_app, 3) as page:
        await press(page, "Like a post fifty times", "50 likes, counted as 50.", "RU by the change feeds")
        likes = page.locator("[data-groups] > li", has_text="Like a post fifty times at once")
        await likes.locator("summary").click()
        await expect(likes).to_contain_text(re.compile(r"\d × batch, \d patches and 50 creates in all"))


async def test_a_rename_reaches_a_thousand_comments(toured_app: RunningApp) -> None:
    async with at_step(toured_app, 4) as page:
        await press(page, "First, write 1,000 comments", "1 command")
        # More than a thousand: the posts change feed corrects comments that it delivers with the old name, too.
        await press(
            page, "Rename", re.compile(r"1 rename: [12],\d{3} copies in 1\d posts. 17.58 RU at once, .* done after")
        )


async def test_the_session_token_shows_the_own_write(toured_app: RunningApp, emulator: EmulatorThread) -> None:
    async with at_step(toured_app, 5) as page:
        await press(page, "Edit and read", "With it: “Edited at")
        assert "Without the token: “Edited" not in await page.locator("[data-measured]").inner_text()
        assert emulator.settings.replica_lag is not None
        await page.goto(f"{toured_app.url}/tour/4")

        await eventually(lambda: emulator.settings.replica_lag is None)


async def test_a_hot_partition_refuses_requests(toured_app: RunningApp, emulator: EmulatorThread) -> None:
    async with at_step(toured_app, 6) as page:
        await press(page, "Like three posts fifty times", "got 429, waited and ran again", "50 likes, counted as 50.")
        assert emulator.settings.throttle
        await page.goto(f"{toured_app.url}/tour/7")

        await eventually(lambda: not emulator.settings.throttle)


async def test_faults_end_when_the_step_is_left_halfway(toured_app: RunningApp, emulator: EmulatorThread) -> None:
    async with at_step(toured_app, 7) as page:
        await page.get_by_role("button", name="Rename and like", exact=True).click()
        await eventually(lambda: [fault for fault in emulator.faults if fault.rule.effect == "drop"])
        await page.goto(f"{toured_app.url}/")

        await eventually(lambda: not list(emulator.faults))


async def test_the_bill_follows_the_load(toured_app: RunningApp) -> None:
    async with at_step(toured_app, 8) as page:
        await page.get_by_label("Reads per day").fill("0")
        for name in ("Posts", "Comments"):
            await page.get_by_label(f"{name} per day").fill("0")
        await page.get_by_label("Likes per day").fill("8640000")

        # 100 likes per second: RU/s, times 0.00008 dollars and 730 hours.
        rows = await page.locator("[data-bill] tr").all_inner_texts()
        assert [row.split("\t") for row in rows][-1] == ["This blog", "2,130", "124"]


@pytest.mark.parametrize("step", range(1, 9))
async def test_steps_are_accessible(toured_app: RunningApp, step: int) -> None:
    # A color in the middle of an animation has no contrast that counts.
    async with at_step(toured_app, step, reduced_motion="reduce") as page:
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        found = await page.evaluate("axe.run({resultTypes: ['violations']})")

        assert [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")] == []


async def test_a_switch_that_is_not_renewed_is_set_back(
    emulator: EmulatorThread, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulator_switches, "settings", lambda: settings)
    switches = EmulatorSwitches(limit_s=0.5)

    assert await switches.switch("throttle")
    assert emulator.settings.throttle

    await eventually(lambda: not emulator.settings.throttle)


async def test_another_account_has_no_switches(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    other = settings.model_copy(update={"account": Account("http://localhost:9/", "key")})
    monkeypatch.setattr(emulator_switches, "settings", lambda: other)

    assert [await EmulatorSwitches().switch(name) for name in ("lag", "throttle", "faults")] == [False] * 3


def test_the_figures_of_the_bill_are_those_of_the_capacity_plan() -> None:
    kept = json.loads((REPOSITORY / "web/static/article.json").read_text(encoding="utf-8"))["load"]

    assert kept["mix"] == {name[:2]: share for name, share in demand.QUERY_MIX.items()}
    assert (kept["hours"], kept["ruHour"]) == (demand.HOURS_A_MONTH, demand._RU_HOUR)
