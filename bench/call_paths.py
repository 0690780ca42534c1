"""List the blog's files that run for each of some commands, and for the change feeds: `python -m bench.call_paths`."""

import asyncio
import json
import os
import sys
from types import SimpleNamespace
from typing import Any

import azure.functions as func
from cosmos_emulator import CosmosEmulator, EmulatorSettings

from management.provision import provision
from shared.data.blog import open_blog
from shared.settings import Settings, read_settings


async def main() -> None:
    async with CosmosEmulator(EmulatorSettings()) as emulator:
        os.environ["COSMOS"] = f"AccountEndpoint={emulator.endpoint};AccountKey={emulator.key};"
        os.environ["BLOG_DATABASE"] = "blog"
        await provision(read_settings(Settings))
        from function_app import app  # reads the settings

        functions = {function.get_function_name(): function.get_user_function() for function in app.get_functions()}

        async def trace(name: str, argument: Any) -> Any:
            files: set[str] = set()
            sys.setprofile(lambda frame, *_: files.add(frame.f_code.co_filename))
            answer = await functions[name](
                argument, SimpleNamespace(invocation_id="0", trace_context=SimpleNamespace(trace_parent=""))
            )
            sys.setprofile(None)
            of_blog = sorted(file for file in map(os.path.relpath, files) if file.startswith(("functions/", "shared/")))
            sys.stdout.write("\n  ".join([f"{name}: {len(of_blog)} files", *of_blog]) + "\n")
            return answer

        async def command(name: str, body: dict[str, str], **path: str) -> Any:
            content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
            request = func.HttpRequest("POST", "http://localhost/", headers=headers, route_params=path, body=content)
            return json.loads((await trace(name, request)).get_body())

        async def deliver(container: str) -> None:
            feed = getattr(await open_blog(), container).proxy.query_items_change_feed(start_time="Beginning")
            await trace(f"on_{container}_changed", func.DocumentList([dict(change) async for change in feed]))

        user_id = (await command("create_user", {"username": "ada"}))["id"]
        post_id = (await command("create_post", {"userId": user_id, "title": "Notes", "content": "Text."}))["id"]
        await command("create_comment", {"userId": user_id, "content": "Well put."}, postId=post_id)
        await deliver("posts")
        await command("edit_user", {"username": "countess"}, userId=user_id)
        await deliver("users")
        await deliver("posts")


asyncio.run(main())
