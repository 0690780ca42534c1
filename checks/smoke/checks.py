"""What a deployed app must do. The test suite runs the same functions on the local stack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from aiohttp import ClientError, ClientSession

from checks.pages import not_shown
from tests.api import Api
from tests.items import unique
from tests.platform.telemetry.following import has_comment, in_feed, new_traceparent

Wait = Callable[[Callable[[], Any]], Awaitable[Any]]
"""`tests.polling.eventually` with a deadline and an interval."""


class Telemetry(Protocol):
    """What the app has exported."""

    async def log_lines(self, containing: str) -> int:
        """Return the number of log lines."""

    async def deliveries_caused_by(self, trace_id: str) -> Sequence[str]:
        """Return the names of the deliveries of changes that link to a trace."""

    async def role_names(self) -> Sequence[str]:
        """Return the names of the services in the application map."""


async def check_health(session: ClientSession, url: str, wait: Wait) -> None:
    """The app starts, and has the permissions that it needs."""

    async def is_healthy() -> bool:
        try:
            async with session.get(f"{url}/api/health") as answer:
                return answer.status == 200
        except ClientError:
            return False

    await wait(is_healthy)


async def check_feed(api: Api, wait: Wait) -> str:
    """A post, a comment and a rename reach the feed, and all pages are shown. Returns the trace ID of the post."""
    author = await api.new_user()
    traceparent, trace_id = new_traceparent()
    created = await api.create_post(author["id"], "Smoke test", "A post.", {"traceparent": traceparent})
    assert created.status == 201
    post = created.body
    await wait(lambda: in_feed(api, post["id"], author["username"]))
    await api.new_comment(post, author)
    await wait(lambda: has_comment(api, post["id"]))
    username = unique("ada")
    assert (await api.edit_user(author["id"], username)).status == 200
    await wait(lambda: in_feed(api, post["id"], username))
    assert await not_shown(api.session, api.url, post["id"], author["id"]) == {}
    return trace_id


async def check_start_from_zero(api: Api, is_idle: Callable[[], Awaitable[bool]], wait: Wait) -> None:
    """After the app has scaled to zero, a change starts the function that handles it."""
    await wait(is_idle)
    author = await api.new_user()
    post = await api.new_post(author)
    await wait(lambda: in_feed(api, post["id"], author["username"]))


async def check_telemetry(telemetry: Telemetry, trace_id: str, wait: Wait) -> None:
    """The log has the app's lines and no usernames, and the delivery of a post links to its request."""

    async def is_linked() -> bool:
        return "on_posts_changed" in await telemetry.deliveries_caused_by(trace_id)

    await wait(is_linked)
    await wait(lambda: telemetry.log_lines('function="create_user"'))
    # The ID of a reservation, which the Azure SDK's log of a request would contain.
    assert await telemetry.log_lines("username:") == 0
    assert len(await telemetry.role_names()) == 1
