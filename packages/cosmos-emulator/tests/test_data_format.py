"""The format version of a data directory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import CosmosClient
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.__main__ import main
from cosmos_emulator.store.schema import FORMAT_VERSION, UnsupportedFormat


async def write_an_item(directory: Path) -> None:
    async with (
        CosmosEmulator(EmulatorSettings(data_dir=directory, partitions=1)) as emulator,
        CosmosClient(emulator.endpoint, emulator.key) as client,
    ):
        database = await client.create_database("db")
        container = await database.create_container("items", PartitionKey("/pk"))
        await container.create_item({"id": "a", "pk": "p"})


def files_of(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.sqlite"))


def version_of(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def set_version(file: Path, version: int) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


async def test_every_file_has_the_format_version(tmp_path: Path) -> None:
    await write_an_item(tmp_path)

    assert [version_of(file) for file in files_of(tmp_path)] == [FORMAT_VERSION] * 2


async def test_opening_a_directory_without_a_version_adds_the_version(tmp_path: Path) -> None:
    await write_an_item(tmp_path)
    for file in files_of(tmp_path):
        set_version(file, 0)

    async with (
        CosmosEmulator(EmulatorSettings(data_dir=tmp_path)) as emulator,
        CosmosClient(emulator.endpoint, emulator.key) as client,
    ):
        container = client.get_database_client("db").get_container_client("items")
        assert (await container.read_item("a", "p"))["id"] == "a"

    assert [version_of(file) for file in files_of(tmp_path)] == [FORMAT_VERSION] * 2


async def test_a_newer_directory_is_rejected_and_left_unchanged(tmp_path: Path) -> None:
    await write_an_item(tmp_path)
    set_version(tmp_path / "account.sqlite", FORMAT_VERSION + 1)

    with pytest.raises(UnsupportedFormat, match=f"format {FORMAT_VERSION + 1}.*up to {FORMAT_VERSION}; upgrade"):
        await CosmosEmulator(EmulatorSettings(data_dir=tmp_path)).__aenter__()

    assert version_of(tmp_path / "account.sqlite") == FORMAT_VERSION + 1


def test_the_command_line_reports_a_newer_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(tmp_path / "account.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    set_version(tmp_path / "account.sqlite", FORMAT_VERSION + 1)

    assert main(["--data-dir", str(tmp_path), "--port", "0"]) == 1
    assert "upgrade cosmos-emulator" in capsys.readouterr().err
