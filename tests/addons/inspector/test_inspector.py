"""The inspector: what requests and change feeds do in the database."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Link, Span, Tracer, set_span_in_context
from playwright.async_api import Browser, Locator, Page, Response, Route, expect

from addons.inspector.recorder import KEPT_OPERATIONS, Recorder
from addons.inspector.settings import InspectorSettings
from bench.models.article import ARTICLE
from local.stack import StackSettings
from shared.platform.settings import SettingsError
from shared.platform.telemetry import ITEMS
from tests.accessibility import AXE
from tests.addons.web.browser.person import Person
from tests.addons.web.pages import Site
from tests.api import Api, Json
from tests.browser import BACKGROUND, TRANSPARENT, PageLog
from tests.items import unique
from tests.page_budget import BYTES, OBSERVE
from tests.polling import eventually
from tests.running_app import REPOSITORY, RunningApp, settings_of

WRITES = ("create", "patch", "replace", "upsert")
WIDTH = {"width": 1280, "height": 800}
_LINES = """element => {
  const text = document.createRange();
  text.selectNodeContents(element);
  return text.getClientRects().length;
}"""


@dataclass
class Events:
    """The events of an app after number `after`."""

    site: Site
    after: int = 0

    async def read(self) -> list[Json]:
        shown = await self.site.get(f"/inspector/events?all=1&after={self.after}")
        assert (shown.status, shown.headers["cache-control"]) == (200, "no-store")
        return list(json.loads(shown.text)["events"])

    async def forget(self) -> None:
        """Leave out what has happened so far."""
        for event in await self.read():
            self.after = event["number"]

    async def expect(self, **wanted: object) -> Json:
        """Wait for the first event with these fields."""

        async def find() -> Json | None:
            return next((event for event in await self.read() if wanted.items() <= event.items()), None)

        return dict(await eventually(find))

    async def delivery_that_touched(self, name: str, *partitions: str) -> Json:
        """Wait for a delivery with operations in all these logical partitions."""

        async def find() -> Json | None:
            deliveries = [event for event in await self.read() if event["name"] == name]
            return next((one for one in deliveries if set(partitions) <= partitions_of(one)), None)

        return dict(await eventually(find))

    async def have_written(self, partitions: set[str]) -> bool:
        """Whether deliveries, of either change feed, have written to all these logical partitions."""
        deliveries = [event for event in await self.read() if event["kind"] == "delivery"]
        return partitions <= {key for delivery in deliveries for key in partitions_of(delivery, written=True)}


@pytest.fixture
def events(inspected: Api, inspected_app: RunningApp) -> Events:
    return Events(Site(inspected.session, inspected_app.url))


def partitions_of(event: Json, *, written: bool = False) -> set[str]:
    operations = [one for one in event["operations"] if not written or any(kind in one["kind"] for kind in WRITES)]
    return {f"{one['container']}/{key}" for one in operations for key in one["partitionKeys"]}


async def test_without_the_setting_there_is_no_inspector(app: RunningApp, site: Site) -> None:
    front_page, events = await site.get("/"), await site.get("/inspector/events")

    assert [events.status, (await site.get("/tour")).status] == [404, 404]
    assert "/tour" not in front_page.text
    assert "inspector." not in front_page.text
    assert "data-inspector" not in front_page.text
    assert not any("inspector" in path for path in app.openapi["paths"])


@pytest.mark.parametrize("value", ["yes", "true", "2"])
def test_the_setting_is_0_or_1(value: str) -> None:
    found = [settings_of({"BLOG_INSPECTOR": valid}, InspectorSettings).inspector for valid in ("1", "0", "")]

    assert found == [True, False, False]
    with pytest.raises(SettingsError, match="set BLOG_INSPECTOR to 1"):
        settings_of({"BLOG_INSPECTOR": value}, InspectorSettings)


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("0", "0"), ("", "")])
def test_the_local_stack_enables_it_unless_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, used: str
) -> None:
    monkeypatch.delenv("BLOG_INSPECTOR", raising=False)
    if given is not None:
        monkeypatch.setenv("BLOG_INSPECTOR", given)

    stack = StackSettings(tmp_path, port=7071, cosmos_port=8081, data_dir=None, seed=False)

    assert stack.environment["BLOG_INSPECTOR"] == used


async def test_pages_have_the_drawer(inspected_app: RunningApp, events: Events) -> None:
    front_page = await events.site.get("/")

    toggle = front_page.page.one("button", data_toggle="")
    assert toggle["aria-expanded"] == "false"
    assert front_page.page.one("html")["data-inspector"] == "closed"
    assert front_page.page.one("div", id="inspector-log")["id"] == toggle["aria-controls"]
    nodes = {one["data-node"] for one in front_page.page.all("g") if "data-node" in one}
    assert nodes == {"requests", "users", "posts", "feed", "on_users_changed", "on_posts_changed"}
    assert not any("inspector" in path for path in inspected_app.openapi["paths"])


async def test_a_like_is_followed_by_the_delivery_of_its_post(inspected: Api, events: Events) -> None:
    author, liker = await inspected.new_user(), await inspected.new_user("liker")
    post = await inspected.new_post(author)
    await events.delivery_that_touched("on_posts_changed", f"users/{author['id']}", "feed/post")
    await events.forget()

    answer = await inspected.create_like(post["id"], liker["id"])
    like = await events.expect(name="C4")
    delivery = await events.delivery_that_touched("on_posts_changed", f"users/{author['id']}", "feed/post")

    assert like["title"] == "Like a post"
    assert (like["method"], like["path"], like["status"]) == ("POST", f"/api/posts/{post['id']}/likes", 201)
    assert like["charge"] == answer.charge_ru
    written = next(one for one in like["operations"] if one["kind"].startswith("batch"))
    assert written["kind"] == "batch: 1 patch, 1 create"
    assert (written["container"], written["partitionKeys"], written["status"]) == ("posts", [post["id"]], 200)
    assert 0 <= written["atMs"] < written["untilMs"] <= like["finishedAt"] - like["startedAt"] + 1
    assert delivery["number"] > like["number"]
    assert delivery["finished"]
    assert delivery["charge"] == pytest.approx(sum(one["charge"] for one in delivery["operations"]), abs=0.01)


async def test_a_rename_is_followed_to_every_copy(inspected: Api, events: Events) -> None:
    author, other = await inspected.new_user(), await inspected.new_user("other")
    own, commented, liked = [await inspected.new_post(user) for user in (author, other, other)]
    await inspected.new_comment(commented, author)
    await inspected.new_like(liked, author)
    await events.forget()
    former, new = "users/username:…", unique("renamed")

    answer = await inspected.edit_user(author["id"], new)
    rename = await events.expect(name="C1", method="PUT")
    release = await events.delivery_that_touched("on_users_changed", former)
    copies = {f"posts/{post['id']}" for post in (own, commented, liked)} | {f"users/{author['id']}", "feed/post"}
    await eventually(lambda: events.have_written(copies))

    assert rename["charge"] == answer.charge_ru
    assert {f"users/{author['id']}", "users/username:…"} == partitions_of(rename)
    assert [one["kind"] for one in rename["operations"]][-2:] == ["create", "replace"]
    everywhere = [one for one in release["operations"] if one["kind"] == "query"]
    assert [one["partitionKeys"] for one in everywhere] == [[]]
    assert release["charge"] == pytest.approx(sum(one["charge"] for one in release["operations"]), abs=0.01)


async def test_the_charges_of_operations_add_up_to_the_charge_of_the_request(inspected: Api, events: Events) -> None:
    author = await inspected.new_user()
    post = await inspected.new_post(author)
    await inspected.new_comment(post, author)
    await events.forget()

    shown = {
        f"/posts/{post['id']}": await events.site.get(f"/posts/{post['id']}"),
        f"/users/{author['id']}": await events.site.get(f"/users/{author['id']}"),
        f"/posts/{post['id']}/edit": await events.site.get(f"/posts/{post['id']}/edit"),
    }

    for path, answer in shown.items():
        event = await events.expect(path=path)
        assert answer.charge_ru > 0
        assert event["charge"] == answer.charge_ru
        assert sum(one["charge"] for one in event["operations"]) == pytest.approx(answer.charge_ru, abs=0.005)
    assert (await events.expect(path=f"/posts/{post['id']}"))["name"] == "Q2, Q4, Q5, Q6"


async def test_events_contain_no_content_of_items(inspected: Api, events: Events) -> None:
    secrets = [f"{word}-{unique('word')}" for word in ("title", "content", "comment", "key", "token")]
    title, content, comment, key, token = secrets
    author = await inspected.new_user()
    headers = {"Idempotency-Key": key, "Authorization": f"Bearer {token}"}
    post = (await inspected.create_post(author["id"], title, content, headers)).body
    await inspected.create_comment(post["id"], author["id"], comment, headers)
    await inspected.get_post(post["id"])
    await events.site.get(f"/posts/{post['id']}?limit=5&secret={token}")
    await events.delivery_that_touched("on_posts_changed", f"users/{author['id']}")

    text = json.dumps(await events.read())

    assert [secret for secret in secrets if secret in text] == []


async def test_a_malformed_number_is_rejected(events: Events) -> None:
    for after in ("-1", "x", "9" * 19):
        assert (await events.site.get(f"/inspector/events?after={after}")).status == 400


@pytest.fixture
def inspector() -> Recorder:
    return Recorder(kept=3)


@pytest.fixture
def tracer(inspector: Recorder) -> Tracer:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(inspector)
    return provider.get_tracer("blog")


@contextmanager
def a_request(
    tracer: Tracer, title: str = "Load a list", name: str = "Q6", *, path: str = "/", status: int = 200
) -> Iterator[Span]:
    with tracer.start_as_current_span("a_function") as span:
        yield span
        span.set_attributes({"http.request.method": "GET", "url.path": path})
        span.set_attributes({"blog.title": title, "blog.request": name})
        span.set_attributes({"http.response.status_code": status, "blog.charge_ru": 1.0})


def a_call(tracer: Tracer, *, charge: float = 1.5, **details: str) -> None:
    attributes = {"db.system.name": "azure.cosmosdb", "db.operation.name": "batch", "db.collection.name": "posts"}
    answer = {"db.response.status_code": "200", "azure.cosmosdb.operation.request_charge": charge}
    tracer.start_span("batch posts", attributes={**attributes, **answer, **details}).end()


@contextmanager
def a_delivery(
    tracer: Tracer, writers: dict[Span, int], *, charge: float = 0.0, finished: bool = True
) -> Iterator[Span]:
    """A delivery with so many items of each writer."""
    links = [Link(writer.get_span_context(), {ITEMS: items}) for writer, items in writers.items()]
    with tracer.start_as_current_span("on_posts_changed", Context(), links=links) as span:
        yield span
        done = {"blog.changes": sum(writers.values()), "blog.finished": finished, "blog.charge_ru": charge}
        span.set_attributes({**done, "db.collection.name": "posts"})


def a_command(tracer: Tracer) -> Span:
    with a_request(tracer, "Do it", "C1") as span:
        return span


def charges(inspector: Recorder, command: Span) -> list[float]:
    """The shares of a command in the charges of deliveries."""
    name = f"{command.get_span_context().trace_id:032x}"
    records = [one for one in inspector.since(0) if one["kind"] == "delivery"]
    return [one["causes"][name]["charge"] for one in records if name in one["causes"]]


@pytest.fixture(params=["rename first", "comment first"])
def overlapping(request: pytest.FixtureRequest, tracer: Tracer) -> tuple[Span, Span]:
    """A rename and the comment of another user, in both orders."""
    first, second = a_command(tracer), a_command(tracer)
    return (first, second) if request.param == "rename first" else (second, first)


def test_commands_share_a_delivery_by_their_items(
    inspector: Recorder, tracer: Tracer, overlapping: tuple[Span, Span]
) -> None:
    rename, comment = overlapping

    with a_delivery(tracer, {rename: 98, comment: 2}, charge=200.0):
        a_call(tracer, charge=200.0)

    assert (charges(inspector, rename), charges(inspector, comment)) == ([196.0], [4.0])


def test_a_fan_out_belongs_to_its_rename(inspector: Recorder, tracer: Tracer, overlapping: tuple[Span, Span]) -> None:
    rename, other = overlapping

    with a_delivery(tracer, {other: 1, rename: 1}, charge=1002.0) as delivery:
        a_call(tracer, charge=2.0)
        caller = set_span_in_context(rename, Context())
        with tracer.start_as_current_span("rename fan-out", caller, links=[Link(delivery.get_span_context())]):
            a_call(tracer, charge=1000.0)

    assert (charges(inspector, rename), charges(inspector, other)) == ([1001.0], [1.0])
    assert [bool(one["cause"]) for one in inspector.since(0)[-1]["operations"]] == [False, True]


def test_a_correction_belongs_to_the_rename_that_it_completes(
    inspector: Recorder, tracer: Tracer, overlapping: tuple[Span, Span]
) -> None:
    rename, comment = overlapping

    with a_delivery(tracer, {comment: 2}, charge=52.0) as delivery:
        a_call(tracer, charge=2.0)
        caller = set_span_in_context(rename, Context())
        with tracer.start_as_current_span("rename correction", caller, links=[Link(delivery.get_span_context())]):
            a_call(tracer, charge=50.0)

    assert (charges(inspector, rename), charges(inspector, comment)) == ([50.0], [2.0])


def test_changes_of_a_delivery_belong_to_the_commands_that_caused_it(
    tracer: Tracer, overlapping: tuple[Span, Span]
) -> None:
    inspector, (deletion, other) = Recorder(), overlapping
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(inspector)
    tracer = provider.get_tracer("blog")

    with a_delivery(tracer, {deletion: 3, other: 1}, charge=4.0) as first:
        a_call(tracer, charge=4.0)
    with a_delivery(tracer, {first: 10}, charge=8.0):
        a_call(tracer, charge=8.0)

    assert (charges(inspector, deletion), charges(inspector, other)) == ([3.0, 6.0], [1.0, 2.0])


def test_a_repeated_delivery_belongs_to_the_same_commands(
    inspector: Recorder, tracer: Tracer, overlapping: tuple[Span, Span]
) -> None:
    rename, comment = overlapping

    for finished in (False, True):
        with a_delivery(tracer, {rename: 1, comment: 1}, charge=6.0, finished=finished):
            a_call(tracer, charge=6.0)

    assert (charges(inspector, rename), charges(inspector, comment)) == ([3.0, 3.0], [3.0, 3.0])
    assert [one["finished"] for one in inspector.since(0) if one["kind"] == "delivery"] == [False, True]


def test_a_visitor_gets_their_requests_and_what_these_caused(inspector: Recorder, tracer: Tracer) -> None:
    own, other = a_command(tracer), a_command(tracer)
    inspector.remember(own, "ada")
    inspector.remember(other, "bob")
    for writer in (own, other):
        with a_delivery(tracer, {writer: 1}, charge=1.0):
            a_call(tracer, charge=1.0)

    assert [one["kind"] for one in inspector.since(0, "ada")] == ["delivery"]  # three are kept
    assert [one["kind"] for one in inspector.since(0, "bob")] == ["request", "delivery"]


def test_repeated_operations_are_one(inspector: Recorder, tracer: Tracer) -> None:
    with a_request(tracer):
        for key in ("a", "b", "b"):
            a_call(tracer, charge=2.0, **{"blog.batch": "30 patch", "blog.partition_key": key})

    [batches] = inspector.since(0)[0]["operations"]
    assert (batches["kind"], batches["count"], batches["items"]) == ("batch: 30 patch", 3, 90)
    assert (batches["charge"], batches["partitions"]) == (6.0, 2)


@pytest.mark.parametrize(("batch", "kind"), [("2 patch", "batch: 2 patch"), ("1 read", "point read by the primary")])
def test_batches_are_named_by_their_operations(inspector: Recorder, tracer: Tracer, batch: str, kind: str) -> None:
    with a_request(tracer):
        a_call(tracer, **{"blog.batch": batch})

    [record] = inspector.since(0)
    assert [one["kind"] for one in record["operations"]] == [kind]


def test_records_and_operations_are_bounded(inspector: Recorder, tracer: Tracer) -> None:
    for number in range(5):
        with a_request(tracer, path=f"/{number}"):
            for status in range(KEPT_OPERATIONS + 5):
                a_call(tracer, **{"db.response.status_code": str(status)})

    kept = inspector.since(0)
    assert [record["path"] for record in kept] == ["/2", "/3", "/4"]
    assert inspector.since(kept[0]["number"]) == kept[1:]
    assert len(kept[0]["operations"]) == KEPT_OPERATIONS


def test_requests_without_operations_are_kept_only_if_the_article_names_them(
    inspector: Recorder, tracer: Tracer
) -> None:
    for title, name, status in (
        ("Load a style sheet", "", 200),
        ("List recent posts", "Q6", 404),
        ("List recent posts", "Q6", 200),
    ):
        with a_request(tracer, title, name, status=status):
            pass

    [record] = inspector.since(0)
    assert (record["name"], record["title"], record["status"]) == ("Q6", "List recent posts", 200)


def test_commands_share_the_operations_of_their_group_commit(inspector: Recorder, tracer: Tracer) -> None:
    with a_request(tracer) as first, a_request(tracer) as second:
        links = [Link(span.get_span_context()) for span in (first, second)]
        with tracer.start_as_current_span("group commit", links=links):
            a_call(tracer, charge=9.0)

    shares = [[(one["charge"], one["sharers"]) for one in record["operations"]] for record in inspector.since(0)]
    assert shares == [[(4.5, 2)], [(4.5, 2)]]


def test_a_delivery_has_the_operations_of_its_fan_out(inspector: Recorder, tracer: Tracer) -> None:
    with tracer.start_as_current_span("on_users_changed") as delivery:
        with tracer.start_as_current_span("rename fan-out", Context(), links=[Link(delivery.get_span_context())]):
            a_call(tracer, charge=9.0)
        done = {"blog.changes": 1, "blog.finished": True, "blog.charge_ru": 9.0, "db.collection.name": "users"}
        delivery.set_attributes(done)

    [record] = inspector.since(0)
    assert (record["kind"], record["title"], record["changes"]) == ("delivery", "users change feed", 1)
    assert list(record["causes"].values()) == [{"items": 0, "share": 0.0, "charge": 9.0}]
    assert [(one["charge"], one["sharers"]) for one in record["operations"]] == [(9.0, 1)]


# Opens a page, and the inspector on it. The arguments are the path, and the arguments of Playwright's new_page.
Visit = Callable[..., AbstractAsyncContextManager[Page]]


@pytest.fixture
def a_visit(browser: Browser, inspected_app: RunningApp) -> Visit:
    @asynccontextmanager
    async def visit(
        path: str = "/", *, is_open: bool = True, all_visitors: bool = False, **options: Any
    ) -> AsyncIterator[Page]:
        page = await browser.new_page(**{"viewport": WIDTH, **options})
        log = PageLog(page)
        await page.goto(f"{inspected_app.url}{path}", wait_until="networkidle")
        if is_open:
            await toggle_of(page).focus()
            await page.keyboard.press("Enter")
        if all_visitors:
            await page.get_by_label("All visitors").check()
        yield page
        assert log.errors == []

    return visit


def toggle_of(page: Page) -> Locator:
    return page.get_by_role("button", name="Inspector", exact=True)


def entry(page: Page, title: str, about: str = "") -> Locator:
    found = page.locator("[data-groups] > li").filter(has=page.locator(".what", has_text=title))
    return found.filter(has_text=about)


async def test_a_request_that_the_article_does_not_have_says_so(a_visit: Visit, inspected: Api) -> None:
    user = await inspected.new_user()
    async with a_visit("/", all_visitors=True) as page:
        await inspected.get_user_data(user["id"])

        badge = entry(page, "Retrieve a user's data").first.locator(".badge")
        await expect(badge).to_have_accessible_description("Q7, not in the article", timeout=20_000)


async def test_the_drawer_shows_a_like_and_what_the_change_feed_did(a_visit: Visit, inspected: Api) -> None:
    author, liker = await inspected.new_user(), await inspected.new_user("liker")
    post = await inspected.new_post(author, "Named by its title")
    async with a_visit(f"/posts/{post['id']}", all_visitors=True) as page:
        await inspected.new_like(post, liker)
        like = entry(page, "Like a post").filter(has_text="Named by its title").first
        await expect(page.locator("[data-caption]")).to_contain_text("1 like: 2 copies in", timeout=20_000)
        await like.locator("summary").click()

        assert await toggle_of(page).get_attribute("aria-expanded") == "true"
        await expect(like.get_by_role("heading", name="posts change feed")).to_be_visible()
        await expect(like.get_by_role("rowheader", name="batch of 1 patch and 1 create")).to_be_visible()
        await expect(like.locator(".bars tr")).to_have_count(6)  # a head, four models, and now
        await expect(like.locator(".bars + .hint")).to_contain_text("the scale is logarithmic")
        await expect(like.locator(".badge")).to_have_accessible_description("C4, the article's command: Like a post")
        await expect(page.locator("[data-container=feed]")).to_have_class("node store seen")

        await page.reload()
        await expect(like).to_be_visible()  # still open, with the same entries
        await page.set_viewport_size({"width": 320, "height": 640})
        for wide in ("document.documentElement", "document.querySelector('#inspector-log')"):
            assert await page.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth"), wide
        await like.locator("summary").focus()
        await page.keyboard.press("Escape")
        assert await toggle_of(page).get_attribute("aria-expanded") == "false"
        assert await toggle_of(page).evaluate("element => element === document.activeElement")


@pytest.mark.nightly
async def test_the_choice_of_all_visitors_drops_an_answer_about_fewer(
    a_visit: Visit, inspected: Api, events: Events
) -> None:
    is_answered, is_chosen = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        if "all=1" not in route.request.url:
            is_answered.set()
            await is_chosen.wait()
        await route.fulfill(response=answer)

    async with a_visit() as page:
        await inspected.new_user()
        await events.expect(title="Create a user")
        await page.route("**/inspector/events*", hold)
        await asyncio.wait_for(is_answered.wait(), 20)

        await page.get_by_label("All visitors").check()
        is_chosen.set()

        await expect(entry(page, "Create a user").first).to_be_visible()


@pytest.mark.nightly
async def test_half_an_answer_is_asked_for_again(a_visit: Visit, inspected: Api) -> None:
    is_cut = asyncio.Event()

    async def cut(route: Route) -> None:
        await route.fulfill(body="{")
        is_cut.set()

    async with a_visit(all_visitors=True) as page:
        await page.route("**/inspector/events*", cut, times=1)
        await asyncio.wait_for(is_cut.wait(), 20)

        await inspected.new_user()

        await expect(entry(page, "Create a user").first).to_be_visible()


async def test_long_names_do_not_break_the_words_of_the_head(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.create_user(unique("name.of.thirty-characters")[:30])
    async with a_visit(f"/users/{author.body['id']}", viewport={"width": 320, "height": 640}) as page:
        shown = entry(page, "Show a user and their posts").first
        await shown.locator("summary").click()
        words = shown.locator("table:not(.bars) thead th").first

        await expect(words).to_have_text("Operation")
        assert await words.evaluate(_LINES) == 1


async def test_the_outcomes_of_operations_are_explained_in_words(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.new_user()
    async with a_visit(f"/users/{author['id']}", all_visitors=True) as page:
        await inspected.new_post(author)
        await inspected.create_user(author["username"])
        taken, written = entry(page, "Create a user", "status 409").first, entry(page, "Create a post").first
        for one in (taken, written):
            await one.locator("summary").click()

        await expect(taken.locator("tbody").first).to_contain_text("create already exists (409)")
        # The post was not in the feed before.
        await expect(written).to_contain_text("point read by the primary not found (207)")


async def test_the_closed_inspector_of_a_phone_covers_no_part_of_a_line(a_visit: Visit) -> None:
    async with a_visit("/", is_open=False, viewport={"width": 390, "height": 844}) as page:
        drawer = page.locator("[data-drawer]")
        box = await drawer.bounding_box()

        assert box is not None
        assert (box["x"], box["width"]) == (0, 390)
        assert await drawer.evaluate(BACKGROUND) != TRANSPARENT


RENAME = """async ([id, name]) => (await fetch(`/api/users/${id}`, {
  method: "PUT", headers: {"Content-Type": "application/json"}, body: JSON.stringify({username: name}),
})).status"""


@pytest.mark.nightly
@pytest.mark.parametrize("first", ["rename", "comment"])
async def test_overlapping_commands_have_their_own_deliveries(a_visit: Visit, inspected: Api, first: str) -> None:
    author, other = await inspected.new_user(), await inspected.new_user("other")
    title, renamed = unique("A title"), unique("renamed")
    post = await inspected.new_post(author, title)
    for number in range(5):
        await inspected.new_comment(post, author, f"Comment {number}")
    async with a_visit(f"/users/{author['id']}", all_visitors=True) as page:
        commands = [inspected.edit_user(author["id"], renamed), inspected.new_comment(post, other)]
        for command in commands if first == "rename" else reversed(commands):
            await command

        # Even if the comment made the posts change feed correct the names first, this is the rename's work.
        rename = entry(page, "Rename a user", renamed).locator(".sum")
        await expect(rename).to_contain_text(re.compile("copies in posts.* done after"), timeout=20_000)
        comment = entry(page, "Create a comment", title).first.locator(".sum")
        await expect(comment).to_contain_text("by the change feeds", timeout=20_000)
        assert "1 post" not in (await comment.text_content() or "")


async def test_it_shows_own_requests_and_keeps_names(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.new_user()
    await inspected.new_post(author)
    async with a_visit(f"/users/{author['id']}") as page:
        await inspected.edit_user(author["id"], unique("other"))
        name = unique("own")
        assert await page.evaluate(RENAME, [author["id"], name]) == 200

        await expect(entry(page, "Rename a user")).to_have_count(1)
        await expect(page.locator("[data-caption]")).to_contain_text("by the change feeds", timeout=20_000)
        await expect(entry(page, "Rename a user").locator(".where")).to_have_text(name)


# The links and buttons of the header that something covers at their ends.
COVERED = """() => [...document.querySelectorAll("header.site :is(a, button)")].filter(one => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  const isUncovered = x => one.contains(document.elementFromPoint(x, (top + bottom) / 2));
  return right > left && ![left + 3, right - 3].every(isUncovered);
}).map(one => one.textContent)"""


async def test_the_docked_inspector_leaves_room_for_the_header(a_visit: Visit) -> None:
    async with a_visit("/") as page:
        covered = list[str]()
        # The other add-ons have links, too.
        add = "(nav, text) => nav.append(Object.assign(nav.lastElementChild.cloneNode(), {textContent: text}))"
        for text in ("Search", "Reports"):
            await page.locator("header.site nav").evaluate(add, text)
        for width in (1100, 1180, 1240, 1280):
            await page.set_viewport_size({"width": width, "height": 800})
            covered += [f"{text} at {width}" for text in await page.evaluate(COVERED)]

        assert covered == []


async def test_only_a_choice_is_stored(a_visit: Visit, inspected_app: RunningApp) -> None:
    async with a_visit("/", is_open=False) as page:
        assert re.fullmatch(r"blog-inspector=[0-9a-f]{16}", await page.evaluate("document.cookie"))
        await page.goto(f"{inspected_app.url}/tour", wait_until="networkidle")
        assert await toggle_of(page).get_attribute("aria-expanded") == "true"

        await toggle_of(page).click()
        await page.reload()
        assert await toggle_of(page).get_attribute("aria-expanded") == "false"


async def test_a_new_visitor_sees_the_request_of_their_first_page(a_visit: Visit, inspected: Api) -> None:
    post = await inspected.new_post(await inspected.new_user(), "Read first")
    async with a_visit(f"/posts/{post['id']}") as page:
        await expect(entry(page, "Show a post with its comments", "Read first")).to_be_visible()
        await expect(page.locator("[data-caption]")).to_contain_text("1 request")


async def test_the_page_comes_first_and_background_reads_are_folded(
    a_visit: Visit, inspected: Api, inspected_app: RunningApp
) -> None:
    post = await inspected.new_post(await inspected.new_user(), "Of this page")
    async with a_visit("/") as page:
        await Person(page, inspected_app.url).sign_up()
        await page.goto(f"{inspected_app.url}/posts/{post['id']}", wait_until="networkidle")

        first = page.locator("[data-groups] > li").first
        await expect(first).to_contain_text("Show a post with its comments")
        await expect(first).to_have_class("shown")
        await expect(page.locator(".background")).to_contain_text("pages read the signed-in user")
        await expect(entry(page, "Retrieve a user")).to_have_count(0)
        await expect(page.locator("[data-groups] > li.earlier")).to_have_count(1)


async def test_partition_keys_are_shown_with_their_titles(a_visit: Visit, inspected: Api) -> None:
    post = await inspected.new_post(await inspected.new_user(), "Kept beside its key")
    async with a_visit(f"/posts/{post['id']}") as page:
        shown = entry(page, "Show a post with its comments")
        await shown.locator("summary").click()

        key = shown.locator(".key").first
        await expect(key.locator("code")).to_have_text(f"{post['id'][:8]}…")
        await expect(key).to_contain_text("Kept beside its key")


async def test_keys_that_are_shown_while_names_are_loading_get_their_titles(a_visit: Visit, inspected: Api) -> None:
    post = await inspected.new_post(await inspected.new_user(), "Kept beside its key")
    are_asked, are_released = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        are_asked.set()
        await are_released.wait()
        await route.continue_()

    async with a_visit() as page:
        await page.route("**/inspector/names*", hold)
        await page.goto(f"{inspected.url}/posts/{post['id']}")
        await asyncio.wait_for(are_asked.wait(), 20)
        shown = entry(page, "Show a post with its comments")
        await shown.locator("summary").click()
        key = shown.locator(".key").first
        await expect(key).to_contain_text(post["id"][:8])

        are_released.set()

        await expect(key).to_contain_text("Kept beside its key")


@pytest.mark.nightly
async def test_half_an_answer_with_names_is_asked_for_again(a_visit: Visit, inspected: Api) -> None:
    post = await inspected.new_post(await inspected.new_user(), "Kept beside its key")
    is_cut = asyncio.Event()

    async def cut(route: Route) -> None:
        await route.fulfill(body="{")
        is_cut.set()

    async with a_visit() as page:
        await page.route("**/inspector/names*", cut, times=1)
        await page.goto(f"{inspected.url}/posts/{post['id']}")
        await asyncio.wait_for(is_cut.wait(), 20)

        shown = entry(page, "Show a post with its comments")
        await shown.locator("summary").click()

        await expect(shown.locator(".key").first).to_contain_text("Kept beside its key")


async def test_a_page_loads_only_new_events(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.new_user()
    async with a_visit(f"/users/{author['id']}") as page:
        assert await page.evaluate(RENAME, [author["id"], unique("own")]) == 200
        await expect(entry(page, "Rename a user")).to_be_visible()
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        await page.reload()
        # Not during the reload, because a response to the page before it has no body any more.
        async with page.expect_response("**/inspector/events*") as later:
            pass

        answer = await later.value
        polls = [url for url in requested if "/inspector/events" in url]
        assert [url for url in polls if "after=0" in url] == []
        assert not [one for one in (await answer.json())["events"] if one["title"].startswith("Rename")]
        await expect(entry(page, "Rename a user")).to_be_visible()


@pytest.mark.nightly
async def test_the_sheet_does_not_hide_a_new_comment(a_visit: Visit, inspected: Api, inspected_app: RunningApp) -> None:
    post = await inspected.new_post(await inspected.new_user())
    async with a_visit(f"/posts/{post['id']}", viewport={"width": 390, "height": 844}) as page:
        ada = Person(page, inspected_app.url)
        await ada.sign_up()
        await ada.comment("Mine.")
        await expect(ada.status).to_have_text("Your comment is published.")

        comment, sheet = await ada.comments.first.bounding_box(), await page.locator("[data-drawer]").bounding_box()
        assert comment is not None
        assert sheet is not None
        assert 0 <= comment["y"] < comment["y"] + comment["height"] <= sheet["y"]


async def test_it_shows_what_ran_while_it_was_closed(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.new_user()
    async with a_visit(f"/users/{author['id']}", is_open=False) as page:
        assert await page.evaluate(RENAME, [author["id"], unique("own")]) == 200
        await toggle_of(page).click()

        await expect(entry(page, "Rename a user")).to_be_visible()


@pytest.mark.nightly
async def test_a_command_is_done_if_no_more_deliveries_follow(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.new_user()
    await inspected.new_post(author)
    async with a_visit(f"/users/{author['id']}") as page:
        assert await page.evaluate(RENAME, [author["id"], unique("own")]) == 200

        await expect(page.locator("[data-caption]")).to_contain_text("by the change feeds, still running")
        await expect(page.locator("[data-caption]")).to_contain_text("done after")


@pytest.mark.nightly
async def test_a_command_is_replayed_with_the_slider(a_visit: Visit, inspected: Api) -> None:
    author = await inspected.new_user()
    await inspected.new_post(author)
    async with a_visit(f"/users/{author['id']}") as page:
        assert await page.evaluate(RENAME, [author["id"], unique("own")]) == 200
        await expect(page.locator("[data-caption]")).to_contain_text("done after", timeout=20_000)
        posts, time = page.locator("[data-container=posts]"), page.get_by_role("slider", name="Time")
        charge = await posts.locator("[data-ru]").text_content()

        await time.fill("0")
        await expect(posts.locator("[data-ru]")).to_have_text("")  # so far, only the user was read
        await expect(posts).not_to_have_class(re.compile("seen"))
        await page.get_by_role("button", name="Replay slowly").click()
        await expect(posts).to_have_class(re.compile("lit"))
        await expect(page.get_by_role("button", name="Replay slowly")).to_be_visible(timeout=20_000)
        await expect(posts.locator("[data-ru]")).to_have_text(str(charge))


@pytest.mark.nightly
async def test_the_sheet_of_a_phone_is_dragged(a_visit: Visit) -> None:
    async with a_visit("/", viewport={"width": 390, "height": 844}) as page:
        heights = []
        for target in (150, 400, 800):
            grip = await page.locator("[data-grip]").bounding_box()
            assert grip is not None
            await page.mouse.move(195, grip["y"] + grip["height"] / 2)
            await page.mouse.down()
            await page.mouse.move(195, target, steps=5)
            await page.mouse.up()
            heights.append(await page.locator("html").get_attribute("data-sheet"))
        await page.reload()

        assert heights == ["high", "half", "low"]
        assert await page.locator("html").get_attribute("data-sheet") == "low"


@pytest.mark.nightly
@pytest.mark.parametrize("colors", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
async def test_the_inspector_is_accessible(
    a_visit: Visit, inspected: Api, width: int, colors: Literal["light", "dark"]
) -> None:
    author = await inspected.new_user()
    viewport = {"width": width, "height": 844}
    # A color in the middle of an animation has no contrast that counts.
    options = {"viewport": viewport, "color_scheme": colors, "reduced_motion": "reduce"}
    async with a_visit(f"/users/{author['id']}", **options) as page:
        assert await page.evaluate(RENAME, [author["id"], unique("own")]) == 200
        await entry(page, "Rename a user").locator("summary").click()
        await expect(page.locator(".bars")).to_be_visible()
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        found = await page.evaluate("axe.run({resultTypes: ['violations']})")
        assert [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")] == []


@pytest.mark.nightly
@pytest.mark.parametrize("width", [390, 1440])
async def test_the_front_page_with_the_open_inspector_is_small_and_does_not_shift(
    a_visit: Visit, inspected: Api, inspected_app: RunningApp, width: int
) -> None:
    author = await inspected.new_user()
    for _ in range(20):
        await inspected.new_post(author, "A title of usual length", "Some words of *Markdown*. " * 10)
    async with a_visit(f"/users/{author['id']}", viewport={"width": width, "height": 844}) as page:
        assert await page.evaluate(RENAME, [author["id"], unique("own")]) == 200
        await expect(page.locator("[data-caption]")).to_contain_text("by the change feeds", timeout=20_000)
        session = await page.context.new_cdp_session(page)
        await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        responses: list[Response] = []
        page.on("response", lambda response: responses.append(response))
        await page.add_init_script(OBSERVE)

        await page.goto(f"{inspected_app.url}/", wait_until="networkidle")

        await expect(entry(page, "Rename a user")).to_be_visible()
        sizes = [await response.request.sizes() for response in responses]
        assert sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) <= BYTES
        assert await page.evaluate("window.shifts") < 0.05


# Files that the first paint waits for: https://developer.mozilla.org/docs/Web/API/PerformanceResourceTiming/renderBlockingStatus
BLOCKING = """
performance.getEntriesByType("resource")
    .filter(entry => entry.renderBlockingStatus === "blocking")
    .map(entry => new URL(entry.name).pathname)
"""


@pytest.mark.nightly
async def test_the_open_inspector_does_not_delay_the_front_page(a_visit: Visit) -> None:
    blocking: dict[str, list[str]] = {}
    async with a_visit("/") as page:
        for _ in range(2):
            await toggle_of(page).click()
            state = str(await page.locator("html").get_attribute("data-inspector"))
            await page.reload(wait_until="networkidle")
            blocking[state] = sorted(await page.evaluate(BLOCKING))

    assert blocking["open"] == blocking["closed"] != []


def test_the_figures_are_those_of_the_benchmark() -> None:
    kept = json.loads((REPOSITORY / "addons/inspector/static/article.json").read_text(encoding="utf-8"))
    run = json.loads((REPOSITORY / "docs/benchmarks/models.json").read_text(encoding="utf-8"))["requests"]

    assert kept["measured"] == run["conditions"]["started"][:10]
    for name, request in kept["requests"].items():
        costs = [run["costs"][name][model]["charge_ru"] for model in kept["models"]]
        assert request["measured"] == [round(cost, 2) for cost in costs], name
        if request["article"]:
            assert request["article"] == [ARTICLE[name][model].charge_ru for model in ("V1", "V2", "V3")]
