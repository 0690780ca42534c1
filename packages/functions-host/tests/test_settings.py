"""local.settings.json, host.json and `%NAME%` expressions."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from functions_host.app_settings import AppSettings, app_environment, read_local_settings
from functions_host.errors import FunctionIndexError, HostStartError
from functions_host.host_json import HostConfig, read_host_config
from functions_host.retry import RetryPolicy
from tests.running import running, write_app


def local_file(directory: Path, **content: object) -> Path:
    (directory / "local.settings.json").write_text(json.dumps({"IsEncrypted": False, **content}))
    return directory


def host_file(directory: Path, **content: object) -> Path:
    (directory / "host.json").write_text(json.dumps({"version": "2.0", **content}))
    return directory


def test_values_are_added_to_the_environment_without_overriding_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAKEN", "from outside")
    monkeypatch.setenv("EMPTY", "")
    local = read_local_settings(
        local_file(tmp_path, Values={"TAKEN": "no", "EMPTY": "filled", "NEW": "yes", "NONE": None, "FLAG": True})
    )

    with app_environment(local, {"NEW": "override"}) as settings:
        inside = {name: os.environ.get(name) for name in ("TAKEN", "EMPTY", "NEW", "NONE", "FLAG")}
        assert settings.get("taken") == "from outside"

    assert inside == {"TAKEN": "from outside", "EMPTY": "filled", "NEW": "override", "NONE": None, "FLAG": "true"}
    assert "NEW" not in os.environ
    assert os.environ["EMPTY"] == ""


def test_only_a_setting_with_another_value_in_the_environment_causes_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SAME", "value")
    monkeypatch.setenv("OTHER", "value")

    with app_environment(read_local_settings(local_file(tmp_path, Values={"SAME": "value", "OTHER": "another"})), {}):
        pass

    assert [record.args for record in caplog.records] == [("OTHER", "local.settings.json")]


async def test_a_host_can_ignore_local_settings(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, "")
    local_file(app_dir, Values={"FROM_FILE": "yes"})

    async with running(app_dir, local_settings=False):
        assert "FROM_FILE" not in os.environ


def test_connection_strings_and_host_options_are_read(tmp_path: Path) -> None:
    local = read_local_settings(
        local_file(
            tmp_path,
            ConnectionStrings={"A": "one", "B": {"ConnectionString": "two", "ProviderName": "x"}},
            Host={"LocalHttpPort": 7100, "CORS": "http://a,http://b", "CORSCredentials": True},
        )
    )

    assert local.values == {"ConnectionStrings:A": "one", "ConnectionStrings:B": "two"}
    assert (local.port, local.cors_origins, local.cors_credentials) == (7100, ("http://a", "http://b"), True)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_invalid_json_is_ignored_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    (tmp_path / "local.settings.json").write_text(text)

    assert read_local_settings(tmp_path).values == {}
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize("text", ['"false"', '"False"', "false"])
def test_unencrypted_can_be_text_as_in_the_quickstarts_of_microsoft(tmp_path: Path, text: str) -> None:
    (tmp_path / "local.settings.json").write_text(f'{{"IsEncrypted": {text}, "Values": {{"A": "1"}}}}')

    assert read_local_settings(tmp_path).values == {"A": "1"}


COMMENTED = """{ // a comment
  /* of several
     lines */
  "version": "2.0", "IsEncrypted": false,
  "Values": {"URL": "http://localhost/*,}", "QUOTED": "\\"//,]",},
  "extensions": {"http": {"routePrefix": "v1"}, },
}"""


def test_comments_and_trailing_commas_are_accepted(tmp_path: Path) -> None:
    for name in ("local.settings.json", "host.json"):
        (tmp_path / name).write_text(COMMENTED)

    assert read_local_settings(tmp_path).values == {"URL": "http://localhost/*,}", "QUOTED": '"//,]'}
    assert read_host_config(tmp_path, AppSettings({})).route_prefix == "v1"


@pytest.mark.parametrize("text", ['{"a": 1,,}', '{"a": 1 /* }', '{"a": "//}'])
def test_other_invalid_json_stays_invalid(tmp_path: Path, text: str) -> None:
    (tmp_path / "host.json").write_text(text)

    with pytest.raises(HostStartError, match="not valid JSON"):
        read_host_config(tmp_path, AppSettings({}))


def test_encrypted_and_nested_values_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "local.settings.json").write_text('{"Values": {}}')
    with pytest.raises(HostStartError, match="IsEncrypted"):
        read_local_settings(tmp_path)

    with pytest.raises(HostStartError, match="inner"):
        read_local_settings(local_file(tmp_path, Values={"inner": {"a": 1}}))


def test_app_setting_expressions_are_expanded() -> None:
    settings = AppSettings({"DB": "blog", "Section__Name": "x", "EMPTY": ""})

    assert settings.expand("%db%-%Section:Name%-%EMPTY%!") == "blog-x-!"
    for wrong in ("%MISSING%", "100%"):
        with pytest.raises(FunctionIndexError):
            settings.expand(wrong)


def test_a_missing_or_empty_host_json_has_defaults(tmp_path: Path) -> None:
    assert read_host_config(tmp_path, AppSettings({})) == HostConfig()
    (tmp_path / "host.json").write_text("{}")
    assert read_host_config(tmp_path, AppSettings({})) == HostConfig()


@pytest.mark.parametrize("text", ["{", "[]", '{"version": "1.0"}', '{"extensions": {}}'])
def test_an_unsupported_host_json_version_is_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "host.json").write_text(text)

    with pytest.raises(HostStartError, match=r"host\.json"):
        read_host_config(tmp_path, AppSettings({}))


@pytest.mark.parametrize(
    ("serializer", "parses_dates"),
    [({}, True), ({"dateParseHandling": "Default"}, True), ({"DateParseHandling": "none"}, False)],
)
def test_host_json_says_whether_texts_in_changes_are_parsed_as_dates(
    tmp_path: Path, serializer: dict[str, str], parses_dates: bool
) -> None:
    host_file(tmp_path, extensions={"cosmosDB": {"serializerSettings": serializer}})

    assert read_host_config(tmp_path, AppSettings({})).parses_dates == parses_dates


@pytest.mark.parametrize(
    ("serializer", "named"),
    [({"dateFormatHandling": "None"}, "dateFormatHandling"), ({"dateParseHandling": "Off"}, "Off")],
)
def test_an_unknown_serializer_setting_is_named(tmp_path: Path, serializer: dict[str, str], named: str) -> None:
    host_file(tmp_path, extensions={"cosmosDB": {"serializerSettings": serializer}})

    with pytest.raises(HostStartError, match=named):
        read_host_config(tmp_path, AppSettings({}))


def test_host_json_ignores_case_and_the_environment_overrides_it(tmp_path: Path) -> None:
    host_file(
        tmp_path,
        Extensions={"HTTP": {"routeprefix": "v1/", "maxConcurrentRequests": 5, "customHeaders": {"X-A": "b"}}},
        functionTimeout="00:00:10",
        logging={"logLevel": {"default": "Warning", "Function.Hello": "debug"}},
        retry={"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:02"},
        functions=["Hello"],
    )
    settings = AppSettings(
        {
            "AzureFunctionsJobHost__extensions__http__maxConcurrentRequests": "7",
            "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": "10",
        }
    )

    config = read_host_config(tmp_path, settings)

    assert (config.route_prefix, config.max_concurrent_requests) == ("v1", 7)
    assert config.custom_headers == {"X-A": "b"}
    assert config.function_timeout_s == 10
    assert config.log_levels == {"default": logging.WARNING, "Function.Hello": logging.DEBUG}
    assert config.retry == RetryPolicy("fixed", 4, 2)
    assert (config.serves("hello"), config.serves("other")) == (True, False)
    assert config.body_limit == 10


@pytest.mark.parametrize(
    "content",
    [
        {"functionTimeout": "00:00:00"},
        {"functionTimeout": "soon"},
        {"logging": {"logLevel": {"default": "Loud"}}},
        {"retry": {"strategy": "fixedDelay"}},
        {"extensions": {"http": {"maxConcurrentRequests": "many"}}},
    ],
)
def test_an_invalid_value_in_host_json_is_rejected(tmp_path: Path, content: dict[str, object]) -> None:
    with pytest.raises(HostStartError, match=r"host\.json"):
        read_host_config(host_file(tmp_path, **content), AppSettings({}))


def test_timeout_minus_one_means_no_limit(tmp_path: Path) -> None:
    assert read_host_config(host_file(tmp_path, functionTimeout="-1"), AppSettings({})).function_timeout_s is None
