"""A server in place of Application Insights' ingestion endpoint, and of the managed identity's token endpoint."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from cosmos_emulator.http.tls import server_context

TOKEN = "token-of-the-identity"


class Ingestion:
    """Listens on a free local port in its own thread."""

    def __init__(self, directory: Path) -> None:
        self.certificate = directory / "certificate.pem"
        self.envelopes: list[dict[str, Any]] = []
        self.authorizations: set[str | None] = set()
        self.token_requests: list[Mapping[str, list[str]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # The SDK sends tokens to https addresses only.
        self._server.socket = server_context("127.0.0.1", self.certificate).wrap_socket(
            self._server.socket, server_side=True
        )
        self._thread = threading.Thread(target=self._server.serve_forever, name="ingestion", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def endpoint(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}/"

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """Return the base data of the envelopes of a type."""
        return [one["data"]["baseData"] for one in self.envelopes if one["data"]["baseType"] == kind]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        ingestion = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                envelopes = json.loads(body)
                ingestion.envelopes += envelopes
                ingestion.authorizations.add(self.headers.get("Authorization"))
                self._respond({"itemsReceived": len(envelopes), "itemsAccepted": len(envelopes), "errors": []})

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                if url.path != "/identity":
                    self._respond({})
                    return
                ingestion.token_requests.append(parse_qs(url.query))
                expires = int(time.time()) + 3600
                self._respond({"access_token": TOKEN, "expires_on": str(expires), "token_type": "Bearer"})

            def _respond(self, content: object) -> None:
                body = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        return Handler
