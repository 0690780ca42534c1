"""Follow a request: its trace, and its way into the feed."""

from __future__ import annotations

import secrets

from tests.api import Api, Json
from tests.platform.telemetry.sink import ReceivedSpan, TelemetrySink
from tests.polling import eventually


def new_traceparent() -> tuple[str, str]:
    """Return a header, and its trace ID."""
    trace_id = secrets.token_hex(16)
    return f"00-{trace_id}-{secrets.token_hex(8)}-01", trace_id


async def span_of(sink: TelemetrySink, trace_id: str, name: str) -> ReceivedSpan:
    """Wait for a span of a trace."""
    spans = await eventually(lambda: [span for span in sink.named(name) if span.trace_id == trace_id])
    found: ReceivedSpan = spans[0]
    return found


async def in_feed(api: Api, post_id: str, username: str) -> bool:
    feed = (await api.get_feed(limit=100)).body["items"]
    return any(entry["postId"] == post_id and entry["userUsername"] == username for entry in feed)


def linked_to(sink: TelemetrySink, name: str, trace_id: str) -> list[ReceivedSpan]:
    """Spans with a link to a trace."""
    return [span for span in sink.named(name) if trace_id in [linked for linked, _ in span.links]]


async def new_commented_post(api: Api, sink: TelemetrySink, author: Json) -> Json:
    """Create a post and a comment, and wait for their delivery: otherwise, it could rename them before the fan-out.

    The feed does not show it, because the delivery of the post can already have copied the comment's count.
    """
    post, (traceparent, trace_id) = await api.new_post(author), new_traceparent()
    await api.create_comment(post["id"], author["id"], "Well put.", {"traceparent": traceparent})
    await eventually(lambda: linked_to(sink, "on_posts_changed", trace_id))
    return post


async def has_comment(api: Api, post_id: str) -> bool:
    feed = (await api.get_feed(limit=100)).body["items"]
    return any(entry["id"] == post_id and entry["commentCount"] == 1 for entry in feed)
