"""/api/health through the real SDK, against a fake service that lacks resources, denies access, or hangs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer, unused_port
from cosmos_emulator import EmulatorSettings

from functions import health
from management.provision import provision
from shared.containers import container_definitions
from shared.platform.database.client import connect
from shared.platform.database.container import Container
from shared.platform.database.scope import request_scope
from shared.platform.database.sessions import Session
from shared.platform.errors import NotReady
from shared.platform.http.health import Readiness
from shared.platform.settings import Account, SettingsError
from shared.settings import Settings
from tests.blog import Blog, EmulatorThread
from tests.contract import assert_answer_matches
from tests.functions.invocations import UNTRACED
from tests.polling import eventually

SCRIPTS = {
    "posts/createComment",
    "posts/createLike",
    "posts/updateUsernames",
    "feed/truncateFeed",
}
EVERYTHING = {"single write region", "database", "users", "posts", "feed", "failures", "leases"} | SCRIPTS
CONTAINERS = {"users", "posts", "feed", "failures", "leases"}
# The client itself reads the account, too.
RECORDED = {"database"} | CONTAINERS | {f"{container}/docs" for container in CONTAINERS}


@dataclass
class Service:
    """A fake Cosmos DB account without items. Resources have the names that Readiness uses."""

    existing: set[str] = field(default_factory=lambda: set(EVERYTHING))
    forbidden: set[str] = field(default_factory=set)
    # Status of reading an item, by container.
    refused: dict[str, int] = field(default_factory=dict)
    hanging: bool = False
    asked: list[str] = field(default_factory=list)
    endpoint: str = ""
    multiple_write_regions: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/", self.account)
        app.router.add_get("/dbs/blog/", self.database)
        app.router.add_get("/dbs/blog/colls/{container}/", self.container)
        app.router.add_get("/dbs/blog/colls/{container}/docs/{item}/", self.item)
        app.router.add_get("/dbs/blog/colls/{container}/{kind}/", self.scripts)
        return app

    async def account(self, _request: web.Request) -> web.Response:
        location = {"name": "here", "databaseAccountEndpoint": self.endpoint}
        document = {
            "writableLocations": [location],
            "readableLocations": [location],
            "enableMultipleWriteLocations": self.multiple_write_regions,
            "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
        }
        if self.hanging:
            await self.released.wait()
        return web.json_response(document)

    async def database(self, _request: web.Request) -> web.Response:
        return await self.answer("database", {"id": "blog"})

    async def container(self, request: web.Request) -> web.Response:
        name = request.match_info["container"]
        definition = next(definition for definition in container_definitions() if definition["id"] == name)
        return await self.answer(name, {"id": name, "_rid": name, "partitionKey": definition["partitionKey"]})

    async def item(self, request: web.Request) -> web.Response:
        container = request.match_info["container"]
        answer = await self.answer(f"{container}/docs", {})
        status = self.refused.get(container, 404 if answer.status == 200 else answer.status)
        return web.json_response({"code": str(status)}, status=status, headers={"x-ms-retry-after-ms": "10000"})

    async def scripts(self, request: web.Request) -> web.Response:
        container = request.match_info["container"]
        found = [name.partition("/")[2] for name in sorted(self.existing) if name.startswith(f"{container}/")]
        feed = {"sprocs": "StoredProcedures", "triggers": "Triggers"}[request.match_info["kind"]]
        return await self.answer(f"{container}/", {feed: [{"id": name} for name in found], "_count": len(found)})

    async def answer(self, name: str, body: dict[str, Any]) -> web.Response:
        self.asked.append(name)
        if self.hanging:
            await self.released.wait()
        if name in self.forbidden:
            return web.json_response({"code": "Forbidden"}, status=403, headers={"x-ms-substatus": "5300"})
        if name.partition("/")[0] not in self.existing:
            return web.json_response({"code": "NotFound"}, status=404)
        return web.json_response(body, headers={"x-ms-request-charge": "1"})


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    service = Service()
    async with TestServer(service.app()) as server:
        service.endpoint = str(server.make_url("/"))
        yield service
        service.released.set()


@pytest.fixture
async def containers(service: Service) -> AsyncIterator[Callable[[str], Container]]:
    async with connect(Settings(account=Account(service.endpoint, "a2V5"), database="blog")) as client:
        database = client.get_database_client("blog")
        yield lambda name: Container(database.get_container_client(name))


async def test_a_complete_database_is_ready(containers: Callable[[str], Container]) -> None:
    found = await Readiness(container_definitions, containers, uses_scripts=lambda: True).checks()

    assert found == dict.fromkeys(EVERYTHING, "ready")


async def test_a_provisioned_database_is_ready_until_something_is_deleted(blog: Blog) -> None:
    found = await Readiness(container_definitions, blog.container, uses_scripts=lambda: True).checks()
    assert found == dict.fromkeys(EVERYTHING, "ready")

    await blog.posts.proxy.scripts.delete_stored_procedure("createLike")
    await blog.database.delete_container("leases")

    with pytest.raises(NotReady) as refusal:
        await Readiness(container_definitions, blog.container, uses_scripts=lambda: True).checks()
    assert set(refusal.value.names) == {"posts/createLike", "leases"}


async def test_an_account_with_multiple_write_regions_is_not_ready(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blog.emulator.settings, "multiple_write_regions", True)

    with pytest.raises(NotReady, match=r"Not ready: single write region\."):
        await Readiness(container_definitions, blog.container, uses_scripts=lambda: False).checks()


@pytest.mark.parametrize(
    ("missing", "not_ready"),
    [
        ({"posts/createLike"}, {"posts/createLike"}),
        ({"feed/truncateFeed", "leases"}, {"feed/truncateFeed", "leases"}),
        ({"feed"}, {"feed", "feed/truncateFeed"}),
        ({"database"}, {"database"}),
    ],
)
async def test_every_missing_resource_is_named(
    service: Service, containers: Callable[[str], Container], missing: set[str], not_ready: set[str]
) -> None:
    service.existing -= missing

    with pytest.raises(NotReady) as refusal:
        await Readiness(container_definitions, containers, uses_scripts=lambda: True).checks()

    assert set(refusal.value.names) == not_ready


async def test_scripts_that_cannot_be_listed_are_unchecked(
    service: Service, containers: Callable[[str], Container]
) -> None:
    service.forbidden = {"posts/", "feed/"}

    found = await Readiness(container_definitions, containers, uses_scripts=lambda: True).checks()

    assert {name for name, state in found.items() if state == "unchecked"} == SCRIPTS


async def test_a_forbidden_container_is_not_ready(service: Service, containers: Callable[[str], Container]) -> None:
    service.forbidden = {"users"}

    with pytest.raises(NotReady, match=r"Not ready: users\."):
        await Readiness(container_definitions, containers, uses_scripts=lambda: True).checks()


async def test_a_container_whose_items_cannot_be_read_is_not_ready(
    service: Service, containers: Callable[[str], Container]
) -> None:
    service.refused = {"posts": 503}

    with pytest.raises(NotReady, match=r"Not ready: posts\."):
        await Readiness(container_definitions, containers, uses_scripts=lambda: False).checks()


@pytest.mark.nightly
async def test_a_throttled_container_is_unchecked(service: Service, containers: Callable[[str], Container]) -> None:
    service.refused = {"posts": 429}

    # The response asks for more than THROTTLE_WAIT_S, so the SDK does not wait.
    found = await Readiness(container_definitions, containers, uses_scripts=lambda: False, deadline_s=60).checks()

    assert {name for name, state in found.items() if state == "unchecked"} == {"posts"}


async def test_a_check_reads_one_item_per_container(blog: Blog) -> None:
    with request_scope() as scope:
        await Readiness(container_definitions, blog.container, uses_scripts=lambda: False).checks()

    # Five items, and the definitions of the account (free), the database and the containers.
    assert (scope.request_units, scope.responses) == (11, 12)


async def test_a_session_token_from_the_client_is_not_used(blog: Blog) -> None:
    with request_scope() as scope:
        ahead = Session()
        ahead.add((await blog.posts.proxy.read())["_rid"], "0:-1#999999999")
        scope.session = Session.parse(str(ahead))
        found = await Readiness(container_definitions, blog.container, uses_scripts=lambda: False).checks()

    assert found["posts"] == "ready"


async def test_a_corrupted_file_of_the_emulator_is_not_ready(tmp_path: Path) -> None:
    settings = EmulatorSettings(port=0, data_dir=tmp_path)
    with EmulatorThread(settings) as emulator:
        await provision(Settings(account=Account(emulator.endpoint, emulator.key), database="blog"))
        async with connect(Settings(account=Account(emulator.endpoint, emulator.key), database="blog")) as client:
            posts = Container(client.get_database_client("blog").get_container_client("posts"))
            await posts.create({"id": "p", "postId": "p"})
    (file,) = tmp_path.glob("*/0.sqlite")  # noqa: ASYNC240 - nothing else runs
    file.write_bytes(b"not a database")

    with EmulatorThread(settings) as emulator:
        async with connect(Settings(account=Account(emulator.endpoint, emulator.key), database="blog")) as client:
            database = client.get_database_client("blog")
            readiness = Readiness(
                container_definitions,
                lambda name: Container(database.get_container_client(name)),
                uses_scripts=lambda: False,
            )
            with pytest.raises(NotReady, match=r"Not ready: posts\."):
                await readiness.checks()


async def test_an_unresponsive_database_is_not_ready_after_the_deadline(
    service: Service, containers: Callable[[str], Container]
) -> None:
    service.hanging = True

    with pytest.raises(NotReady) as refusal:
        await asyncio.wait_for(
            Readiness(container_definitions, containers, uses_scripts=lambda: True, deadline_s=0.2).checks(), 60
        )

    assert set(refusal.value.names) == EVERYTHING


async def test_an_unreachable_database_is_not_ready() -> None:
    # Like the app, do not enter the client: that would connect.
    client = connect(Settings(account=Account(f"http://127.0.0.1:{unused_port()}/", "a2V5"), database="blog"))
    database = client.get_database_client("blog")
    readiness = Readiness(
        container_definitions,
        lambda name: Container(database.get_container_client(name)),
        deadline_s=0.2,
        uses_scripts=lambda: True,
    )

    with pytest.raises(NotReady) as refusal:
        await readiness.checks()
    await client.close()

    assert set(refusal.value.names) == EVERYTHING


async def test_incomplete_settings_are_not_ready() -> None:
    def no_container(_name: str) -> Container:
        raise SettingsError("set BLOG_DATABASE, the name of the database")

    with pytest.raises(NotReady, match="settings"):
        await Readiness(container_definitions, no_container, uses_scripts=lambda: True).checks()


async def test_unused_scripts_are_not_checked(service: Service, containers: Callable[[str], Container]) -> None:
    service.existing -= SCRIPTS

    found = await Readiness(container_definitions, containers, uses_scripts=lambda: False).checks()

    assert set(found) == EVERYTHING - SCRIPTS


async def test_concurrent_requests_share_one_cached_check(
    service: Service, containers: Callable[[str], Container]
) -> None:
    readiness = Readiness(container_definitions, containers, uses_scripts=lambda: True, cache_s=60)

    await asyncio.gather(*(readiness.checks() for _ in range(20)))
    service.existing -= {"posts/createLike"}
    await readiness.checks()

    assert sorted(service.asked) == sorted({*RECORDED, "posts/", "feed/"})


@pytest.mark.parametrize("missing", [set(), {"feed"}], ids=["ready", "not-ready"])
async def test_more_than_a_second_of_traffic_causes_one_check(
    service: Service, containers: Callable[[str], Container], missing: set[str]
) -> None:
    readiness = Readiness(container_definitions, containers, uses_scripts=lambda: False)
    service.existing -= missing

    end = time.monotonic() + 1.3
    while time.monotonic() < end:
        with suppress(NotReady):
            await readiness.checks()
        await asyncio.sleep(0.01)

    assert sorted(service.asked) == sorted(RECORDED - {f"{container}/docs" for container in missing})


async def test_an_expired_check_is_repeated(service: Service, containers: Callable[[str], Container]) -> None:
    readiness = Readiness(container_definitions, containers, uses_scripts=lambda: True, cache_s=0.01)
    await readiness.checks()
    service.existing -= {"posts/createLike"}

    async def is_noticed() -> bool:
        try:
            await readiness.checks()
        except NotReady as refusal:
            return refusal.names == ("posts/createLike",)
        return False

    await eventually(is_noticed)


async def test_the_responses_match_the_description(
    service: Service, containers: Callable[[str], Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    def new_readiness() -> None:
        monkeypatch.setattr(
            health, "_readiness", Readiness(container_definitions, containers, uses_scripts=lambda: True)
        )

    new_readiness()
    ready = await _described_response()
    service.existing -= {"feed", "posts/createLike"}
    new_readiness()
    unready = await _described_response()

    assert (ready.status_code, ready.headers["Cache-Control"]) == (200, "no-store")
    assert (unready.status_code, unready.headers["Retry-After"]) == (503, "10")
    problem = json.loads(unready.get_body())
    assert (problem["title"], problem["instance"]) == ("Not ready", "/api/health")
    assert problem["detail"] == "Not ready: posts/createLike, feed, feed/truncateFeed."


async def _described_response() -> func.HttpResponse:
    answer = await health.get_health(func.HttpRequest("GET", "http://blog.test/api/health", body=b""), UNTRACED)
    headers = {**answer.headers, "content-type": answer.mimetype}
    docs = pytest.importorskip("addons.openapi.docs", reason="the app has no description")
    openapi = json.loads(docs.openapi_document().content)
    assert_answer_matches(openapi, "GET", "/api/health", answer.status_code, headers, answer.get_body())
    return answer
