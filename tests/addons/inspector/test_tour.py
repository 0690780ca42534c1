"""The tour, on an emulator of its own, whose switches it sets."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock
from uuid import uuid4

import azure.functions as func
import pytest
from aiohttp import ClientSession
from cosmos_emulator import EmulatorSettings
from playwright.async_api import Browser, Locator, Page, Response, expect

from addons.inspector import emulator_switches, provoked_failures, tour
from addons.inspector.emulator_switches import SWITCHES, EmulatorSwitches
from addons.inspector.tour_visits import Visits
from bench.capacity import demand
from shared.platform.errors import DatabaseUnavailable, Forbidden
from shared.platform.http.callers import SignedIn
from shared.platform.http.calls import Call, parse_call
from shared.platform.settings import Account
from shared.settings import Settings
from tests.accessibility import AXE
from tests.addons.inspector.conftest import INSPECTOR
from tests.addons.web.pages import Site
from tests.api import Api, Json
from tests.blog import Blog, EmulatorThread
from tests.browser import BACKGROUND, TRANSPARENT, PageLog
from tests.functions.invocations import UNTRACED
from tests.items import unique
from tests.page_budget import OBSERVE
from tests.polling import eventually
from tests.running_app import REPOSITORY, RunningApp, provisioned, running_app

WAIT_MS = 40_000
# Less than the server's limit, after which it sets switches back itself.
SOON_S = 15


@pytest.fixture(scope="module")
def toured_emulator() -> Iterator[EmulatorThread]:
    with EmulatorThread(EmulatorSettings(partitions=2)) as running:
        yield running


@pytest.fixture(scope="module")
def settings(toured_emulator: EmulatorThread) -> Settings:
    return Settings(account=Account(toured_emulator.endpoint, toured_emulator.key), database=unique("toured"))


@pytest.fixture(scope="module")
def toured_app(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    folder = tmp_path_factory.mktemp("toured-app")
    with running_app(
        provisioned(settings), folder / "host.log", environment=INSPECTOR, options=_own_timers(folder)
    ) as running:
        yield running


def _own_timers(folder: Path) -> list[str]:
    """Hosts that share a state directory take turns with the tour's timer."""
    return ["--state-dir", str(folder / "state")]


@pytest.fixture
async def toured(toured_app: RunningApp) -> AsyncIterator[Api]:
    async with ClientSession() as session:
        yield Api(session, toured_app.url, toured_app.openapi)


# Opens a page at a step. The arguments are the step and the arguments of Playwright's new_context.
Visit = Callable[..., AbstractAsyncContextManager[Page]]


@pytest.fixture
def at_step(browser: Browser, toured_app: RunningApp, toured_emulator: EmulatorThread) -> Visit:
    @asynccontextmanager
    async def visit(step: int, **options: Any) -> AsyncIterator[Page]:
        # Closing a page of Browser.new_page would also end its profile, and with it the requests of the closed page.
        profile = await browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        page = await profile.new_page()
        log = PageLog(page)
        await page.goto(f"{toured_app.url}/tour/{step}", wait_until="networkidle")
        yield page
        # The browser ends requests of pages whose profile ends.
        await page.close()
        await eventually(lambda: is_quiet(toured_emulator), deadline_s=SOON_S)
        # Steps 6 and 7 make the database refuse requests, also those that the SDK repeats in vain.
        expected = ("status of 429", "status of 503") if step in (6, 7) else ()
        assert [error for error in log.errors if not any(text in error for text in expected)] == []

    return visit


PHONE = {"width": 390, "height": 844}


def button_of(page: Page) -> Locator:
    return page.locator("[data-run]").first


def is_quiet(emulator: EmulatorThread) -> bool:
    """Whether no switch of the tour is on."""
    return not (emulator.settings.throttle or emulator.settings.replica_lag or list(emulator.faults))


async def write_a_post(toured: Api) -> None:
    """Step 1 reads the newest post of the front page."""
    await toured.new_post(await toured.new_user())

    async def is_listed() -> bool:
        return bool((await toured.get_feed()).body["items"])

    await eventually(is_listed)


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


async def test_the_first_press_costs_what_the_step_expects(at_step: Visit, toured: Api) -> None:
    await write_a_post(toured)
    async with at_step(1) as page:
        await press(page, "Read the newest post", "1 request: 1.0")
        await page.get_by_role("link", name="Write a post").last.click()
        # Without the record of an idempotency key, and with a cached author.
        await press(
            page, "Write a post", re.compile(r"1 new post: 2 copies in users and feed. 9\.\d\d RU by the command")
        )


async def test_each_press_is_measured_alone(at_step: Visit, toured: Api) -> None:
    await write_a_post(toured)
    async with at_step(1) as page:
        for _ in range(3):
            await button_of(page).click()
            await expect(button_of(page)).to_be_enabled()

        await expect(page.locator("[data-measured]")).to_contain_text("1 request: 1.0")


async def test_a_step_is_repeated_with_the_keyboard(at_step: Visit, toured: Api) -> None:
    await write_a_post(toured)
    async with at_step(1) as page:
        await button_of(page).focus()
        for _ in range(2):
            async with page.expect_response("**/api/posts/*"):
                await page.keyboard.press("Enter")

            await expect(page.locator("[data-verdict]")).to_have_text("One point read.")
            await expect(button_of(page)).to_be_focused()


async def test_a_step_that_ends_takes_the_focus_from_nothing(at_step: Visit, toured: Api) -> None:
    await write_a_post(toured)
    async with at_step(1) as page:
        await button_of(page).evaluate("button => { button.click(); document.querySelector('nav a').focus(); }")
        await expect(page.locator("[data-verdict]")).to_have_text("One point read.")
        await expect(button_of(page)).to_be_enabled()

        await expect(page.get_by_role("link", name="Home")).to_be_focused()


@pytest.mark.nightly
async def test_a_session_of_an_earlier_database_costs_nothing(
    at_step: Visit, toured: Api, toured_app: RunningApp
) -> None:
    await write_a_post(toured)
    author = await toured.new_user()
    liked = await toured.create_like((await toured.new_post(author))["id"], author["id"])
    version, entries = "1.", base64.urlsafe_b64decode(liked.headers["x-ms-session-token"][2:] + "==").decode()
    ahead = re.sub(r"#(\d+)", r"#\g<1>0", entries)
    token = version + base64.urlsafe_b64encode(ahead.encode()).decode().rstrip("=")
    async with at_step(8) as page:
        await page.context.add_cookies([{"name": "blog-session", "value": token, "url": toured_app.url}])
        await page.goto(f"{toured_app.url}/tour/1", wait_until="networkidle")
        await press(page, "Read the newest post", "1 request: 1.0")


async def test_the_measurement_does_not_need_the_open_inspector(at_step: Visit, toured: Api) -> None:
    await write_a_post(toured)
    async with at_step(1) as page:
        await page.get_by_role("button", name="Inspector", exact=True).click()
        await press(page, "Read the newest post", "1 request: 1.0")


def of_tour(text: str) -> list[str]:
    """What a page shows of the tour."""
    return re.findall(r"tour_reader_\d\d|(?:Written|Edited) on the tour", text)


LISTS = ("/?limit=100", "/feed.atom?limit=100", "/sitemap.xml", "/api/feed?limit=100")


async def listed(site: Site) -> dict[str, list[str]]:
    """What the lists show of the tour."""
    return {path: of_tour((await site.get(path)).text) for path in LISTS}


class WrittenPosts:
    """The IDs of the posts that the tour writes on a page, as the responses to its commands name them."""

    def __init__(self, page: Page) -> None:
        self._responses: list[Response] = []
        page.on("response", self._keep)

    def _keep(self, response: Response) -> None:
        if response.ok and re.search(r"/tour/(posts|comments)$", response.url):
            self._responses.append(response)

    async def ids(self) -> list[str]:
        """Return the IDs that this page created, which must still be open. A repeated command names the same ones."""
        bodies = [await response.json() for response in self._responses]
        self._responses.clear()
        return list(dict.fromkeys(post_id for body in bodies for post_id in body.get("postIds") or [body["id"]]))


async def assert_unlisted(site: Site, ids: Collection[str]) -> None:
    """Check that the lists show nothing of the tour, and none of its posts, soon."""

    async def is_clean() -> bool:
        return not any((await listed(site)).values())

    await eventually(is_clean, deadline_s=SOON_S)
    for path in LISTS:
        text = (await site.get(path)).text
        assert [post_id for post_id in ids if post_id in text] == [], path


@pytest.mark.nightly
async def test_a_closed_tab_leaves_nothing_of_the_tour(at_step: Visit, toured: Api, toured_app: RunningApp) -> None:
    await write_a_post(toured)
    site = Site(toured.session, toured_app.url)
    async with at_step(2) as page:
        posts, written = WrittenPosts(page), list[str]()
        await press(page, "Write a post", "done after")
        assert any((await listed(site)).values())
        for step, button in ((3, "Like a post fifty times"), (4, "First, write 1,000 comments")):
            written += await posts.ids()
            await page.goto(f"{toured_app.url}/tour/{step}")
            await press(page, button, "RU by the command")
        # The measurement can be shown before the response has arrived.
        await expect(page.get_by_role("button", name="First, write 1,000 comments")).to_be_enabled(timeout=WAIT_MS)
        written += await posts.ids()
        assert len(set(written)) == len(written) > 11

        async def are_listed() -> bool:
            shown = {post["id"] for post in (await toured.get_feed(limit=100)).body["items"]}
            return shown.issuperset(written[-10:])

        await eventually(are_listed, deadline_s=SOON_S)
        profile = page.context
        await page.close()

        await assert_unlisted(site, written)
        front_page = await profile.new_page()
        await front_page.goto(toured_app.url, wait_until="networkidle")
        await front_page.get_by_role("button", name="Sign in").click()
        await expect(front_page.locator("[data-identity-dialog]")).to_be_visible()
        assert of_tour(await front_page.locator("[data-known-users]").inner_text()) == []


@pytest.mark.nightly
async def test_a_killed_host_leaves_nothing_of_the_tour(
    browser: Browser, toured_emulator: EmulatorThread, tmp_path: Path
) -> None:
    account = Account(toured_emulator.endpoint, toured_emulator.key)
    settings = provisioned(Settings(account=account, database=unique("killed")))
    with running_app(settings, tmp_path / "first.log", environment=INSPECTOR, options=_own_timers(tmp_path)) as app:
        page = await browser.new_page()
        await page.goto(f"{app.url}/tour/2", wait_until="networkidle")
        await press(page, "Write a post", "done after")
        app.kill()
        await page.close()
    with running_app(settings, tmp_path / "second.log", environment=INSPECTOR, options=_own_timers(tmp_path)) as app:
        async with ClientSession() as session:
            site = Site(session, app.url)

            async def is_clean() -> bool:
                return not any((await listed(site)).values())

            # The leases of the killed host expire after 15 s.
            await eventually(is_clean, deadline_s=60)


@pytest.mark.nightly
async def test_no_command_reaches_what_others_wrote(at_step: Visit, toured: Api, toured_app: RunningApp) -> None:
    """Press everything that can be pressed, on every step, with a real user's post as the newest. Close each tab."""
    author = await toured.new_user()
    post = await toured.new_post(author)
    await eventually(lambda: is_listed(toured, post))
    written: list[str] = []
    for step in range(1, 8):
        async with at_step(step) as page:
            posts = WrittenPosts(page)
            for button in await page.locator("[data-run]:enabled").all():
                await button.click()
                await expect(button).to_be_enabled(timeout=3 * WAIT_MS)
            written += await posts.ids()
    await assert_unlisted(Site(toured.session, toured_app.url), written)
    assert len(set(written)) == len(written) > 20
    # Also what a page could send to the tour's routes.
    for method, path in COMMANDS:
        await command(toured, method, path.replace("{postId}", post["id"]))

    after = (await toured.get_post(post["id"])).body
    assert {name: after[name] for name in post} == post
    assert (await toured.get_user(author["id"])).body == author
    assert (await toured.list_comments(post["id"])).body["items"] == []


async def is_listed(toured: Api, post: Json) -> bool:
    return any(one["id"] == post["id"] for one in (await toured.get_feed()).body["items"])


VISIT = "0123456789abcdef" * 2
# All routes of the tour that are not queries.
COMMANDS = (
    ("PUT", "/tour/switches/"),
    ("POST", "/tour/readers"),
    ("POST", "/tour/posts"),
    ("PUT", "/tour/posts/{postId}"),
    ("POST", "/tour/likes/{postId}"),
    ("POST", "/tour/comments"),
    ("PUT", "/tour/name"),
    ("POST", "/tour/end"),
)


def test_the_commands_of_the_tour_are_known() -> None:
    """The page sends no other command: each is a route of the tour, which takes no user."""
    script = (REPOSITORY / "addons/inspector/static/tour.js").read_text(encoding="utf-8")
    sent = set(re.findall(r'"(POST|PUT|DELETE|PATCH)", ["`]([^"`]+)', script))
    routes = {(method, re.sub(r"\{.*", "", path)) for method, path in COMMANDS}

    assert {(method, re.sub(r"\$\{.*", "", path)) for method, path in sent} <= routes
    assert len(sent) >= len(COMMANDS) - 1  # "/tour/end" is sent by fetch
    assert "/api/users" not in script


@pytest.mark.parametrize(("method", "path"), [one for one in COMMANDS if "{postId}" in one[1]])
async def test_posts_of_others_are_not_found(toured: Api, method: str, path: str) -> None:
    post = await toured.new_post(await toured.new_user())
    await command(toured, "POST", "/tour/readers", visit="f" * 32)
    others = (await command(toured, "POST", "/tour/posts", visit="f" * 32))[1]["id"]

    for post_id in (post["id"], others):
        status, problem = await command(toured, method, path.replace("{postId}", post_id))
        assert (status, problem["title"]) == (404, "Post not found")
    await command(toured, "POST", "/tour/end", visit="f" * 32)


async def command(toured: Api, method: str, path: str, *, visit: str = VISIT) -> tuple[int, Json]:
    async with toured.session.request(method, f"{toured.url}{path}", json={"visit": visit}) as answer:
        return answer.status, await answer.json()


async def test_an_idle_visit_is_ended() -> None:
    visits = Visits(idle_s=0)
    visits.use(VISIT)
    visits.add(VISIT, "post")
    assert visits.kept() == {"post"}

    visits.end_idle()
    visits.use(VISIT)
    visits.add(VISIT, "late")

    assert visits.kept() == set()


# How many lines of a step's text there are, and how many of them nothing covers.
LINES = """prose => {
  const text = document.createRange();
  text.selectNodeContents(prose);
  const lines = new Map();
  // The middle of a line; a code's rectangle is lower than its neighbors, but in the same line.
  for (const one of text.getClientRects()) if (one.height < 45) lines.set(Math.round((one.top + one.bottom) / 20), one);
  const isVisible = ({ left, top, bottom }) =>
    [top + 2, bottom - 2].every(y => prose.contains(document.elementFromPoint(left + 4, y)));
  return [lines.size, [...lines.values()].filter(isVisible).length];
}"""
SMALL_PHONE = {"width": 320, "height": 568}


async def assert_text_is_visible(page: Page) -> None:
    lines, visible = await page.locator(".tour > .prose").evaluate(LINES)
    assert visible == lines > 3


async def test_a_phone_shows_the_text_first_and_the_inspector_after_the_button(at_step: Visit, toured: Api) -> None:
    await write_a_post(toured)
    async with at_step(1, viewport=PHONE) as page:
        toggle = page.get_by_role("button", name="Inspector", exact=True)
        assert await toggle.get_attribute("aria-expanded") == "false"
        await assert_text_is_visible(page)
        await press(page, "Read the newest post", "1 request: 1.0")

        await expect(page.locator("[data-groups] > li").first).to_be_visible()
        assert await toggle.get_attribute("aria-expanded") == "true"
        await page.get_by_role("link", name="Write a post").last.click()
        await expect(page.get_by_role("heading", name="Write a post")).to_be_visible()
        await assert_text_is_visible(page)


async def test_who_has_closed_the_inspector_of_a_phone_does_not_get_it_with_the_button(
    at_step: Visit, toured: Api
) -> None:
    await write_a_post(toured)
    async with at_step(1, viewport=PHONE) as page:
        toggle = page.get_by_role("button", name="Inspector", exact=True)
        await toggle.click()
        await toggle.click()
        await press(page, "Read the newest post", "1 request: 1.0")

        assert await toggle.get_attribute("aria-expanded") == "false"
        await expect(page.locator("[data-log]")).to_be_hidden()


@pytest.mark.nightly
@pytest.mark.parametrize("viewport", [PHONE, SMALL_PHONE], ids=["phone", "small phone"])
@pytest.mark.parametrize("step", range(1, 9))
async def test_the_whole_text_of_a_step_is_visible_on_arrival(
    at_step: Visit, step: int, viewport: dict[str, int]
) -> None:
    async with at_step(step, viewport=viewport) as page:
        await assert_text_is_visible(page)


async def test_the_notice_of_a_switch_covers_nothing(at_step: Visit, toured: Api) -> None:
    async with at_step(2) as page:
        assert (await command(toured, "PUT", "/tour/switches/lag"))[0] == 200
        notice, header = page.locator("[data-switched]"), page.locator("header.site")
        await expect(notice).to_contain_text("delays the database", timeout=WAIT_MS)
        above, below = await notice.bounding_box(), await header.bounding_box()
        await page.get_by_role("link", name="Write", exact=True).click()
        await command(toured, "PUT", "/tour/switches/")

        assert above is not None
        assert below is not None
        assert 0 <= above["y"] < above["y"] + above["height"] <= below["y"]
        await expect(page).to_have_url(re.compile("/write$"))


@pytest.mark.nightly
@pytest.mark.parametrize("step", [4, 6])
async def test_the_sheet_of_a_phone_does_not_hide_the_button(at_step: Visit, step: int) -> None:
    async with at_step(step, viewport=PHONE) as page:
        button = await page.locator(".tour .actions").bounding_box()
        sheet = await page.locator("[data-drawer]").bounding_box()

        assert button is not None
        assert sheet is not None
        assert button["y"] + button["height"] <= sheet["y"]
        # Nor does the button hide part of a line.
        assert await page.locator(".tour .actions").evaluate(BACKGROUND) != TRANSPARENT


@pytest.mark.nightly
async def test_the_sheet_of_a_phone_does_not_hide_the_measurement(at_step: Visit) -> None:
    async with at_step(2, viewport=PHONE) as page:
        await press(page, "Write a post", "done after")
        measured = await page.locator("[data-measured]").bounding_box()
        sheet = await page.locator("[data-drawer]").bounding_box()

        assert measured is not None
        assert sheet is not None
        assert 0 <= measured["y"] <= sheet["y"] - measured["height"]


async def test_fifty_likes_are_a_few_transactions(at_step: Visit) -> None:
    async with at_step(3) as page:
        await press(page, "Like a post fifty times", "50 likes, counted as 50.", "RU by the change feeds")
        likes = page.locator("[data-groups] > li", has_text="Like a post fifty times at once")
        await likes.locator("summary").click()
        await expect(likes).to_contain_text(re.compile(r"\d × batch, \d patches and 50 creates in all"))


@pytest.mark.nightly
async def test_a_rename_reaches_a_thousand_comments(at_step: Visit) -> None:
    async with at_step(4) as page:
        assert await page.get_by_role("button", name="Rename", exact=True).is_disabled()
        await press(page, "First, write 1,000 comments", "1,000 comments: ")
        await press(page, "First, write 1,000 comments", "No new comments: ")
        # More than a thousand: the posts change feed corrects comments that it delivers with the old name, too.
        await press(
            page,
            "Rename",
            re.compile(r"1 rename: [12],\d{3} copies in posts. 17.96 RU by the command, .* done after"),
            "All 1,000 comments have the new name.",
        )


async def test_the_session_token_shows_the_own_write(
    at_step: Visit, toured_app: RunningApp, toured_emulator: EmulatorThread
) -> None:
    async with at_step(5) as page:
        await press(page, "Edit and read", "With it: “Edited on the tour at")
        assert "Without the token: “Edited" not in await page.locator("[data-verdict]").inner_text()
        assert toured_emulator.settings.replica_lag is None
        shown = page.locator("[data-groups] > li")
        await expect(shown.filter(has_text="Edit a post")).to_have_count(1)
        reads = shown.filter(has_text="Read a post without and with the session token")
        await reads.locator("summary").click()
        await expect(reads.locator("table").first).to_contain_text("point read")
        # The operations of both reads add up to the charge of the request.
        charges = await reads.locator("table").first.locator("tbody td:last-child").all_inner_texts()
        await expect(reads.locator(".charge")).to_have_text(f"{sum(map(float, charges)):.2f} RU")


@pytest.mark.nightly
async def test_a_hot_partition_refuses_requests(
    at_step: Visit, toured_app: RunningApp, toured_emulator: EmulatorThread
) -> None:
    async with at_step(6) as page:
        await press(page, "Like three posts fifty times", "got 429, waited and ran again", "50 likes, counted as 50.")
        assert not toured_emulator.settings.throttle
        async with page.context.expect_page() as opened:
            await page.get_by_role("link", name="Partition load").click()
        load = await opened.value
        await expect(load.get_by_role("tab", name="Load")).to_have_attribute("aria-selected", "true")


@pytest.mark.nightly
@pytest.mark.parametrize("step", range(1, 8))
async def test_a_step_can_be_left_halfway(
    at_step: Visit, toured_app: RunningApp, toured_emulator: EmulatorThread, step: int
) -> None:
    async with at_step(step) as page:
        await button_of(page).click()
        await page.goto(f"{toured_app.url}/tour/8")

        await eventually(lambda: is_quiet(toured_emulator), deadline_s=SOON_S)
        await expect(page.locator("[data-bill] tr")).to_have_count(4)


@pytest.mark.nightly
@pytest.mark.parametrize("step", [5, 6, 7])
async def test_a_closed_tab_sets_its_switch_back(at_step: Visit, toured_emulator: EmulatorThread, step: int) -> None:
    async with at_step(step) as page:
        assert is_quiet(toured_emulator)
        await button_of(page).click()
        await eventually(lambda: not is_quiet(toured_emulator), deadline_s=SOON_S)
        await page.close()

        await eventually(lambda: is_quiet(toured_emulator), deadline_s=SOON_S)


@pytest.mark.parametrize(
    ("switch", "error", "is_short"),
    [
        ("faults", DatabaseUnavailable("503"), True),
        ("", DatabaseUnavailable("503"), False),
        ("faults", ValueError(), False),
    ],
)
def test_a_delivery_that_the_tour_makes_fail_is_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, switch: str, error: Exception, *, is_short: bool
) -> None:
    provoked_failures.shorten()
    monkeypatch.setattr(SWITCHES, "_name", switch)

    logging.getLogger("Function.on_users_changed").error("function=%s outcome=failed", "f", exc_info=error)

    [record] = caplog.records
    assert ("the tour makes the database fail" in record.getMessage()) == (record.exc_info is None) == is_short


@pytest.mark.nightly
async def test_everything_is_right_after_the_faults(at_step: Visit, toured_app: RunningApp) -> None:
    before = len(toured_app.log_lines(containing="Traceback"))
    async with at_step(7) as page:
        await page.get_by_role("button", name="Rename and like", exact=True).click()
        await expect(page.locator("[data-verdict]")).to_contain_text(
            "of 1,000 comments have the new name", timeout=3 * WAIT_MS
        )
        done = "All 1,000 comments have the new name. 50 likes, counted as 50."
        await expect(page.locator("[data-verdict]")).to_have_text(done, timeout=3 * WAIT_MS)
        lines = (await page.locator("[data-measured]").inner_text()).splitlines()
        assert [re.sub(r"[:.].*", "", line) for line in lines] == ["1 rename", "50 likes"]
        assert len(toured_app.log_lines(containing="Traceback")) == before
        assert not any("answered with" in line for line in lines)


@pytest.mark.nightly
async def test_other_visitors_are_told_and_not_hit_while_the_database_fails(
    at_step: Visit, toured: Api, toured_app: RunningApp, toured_emulator: EmulatorThread
) -> None:
    post = await toured.new_post(author := await toured.new_user())
    async with at_step(7) as page:
        other = await page.context.new_page()
        await other.goto(f"{toured_app.url}/", wait_until="networkidle")
        await button_of(page).click()
        notice = other.locator("[data-switched]")
        await expect(notice).to_contain_text("makes the database fail", timeout=WAIT_MS)

        def hit() -> set[str | None]:
            return {one.rule.partition_key for one in toured_emulator.faults if "batch" in one.rule.operations}

        # The author, their ten posts and the liked one. The rules are added one after the other.
        await eventually(lambda: len(hit()) == 12)
        assert None not in hit()
        answers = [await toured.create_comment(post["id"], author["id"], f"Comment {n}") for n in range(30)]

        assert {answer.status for answer in answers} == {201}
        await expect(button_of(page)).to_be_enabled(timeout=3 * WAIT_MS)
        assert is_quiet(toured_emulator)
        await expect(notice).to_have_text("", timeout=WAIT_MS)


@pytest.mark.nightly
async def test_comments_that_were_prepared_in_part_are_completed(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "open_blog", AsyncMock(return_value=blog.stored))
    fault = f"503 operation=batch database={blog.settings.database} container=posts probability=0.5 seed=1"
    with blog.emulator.faults.during(fault):
        assert (await prepared_comments()).status_code == 503

    answer = await prepared_comments()

    stored = [await blog.posts.read(post_id, post_id) for post_id in json.loads(answer.get_body())["postIds"]]
    assert [post and await blog.counts(post) for post in stored] == [(100, 0)] * 10


async def prepared_comments() -> func.HttpResponse:
    body = json.dumps({"visit": VISIT}).encode()
    request = func.HttpRequest(
        "POST", "http://blog.test/tour/comments", headers={"Content-Type": "application/json"}, body=body
    )
    return await tour.write_tour_comments(request, UNTRACED)


async def test_the_bill_follows_the_load(at_step: Visit) -> None:
    async with at_step(8) as page:
        await page.get_by_label("Reads per day").fill("0")
        for name in ("Posts", "Comments"):
            await page.get_by_label(f"{name} per day").fill("0")
        await page.get_by_label("Likes per day").fill("8640000")

        # 100 likes per second, with their copies: RU/s, times 0.00008 dollars and 730 hours.
        rows = await page.locator("[data-bill] tr").all_inner_texts()
        assert [row.split("\t") for row in rows][-1] == ["This blog", "2,269", "133"]
        for load in ("-1", "1e11"):
            await page.get_by_label("Likes per day").fill(load)
            rows = await page.locator("[data-bill] tr").all_inner_texts()
            assert [row.split("\t") for row in rows][-1] == ["This blog", "–", "–"]
            assert not await page.get_by_label("Likes per day").evaluate("field => field.validity.valid")


@pytest.mark.nightly
@pytest.mark.parametrize("step", range(1, 9))
async def test_steps_are_accessible(at_step: Visit, step: int) -> None:
    # A color in the middle of an animation has no contrast that counts.
    async with at_step(step, reduced_motion="reduce") as page:
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        found = await page.evaluate("axe.run({resultTypes: ['violations']})")

        assert [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")] == []


@pytest.mark.nightly
@pytest.mark.parametrize("step", range(1, 9))
async def test_steps_fit_on_a_narrow_phone(at_step: Visit, step: int) -> None:
    async with at_step(step, viewport={"width": 320, "height": 640}) as page:
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320
        heights = await page.locator(".bill td").evaluate_all("cells => cells.map(one => one.offsetHeight)")
        assert len(set(heights)) <= 1


@pytest.mark.nightly
@pytest.mark.parametrize("step", [3, 6])
async def test_a_result_does_not_move_a_phone_s_page(at_step: Visit, step: int) -> None:
    async with at_step(step, viewport=PHONE) as page:
        # The press itself opens the inspector: https://developer.mozilla.org/docs/Web/API/LayoutShift/hadRecentInput
        await page.evaluate(OBSERVE.replace("entry.value", "entry.hadRecentInput ? 0 : entry.value"))
        await button_of(page).click()
        await expect(page.locator("[data-measured]")).to_contain_text("done after", timeout=WAIT_MS)

        assert await page.evaluate("window.shifts") < 0.05


async def test_figures_and_steps_do_not_need_scripts(browser: Browser, toured_app: RunningApp) -> None:
    async with await browser.new_context(java_script_enabled=False) as profile:
        page = await profile.new_page()
        await page.goto(f"{toured_app.url}/tour/1")

        assert "Here 1 RU, V1 10 RU." in await page.locator(".costs").inner_text()
        assert "Measured" not in await page.locator(".costs").inner_text()
        await expect(page.get_by_text("this is a point read")).to_be_visible()


async def test_the_bill_says_that_it_needs_scripts(browser: Browser, toured_app: RunningApp) -> None:
    async with await browser.new_context(java_script_enabled=False) as profile:
        page = await profile.new_page()
        await page.goto(f"{toured_app.url}/tour/8")

        await expect(page.locator("noscript .notice")).to_have_text("The buttons of the tour need JavaScript.")
        await expect(page.get_by_role("spinbutton")).to_have_count(0)
        await expect(page.get_by_role("table")).to_have_count(0)
        await expect(page.get_by_text("dollars per RU/s and hour")).to_contain_text(": 0.00008 dollars")
        await page.get_by_text("docs/cost.md").click()
        await expect(page.get_by_role("heading", name="Prices")).to_be_visible()
        assert await page.locator(".tour a[href*='.md']").count() == 0


async def test_the_front_page_introduces_the_tour_and_the_api(toured: Api) -> None:
    async with toured.session.get(toured.url) as answer:
        front_page = await answer.text()

    assert '<a class="button" href="/tour">Take the tour</a>' in front_page
    assert '<a class="button quiet" href="/api/docs">Open the API</a>' in front_page


async def test_a_dismissed_introduction_stays_dismissed(toured: Api, browser: Browser) -> None:
    async with await browser.new_context() as context:
        page = await context.new_page()
        await page.goto(toured.url)

        await page.get_by_role("button", name="Dismiss").click()

        await expect(page.get_by_role("link", name="Take the tour")).to_be_hidden()
        await page.reload()
        await expect(page.get_by_role("link", name="Take the tour")).to_be_hidden()


async def test_the_current_step_is_marked_in_forced_colors(at_step: Visit) -> None:
    async with at_step(3, forced_colors="active") as page:
        colors = await page.locator(".steps a").evaluate_all(f"links => links.map({BACKGROUND})")

        assert [color == colors[0] for color in colors] == [True, True, False, True, True, True, True, True]


async def test_a_switch_that_is_not_renewed_is_set_back(
    toured_emulator: EmulatorThread, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulator_switches, "settings", lambda: settings)
    switches = EmulatorSwitches(limit_s=0.5)

    assert await switches.switch("throttle")
    assert toured_emulator.settings.throttle

    await eventually(lambda: not toured_emulator.settings.throttle)


async def test_an_unknown_switch_is_refused(toured: Api, toured_emulator: EmulatorThread) -> None:
    async with toured.session.put(f"{toured.url}/tour/switches/nope", json={"visit": VISIT}) as answer:
        problem = await answer.json()

    assert answer.status == 400
    assert problem["detail"] == "There is no switch 'nope'; use one of lag, throttle, faults."
    assert is_quiet(toured_emulator)


@pytest.mark.parametrize("path", [path for method, path in COMMANDS if method == "POST"])
async def test_other_sites_cannot_use_the_tour(toured: Api, path: str) -> None:
    """Without asking the app first, a page can send only such a body to another site."""
    async with toured.session.post(f"{toured.url}{path}", data="{}") as answer:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.status == 415


@pytest.mark.nightly
async def test_a_visit_works_after_the_accounts_of_sample_users_are_deleted(toured: Api) -> None:
    body = {"visit": uuid4().hex}

    async def tried(path: str) -> Json:
        async with toured.session.post(f"{toured.url}/tour/{path}", json=body) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    await tried("readers")
    post = await tried("posts")
    await tried(f"likes/{post['id']}")
    for like in (await toured.list_likes(post["id"], limit=100)).body["items"]:
        assert (await toured.delete_user(like["userId"])).status == 204

    for path in ("readers", "posts", "comments", "end"):
        await tried(path)


async def test_the_posts_of_a_user_with_a_key_like_the_tours_stay(toured: Api) -> None:
    key = {"Idempotency-Key": f"tour-{uuid4().int % 50}"}
    user = (await toured.create_user(unique("ada"), key)).body
    post = await toured.new_post(user)

    async with toured.session.post(f"{toured.url}/tour/end", json={"visit": uuid4().hex}) as ended:
        assert ended.status == 200

    assert (await toured.get_post(post["id"])).status == 200


def test_an_app_with_sign_in_is_told_why_it_has_no_tour() -> None:
    request = func.HttpRequest(method="POST", url="/tour/readers", body=b"")
    call: Call[tour._Command] = parse_call(request, None, SignedIn(uuid4()))

    with pytest.raises(Forbidden, match="its sample users"):
        tour._require_back_end(call)


async def test_another_account_has_no_switches(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    other = settings.model_copy(update={"account": Account("http://localhost:9/", "key")})
    monkeypatch.setattr(emulator_switches, "settings", lambda: other)

    assert [await EmulatorSwitches().switch(name) for name in ("lag", "throttle", "faults")] == [False] * 3


def test_the_figures_of_the_bill_are_those_of_the_capacity_plan() -> None:
    kept = json.loads((REPOSITORY / "addons/inspector/static/article.json").read_text(encoding="utf-8"))["load"]

    assert kept["mix"] == {name[:2]: share for name, share in demand.QUERY_MIX.items()}
    assert (kept["hours"], kept["ruHour"]) == (demand.HOURS_A_MONTH, demand.RU_HOUR)


def test_the_figures_of_the_tour_are_recorded_ones() -> None:
    kept = json.loads((REPOSITORY / "addons/inspector/static/article.json").read_text(encoding="utf-8"))
    models = json.loads((REPOSITORY / "docs/benchmarks/models.json").read_text(encoding="utf-8"))
    bursts = {one["model"]: one["command_ru"] for one in models["bursts"]["bursts"] if one["command"] == "like"}
    renames = {one["model"]: one["request_units"] / one["count"] for one in models["renames"]["fan_outs"]}

    new_posts = {one["model"]: one["request_units"] / one["count"] for one in models["posts"]["fan_outs"][:2]}
    copied = {"C2": new_posts}
    for name, kind in (("C3", "comment"), ("C4", "like")):
        bursts_of = [one for one in models["bursts"]["bursts"] if (one["command"], one["poll_s"]) == (kind, 0.3)]
        copied[name] = {one["model"]: one["propagation_ru"] for one in bursts_of}

    assert kept["feeds"] == {
        name: {model: round(charge, 2) for model, charge in by_model.items()} for name, by_model in copied.items()
    }
    assert kept["burst"] == {model: round(charge, 2) for model, charge in bursts.items()}
    assert kept["renamed"] == {model: round(charge, 2) for model, charge in renames.items()}
    assert kept["losses"] == json.loads((REPOSITORY / "docs/benchmarks/losses.json").read_text(encoding="utf-8"))
