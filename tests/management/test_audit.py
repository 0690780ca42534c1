"""`manage.py audit` lists the deletions by moderators, oldest first."""

from __future__ import annotations

import json
import uuid

from shared.data.comments import delete_comment
from shared.data.permissions import BackEnd, Deletion, SignedIn
from shared.data.posts import delete_post
from shared.data.users import create_user, delete_user
from shared.models.user import NewUser
from tests.blog import Blog
from tests.items import a_comment, a_post, unique
from tests.management.command_line import manage_blog

MODERATOR = Deletion(SignedIn(uuid.uuid4(), is_moderator=True), "Insults.\n\x1b[31mmore")


async def test_without_deletions_there_is_nothing(blog: Blog) -> None:
    listed = await manage_blog(blog, "audit")

    assert (listed.exit_code, listed.output.splitlines()[0]) == (0, "No recorded deletions.")


async def test_deletions_are_listed_with_their_reasons(blog: Blog) -> None:
    user = await create_user(blog.users, NewUser(username=unique("ada")), idempotency_key=None)
    post = await blog.posts.create(a_post(user) | {"commentCount": 1})
    comment = await blog.posts.create(a_comment(post, user))
    await delete_comment(blog.stored, post["id"], comment["id"], deletion=MODERATOR)
    await delete_post(blog.posts, post["id"], deletion=MODERATOR)
    await delete_user(
        blog.users, user["id"], deletion=Deletion(BackEnd(), "Spam :bomb: [b]on[/b] 80:100:20.", bans=True)
    )

    listed, as_json = await manage_blog(blog, "audit"), await manage_blog(blog, "audit", "--json")

    assert (listed.exit_code, as_json.exit_code) == (0, 0)
    by, reason = f"moderator {MODERATOR.by.user} deleted the", r"Insults.\n\x1b[31mmore"
    lines = [line.partition("  ")[2] for line in listed.output.splitlines()[:3]]
    assert lines == [
        f"{by} comment {comment['id']} of the user {user['id']}: {reason}",
        f"{by} post {post['id']} of the user {user['id']}: {reason}",
        f"a back end deleted the account of the user {user['id']} and banned them: Spam :bomb: [b]on[/b] 80:100:20.",
    ]
    assert "3 recorded deletions." in listed.output
    items = [json.loads(line) for line in as_json.output.splitlines() if line.startswith("{")]
    assert [item["itemType"] for item in items] == ["comment", "post", "user"]
    assert items[-1]["reason"] == "Spam :bomb: [b]on[/b] 80:100:20."
    assert post["content"] not in listed.output + as_json.output
