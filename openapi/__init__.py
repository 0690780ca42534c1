"""The OpenAPI description of the API, and its page."""

from __future__ import annotations

import azure.functions as func


def register(app: func.FunctionApp) -> None:
    from openapi import docs

    app.register_functions(docs.bp)
