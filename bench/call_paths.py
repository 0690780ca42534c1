"""List what runs for some requests and for the change feeds, and in the emulator: `python -m bench.call_paths`.

Prints the number of the core's files, functions and calls of these, of changes between files, and of asyncio tasks
that the core starts, and lists the files; for a point read and a query over five items, the emulator's. The add-ons
and the libraries are not counted, and neither are comprehensions and lambdas: before Python 3.12, a comprehension is
a function.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from itertools import pairwise
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import azure.functions as func
from azure.cosmos import PartitionKey
from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from management.provision import provision
from shared.data.blog import open_blog
from shared.platform.settings import read_settings
from shared.settings import Settings

_CORE = ("functions/", "shared/")
_QUERY = "SELECT * FROM c WHERE c.number > 1"
_EMULATOR = ("packages/cosmos-emulator/src/",)


def _relative(file: str) -> str:
    return os.path.relpath(file)


async def main() -> None:
    async with CosmosEmulator(EmulatorSettings()) as emulator:
        os.environ["COSMOS"] = f"AccountEndpoint={emulator.endpoint};AccountKey={emulator.key};"
        os.environ["BLOG_DATABASE"] = "blog"
        await provision(read_settings(Settings))
        from function_app import app  # reads the settings

        functions = {function.get_function_name(): function.get_user_function() for function in app.get_functions()}

        async def trace(name: str, folders: tuple[str, ...], work: Callable[[], Awaitable[Any]]) -> Any:
            def is_part(code: CodeType) -> bool:
                return _relative(code.co_filename).startswith(folders)

            frames: dict[FrameType, CodeType] = {}
            tasks = 0

            def profile(frame: FrameType, event: str, _: Any) -> None:
                # A coroutine is called again each time it continues, with the same frame.
                if event == "call" and is_part(frame.f_code) and not frame.f_code.co_name.startswith("<"):
                    frames.setdefault(frame, frame.f_code)

            def create_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
                nonlocal tasks
                caller: FrameType | None = sys._getframe(1)
                while caller is not None and caller.f_globals["__name__"].startswith("asyncio"):
                    caller = caller.f_back
                tasks += caller is not None and is_part(caller.f_code)
                return asyncio.Task(coroutine, loop=loop, **options)

            asyncio.get_running_loop().set_task_factory(create_task)
            sys.setprofile(profile)
            answer = await work()
            sys.setprofile(None)
            asyncio.get_running_loop().set_task_factory(None)
            calls = list(frames.values())
            files = [code.co_filename for code in calls]
            changes = sum(before != after for before, after in pairwise(files))
            counts = f"{len(set(files))} files, {len(set(calls))} functions, {len(calls)} calls"
            title = f"{name}: {counts}, {changes} changes of file, {tasks} tasks"
            sys.stdout.write("\n  ".join([title, *sorted({_relative(file) for file in files})]) + "\n")
            return answer

        async def run(name: str, argument: Any) -> Any:
            context = SimpleNamespace(invocation_id="0", trace_context=SimpleNamespace(trace_parent=""))
            return await trace(name, _CORE, lambda: functions[name](argument, context))

        async def command(name: str, body: dict[str, str], **path: str) -> Any:
            content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
            request = func.HttpRequest("POST", "http://localhost/", headers=headers, route_params=path, body=content)
            return json.loads((await run(name, request)).get_body())

        async def query(name: str) -> None:
            await run(name, func.HttpRequest("GET", "http://localhost/", body=b""))

        async def deliver(container: str) -> None:
            feed = getattr(await open_blog(), container).proxy.query_items_change_feed(start_time="Beginning")
            await run(f"on_{container}_changed", func.DocumentList([dict(change) async for change in feed]))

        user_id = (await command("create_user", {"username": "ada"}))["id"]
        post_id = (await command("create_post", {"userId": user_id, "title": "Notes", "content": "Text."}))["id"]
        await command("create_comment", {"userId": user_id, "content": "Well put."}, postId=post_id)
        await deliver("posts")
        await query("get_feed")
        await command("edit_user", {"username": "countess"}, userId=user_id)
        await deliver("users")
        await deliver("posts")
        async with CosmosClient(emulator.endpoint, emulator.key) as client:
            database = await client.create_database("bench")
            items = await database.create_container("items", PartitionKey("/key"))
            for number in range(5):
                await items.create_item({"id": str(number), "key": "a", "number": number})

            async def find() -> None:
                _ = [one async for one in items.query_items(_QUERY, partition_key="a")]

            for name, work in (("read_item", lambda: items.read_item("1", "a")), ("query_items", find)):
                await work()  # what is cached is not counted
                await trace(name, _EMULATOR, work)


asyncio.run(main())
