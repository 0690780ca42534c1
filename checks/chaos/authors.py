"""Authors: clients that send every kind of command, each with separate users and posts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.util import find_spec

from checks.chaos.api_client import ApiClient, FinalResponse, GaveUp
from checks.chaos.run_record import CommentState, RunRecord

_USERS, _POSTS = 2, 4
_MOST_USERS, _MOST_POSTS = 5, 30
_CONDITIONAL_ATTEMPTS = 20


class Author:
    """Sends commands. Only this client changes its users and posts, so it knows their state."""

    def __init__(self, api_client: ApiClient, *, moderates: bool) -> None:
        """With `moderates`, it also reports, and deletes as a moderator."""
        self._api_client = api_client
        self._moderates = moderates
        self._random = api_client.commands
        self._users: list[str] = []
        self._posts: list[str] = []
        self._comments: list[str] = []
        self._number = 0

    @property
    def _record(self) -> RunRecord:
        return self._api_client.record

    async def run(self, over: asyncio.Event) -> None:
        while not over.is_set():
            with suppress(GaveUp):
                await self._choose()()

    def _choose(self) -> Callable[[], Awaitable[None]]:
        if len(self._users) < _USERS:
            return self._create_user
        if len(self._posts) < _POSTS:
            return self._create_post
        weights: dict[Callable[[], Awaitable[None]], int] = {
            self._create_user: 1 if len(self._users) < _MOST_USERS else 0,
            self._come_and_go: 1,
            self._rename: 3,
            self._create_post: 4 if len(self._posts) < _MOST_POSTS else 0,
            self._edit_post: 5,
            self._delete_post: 2,
            self._comment: 8,
            self._delete_comment: 3,
            self._like: 8,
            self._unlike: 5,
            self._report: 4 if self._moderates else 0,
            self._export: 1,
        }
        return self._random.choices(list(weights), list(weights.values()))[0]

    def _mark(self) -> str:
        """Return unique text that identifies what a command creates."""
        self._number += 1
        return f"{self._api_client.name}-{self._number}"

    async def _create_user(self) -> None:
        name = self._mark()
        self._record.created[name] = set()
        answer = await self._api_client.create("/users", {"username": name})
        if self._expect(answer, "create a user", 201):
            self._record.created[name].add(answer.body["id"])
            self._record.names[answer.body["id"]] = {name}
            self._users.append(answer.body["id"])

    async def _come_and_go(self) -> None:
        """Create a user, write as them, and delete them. Whatever a late attempt writes must be erased, too."""
        name, title, text = self._mark(), self._mark(), self._mark()
        self._record.created |= {name: set(), title: set(), text: set()}
        user = await self._api_client.create("/users", {"username": name})
        if not self._expect(user, "create a user", 201):
            return
        user_id, others = user.body["id"], self._some_post()
        self._record.created[name].add(user_id)
        # From now on, everything can be there or not, until the deletion is acknowledged.
        self._record.names[user_id] = {name, None}
        like = self._record.likes.setdefault((others, user_id), {True, False})
        post = await self._api_client.create("/posts", {"userId": user_id, "title": title, "content": title})
        if not self._expect(post, "create a post", 201):
            return
        self._record.created[title].add(post.body["id"])
        self._record.post_created(post.body["id"], title, for_all=False)
        self._record.posts[post.body["id"]].add(None)
        written = CommentState(others, {True, False})
        comment = await self._api_client.create(f"/posts/{others}/comments", {"userId": user_id, "content": text})
        if comment.status == 201:
            self._record.created[text].add(comment.body["id"])
            self._record.comments[comment.body["id"]] = written
        await self._api_client.create(f"/posts/{others}/likes", {"userId": user_id})
        if self._moderates:  # the report still counts after the deletion, without its reason
            report = self._record.reports.setdefault((others, user_id), {True, False})
            reported = await self._api_client.create(f"/posts/{others}/reports", {"userId": user_id, "reason": text})
            # An attempt that is still running withdraws its report after the deletion.
            if reported.status in (200, 201) and not reported.in_flight:
                report.intersection_update({True})
        is_ban = self._moderates and self._random.random() < 0.5
        if is_ban:
            self._record.audits[user_id] = 0
        path = f"/moderation/users/{user_id}?reason=chaos&ban=true" if is_ban else f"/users/{user_id}"
        deleted = await self._api_client.send("DELETE", path)
        if self._expect(deleted, "delete a user", *([204] if is_ban else [204, 404])):
            self._record.names[user_id] = {None}
            self._record.posts[post.body["id"]] = {None}
            written.there = {False}
            like.intersection_update({False})
            if is_ban:
                self._record.audits[user_id] = 1
                self._record.banned.add(user_id)

    async def _export(self) -> None:
        """Take the data of a user along. The first item of the first page is the user."""
        if not find_spec("addons.export"):  # taken off
            return
        user_id, cursor = self._random.choice(self._users), ""
        path = f"/users/{user_id}/data?limit=20"
        while True:
            answer = await self._api_client.send("GET", path + cursor)
            if not self._expect(answer, "export", 200):
                return
            items = answer.body["items"]
            if not cursor and (not items or items[0]["id"] != user_id):
                self._record.diverged(f"the data of {user_id} does not begin with the user: {items[:1]}")
            if foreign := {item["userId"] for item in items} - {user_id}:
                self._record.diverged(f"the data of {user_id} has items of {foreign}")
            if "nextCursor" not in answer.body:
                return
            cursor = f"&cursor={answer.body['nextCursor']}"

    async def _create_post(self) -> None:
        mark = self._mark()
        self._record.created[mark] = set()
        body = {"userId": self._random.choice(self._users), "title": mark, "content": f"{mark} {'words ' * 60}"}
        answer = await self._api_client.create("/posts", body)
        if self._expect(answer, "create a post", 201):
            self._record.created[mark].add(answer.body["id"])
            self._record.post_created(answer.body["id"], mark)
            self._posts.append(answer.body["id"])

    async def _comment(self) -> None:
        post_id, mark = self._some_post(), self._mark()
        self._record.created[mark] = set()
        body = {"userId": self._random.choice(self._users), "content": mark}
        answer = await self._api_client.create(f"/posts/{post_id}/comments", body)
        if answer.status == 404:
            self._record.missed.add(post_id)
        elif self._expect(answer, "comment", 201):
            comment_id = answer.body["id"]
            self._record.created[mark].add(comment_id)
            self._record.comments[comment_id] = CommentState(post_id, {True})
            self._comments.append(comment_id)

    async def _rename(self) -> None:
        user_id, name = self._random.choice(self._users), self._mark()
        path, names = f"/users/{user_id}", self._record.names
        await self._put(path, {"username": name}, "username", names[user_id], name)

    async def _edit_post(self) -> None:
        post_id, title = self._random.choice(self._posts), self._mark()
        body = {"title": title, "content": f"{title} edited"}
        await self._put(f"/posts/{post_id}", body, "title", self._record.posts[post_id], title)

    async def _put(self, path: str, body: dict[str, str], field: str, states: set[str | None], wanted: str) -> None:
        """PUT, half of the time with `If-Match`. `states` are the possible values of `field`."""
        if self._record.is_busy(path):
            return
        states.add(wanted)
        if self._random.random() < 0.5:
            answer = await self._put_conditionally(path, body, field, wanted)
            done = answer is not None
        else:
            done = self._expect(await self._send_alone(path, "PUT", body), f"PUT {path}", 200)
        if done:
            states.intersection_update({wanted})

    async def _put_conditionally(
        self, path: str, body: dict[str, str], field: str, wanted: str
    ) -> FinalResponse | None:
        """Read, change and retry on conflict; a late attempt has no effect."""
        for _ in range(_CONDITIONAL_ATTEMPTS):
            seen = await self._api_client.send("GET", path)
            if not self._expect(seen, f"GET {path}", 200):
                return None
            if seen.body[field] == wanted:
                return seen
            answer = await self._api_client.send("PUT", path, body, {"If-Match": seen.etag or ""})
            if answer.status != 412:
                return answer if self._expect(answer, f"conditional PUT {path}", 200) else None
            if not answer.uncertain:
                await self._check_refusal(path, field, wanted)
        return None

    async def _check_refusal(self, path: str, field: str, wanted: str) -> None:
        seen = await self._api_client.send("GET", path)
        if seen.status == 200 and seen.body[field] == wanted:
            self._record.rejected_although_applied += 1

    async def _send_alone(self, target: object, method: str, body: dict[str, str] | None = None) -> FinalResponse:
        """Send a command without `If-Match`. A late attempt could undo a later command, so none is sent until then."""
        path = str(target)
        try:
            answer = await self._api_client.send(method, path, body)
        except GaveUp:
            self._record.mark_busy(target)
            raise
        if answer.in_flight:
            self._record.mark_busy(target)
        return answer

    async def _delete_post(self) -> None:
        post_id = self._posts.pop(self._random.randrange(len(self._posts)))
        self._record.post_leaves(post_id)
        if await self._delete(f"/posts/{post_id}", post_id):
            self._record.posts[post_id] = {None}

    async def _delete_comment(self) -> None:
        if not self._comments:
            return
        comment_id = self._comments.pop(self._random.randrange(len(self._comments)))
        comment = self._record.comments[comment_id]
        comment.there.add(False)
        if await self._delete(f"/posts/{comment.post_id}/comments/{comment_id}", comment_id):
            comment.there = {False}

    async def _delete(self, path: str, item_id: str) -> bool:
        """Delete something, half of the time as a moderator. Returns whether it is known to be gone."""
        is_moderation = self._moderates and self._random.random() < 0.5
        if is_moderation:
            self._record.audits[item_id] = 0
        answer = await self._api_client.send("DELETE", f"/moderation{path}?reason=chaos" if is_moderation else path)
        # 404: an earlier attempt has deleted it, or its post is gone, of which nothing is recorded.
        if not self._expect(answer, f"delete {path}", 204, 404):
            return False
        if is_moderation and answer.status == 204:
            self._record.audits[item_id] = 1
        return True

    async def _report(self) -> None:
        """Report a post, or a comment of one's own."""
        post_id, item_id, user_id = self._some_post(), None, self._random.choice(self._users)
        if self._comments and self._random.random() < 0.5:
            item_id = self._random.choice(self._comments)
            post_id = self._record.comments[item_id].post_id
        path = f"/posts/{post_id}/comments/{item_id}/reports" if item_id else f"/posts/{post_id}/reports"
        states = self._record.reports.setdefault((item_id or post_id, user_id), {False})
        states.add(True)
        answer = await self._api_client.create(path, {"userId": user_id, "reason": "chaos"})
        if answer.status == 404:
            if not item_id:
                self._record.missed.add(post_id)
        elif self._expect(answer, "report", 200, 201):
            states.intersection_update({True})

    async def _like(self) -> None:
        post_id, user_id = self._some_post(), self._random.choice(self._users)
        target = f"/posts/{post_id}/likes/{user_id}"
        if self._record.is_busy(target):
            return
        states = self._record.likes.setdefault((post_id, user_id), {False})
        states.add(True)
        try:
            answer = await self._api_client.create(f"/posts/{post_id}/likes", {"userId": user_id})
        except GaveUp:
            self._record.mark_busy(target)  # without a response, it can run after a later unlike
            raise
        if answer.in_flight:
            self._record.mark_busy(target)  # a late attempt likes again after an unlike
        if answer.status == 404:
            self._record.missed.add(post_id)
        elif self._expect(answer, "like", 200, 201):
            states.intersection_update({True})

    async def _unlike(self) -> None:
        liked = [pair for pair, states in self._record.likes.items() if True in states and pair[1] in self._users]
        if not liked:
            return
        post_id, user_id = self._random.choice(liked)
        target = f"/posts/{post_id}/likes/{user_id}"
        if self._record.is_busy(target):
            return
        states = self._record.likes[post_id, user_id]
        states.add(False)
        answer = await self._send_alone(target, "DELETE")
        if answer.status == 404:
            self._record.missed.add(post_id)
        elif self._expect(answer, "unlike", 204):
            states.intersection_update({False})

    def _some_post(self) -> str:
        return self._random.choice(self._record.live_posts)

    def _expect(self, answer: FinalResponse, what: str, *statuses: int) -> bool:
        if answer.status in statuses:
            return True
        self._record.diverged(f"{what}: unexpected status {answer.status}: {answer.body}")
        return False
