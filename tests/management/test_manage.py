"""The commands of manage.py: output and exit codes."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cosmos_emulator import WELL_KNOWN_KEY

from management import item_count
from management.seeding.sample import Sample, sample_posts
from shared.platform.models import Item
from tests.blog import Blog
from tests.items import a_user
from tests.management.command_line import NO_SETTINGS, manage_blog

_ROOT = Path(__file__).parent.parent.parent
ON_TERMINAL = {"FORCE_COLOR": "1"}


async def test_every_command_prints_its_result_and_request_charge(blog: Blog) -> None:
    expected_output = {
        ("provision",): "up to date",
        ("seed",): f"Seeded {Sample().users} users, {len(sample_posts())} posts",
        ("verify",): "No violations found.",
        ("rebuild",): "Posts checked: ",
    }
    for arguments, expected in expected_output.items():
        result = await manage_blog(blog, *arguments)

        assert expected in result.output
        assert "Request charge: " in result.output
        assert result.exit_code == 0


async def test_a_netrc_file_does_not_replace_the_key(blog: Blog, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("default login ada password secret")

    result = await manage_blog(blog, "verify", variables={"NETRC": str(tmp_path / "netrc")})

    assert (result.exit_code, "No violations found." in result.output) == (0, True)


async def test_verify_groups_findings_by_kind_and_exits_with_1(blog: Blog) -> None:
    await blog.users.create({"id": "u", "userId": "u", "type": "user", "username": "[bold]ada"})

    result = await manage_blog(blog, "verify")

    assert result.exit_code == 1
    assert "Missing or wrong username reservations: 1\n  user u '[bold]ada': the username is not" in result.output
    assert "2 violations found." in result.output


@pytest.mark.parametrize(("command", "readings"), [("verify", 1), ("rebuild", 2)])
async def test_a_terminal_shows_how_many_items_have_been_read(blog: Blog, command: str, readings: int) -> None:
    await manage_blog(blog, "seed")
    containers = (blog.users, blog.posts, blog.feed, blog.failures)
    users, posts, *others = [len(await blog.all_items(container)) for container in containers]
    # Before it verifies, `rebuild` also reads the change feeds of users and posts.
    total = sum(others) + readings * (users + posts)

    result = await manage_blog(blog, command, variables=ON_TERMINAL)

    assert f"{total:,} of about {total:,} items read" in result.stderr


async def test_without_an_estimate_a_terminal_shows_the_number_of_items_only(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await manage_blog(blog, "seed")
    monkeypatch.setattr(item_count, "_USAGE", "x-absent")

    result = await manage_blog(blog, "verify", variables=ON_TERMINAL)

    assert " items read" in result.stderr
    assert "of about" not in result.stderr


async def test_verify_reports_an_account_with_multiple_write_regions(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blog.emulator.settings, "multiple_write_regions", True)

    result = await manage_blog(blog, "verify")

    assert result.exit_code == 1
    assert "Unsuitable account: 1\n  account: it has multiple write regions" in result.output


async def test_provision_rejects_an_account_with_multiple_write_regions(
    blog: Blog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blog.emulator.settings, "multiple_write_regions", True)
    await blog.database.delete_container("feed")

    result = await manage_blog(blog, "provision")

    assert result.exit_code == 2
    assert "multiple write regions" in result.output
    assert "--enable-multiple-write-locations false" in result.output
    assert "feed" not in [container["id"] async for container in blog.database.list_containers()]


async def test_seed_if_empty_skips_a_database_with_users(blog: Blog) -> None:
    assert f"Seeded {Sample().users} users" in (await manage_blog(blog, "provision", "--seed")).output
    before: list[Item] = await blog.all_items(blog.users)

    for arguments in (("seed", "--if-empty"), ("provision", "--seed")):
        assert "nothing was seeded" in (await manage_blog(blog, *arguments)).output

    assert await blog.all_items(blog.users) == before


async def test_a_missing_database_is_an_error(blog: Blog) -> None:
    result = await manage_blog(blog, "verify", database="absent")

    assert (result.exit_code, result.exception.__class__) == (2, SystemExit)
    assert "Database 'absent' does not exist. Run `manage.py provision` first." in result.output


async def test_missing_containers_are_named(blog: Blog) -> None:
    await blog.database.delete_container("feed")

    assert "lacks containers: feed. Run `manage.py provision` first." in (await manage_blog(blog, "seed")).output


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *NO_SETTINGS, *arguments]
    return subprocess.run(  # noqa: S603 - our own file
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_missing_settings_print_one_line_without_a_traceback() -> None:
    result = _run("verify")

    assert (result.returncode, result.stdout) == (2, "")
    assert "set COSMOS" in result.stderr
    assert "set BLOG_DATABASE" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_settings_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    result = _run("--local-settings", str(tmp_path / "nope"), "lag")

    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"There is no file {tmp_path / 'nope'}.\n")


async def test_output_has_escapes_for_what_its_encoding_lacks(blog: Blog) -> None:
    """On Windows, a file or a pipe gets the code page of the system."""
    user = a_user() | {"username": "李小龍"}
    await blog.users.proxy.create_item(user)
    settings = blog.settings
    connection = f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};"
    environment = {"COSMOS": connection, "BLOG_DATABASE": settings.database, "PYTHONIOENCODING": "cp1252"}

    result = await asyncio.to_thread(_run, "verify", **environment)

    assert result.returncode == 1  # the username has no reservation
    assert r"\u674e\u5c0f\u9f8d" in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "output"),
    [
        *((command, "full") for command in ("lag", "seed", "--help")),
        ("leases reset on_users_changed", "full, also for errors"),
        *((command, "closed pipe") for command in ("lag", "provision --check")),
        ("rebuild", "closed pipe, also for errors"),
    ],
)
async def test_output_that_cannot_be_written_is_a_failure(blog: Blog, command: str, output: str) -> None:
    """Exit code 1 would mean that the command has found something."""
    settings = blog.settings
    environment = {
        "COSMOS": f"AccountEndpoint={settings.account.endpoint};AccountKey={settings.account.key};",
        "BLOG_DATABASE": settings.database,
    }
    reading, closed = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    os.close(reading)
    stdout = closed if output.startswith("closed") else full
    try:
        ended = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "manage.py", *NO_SETTINGS, *command.split()],
            cwd=_ROOT,
            env=environment,
            stdout=stdout,
            stderr=stdout if "errors" in output else subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(closed)
        os.close(full)

    assert ended.returncode == 2, ended.stderr
    if output == "full":
        assert ended.stderr.endswith("Input or output failed: [Errno 28] No space left on device.\n")
        assert "Traceback" not in ended.stderr


def test_an_unreachable_account_prints_one_line_without_a_traceback() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # bound but not listening, so connections are refused
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        connection = f"AccountEndpoint={address};AccountKey={WELL_KNOWN_KEY};"

        result = _run("provision", COSMOS=connection, BLOG_DATABASE="blog")

    # One line says where the command writes, and one what is wrong.
    assert (result.returncode, result.stderr.count("\n")) == (2, 2)
    assert f"No response from {address}" in result.stderr


async def test_a_wrong_key_prints_what_to_do(blog: Blog) -> None:
    connection = f"AccountEndpoint={blog.settings.account.endpoint};AccountKey=d3Jvbmc=;"

    result = await asyncio.to_thread(_run, "provision", COSMOS=connection, BLOG_DATABASE="blog")

    assert (result.returncode, result.stderr.count("\n")) == (2, 2)
    assert "rejected the key" in result.stderr


_INTERRUPTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""


@pytest.mark.nightly
@pytest.mark.parametrize("module", ["typer", "azure.cosmos", "management.commands", "management.comparison"])
def test_ctrl_c_during_an_import_ends_without_a_traceback(module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_INTERRUPTING.format(module=module))
    connection = f"AccountEndpoint=http://localhost:1;AccountKey={WELL_KNOWN_KEY};"

    result = _run("provision", "--check", COSMOS=connection, BLOG_DATABASE="blog", PYTHONPATH=str(tmp_path))

    assert (result.returncode, "Traceback" in result.stderr) == (130, False), result.stderr
