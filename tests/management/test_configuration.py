"""Settings of manage.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import pytest

from management.configuration import read_configuration
from management.local_settings import LocalSettingsError, announced, stack_settings
from shared.platform.settings import SettingsError
from shared.settings import Settings
from tests.running_app import REPOSITORY

_CONNECTION = "AccountEndpoint=http://localhost:8081/;AccountKey=a2V5;"


def _file(directory: Path, content: object) -> Path:
    path = directory / "local.settings.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _read(environment: Mapping[str, str], file: Path) -> Settings:
    with patch.dict(os.environ, environment, clear=True):
        return read_configuration(file)


def test_the_file_supplies_settings_missing_from_the_environment(tmp_path: Path) -> None:
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    configuration = _read({"BLOG_DATABASE": ""}, file)

    assert (configuration.account.endpoint, configuration.database) == ("http://localhost:8081/", "blog")


def test_the_file_can_have_comments_and_trailing_commas(tmp_path: Path) -> None:
    file = tmp_path / "local.settings.json"
    values = f'"COSMOS": "{_CONNECTION}", /* or staging */ "BLOG_DATABASE": "blog",'
    file.write_text(f'{{ // mine\n"Values": {{{values}}},}}')

    configuration = _read({}, file)

    assert (configuration.account.endpoint, configuration.database) == ("http://localhost:8081/", "blog")


def test_a_running_local_stack_supersedes_the_file(tmp_path: Path) -> None:
    """Its ports can differ from those in the file, which select the stack of another clone."""
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})
    of_stack = "AccountEndpoint=http://localhost:8082/;AccountKey=a2V5;"

    with announced(tmp_path, {"COSMOS": of_stack, "BLOG_DATABASE": "blog"}):
        during = _read({}, file)
        chosen = _read({"COSMOS": "AccountEndpoint=http://localhost:9999/;AccountKey=a2V5;"}, file)
    after = _read({}, file)

    endpoints = [each.account.endpoint for each in (during, chosen, after)]
    assert endpoints == ["http://localhost:8082/", "http://localhost:9999/", "http://localhost:8081/"]


def test_a_running_local_stack_does_not_replace_another_file(tmp_path: Path) -> None:
    values = {"COSMOS": _CONNECTION, "BLOG_DATABASE": "staging"}
    file = _file(tmp_path, {"Values": values}).rename(tmp_path / "staging.settings.json")

    with announced(tmp_path, {"COSMOS": "AccountEndpoint=http://localhost:8082/;AccountKey=a2V5;"}):
        configuration = _read({}, file)

    assert (configuration.account.endpoint, configuration.database) == ("http://localhost:8081/", "staging")


def test_a_second_local_stack_in_the_folder_does_not_replace_the_first(tmp_path: Path) -> None:
    def of(port: int) -> dict[str, str]:
        return {"COSMOS": f"AccountEndpoint=http://localhost:{port}/;AccountKey=a2V5;", "BLOG_DATABASE": "blog"}

    with announced(tmp_path, of(8081)) as first:
        with announced(tmp_path, of(8082)) as second:
            during = stack_settings(tmp_path)
        after = stack_settings(tmp_path)
    ended = stack_settings(tmp_path)

    assert (first, second) == (True, False)
    assert (during, after, ended) == (of(8081), of(8081), {})


def test_a_killed_local_stack_is_not_found(tmp_path: Path) -> None:
    connection = {"COSMOS": _CONNECTION}
    enter = f"local_settings.announced(Path({str(tmp_path)!r}), {connection})"
    imports = "import os; from management import local_settings; from pathlib import Path"
    killed = f"{imports}; stack = {enter}; stack.__enter__(); os._exit(1)"
    subprocess.run([sys.executable, "-c", killed], cwd=REPOSITORY, check=False)  # noqa: S603 - fixed
    assert (tmp_path / ".data" / "running.json").exists()

    assert stack_settings(tmp_path) == {}
    with announced(tmp_path, connection) as found:
        assert (found, stack_settings(tmp_path)) == (True, connection)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": "x"}'])
def test_a_damaged_announcement_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data" / "running.json").write_text(text)

    assert stack_settings(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".data").write_text("not a folder")

    with announced(tmp_path, {"COSMOS": _CONNECTION}) as found:
        assert (found, stack_settings(tmp_path)) == (False, {})


def test_the_file_can_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Editors and PowerShell on Windows write one, and the Functions host accepts it."""
    file = tmp_path / "local.settings.json"
    file.write_text(json.dumps({"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}}), encoding="utf-8-sig")

    assert _read({}, file).database == "blog"


def test_a_value_of_null_counts_as_absent(tmp_path: Path) -> None:
    values = {"COSMOS__accountEndpoint": "https://real.example/", "COSMOS__accountKey": None, "BLOG_DATABASE": "blog"}

    assert _read({}, _file(tmp_path, {"Values": values})).account.key is None


def test_quickstarts_write_false_as_text(tmp_path: Path) -> None:
    content = {"IsEncrypted": "false", "Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}}

    assert _read({}, _file(tmp_path, content)).database == "blog"


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    assert _read({"BLOG_DATABASE": "other"}, file).database == "other"


def test_an_account_from_the_environment_ignores_a_key_from_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    configuration = _read({"COSMOS__accountEndpoint": "https://real.example/"}, file)

    assert (configuration.account.endpoint, configuration.account.key) == ("https://real.example/", None)


def test_names_in_upper_case_are_found(tmp_path: Path) -> None:
    """On Windows, all names of os.environ are in upper case."""
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    configuration = _read({"COSMOS__ACCOUNTENDPOINT": "https://real.example/"}, file)

    assert (configuration.account.endpoint, configuration.account.key) == ("https://real.example/", None)


@pytest.mark.parametrize("auth_mode", ["app-service", "nobody"])
def test_the_terminal_ignores_the_authentication_mode(tmp_path: Path, auth_mode: str) -> None:
    environment = {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog", "BLOG_AUTH": auth_mode}

    assert _read(environment, tmp_path / "absent.json").database == "blog"


def test_missing_settings_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"COSMOS.*BLOG_DATABASE"):
        _read({}, tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "cannot be read"),
        ("[]", "must be an object"),
        ('{"Values": 3}', "must be an object"),
        ('{"Values": {"BLOG": {"DATABASE": "blog"}}}', "BLOG must be text. Write nested names with `__`"),
        ('{"IsEncrypted": true}', "encrypted"),
    ],
)
def test_an_unusable_settings_file_is_rejected(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "local.settings.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(LocalSettingsError, match=complaint):
        _read({}, file)
