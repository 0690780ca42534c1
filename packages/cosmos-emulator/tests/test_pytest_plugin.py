"""The pytest plugin, in a project that only installs the package."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """An empty project that treats warnings as errors."""
    pytester.makeini(
        """
        [pytest]
        filterwarnings =
            error
        asyncio_mode = auto
        asyncio_default_fixture_loop_scope = function
        """
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


def test_a_client_is_not_closed_during_its_health_check(project: pytest.Pytester) -> None:
    """azure-cosmos would log an error, whose traceback can end pytest on Python 3.11 (python/cpython#106905)."""
    passes(
        project,
        """
        import logging
        import threading
        import time

        import pytest

        run = threading.Thread.run
        logged = []
        checks = []

        class Keep(logging.Handler):
            emit = logged.append

        @pytest.fixture(autouse=True, scope="module")
        def kept():
            logging.getLogger("azure.cosmos").addHandler(Keep(logging.ERROR))

        def start_late(thread):
            if thread.name == "cosmos-endpoint-refresh":
                checks.append(thread)
                time.sleep(0.5)
            run(thread)

        def test_client(cosmos, monkeypatch):
            monkeypatch.setattr(threading.Thread, "run", start_late)
            cosmos.client()
            while not checks:
                time.sleep(0.01)

        def test_its_end():
            for check in checks:
                check.join()
            assert [record.getMessage() for record in logged] == []
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


def test_markers_change_the_settings_of_an_account(project: pytest.Pytester) -> None:
    passes(
        project,
        """
        import pytest
        from azure.cosmos import PartitionKey
        from azure.cosmos.exceptions import CosmosHttpResponseError
        from cosmos_emulator import EmulatorSettings

        @pytest.fixture
        def cosmos_settings():
            return EmulatorSettings(partitions=2, throttle=True)

        @pytest.mark.cosmos(partitions=4, replica_lag="500ms±200ms")
        class TestMarked:
            def test_class(self, cosmos):
                container = cosmos.client().create_database("db").create_container("items", PartitionKey("/pk"))
                assert len(list(container.read_feed_ranges())) == 4
                assert str(cosmos.settings.replica_lag) == "500ms±200ms"
                assert cosmos.settings.throttle

            @pytest.mark.cosmos(partitions=3, faults=["413 operation=create-database"])
            def test_the_closest_marker_wins(self, cosmos):
                assert (cosmos.settings.partitions, str(cosmos.settings.replica_lag)) == (3, "500ms±200ms")
                with pytest.raises(CosmosHttpResponseError):
                    cosmos.client().create_database("db")

        def test_unmarked(cosmos):
            assert cosmos.settings.partitions == 2
        """,
        3,
        "--strict-markers",
    )


def test_a_marker_that_is_invalid_or_without_effect_is_an_error(project: pytest.Pytester) -> None:
    messages = {
        "partition=4": "'partition' is not a setting; use host, port, data_dir, key",
        "4": "takes settings by name, not 4",
        "replica_lag='soon'": "'soon' is not a duration",
        "partitions='4'": "partitions must be int, not '4'",
        "throttle=1": "throttle must be bool, not 1",
        "faults=['999']": "pytest.mark.cosmos: ",
        "partitions=4": "has no effect",
    }
    tests = []
    for number, arguments in enumerate(messages):
        fixture = "cosmos" if arguments != "partitions=4" else ""
        tests.append(f"@pytest.mark.cosmos({arguments})\ndef test_{number}({fixture}): pass\n")
    project.makepyfile("import pytest\n\n" + "\n".join(tests))

    result = project.runpytest_subprocess("-p", "no:cacheprovider")

    result.assert_outcomes(errors=len(messages))
    for number, message in enumerate(messages.values()):
        result.stdout.fnmatch_lines([f"*ERROR at setup of test_{number} *", f"*{message}*"])


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_a_session_has_one_account_that_snapshots_isolate(project: pytest.Pytester, options: tuple[str, ...]) -> None:
    passes(
        project,
        """
        import pytest
        from azure.cosmos import PartitionKey
        from cosmos_emulator import EmulatorSettings

        endpoints = set()

        @pytest.fixture(scope="session")
        def cosmos_session_settings():
            return EmulatorSettings(partitions=2)

        @pytest.fixture(scope="session")
        def seeded(cosmos_session):
            container = cosmos_session.client().create_database("db").create_container("items", PartitionKey("/pk"))
            container.create_item({"id": "seed", "pk": "p"})
            cosmos_session.snapshot("seeded")
            return container

        @pytest.fixture
        def items(cosmos_session, seeded):
            cosmos_session.restore("seeded")
            return seeded

        @pytest.mark.parametrize("run", range(20))
        def test_item(cosmos_session, items, run):
            endpoints.add(cosmos_session.endpoint)
            assert len(endpoints) == 1
            assert [item["id"] for item in items.read_all_items()] == ["seed"]
            items.create_item({"id": str(run), "pk": "q"})

        def test_controls(cosmos_session, tmp_path):
            cosmos_session.reset()
            client = cosmos_session.client()
            client.create_database("exported")
            cosmos_session.export_to(tmp_path / "account.jsonl")
            cosmos_session.reset()
            assert list(client.list_databases()) == []
            cosmos_session.import_from(tmp_path / "account.jsonl")
            assert [found["id"] for found in client.list_databases()] == ["exported"]
            cosmos_session.clock.freeze(1_000_000_000)
            assert client.create_database("frozen").read()["_ts"] == 1_000_000_000
            cosmos_session.clock.reset()
        """,
        21,
        *options,
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


@pytest.mark.nightly
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

        made = []
        create = tempfile.mkdtemp

        def recorded(**options):
            made.append(Path(create(**options)))
            return str(made[-1])

        tempfile.mkdtemp = recorded  # because other test runs create directories too
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
            assert [path.exists() for path in made] == [False, False, False, True]
        """,
        4,
    )
