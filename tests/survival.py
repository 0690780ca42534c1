"""Random commands against an app whose host is killed again and again, and a record of what was acknowledged."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientConnectionError, ClientError, ClientSession, ClientTimeout

from shared.settings import Settings
from tests.items import unique

_REPOSITORY = Path(__file__).parent.parent
_PATIENCE_S = 60.0
_PAUSE_S = 0.05


class KilledHost:
    """A host process on one port that can be killed and started again."""

    def __init__(self, settings: Settings, log: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._environment = {
            **os.environ,
            "COSMOS": f"AccountEndpoint={settings.account_endpoint};AccountKey={settings.account_key};",
            "BLOG_DATABASE": settings.database,
        }
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self._port}/api"

    async def start(self) -> None:
        """Start the host; requests wait for it by themselves."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "local.functions_host", "--port", str(self._port)),
                cwd=_REPOSITORY,
                env=self._environment,
                stderr=log,
            )

    async def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing released."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()


@dataclass
class Acknowledged:
    """What the app has answered for: must be there when all is over."""

    names: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    likes: dict[tuple[str, str], bool] = field(default_factory=dict)
    commands: int = 0


class Client:
    """One client, who acts as users of its own on everybody's posts. A command without an answer is sent again, with
    the same idempotency key, until it has one."""

    def __init__(
        self, session: ClientSession, api: str, seed: int, record: Acknowledged, after_each: Callable[[], None]
    ) -> None:
        self._after_each = after_each
        self._answered = 0
        self._session = session
        self._api = api
        self._random = random.Random(seed)
        self._record = record
        self._users: list[str] = []
        self._posts: list[str] = []
        self._comments: list[tuple[str, str]] = []

    async def run(self, commands: int) -> None:
        await self._create_user()
        await self._create_post()
        while self._answered < commands:
            choices: list[Callable[[], Awaitable[None]]] = [
                self._create_user,
                self._rename,
                *[self._create_post] * 3,
                self._edit_post,
                self._delete_post,
                *[self._comment] * 4,
                self._delete_comment,
                *[self._like] * 5,
                self._unlike,
            ]
            await self._random.choice(choices)()  # which does nothing where there is nothing to do it with

    async def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        key = {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            try:
                async with self._session.request(method, self._api + path, json=body, headers=key) as response:
                    if response.status not in (429, 503):
                        assert response.status < 500, await response.text()
                        self._answered += 1
                        self._record.commands += 1
                        self._after_each()
                        return response.status, await response.json() if response.status in (200, 201) else None
            except (ClientConnectionError, ClientError, TimeoutError):
                pass
            await asyncio.sleep(_PAUSE_S)
        raise AssertionError(f"{method} {path} had no answer in {_PATIENCE_S:.0f} s")

    async def _create_user(self) -> None:
        name = unique("user")
        status, user = await self._send("POST", "/users", {"username": name})
        assert status == 201
        self._users.append(user["id"])
        self._record.names[user["id"]] = name

    async def _rename(self) -> None:
        user_id, name = self._random.choice(self._users), unique("renamed")
        status, _ = await self._send("PUT", f"/users/{user_id}", {"username": name})
        assert status == 200
        self._record.names[user_id] = name

    async def _create_post(self) -> None:
        body = {"userId": self._random.choice(self._users), "title": unique("title"), "content": "word " * 100}
        status, post = await self._send("POST", "/posts", body)
        assert status == 201
        self._posts.append(post["id"])
        self._record.titles[post["id"]] = body["title"]

    async def _edit_post(self) -> None:
        if self._posts:
            post_id, title = self._random.choice(self._posts), unique("edited")
            status, _ = await self._send("PUT", f"/posts/{post_id}", {"title": title, "content": "edited"})
            assert status == 200
            self._record.titles[post_id] = title

    async def _delete_post(self) -> None:
        if len(self._posts) > 3:
            post_id = self._posts.pop(self._random.randrange(len(self._posts)))
            del self._record.titles[post_id]
            await self._send("DELETE", f"/posts/{post_id}")

    def _some_post(self) -> str:
        return self._random.choice(list(self._record.titles))

    async def _comment(self) -> None:
        post_id, user_id = self._some_post(), self._random.choice(self._users)
        status, comment = await self._send("POST", f"/posts/{post_id}/comments", {"userId": user_id, "content": "hm"})
        if status == 201:
            self._comments.append((post_id, comment["id"]))
            self._record.comments[comment["id"]] = post_id

    async def _delete_comment(self) -> None:
        if self._comments:
            post_id, comment_id = self._comments.pop(self._random.randrange(len(self._comments)))
            await self._send("DELETE", f"/posts/{post_id}/comments/{comment_id}")
            del self._record.comments[comment_id]

    async def _like(self) -> None:
        post_id, user_id = self._some_post(), self._random.choice(self._users)
        status, _ = await self._send("POST", f"/posts/{post_id}/likes", {"userId": user_id})
        if status in (200, 201):
            self._record.likes[post_id, user_id] = True

    async def _unlike(self) -> None:
        mine = [like for like, there in self._record.likes.items() if there and like[1] in self._users]
        if mine:
            post_id, user_id = self._random.choice(mine)
            await self._send("DELETE", f"/posts/{post_id}/likes/{user_id}")
            self._record.likes[post_id, user_id] = False


async def run_commands(host: KilledHost, *, commands: int, kills: int, clients: int, seed: int) -> Acknowledged:
    """Send so many commands from so many clients at once, and kill and restart the host so often meanwhile."""
    record = Acknowledged()
    due = [commands * (kill + 1) // (kills + 1) for kill in range(kills)]
    reached = asyncio.Condition()
    notifications: set[asyncio.Task[None]] = set()

    def after_each() -> None:
        notifications.add(asyncio.get_running_loop().create_task(_notify(reached)))

    async def kill_now_and_then() -> None:
        for number in due:
            async with reached:
                await reached.wait_for(lambda number=number: record.commands >= number)
            await host.kill()
            await host.start()

    async with ClientSession(timeout=ClientTimeout(total=15)) as session, asyncio.TaskGroup() as group:
        group.create_task(kill_now_and_then())
        for number in range(clients):
            client = Client(session, host.api, seed * 1000 + number, record, after_each)
            group.create_task(client.run(commands // clients))
    return record


async def _notify(condition: asyncio.Condition) -> None:
    async with condition:
        condition.notify_all()


async def missing(host: KilledHost, record: Acknowledged) -> list[str]:
    """What was acknowledged and cannot be read back."""
    lost = []
    async with ClientSession() as session:

        async def get(path: str) -> Any:
            async with session.get(host.api + path) as response:
                return await response.json() if response.status == 200 else {}

        for user_id, name in record.names.items():
            if (await get(f"/users/{user_id}")).get("username") != name:
                lost.append(f"user {user_id} named {name}")
        for post_id, title in record.titles.items():
            if (await get(f"/posts/{post_id}")).get("title") != title:
                lost.append(f"post {post_id} with title {title}")
            comments = (await get(f"/posts/{post_id}/comments?limit=100")).get("items", [])
            expected = {comment_id for comment_id, of_post in record.comments.items() if of_post == post_id}
            lost += [f"comment {comment_id}" for comment_id in expected - {comment["id"] for comment in comments}]
            likers = {like["userId"] for like in (await get(f"/posts/{post_id}/likes?limit=100")).get("items", [])}
            lost += [
                f"like of {liked} by {user_id}: {there}"
                for (liked, user_id), there in record.likes.items()
                if liked == post_id and (user_id in likers) != there
            ]
    return lost
