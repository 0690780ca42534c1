"""One trace from an HTTP request to the change-feed functions that it caused."""

from __future__ import annotations

import asyncio
import uuid

from tests.api import Api
from tests.blog import Blog
from tests.platform.telemetry.following import in_feed, linked_to, new_commented_post, new_traceparent, span_of
from tests.platform.telemetry.sink import CLIENT, INTERNAL, ReceivedSpan, TelemetrySink
from tests.polling import eventually


def calls_of(sink: TelemetrySink, span: ReceivedSpan) -> list[ReceivedSpan]:
    """The database calls of a span, in order."""
    calls = [one for one in sink.spans if one.parent_id == span.span_id and one.kind == CLIENT]
    return sorted(calls, key=lambda call: call.start_ns)


async def test_a_request_continues_its_callers_trace_and_has_a_span_for_each_database_call(
    traced_api: Api, sink: TelemetrySink
) -> None:
    user = await traced_api.new_user()
    traceparent, trace_id = new_traceparent()

    await traced_api.get_user(user["id"], {"traceparent": traceparent})

    request = await span_of(sink, trace_id, "get_user")
    [call] = calls_of(sink, request)
    # The parent is the host's own span, which Microsoft's host exports.
    assert (request.kind, len(request.parent_id)) == (INTERNAL, 16)
    assert request.parent_id != traceparent.split("-")[2]
    assert request.attributes == {
        "http.request.method": "GET",
        "url.path": f"/api/users/{user['id']}",
        "http.response.status_code": 200,
        "blog.charge_ru": 1.0,
        "blog.request": "Q1",
        "blog.title": "Retrieve a user",
    }
    assert (call.name, call.trace_id, call.is_error) == ("point read users", trace_id, False)
    assert str(call.attributes.pop("blog.physical_partitions")).isdecimal()
    assert uuid.UUID(str(call.attributes.pop("azure.service.request.id")))
    assert call.attributes == {
        "db.system.name": "azure.cosmosdb",
        "db.collection.name": "users",
        "db.operation.name": "point read",
        "blog.partition_key": user["id"],
        "db.response.status_code": "200",
        "azure.cosmosdb.operation.request_charge": 1.0,
    }
    assert request.start_ns <= call.start_ns <= call.end_ns <= request.end_ns


async def test_a_comment_is_traced_into_the_feed(traced_api: Api, sink: TelemetrySink) -> None:
    author = await traced_api.new_user()
    post = await traced_api.new_post(author)
    await eventually(lambda: in_feed(traced_api, post["id"], author["username"]))
    traceparent, trace_id = new_traceparent()

    await traced_api.create_comment(post["id"], author["id"], "Well put.", {"traceparent": traceparent})

    [delivery] = await eventually(lambda: linked_to(sink, "on_posts_changed", trace_id))
    request = await span_of(sink, trace_id, "create_comment")
    assert (trace_id, request.span_id) in delivery.links
    assert "patch feed" in [call.name for call in calls_of(sink, delivery)]
    assert delivery.attributes["blog.finished"] is True
    assert delivery.attributes["blog.changes"] == 2


async def test_a_rename_is_traced_through_its_fan_out_into_the_feed(traced_api: Api, sink: TelemetrySink) -> None:
    author = await traced_api.new_user()
    post = await new_commented_post(traced_api, sink, author)
    traceparent, trace_id = new_traceparent()
    renamed = f"{author['username']}.renamed"[:30]

    await traced_api.edit_user(author["id"], renamed, {"traceparent": traceparent})

    await eventually(lambda: in_feed(traced_api, post["id"], renamed))
    request = await span_of(sink, trace_id, "edit_user")
    fan_out = await span_of(sink, trace_id, "rename fan-out")
    users_delivery = (await eventually(lambda: linked_to(sink, "on_users_changed", trace_id)))[0]
    posts_delivery = (await eventually(lambda: linked_to(sink, "on_posts_changed", trace_id)))[0]
    assert fan_out.parent_id == request.span_id
    assert fan_out.links == [(users_delivery.trace_id, users_delivery.span_id)]
    assert (trace_id, fan_out.span_id) in posts_delivery.links
    assert "patch feed" in [call.name for call in calls_of(sink, posts_delivery)]


async def test_likes_that_share_a_group_commit_are_linked_to_it(traced_api: Api, sink: TelemetrySink) -> None:
    author = await traced_api.new_user()
    post = await traced_api.new_post(author)
    likers = [await traced_api.new_user() for _ in range(8)]
    traces = [new_traceparent() for _ in likers]

    await asyncio.gather(
        *(
            traced_api.create_like(post["id"], liker["id"], {"traceparent": traceparent})
            for liker, (traceparent, _) in zip(likers, traces, strict=True)
        )
    )

    requests = [await span_of(sink, trace_id, "create_like") for _, trace_id in traces]
    await traced_api.get_post(post["id"], {"traceparent": (last := new_traceparent())[0]})
    await span_of(sink, last[1], "get_post")  # spans arrive in order
    writes = [span for span in sink.spans if span.kind == CLIENT and "posts" in span.name]
    writers = {span.parent_id for span in writes}
    groups = [group for group in sink.named("group commit") if group.span_id in writers]
    for request in requests:
        # It has the write itself, or a group commit that links to it has.
        in_groups = [group for group in groups if (request.trace_id, request.span_id) in group.links]
        assert request.span_id in writers or in_groups
        assert {group.parent_id for group in in_groups} <= {request.span_id for request in requests}


async def test_the_api_never_returns_the_trace_of_an_item(traced_api: Api, stored: Blog) -> None:
    author = await traced_api.new_user()
    post = await traced_api.new_post(author)
    comment = await traced_api.new_comment(post, author)
    like = await traced_api.new_like(post, author)

    answers = [
        await traced_api.get_user(author["id"]),
        await traced_api.get_post(post["id"]),
        await traced_api.edit_post(post["id"], "Another title", "Other content."),
        await traced_api.list_comments(post["id"]),
        await traced_api.list_likes(post["id"]),
        await eventually(lambda: list_of_posts(traced_api, author["id"])),
        await traced_api.get_feed(),
    ]

    items = await stored.items_of(post)
    assert {item["type"] for item in items if "traceparent" in item} == {"post", "comment", "like"}
    traces = [item["traceparent"].split("-")[1] for item in items if "traceparent" in item]
    for text in (str(author), str(post), str(comment), str(like), *(str(answer.content) for answer in answers)):
        assert not [name for name in ("traceparent", *traces) if name in text]


async def list_of_posts(api: Api, user_id: str) -> object:
    answer = await api.list_user_posts(user_id)
    return answer if answer.body["items"] else None


async def test_copies_have_no_trace(traced_api: Api, stored: Blog) -> None:
    author = await traced_api.new_user()
    post = await traced_api.new_post(author)

    await eventually(lambda: in_feed(traced_api, post["id"], author["username"]))

    feed = await stored.all_items(stored.feed)
    copies = [item for item in await stored.all_items(stored.users) if item["type"] == "post"]
    assert not [item for item in (*feed, *copies) if "traceparent" in item]


async def test_a_log_line_has_the_trace_of_its_request(traced_api: Api, traced_app: object) -> None:
    traceparent, trace_id = new_traceparent()

    await traced_api.get_user("unknown", {"traceparent": traceparent})

    [line] = traced_app.log_lines(containing=trace_id)
    assert 'request function="get_user" method="GET" path="/api/users/unknown" status=404' in line
