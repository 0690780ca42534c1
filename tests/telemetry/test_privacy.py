"""What telemetry and the log never contain."""

from __future__ import annotations

from bench.telemetry_sink import TelemetrySink
from tests.api import Api
from tests.blog import Blog
from tests.items import a_comment, a_post, a_user, unique
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
    await traced_api.edit_user(author["id"], other, headers)
    await eventually(lambda: in_feed(traced_api, post["id"], other))
    await eventually(lambda: sink.named("rename fan-out"))
    exported = len(sink.bodies)

    # The next exports have everything until here.
    await eventually(lambda: len(sink.bodies) > exported + 2)

    assert taken.status == 409
    assert not [body for body in sink.bodies if b"telling" in body.lower()]
    assert not [line for line in traced_app.log_lines() if "telling" in line.lower()]
    ids = [span for span in sink.spans if author["id"] in str(span) or post["id"] in str(span)]
    assert ids == []


async def test_a_malformed_item_is_not_quoted_in_the_log(traced_api: Api, traced_app: RunningApp, stored: Blog) -> None:
    author = a_user()
    comment = {**a_comment(a_post(author), author), "content": {"revealing": "content"}}
    await stored.posts.create(comment)

    answer = await traced_api.list_comments(comment["postId"])

    assert answer.status == 500
    await eventually(lambda: traced_app.log_lines(containing='request failed function="list_comments"'))
    assert not traced_app.log_lines(containing="revealing")


async def in_feed(api: Api, post_id: str, username: str) -> bool:
    feed = (await api.get_feed(limit=100)).body["items"]
    return any(entry["postId"] == post_id and entry["userUsername"] == username for entry in feed)
