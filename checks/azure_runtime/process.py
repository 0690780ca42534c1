"""Runs worker.py as a process, so tests can use any Python version."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORKER = Path(__file__).with_name("worker.py")
_ANSWER_S = 60

Json = dict[str, Any]


@dataclass(frozen=True)
class Response:
    """The response of an HTTP function, with lowercase header names."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RuntimeWorker:
    """A running worker. `index` contains the app's `functions` or an `error`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.index: Json = self._answer()

    def http(
        self,
        function: str,
        method: str,
        path: str,
        *,
        body: object = None,
        route: Mapping[str, str] | None = None,
        traceparent: str = "",
    ) -> Response:
        """Invoke an HTTP function as the host does after routing. `traceparent` is of the host's own span."""
        content = b"" if body is None else json.dumps(body).encode()
        request = {
            "method": method,
            "url": f"https://blog.example{path}",
            "headers": {"content-type": "application/json"} if content else {},
            "params": dict(route or {}),
            "query": {},
            "body": base64.b64encode(content).decode(),
        }
        answer = self._invoke({"function": function, "parameter": "req", "http": request, "traceparent": traceparent})
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        return Response(answer["status"], headers, base64.b64decode(answer["body"]))

    def changes(self, function: str, documents: list[Json], *, traceparent: str = "") -> None:
        """Invoke a change-feed function."""
        self._invoke({"function": function, "parameter": "changes", "documents": documents, "traceparent": traceparent})

    def _invoke(self, asked: Json) -> Json:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._answer()
        assert answer["error"] is None, answer["error"]
        return answer

    def _answer(self) -> Json:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], _ANSWER_S)
        assert ready, "the worker did not respond"
        line = self._process.stdout.readline()
        assert line, "the worker exited"
        return dict(json.loads(line))


@contextmanager
def runtime_worker(python: Path, app_dir: Path, environment: Mapping[str, str], log: Path) -> Iterator[RuntimeWorker]:
    """Run a worker on the app in a folder. `log` receives its stderr."""
    with (
        log.open("wb") as stderr,
        subprocess.Popen(  # noqa: S603 - our own interpreter
            [str(python), str(_WORKER)],
            cwd=app_dir,
            env={**os.environ, **environment, "PYTHONPATH": str(app_dir)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        ) as process,
    ):
        try:
            yield RuntimeWorker(process)
        finally:
            process.kill()
