"""Runs commands of manage.py in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from typer.testing import CliRunner, Result

from manage import app
from shared.settings import Settings
from tests.blog import Blog
from tests.running_app import environment_of

# Instead of local.settings.json and of the local stack that may run in this clone.
NO_SETTINGS = ("--local-settings", str(Path(__file__).with_name("no_settings.json")))


async def manage_blog(
    blog: Blog, *arguments: str, database: str | None = None, variables: Mapping[str, str] | None = None
) -> Result:
    """Run a command on the test's database, and without local.settings.json."""
    settings = blog.settings
    environment = {
        "COSMOS": f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};",
        "BLOG_DATABASE": database or settings.database,
        **(variables or {}),
    }
    return await asyncio.to_thread(CliRunner().invoke, app, [*NO_SETTINGS, *arguments], env=environment)


async def manage(settings: Settings, *arguments: str) -> Result:
    """Run a command with settings, and without local.settings.json."""
    return await asyncio.to_thread(CliRunner().invoke, app, [*NO_SETTINGS, *arguments], env=environment_of(settings))
