"""Comment on a post, rename its author, and print both traces: `python -m bench.trace`.

The emulator and the Functions host run as processes of their own, and this process receives their telemetry.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from aiohttp import ClientSession

from bench.servers import emulator, functions_host
from bench.timing import until
from management.provision import provision
from tests.platform.telemetry.sink import ReceivedSpan, TelemetrySink

_DEADLINE_S: Final = 30.0

Json = dict[str, Any]


async def record(sink: TelemetrySink) -> tuple[str, str]:
    """Run the scenario; return the trace IDs of the comment and of the rename."""
    async with AsyncExitStack() as stack:
        settings = (await stack.enter_async_context(emulator(None))).settings("blog")
        await provision(settings)
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": sink.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "200"}
        host = await stack.enter_async_context(functions_host(settings, environment))
        session = await stack.enter_async_context(ClientSession(host.endpoint, raise_for_status=True))
        ada = await _send(session, "/api/users", username="ada")
        grace = await _send(session, "/api/users", username="grace")
        post = await _send(session, "/api/posts", ada, title="Notes", content="On the Engine.")
        await until(lambda: _feed_shows(session, post, "userUsername", "ada"), _DEADLINE_S)
        await _send(session, f"/api/posts/{post['id']}/comments", grace, content="Well put.")
        await until(lambda: _feed_shows(session, post, "commentCount", 1), _DEADLINE_S)
        other = await _send(session, "/api/posts", grace, title="COBOL", content="A compiler.")
        await _send(session, f"/api/posts/{other['id']}/comments", ada, content="Well put.")
        await until(lambda: _feed_shows(session, other, "commentCount", 1), _DEADLINE_S)
        await _send(session, f"/api/users/{ada['id']}", method="PUT", username="ada.lovelace")
        await until(lambda: _feed_shows(session, post, "userUsername", "ada.lovelace"), _DEADLINE_S)
        await until(lambda: _is_complete(sink), _DEADLINE_S)
    return sink.named("create_comment")[0].trace_id, sink.named("edit_user")[0].trace_id


def tree(sink: TelemetrySink, trace_id: str) -> Iterator[str]:
    """Yield lines that show a trace, and below each span the deliveries of changes that link to it."""
    spans = list({span.span_id: span for span in sink.spans}.values())
    known = {span.span_id for span in spans}
    root = next(span for span in spans if span.trace_id == trace_id and span.parent_id not in known)
    yield from _lines(root, spans, root.start_ns, depth=0, seen=set())


def _lines(
    span: ReceivedSpan, spans: list[ReceivedSpan], started_ns: int, *, depth: int, seen: set[str], link: str = ""
) -> Iterator[str]:
    seen.add(span.span_id)
    begun_ms, took_ms = (span.start_ns - started_ns) / 1e6, (span.end_ns - span.start_ns) / 1e6
    name = "  " * depth + link + span.name
    yield f"{name:<54} {begun_ms:>7.0f} {took_ms:>7.1f}  {_details(span.attributes)}".rstrip()
    children = sorted((other for other in spans if other.parent_id == span.span_id), key=lambda other: other.start_ns)
    for child in children:
        yield from _lines(child, spans, started_ns, depth=depth + 1, seen=seen)
    linked = [other for other in spans if span.span_id in [linked for _, linked in other.links] and not other.parent_id]
    for other in sorted(linked, key=lambda other: other.start_ns):
        if other.span_id not in seen:
            yield from _lines(other, spans, started_ns, depth=depth + 1, seen=seen, link="-> ")


def _details(attributes: Mapping[str, Any]) -> str:
    charge = attributes.get("azure.cosmosdb.operation.request_charge", attributes.get("blog.charge_ru"))
    status = attributes.get("db.response.status_code", attributes.get("http.response.status_code"))
    details = ["" if charge is None else f"{charge:6.2f} RU", "" if status is None else str(status)]
    if "blog.changes" in attributes:
        details.append(f"{attributes['blog.changes']} changes")
    return "  ".join(filter(None, details))


async def _is_complete(sink: TelemetrySink) -> bool:
    """Whether the delivery at the end of both traces has arrived, with its update of the front page."""
    commands = [sink.named(name) for name in ("create_comment", "edit_user")]
    if not all(commands):
        return False
    trace_ids = [spans[0].trace_id for spans in commands]
    updates = {span.parent_id for span in sink.named("patch feed")}
    deliveries = [delivery for delivery in sink.named("on_posts_changed") if delivery.span_id in updates]
    followed = {trace_id for delivery in deliveries for trace_id, _ in delivery.links}
    return followed.issuperset(trace_ids) and bool(sink.named("rename fan-out") and sink.named("on_users_changed"))


async def _feed_shows(session: ClientSession, post: Json, name: str, value: object) -> bool:
    async with session.get("/api/feed") as answer:
        items = (await answer.json())["items"]
    return any(entry["id"] == post["id"] and entry[name] == value for entry in items)


async def _send(
    session: ClientSession, path: str, by: Json | None = None, *, method: str = "POST", **fields: str
) -> Json:
    async with session.request(method, path, json=fields | ({"userId": by["id"]} if by else {})) as answer:
        return dict(await answer.json())


def main() -> None:
    """Print the traces."""
    with TelemetrySink() as sink:
        comment, rename = asyncio.run(record(sink))
        heading = f"{'':<54} {'at, ms':>7} {'ms':>7}"
        for title, trace_id in (("A comment", comment), ("A rename", rename)):
            lines = [f"\n{title} (trace {trace_id})\n\n{heading}", *tree(sink, trace_id)]
            sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
