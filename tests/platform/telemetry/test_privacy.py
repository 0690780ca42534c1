"""Telemetry and the log never contain what people write."""

from __future__ import annotations

from tests.api import Api
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user, unique
from tests.platform.telemetry.following import in_feed, new_traceparent, span_of
from tests.platform.telemetry.sink import TelemetrySink
from tests.polling import eventually
from tests.running_app import RunningApp


async def test_content_usernames_and_tokens_are_never_recorded(
    traced_api: Api, traced_app: RunningApp, sink: TelemetrySink
) -> None:
    # Everything that a client sends or the database stores has "telling" in it.
    username, other = unique("telling"), unique("telling")
    headers = {
        "Idempotency-Key": "telling-key",
        "Authorization": "Bearer telling-token",
        "x-functions-key": "telling-code",
        "Cookie": "telling=cookie",
        "baggage": "user=telling",
        "tracestate": "telling=state",
    }
    author = (await traced_api.create_user(username, headers)).body
    taken = await traced_api.create_user(username)
    post = (await traced_api.create_post(author["id"], "A telling title", "Telling content.", headers)).body
    await traced_api.create_comment(post["id"], author["id"], "A telling comment.", headers)
    await traced_api.create_like(post["id"], author["id"], headers)
    traceparent, trace_id = new_traceparent()
    await traced_api.edit_user(author["id"], other, {**headers, "traceparent": traceparent})
    await eventually(lambda: in_feed(traced_api, post["id"], other))
    await span_of(sink, trace_id, "rename fan-out")

    # Spans are exported in order, so this one is the last to arrive. The next metrics have everything until then.
    traceparent, last_id = new_traceparent()
    await traced_api.get_post(post["id"], {"traceparent": traceparent})
    await span_of(sink, last_id, "get_post")
    exported = len(sink.bodies)
    await eventually(lambda: len(sink.bodies) > exported + 1)

    assert taken.status == 409
    assert not [body for body in sink.bodies if b"telling" in body.lower()]
    assert not [line for line in traced_app.log_lines() if "telling" in line.lower()]
    # IDs are in the paths of requests and in partition keys only.
    named = ("url.path", "blog.partition_key")
    others = [str(one) for span in sink.spans for name, one in span.attributes.items() if name not in named]
    assert not [one for one in others if author["id"] in one or post["id"] in one]


async def test_a_malformed_item_is_not_quoted_in_the_log(traced_api: Api, traced_app: RunningApp, stored: Blog) -> None:
    author = a_user()
    post = await stored.posts.create(a_post(author))
    comment = {**a_comment(post, author), "content": {"revealing": "content"}}
    await stored.posts.create(comment)

    answer = await traced_api.list_comments(comment["postId"])

    assert (answer.status, answer.body["items"]) == (200, [])
    await eventually(lambda: traced_app.log_lines(containing="damaged item left out"))
    assert not traced_app.log_lines(containing="revealing")
