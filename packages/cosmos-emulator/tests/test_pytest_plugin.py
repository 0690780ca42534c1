"""The pytest plugin, in a project that only installs the package."""

from __future__ import annotations

import re
import statistics

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """An empty project that treats warnings as errors."""
    pytester.makeini(
        "[pytest]\nfilterwarnings = error\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
    )
    return pytester


def passes(project: pytest.Pytester, tests: str, count: int, *options: str) -> pytest.RunResult:
    project.makepyfile(tests)
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=count)
    return result


def test_each_test_gets_an_empty_account_and_clients(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import pytest
        from azure.cosmos import PartitionKey
        from azure.cosmos.exceptions import CosmosHttpResponseError

        @pytest.mark.parametrize("run", range(3))
        def test_sync(cosmos, run):
            client = cosmos.client()
            assert list(client.list_databases()) == []
            container = client.create_database("db").create_container("items", PartitionKey("/pk"))
            container.create_item({"id": "a", "pk": "p"})
            assert container.read_item("a", "p")["id"] == "a"

        @pytest.mark.parametrize("run", range(3))
        async def test_async(cosmos, run):
            async with cosmos.aio_client() as client:
                assert [database async for database in client.list_databases()] == []
                container = await (await client.create_database("db")).create_container("items", PartitionKey("/pk"))
                await container.create_item({"id": "a", "pk": "p"})

        def test_connection_string(cosmos):
            from azure.cosmos import CosmosClient
            with CosmosClient.from_connection_string(cosmos.connection_string) as client:
                client.create_database("db")

        def test_faults_are_isolated(cosmos):
            client = cosmos.client()
            cosmos.faults.add("500 operation=create-database")
            with pytest.raises(CosmosHttpResponseError) as failure:
                client.create_database("db")
            assert failure.value.status_code == 500
        """,
        8,
    )


def test_the_emulator_is_imported_only_if_a_test_uses_it(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import sys

        def test_before():
            assert not {"aiohttp", "cosmos_emulator.emulator"} & set(sys.modules)

        def test_account(cosmos):
            assert "cosmos_emulator.emulator" in sys.modules
        """,
        2,
    )


def test_a_project_overrides_the_settings_of_its_accounts(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import pytest
        from azure.cosmos import PartitionKey
        from cosmos_emulator import EmulatorSettings

        @pytest.fixture
        def cosmos_settings():
            return EmulatorSettings(partitions=1, clock=lambda: 1_000_000_000.0)

        def test_settings(cosmos):
            container = cosmos.client().create_database("db").create_container("items", PartitionKey("/pk"))
            assert len(list(container.read_feed_ranges())) == 1
            assert container.create_item({"id": "a", "pk": "p"})["_ts"] == 1_000_000_000
        """,
        1,
    )


def test_a_hanging_request_ends_with_its_test(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import socket
        import time
        from urllib.parse import urlsplit

        import pytest
        from cosmos_emulator import EmulatorSettings

        hanging = []

        @pytest.fixture
        def cosmos_settings():
            return EmulatorSettings(check_signatures=False)

        def test_hangs(cosmos):
            fault = cosmos.faults.add("hang operation=read-account")
            connection = socket.create_connection(("127.0.0.1", urlsplit(cosmos.endpoint).port))
            connection.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            hanging.append(connection)
            deadline = time.monotonic() + 20
            while not fault.struck:
                assert time.monotonic() < deadline
                time.sleep(0.01)

        def test_after():
            with hanging.pop() as connection:
                connection.settimeout(1)
                assert connection.recv(1) == b""
        """,
        2,
    )


def test_accounts_are_isolated_between_parallel_workers(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import pytest

        @pytest.mark.parametrize("run", range(20))
        def test_alone(cosmos, run):
            client = cosmos.client()
            assert list(client.list_databases()) == []
            client.create_database("db")
        """,
        20,
        "-n",
        "2",
    )


def test_accounts_clean_up_even_if_clients_stay_open(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import os
        import socket
        import tempfile
        import threading
        from pathlib import Path
        from urllib.parse import urlsplit

        import pytest
        from azure.cosmos import CosmosClient, PartitionKey

        def directories():
            # Only this process's: other test runs come and go.
            parents = [Path("/dev/shm"), Path(tempfile.gettempdir())]
            return [found for parent in parents for found in parent.glob(f"local-cosmos-{os.getpid()}-*")]

        before = directories()
        seen = []

        @pytest.mark.parametrize("run", range(3))
        def test_account(cosmos, run):
            client = CosmosClient(cosmos.endpoint, cosmos.key)
            container = client.create_database("db").create_container("items", PartitionKey("/pk"))
            container.create_item({"id": "a", "pk": "p"})
            seen.append((client, urlsplit(cosmos.endpoint).port))

        def test_after(cosmos):
            assert len(seen) == 3
            for client, port in seen:
                client.__exit__()
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port))
            assert not [thread for thread in threading.enumerate() if thread.name.startswith("cosmos-script")]
            assert len(directories()) == len(before) + 1
        """,
        4,
    )


def test_an_account_starts_and_stops_in_less_than_20_ms(project: pytest.Pytester) -> None:
    result = passes(
        project,
        """
        import pytest

        @pytest.mark.parametrize("run", range(50))
        def test_account(cosmos, run):
            assert cosmos.endpoint
        """,
        50,
        "--durations=0",
        "-vv",
    )
    for phase in ("setup", "teardown"):
        times_s = [float(text) for text in re.findall(rf"([\d.]+)s {phase} ", result.stdout.str())]
        assert len(times_s) == 50
        # The median tolerates a machine that is briefly busy.
        assert statistics.median(times_s) < 0.01
