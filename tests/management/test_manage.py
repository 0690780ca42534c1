"""manage.py from the terminal: what it says, and the codes that it exits with."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

from cosmos_emulator import WELL_KNOWN_KEY
from typer.testing import CliRunner, Result

from manage import app
from shared.models.base import Item
from tests.blog import Blog

_ROOT = Path(__file__).parent.parent.parent


async def manage_blog(blog: Blog, *arguments: str, database: str | None = None) -> Result:
    """Run a command as a process of its own would be, on the database of the test."""
    settings = blog.settings
    environment = {
        "COSMOS": f"AccountEndpoint={settings.account_endpoint};AccountKey={settings.account_key};",
        "BLOG_DATABASE": database or settings.database,
    }
    return await asyncio.to_thread(CliRunner().invoke, app, arguments, env=environment)


async def test_every_command_says_what_it_did_and_what_it_cost(blog: Blog) -> None:
    said = {
        ("provision",): "everything is in place",
        ("seed", "--users", "2", "--posts-per-user", "1"): "Seeded 2 users, 2 posts",
        ("verify",): "Every promise holds.",
        ("rebuild",): "Changes of posts replayed: ",
    }
    for arguments, expected in said.items():
        result = await manage_blog(blog, *arguments)

        assert expected in result.output
        assert "Request charge: " in result.output
        assert result.exit_code == 0


async def test_a_broken_promise_is_printed_under_its_kind_and_makes_exit_1(blog: Blog) -> None:
    await blog.users.create({"id": "u", "userId": "u", "type": "user", "username": "[bold]ada"})

    result = await manage_blog(blog, "verify")

    assert result.exit_code == 1
    assert "Names and reservations that do not fit: 1\n  user u '[bold]ada': the name is not reserved" in result.output
    assert "2 broken promises." in result.output


async def test_seeding_only_an_empty_database_leaves_one_with_users_alone(blog: Blog) -> None:
    assert "Seeded 20 users" in (await manage_blog(blog, "provision", "--seed")).output
    before: list[Item] = await blog.all_items(blog.users)

    for arguments in (("seed", "--if-empty", "--seed", "2"), ("provision", "--seed")):
        assert "nothing is seeded" in (await manage_blog(blog, *arguments)).output

    assert await blog.all_items(blog.users) == before


async def test_a_database_that_is_not_provisioned_is_said_to_be(blog: Blog) -> None:
    result = await manage_blog(blog, "verify", database="absent")

    assert (result.exit_code, result.exception.__class__) == (2, SystemExit)
    assert "There is no database 'absent'; run `manage.py provision` first." in result.output


async def test_containers_that_are_missing_are_named(blog: Blog) -> None:
    await blog.database.delete_container("feed")

    assert "has no feed; run `manage.py provision` first." in (await manage_blog(blog, "seed")).output


async def test_a_span_that_is_none_is_a_mistake_of_the_command_line(blog: Blog) -> None:
    result = await manage_blog(blog, "seed", "--likes-per-post", "many")

    assert result.exit_code == 2
    assert "'many' is not a span" in result.output


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "--local-settings", "absent.json", *arguments]
    return subprocess.run(  # noqa: S603 - our own file
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_missing_settings_are_one_sentence_and_no_traceback() -> None:
    result = _run("verify")

    assert (result.returncode, result.stdout) == (2, "")
    assert "set COSMOS" in result.stderr
    assert "set BLOG_DATABASE" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_account_that_does_not_answer_is_one_sentence_and_no_traceback() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        connection = f"AccountEndpoint={address};AccountKey={WELL_KNOWN_KEY};"

        result = _run("provision", COSMOS=connection, BLOG_DATABASE="blog")

    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert f"No answer from {address}" in result.stderr


async def test_a_wrong_key_is_said_to_be_refused(blog: Blog) -> None:
    connection = f"AccountEndpoint={blog.settings.account_endpoint};AccountKey=d3Jvbmc=;"

    result = await asyncio.to_thread(_run, "provision", COSMOS=connection, BLOG_DATABASE="blog")

    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "refuses the key" in result.stderr
