"""`python -m checks.smoke`: deploy to a new azd environment, check the app, and delete everything.

Needs a signed-in azd, AZURE_SUBSCRIPTION_ID and AZURE_LOCATION.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial

from aiohttp import ClientSession
from azure.identity.aio import AzureDeveloperCliCredential

from checks.smoke.azure import AzureApp
from checks.smoke.checks import check_feed, check_health, check_start_from_zero, check_telemetry
from tests.api import Api
from tests.polling import eventually

# Role assignments, idle instances and telemetry take minutes.
_WAIT = partial(eventually, deadline_s=1800, interval_s=10)
# Until storage accepts the app's new role, up to half an hour: docs/deploy.md.
_ROLE_APPLIES_S = (120, 240, 480, 960)
# The checks send commands as a back end does, and look for the traces. The availability test and an instance that is
# always ready would keep the app from being idle.
_PARAMETERS = {
    "BLOG_AUTH": "function-key",
    "TRACES_SAMPLER": "microsoft.fixed_percentage",
    "TRACES_SAMPLER_ARGUMENT": "1",
    "AVAILABILITY_TEST": "false",
    "FUNCTIONS_ALWAYS_READY_CHANGE_FEED": "0",
}


def main() -> None:
    name = f"smoke-{secrets.token_hex(4)}"
    where = ("--subscription", os.environ["AZURE_SUBSCRIPTION_ID"], "--location", os.environ["AZURE_LOCATION"])
    _azd("env", "new", name, *where)
    try:
        for parameter, value in _PARAMETERS.items():
            _azd("env", "set", parameter, value)
        _deploy()
        lines = _azd("env", "get-values", capture=True).splitlines()
        values = {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}
        asyncio.run(_check(values))
    finally:
        _azd("down", "--purge", "--force")
    _say("The deployment works.")


def _deploy() -> None:
    """Create and deploy, and deploy again while the app's role does not apply. Raises CalledProcessError."""
    command = "up"
    for wait_s in _ROLE_APPLIES_S:
        try:
            _azd(command)
        except subprocess.CalledProcessError:
            time.sleep(wait_s)
            command = "deploy"
        else:
            return
    _azd(command)


async def _check(values: Mapping[str, str]) -> None:
    async with ClientSession() as session, AzureDeveloperCliCredential() as credential:
        azure = AzureApp(session, credential, values)
        url = values["BLOG_URL"]
        _say("1. The app is healthy")
        await check_health(session, url, _WAIT)
        async with session.get(f"{url}/api/openapi.json") as answer:
            openapi = await answer.json()
        api = Api(session, url, openapi, headers={"x-functions-key": await azure.function_key()})
        _say("2. A post, a comment and a rename reach the feed")
        trace_id = await check_feed(api, _WAIT)
        _say("3. The app scales to zero, and a post reaches the feed")
        await check_start_from_zero(api, azure.is_idle, _WAIT)
        _say("4. The telemetry is complete and has no usernames")
        await check_telemetry(azure, trace_id, _WAIT)


def _azd(*arguments: str, capture: bool = False) -> str:
    command = ["azd", *arguments, "--no-prompt"]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE if capture else None)  # noqa: S603 - the developer's azd
    return done.stdout or ""


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
