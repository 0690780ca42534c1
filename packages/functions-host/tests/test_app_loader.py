"""App loading: discovery, errors that fail the app, errors that drop one function."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from functions_host import HostStartError
from tests.running import app_module, eventually, running, write_app

ROUTE = "@app.route(route='{name}')\ndef {name}(req: func.HttpRequest) -> func.HttpResponse:\n    return 'x'\n"


def route(name: str) -> str:
    return ROUTE.replace("{name}", name)


async def loaded(app_dir: Path, **environment: str) -> list[str]:
    async with running(app_dir, environment) as host:
        return sorted(function.name for function in host.functions.values())


async def test_an_app_is_loaded_and_unloaded(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, "import sibling\n" + route("hello"), sibling="VALUE = 1")
    before = sys.modules.get("function_app")

    async with running(app_dir) as host:
        assert list(host.functions) == ["hello"]
        assert app_module().sibling.VALUE == 1
        assert app_module() is not before

    assert sys.modules.get("function_app") is before
    assert "sibling" not in sys.modules
    assert str(app_dir) not in sys.path


async def test_the_environment_sets_the_script_name(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, route("a"))
    (app_dir / "other.py").write_text((app_dir / "function_app.py").read_text().replace("def a", "def b"))

    assert await loaded(app_dir, PYTHON_SCRIPT_FILE_NAME="other.py") == ["b"]
    for wrong in ("other", "../x.py", "missing.py"):
        with pytest.raises(HostStartError):
            await loaded(app_dir, PYTHON_SCRIPT_FILE_NAME=wrong)


async def test_consecutive_apps_import_their_own_modules(tmp_path: Path) -> None:
    first = write_app(tmp_path / "a", "from sibling import NAME\n" + route("one"), sibling="NAME = 'a'")
    second = write_app(tmp_path / "b", "from sibling import NAME\n" + route("two"), sibling="NAME = 'b'")

    for app_dir, expected in ((first, "a"), (second, "b"), (first, "a")):
        async with running(app_dir):
            assert expected == app_module().NAME


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("app = None\n", "Could not find top level function app"),
        ("other = app\n", "More than one top level function app"),
        ("again = func.FunctionApp()\n", "More than one top level function app"),
        ("import no_such_package\n", "requirements.txt"),
        (route("f") + "@app.route(route='y')\n@app.function_name('f')\ndef g(req): ...\n", "unique"),
        ("@app.function_name('lonely')\ndef lonely(): ...\n", "does not have a trigger"),
    ],
)
async def test_an_app_that_the_worker_rejects_does_not_start(tmp_path: Path, source: str, message: str) -> None:
    app_dir = write_app(tmp_path, source)

    with pytest.raises(HostStartError, match=message):
        await loaded(app_dir)


async def test_a_missing_package_is_named_with_the_import(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, "import orders\n", orders="import os\nimport no_such_package\n")

    with pytest.raises(HostStartError, match=r"orders\.py, line 2: No module named 'no_such_package'"):
        await loaded(app_dir)


@pytest.mark.parametrize(("prefix", "served"), [("", ["http_app_func"]), ("api", [])])
async def test_an_asgi_app_below_a_prefix_is_explained(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, prefix: str, served: list[str]
) -> None:
    app_dir = write_app(tmp_path, "del app\nwsgi = func.WsgiFunctionApp(lambda environ, start: [])\n")
    (app_dir / "host.json").write_text(f'{{"version": "2.0", "extensions": {{"http": {{"routePrefix": "{prefix}"}}}}}}')

    assert await loaded(app_dir) == served
    assert ('"routePrefix": ""' in caplog.text) == (not served)


async def test_types_of_extension_packages_are_not_supported_by_this_host(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Stands for azurefunctions-extensions-http-fastapi, whose Request is Starlette's.
    source = "from azurefunctions.extensions.http.fastapi import Request\n@app.route()\ndef f(req: Request): ...\n"
    app_dir = write_app(tmp_path, route("good") + source)
    package = app_dir / "azurefunctions" / "extensions" / "http"
    package.mkdir(parents=True)
    (package / "fastapi.py").write_text("class Request: ...\n")

    assert await loaded(app_dir) == ["good"]
    assert "do not match. This host does not support HTTP streams" in caplog.text
    assert "Azure would not start" not in caplog.text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("@app.route()\ndef f(request): ...\n", "declared in its bindings but not in Python"),
        ("@app.route()\ndef f(req, more): ...\n", "declared in Python but not in its bindings"),
        ("@app.route()\ndef f(req: int): ...\n", "do not match"),
        ("@app.route()\ndef f(req: func.Out[str]): ...\n", "direction"),
        ("@app.route()\ndef f(req: 'str | int'): ...\n", "non-type"),
        ("@app.route()\ndef f(req, context: int): ...\n", "Context"),
        ("@app.route()\ndef f(req) -> int: ...\n", "must return"),
        ("@app.route()\ndef f(req: 'Missing'): ...\n", "Missing"),
        ("@app.timer_trigger('t', '* * * * * *')\ndef f(t: func.HttpRequest): ...\n", "do not match"),
        (
            "@app.retry('fixed_delay', '1', delay_interval='soon')\n@app.route()\ndef f(req): ...\n",
            "must be HH:MM:SS",
        ),
        ("@app.route()\ndef f(req: 'list[': ...".replace(": ...", "): ...\n"), "expression"),
    ],
)
async def test_a_function_with_an_unsupported_signature_is_named_and_skipped(
    tmp_path: Path, source: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    app_dir = write_app(tmp_path, route("good") + source)

    assert await loaded(app_dir) == ["good"]
    assert re.search(f"The '[ft]' function is in error: .*{message}.*Azure would not start the app", caplog.text)


@pytest.mark.parametrize(
    "source",
    [
        "@app.route(route='x', trigger_arg_name='my_req')\ndef bad(my_req): ...\n",
        "@app.function_name('1bad')\n@app.route()\ndef bad(req): ...\n",
        "@app.function_name('host')\n@app.route()\ndef bad(req): ...\n",
        "@app.function_name('GOOD')\n@app.route(route='x')\ndef bad(req): ...\n",
        "@app.route(route='administrators')\ndef bad(req): ...\n",
        "@app.route(route='/Runtime/x')\ndef bad(req): ...\n",
        "@app.route(route='a//b')\ndef bad(req): ...\n",
        "@app.route(route='{id:nope}')\ndef bad(req): ...\n",
        "@app.route(route='GOOD/')\ndef later(req): ...\n",
        "@app.queue_trigger('msg', 'q', 'C')\ndef bad(msg): ...\n",
        "@app.queue_output('msg', 'q', 'C')\n@app.route(route='x')\ndef bad(req, msg: func.Out[str]): ...\n",
        "@app.blob_input('b', 'p', 'C')\n@app.route(route='x')\ndef bad(req, b: func.InputStream): ...\n",
        "@app.timer_trigger('t', 'never')\ndef bad(t): ...\n",
        "@app.timer_trigger('t', '%MISSING%')\ndef bad(t): ...\n",
        "@app.retry('fixed_delay', '1')\n@app.route()\ndef bad(req): ...\n",
        "@app.cosmos_db_trigger('d', container_name='c', database_name='b', connection='NONE')\ndef bad(d): ...\n",
    ],
)
async def test_a_function_that_the_host_rejects_is_dropped_and_logged(
    tmp_path: Path, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    app_dir = write_app(tmp_path, route("good") + source)

    assert await loaded(app_dir) == ["good"]
    assert "function is in error" in caplog.text


async def test_blueprint_functions_are_served(tmp_path: Path) -> None:
    blueprint = "import azure.functions as func\nbp = func.Blueprint()\n" + route("inner").replace("app", "bp")
    app_dir = write_app(tmp_path, "from part import bp\napp.register_functions(bp)\n" + route("outer"), part=blueprint)

    assert await loaded(app_dir) == ["inner", "outer"]


async def test_a_duplicate_name_in_a_blueprint_fails_the_app(tmp_path: Path) -> None:
    blueprint = "import azure.functions as func\nbp = func.Blueprint()\n" + route("same").replace("app", "bp")
    app_dir = write_app(tmp_path, "from part import bp\napp.register_functions(bp)\n" + route("same"), part=blueprint)

    with pytest.raises(HostStartError, match="same"):
        await loaded(app_dir)


async def test_get_functions_is_called_once(tmp_path: Path) -> None:
    source = """
callers = []

class Counting(func.FunctionApp):
    def get_functions(self):
        callers.append(self)
        return super().get_functions()

app = Counting()
"""
    async with running(write_app(tmp_path, source + route("f"))):
        assert app_module().callers == [app_module().app]


async def test_disabled_and_unlisted_functions_are_not_served(tmp_path: Path) -> None:
    app_dir = write_app(tmp_path, route("a") + route("b") + route("c"))
    (app_dir / "host.json").write_text('{"version": "2.0", "functions": ["A", "B"]}')

    assert await loaded(app_dir, **{"AzureWebJobs.a.Disabled": "true"}) == ["b"]
    assert await loaded(app_dir, AzureWebJobs_b_Disabled="1") == ["a"]


async def test_a_disabled_function_has_no_listener(tmp_path: Path) -> None:
    source = """
calls = []

@app.timer_trigger("t", "0 0 0 1 1 *", run_on_startup=True)
def off(t): calls.append("off")

@app.timer_trigger("t", "0 0 0 1 1 *", run_on_startup=True)
def on(t): calls.append("on")
"""
    async with running(write_app(tmp_path, source), {"AzureWebJobs.off.Disabled": "1"}) as host:
        await host.ready()
        await eventually(lambda: app_module().calls)

        assert (host.is_listening("on"), host.is_listening("off")) == (True, False)
        assert app_module().calls == ["on"]
