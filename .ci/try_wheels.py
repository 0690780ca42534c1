"""Install each wheel in an empty environment, and send its program a first request.

Usage: python try_wheels.py DIRECTORY
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

APP = """
import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)


@app.route("hello")
def hello(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("Hello")
"""
START_S = 60


def main(directory: Path) -> None:
    with installed(directory, "cosmos_emulator") as programs:
        command = [programs / "cosmos-emulator", "--port", "0", "--memory", "--no-signature-check"]
        with started(command) as endpoint:
            sent(f"{endpoint}dbs", {"id": "shop"})
            sent(f"{endpoint}dbs/shop/colls", {"id": "orders", "partitionKey": {"paths": ["/customer"]}})
            orders = f"{endpoint}dbs/shop/colls/orders"
            # Both need files that are not Python modules.
            sent(f"{orders}/sprocs", {"id": "s", "body": "function () { __.response.setBody('runs'); }"})
            expect('"runs"', sent(f"{orders}/sprocs/s", [], {"x-ms-documentdb-partitionkey": '["ada"]'}))
            expect("<html", sent(f"{endpoint}_explorer/"))
        sys.stdout.write("cosmos-emulator: a stored procedure runs, and the data explorer is served\n")
    with installed(directory, "functions_host") as programs, tempfile.TemporaryDirectory() as app:
        Path(app, "function_app.py").write_text(APP, encoding="utf-8")
        Path(app, "host.json").write_text('{"version": "2.0"}', encoding="utf-8")
        with started([programs / "functions-host", "--app-dir", app, "--port", "0", "--no-reload"]) as endpoint:
            expect("Hello", sent(f"{endpoint}/api/hello"))
        sys.stdout.write("functions-host: an HTTP function responds\n")


@contextmanager
def installed(directory: Path, name: str) -> Iterator[Path]:
    """Yield the directory of the programs in a new environment that has only this wheel and its dependencies."""
    (wheel,) = directory.glob(f"{name}-*.whl")
    with tempfile.TemporaryDirectory() as environment:
        venv.create(environment, with_pip=True)
        programs = Path(environment, "Scripts" if sys.platform == "win32" else "bin")
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
        subprocess.run([programs / "python", *install], check=True)  # noqa: S603 - a fixed command
        yield programs


@contextmanager
def started(command: list[str | Path]) -> Iterator[str]:
    """Yield the URL that a server prints when it is ready."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **options) as process:  # noqa: S603 - the commands above
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if url := re.search(r"http://\S+:\d+/?", line):
                    yield url[0]
                    return
            sys.exit(f"{command[0]} did not start:\n{''.join(lines)}")
        finally:
            process.terminate()


def sent(url: str, body: object = None, headers: dict[str, str] | None = None) -> str:
    """Return the response to a GET, or to a POST of a body as JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers or {})  # noqa: S310 - a server on this machine
    with urllib.request.urlopen(request, timeout=START_S) as response:  # noqa: S310 - see above
        return response.read().decode()


def expect(text: str, response: str) -> None:
    """Exit unless a text is in a response."""
    if text not in response:
        sys.exit(f"Expected {text} in this response: {response}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
