"""Compare the blog with the record of a run, over HTTP and by item."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from checks.chaos.reader import Reader
from checks.chaos.run_record import RunRecord
from shared.data.blog import Blog
from shared.platform.database.container import Container
from shared.platform.deliveries.concurrency import for_each

# `verify` does not wait for the list of reported items.
_LISTED_WITHIN_S = 30.0
_AUDIT = "SELECT VALUE c.itemId FROM c WHERE c.type = 'audit'"
_CREATED = "SELECT c.id, c.type, c.content, c.username FROM c WHERE c.type IN (@type, 'comment')"


class ConsistencyCheck:
    """`lost` lists missing acknowledged writes, `diverged` other inconsistencies."""

    def __init__(self, record: RunRecord, reader: Reader, blog: Blog, moderation: Container | None) -> None:
        self._record = record
        self._reader = reader
        self._blog = blog
        self._moderation = moderation
        self.lost: list[str] = []
        self.diverged: list[str] = []

    async def run(self) -> None:
        await self._each(self._record.names, self._user)
        await self._each(self._record.posts, self._post)
        await self._each([post for post, states in self._record.posts.items() if None not in states], self._list)
        self.diverged += [
            f"post {post_id} was reported missing, but nobody deleted it"
            for post_id in self._record.missed
            if None not in self._record.posts[post_id]
        ]
        await self._creations()
        if self._moderation is not None:
            await self._reports()
            await self._audits(self._moderation)
            await self._bans()

    async def _each(self, ids: Iterable[str], check: Callable[[str], Awaitable[None]]) -> None:
        await for_each(ids, check)

    async def _user(self, user_id: str) -> None:
        name, names = (await self._reader.get(f"/users/{user_id}")).get("username"), self._record.names[user_id]
        if name not in names:
            self.lost.append(f"user {user_id} is {name!r}, expected {_shown(names)}")

    async def _post(self, post_id: str) -> None:
        title, titles = (await self._reader.get(f"/posts/{post_id}")).get("title"), self._record.posts[post_id]
        if title not in titles:
            self.lost.append(f"post {post_id} is {title!r}, expected {_shown(titles)}")

    async def _list(self, post_id: str) -> None:
        """Check a post's comments and likes: presence, counts and usernames."""
        post, comments, likes = await asyncio.gather(
            self._reader.get(f"/posts/{post_id}"),
            self._reader.pages(f"/posts/{post_id}/comments"),
            self._reader.pages(f"/posts/{post_id}/likes"),
        )
        counts = post.get("commentCount"), post.get("likeCount")
        if counts != (len(comments), len(likes)):
            self.diverged.append(f"post {post_id} counts {counts}, but there are {len(comments)}, {len(likes)}")
        found, likers = {comment["id"] for comment in comments}, {like["userId"] for like in likes}
        for comment_id, comment in self._record.comments.items():
            if comment.post_id == post_id and (comment_id in found) not in comment.there:
                self.lost.append(f"comment {comment_id} on {post_id}: expected {comment.there}")
        for (liked, user_id), there in self._record.likes.items():
            if liked == post_id and (user_id in likers) not in there:
                self.lost.append(f"like of {post_id} by {user_id}: expected {there}")
        self._names([post, *comments, *likes])

    def _names(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            names = self._record.names.get(item.get("userId", ""))
            if names is not None and item["userUsername"] not in names:
                self.diverged.append(
                    f"{item['type']} {item['id']} has username {item['userUsername']!r}, expected {_shown(names)}"
                )

    async def _reports(self) -> None:
        """Check that the list has, in the end, the number of reports of each item that exists, and no other item."""
        deadline = time.monotonic() + _LISTED_WITHIN_S
        while faults := await self._wrong_reports():
            if time.monotonic() > deadline:
                self.lost += faults
                return
            await asyncio.sleep(1)

    async def _wrong_reports(self) -> list[str]:
        listed = {entry["itemId"]: entry["reportCount"] for entry in await self._reader.pages("/reports")}
        possible: defaultdict[str, list[set[bool]]] = defaultdict(list)
        for (item_id, _), states in self._record.reports.items():
            possible[item_id].append(states)
        faults = []
        for item_id, reports in possible.items():
            comment, titles = self._record.comments.get(item_id), self._record.posts.get(item_id, {None})
            if comment is not None:
                is_there = comment.there if None not in self._record.posts[comment.post_id] else {False}
            else:
                is_there = {title is not None for title in titles}
            count = listed.pop(item_id, 0)
            least = sum(states == {True} for states in reports) if is_there == {True} else 0
            most = sum(True in states for states in reports) if True in is_there else 0
            if not least <= count <= most:
                faults.append(f"{item_id} has {count} reports, expected {least} to {most}")
        return faults + [f"{item_id} is listed as reported, but nobody did" for item_id in listed]

    async def _audits(self, moderation: Container) -> None:
        """Check that each deletion with a reason has an audit item."""
        audit = moderation.query_across(_AUDIT, {}, page_size=1000)
        found = Counter([item_id async for item_id in audit])
        for item_id, least in self._record.audits.items():
            if found.pop(item_id, 0) < least:
                self.lost.append(f"the deletion of {item_id} has no audit item")
        self.diverged += [f"{item_id} has an audit item, but nobody gave a reason" for item_id in found]

    async def _bans(self) -> None:
        """Check that the tombstones of banned users never expire."""
        for user_id in self._record.banned:
            tombstone = await self._blog.users.read_latest(user_id, user_id) or {}
            if tombstone.get("ttl") != -1 or "formerUsernames" in tombstone:
                self.lost.append(f"the ban of {user_id} expires, or its deletion is unfinished")

    async def _creations(self) -> None:
        """Check that each command created at most one item, with the acknowledged ID if any."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        known = {*self._record.names, *self._record.posts, *self._record.comments}
        for container, kind in ((self._blog.users, "user"), (self._blog.posts, "post")):
            async for item in container.query_across(_CREATED, {"type": kind}, page_size=1000):
                mark = item.get("username") or item["content"].split()[0]
                if item["id"] not in known or mark in self._record.created:
                    found[mark].add(item["id"])
        for mark, ids in found.items():
            answered = self._record.created.get(mark)
            if answered is None:
                self.diverged.append(f"{mark}: no command created items {ids}")
            elif len(ids | answered) > 1:
                self.diverged.append(f"{mark}: created more than once: {ids}, acknowledged {answered}")


def _shown(states: Iterable[object]) -> str:
    return " or ".join(sorted(map(repr, states)))
