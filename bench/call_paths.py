"""List what runs for some requests and for the change feeds: `python -m bench.call_paths`.

Prints the number of the core's files, functions and calls of these, of changes between files, and of asyncio tasks that
the core starts, and lists the files. The add-ons and the libraries are not counted, and neither are comprehensions and
lambdas: before Python 3.12, a comprehension is a function.
"""

import asyncio
import json
import os
import sys
from itertools import pairwise
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import azure.functions as func
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from management.provision import provision
from shared.data.blog import open_blog
from shared.platform.settings import read_settings
from shared.settings import Settings


def _is_core(code: CodeType) -> bool:
    return _relative(code.co_filename).startswith(("functions/", "shared/"))


def _relative(file: str) -> str:
    return os.path.relpath(file)


async def main() -> None:
    async with CosmosEmulator(EmulatorSettings()) as emulator:
        os.environ["COSMOS"] = f"AccountEndpoint={emulator.endpoint};AccountKey={emulator.key};"
        os.environ["BLOG_DATABASE"] = "blog"
        await provision(read_settings(Settings))
        from function_app import app  # reads the settings

        functions = {function.get_function_name(): function.get_user_function() for function in app.get_functions()}

        async def trace(name: str, argument: Any) -> Any:
            frames: dict[FrameType, CodeType] = {}
            tasks = 0

            def profile(frame: FrameType, event: str, _: Any) -> None:
                # A coroutine is called again each time it continues, with the same frame.
                if event == "call" and _is_core(frame.f_code) and not frame.f_code.co_name.startswith("<"):
                    frames.setdefault(frame, frame.f_code)

            def create_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
                nonlocal tasks
                caller: FrameType | None = sys._getframe(1)
                while caller is not None and caller.f_globals["__name__"].startswith("asyncio"):
                    caller = caller.f_back
                tasks += caller is not None and _is_core(caller.f_code)
                return asyncio.Task(coroutine, loop=loop, **options)

            asyncio.get_running_loop().set_task_factory(create_task)
            sys.setprofile(profile)
            answer = await functions[name](
                argument, SimpleNamespace(invocation_id="0", trace_context=SimpleNamespace(trace_parent=""))
            )
            sys.setprofile(None)
            asyncio.get_running_loop().set_task_factory(None)
            calls = list(frames.values())
            files = [code.co_filename for code in calls]
            changes = sum(before != after for before, after in pairwise(files))
            counts = f"{len(set(files))} files, {len(set(calls))} functions, {len(calls)} calls"
            title = f"{name}: {counts}, {changes} changes of file, {tasks} tasks"
            sys.stdout.write("\n  ".join([title, *sorted({_relative(file) for file in files})]) + "\n")
            return answer

        async def command(name: str, body: dict[str, str], **path: str) -> Any:
            content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
            request = func.HttpRequest("POST", "http://localhost/", headers=headers, route_params=path, body=content)
            return json.loads((await trace(name, request)).get_body())

        async def query(name: str) -> None:
            await trace(name, func.HttpRequest("GET", "http://localhost/", body=b""))

        async def deliver(container: str) -> None:
            feed = getattr(await open_blog(), container).proxy.query_items_change_feed(start_time="Beginning")
            await trace(f"on_{container}_changed", func.DocumentList([dict(change) async for change in feed]))

        user_id = (await command("create_user", {"username": "ada"}))["id"]
        post_id = (await command("create_post", {"userId": user_id, "title": "Notes", "content": "Text."}))["id"]
        await command("create_comment", {"userId": user_id, "content": "Well put."}, postId=post_id)
        await deliver("posts")
        await query("get_feed")
        await command("edit_user", {"username": "countess"}, userId=user_id)
        await deliver("users")
        await deliver("posts")


asyncio.run(main())
