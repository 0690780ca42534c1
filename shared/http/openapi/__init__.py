"""The description of the API as OpenAPI 3.1, made from the endpoints that serve it and the table of problems."""

from shared.http.openapi.document import API_PATH, describe
from shared.http.openapi.refusals import meaning_of

__all__ = ["API_PATH", "describe", "meaning_of"]
