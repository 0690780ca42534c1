"""The profile of bench.app_load assigns each source file to its owner."""

from __future__ import annotations

import json

import aiohttp
import azure.cosmos.aio
import azure.functions
import functions_host
import pytest

import functions.posts
import shared.database.container
from bench.app_load import place


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        (shared.database.container.__file__, "the app: shared/"),
        (functions.posts.__file__, "the app: functions/"),
        (functions_host.__file__, "local Functions host"),
        (azure.cosmos.aio.__file__, "azure-cosmos"),
        (azure.functions.__file__, "azure-core, azure-functions"),
        (aiohttp.__file__, "aiohttp"),
        (json.__file__, "json"),
    ],
)
def test_a_source_file_belongs_to_its_package(file: str, owner: str) -> None:
    assert place(file) == owner
