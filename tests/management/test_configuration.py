"""Where manage.py takes its settings from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from management.configuration import read_configuration
from management.errors import ManagementError
from shared.settings import SettingsError

_CONNECTION = "AccountEndpoint=http://localhost:8081/;AccountKey=a2V5;"


def _file(directory: Path, content: object) -> Path:
    path = directory / "local.settings.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_the_environment_lacks_comes_from_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    configuration = read_configuration({"BLOG_DATABASE": ""}, file)

    assert (configuration.account_endpoint, configuration.database) == ("http://localhost:8081/", "blog")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    assert read_configuration({"BLOG_DATABASE": "other"}, file).database == "other"


def test_an_account_of_the_environment_is_not_mixed_with_a_key_of_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, {"Values": {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog"}})

    configuration = read_configuration({"COSMOS__accountEndpoint": "https://real.example/"}, file)

    assert (configuration.account_endpoint, configuration.account_key) == ("https://real.example/", None)


@pytest.mark.parametrize("way_in", ["oidc", "app-service", "nobody"])
def test_how_users_sign_in_to_the_app_is_nothing_to_a_terminal(tmp_path: Path, way_in: str) -> None:
    environment = {"COSMOS": _CONNECTION, "BLOG_DATABASE": "blog", "BLOG_AUTH": way_in}

    assert read_configuration(environment, tmp_path / "absent.json").database == "blog"


def test_without_either_every_missing_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"COSMOS.*BLOG_DATABASE"):
        read_configuration({}, tmp_path / "absent.json")


@pytest.mark.parametrize(("text", "complaint"), [("{", "cannot be read"), ('{"IsEncrypted": true}', "encrypted")])
def test_a_file_that_is_no_use_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "local.settings.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(ManagementError, match=complaint):
        read_configuration({}, file)
