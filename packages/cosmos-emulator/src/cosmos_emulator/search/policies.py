"""The vector embedding policy and the full-text policy of a container, and the indexes that need them.

Sources: learn.microsoft.com/azure/cosmos-db/vector-search and /gen-ai/full-text-search; messages, unless noted:
azure-cosmos test_vector_policy.py and test_full_text_policy.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeGuard

from cosmos_emulator.errors import CosmosError
from cosmos_emulator.indexing_policy.paths import parse_path
from cosmos_emulator.json_text import Json, JsonObject
from cosmos_emulator.vocabulary.names import canonical

DEFAULT_LANGUAGE: Final = "en-US"
LANGUAGES: Final = (DEFAULT_LANGUAGE, "de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR", "pt-PT")
DATA_TYPES: Final = ("float32", "float16", "int8", "uint8")
DISTANCE_FUNCTIONS: Final = ("cosine", "dotproduct", "euclidean")

DEFAULT_DIMENSIONS: Final = 1536

_MAX_DIMENSIONS: Final = 4096
_MOST_BY_TYPE: Final = {"flat": 505, "quantizedFlat": _MAX_DIMENSIONS, "diskANN": _MAX_DIMENSIONS}
_QUANTIZERS: Final = ("product", "spherical")
_MAX_QUANTIZED_BYTES: Final = 512  # @azure/cosmos, VectorIndex: from 1 to min(dimensions, 512)
_SEARCH_LIST_SIZES: Final = (25, 500)

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors at a path: one of `DATA_TYPES` and one of `DISTANCE_FUNCTIONS`."""

    dimensions: int = DEFAULT_DIMENSIONS
    data_type: str = "float32"
    distance: str = "cosine"


@dataclass(frozen=True, slots=True)
class SearchPolicies:
    """The vectors and the languages of texts, by path."""

    embeddings: Mapping[Names, Embedding] = field(default_factory=dict)
    default_language: str = DEFAULT_LANGUAGE
    languages: Mapping[Names, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, body: JsonObject) -> SearchPolicies:
        """Parse the policies of a container and check the indexes of its indexing policy. Raises 400."""
        embeddings = _embeddings(body.get("vectorEmbeddingPolicy"))
        default, languages = _languages(body.get("fullTextPolicy"))
        indexing = body.get("indexingPolicy")
        if isinstance(indexing, dict):
            _check_vector_indexes(indexing.get("vectorIndexes"), embeddings)
            _check_full_text_indexes(indexing.get("fullTextIndexes"), languages)
        return cls(embeddings, default, languages)

    def language(self, path: Names) -> str:
        """Return the language of the texts at a path."""
        return self.languages.get(path, self.default_language)


def check_unchanged(present: JsonObject, body: JsonObject) -> None:
    """Raise 400 if a replaced container would have other vectors or vector indexes; it can have more of them.

    Source: learn.microsoft.com/azure/cosmos-db/gen-ai/hybrid-search: they are immutable after creation.
    """
    for policy, entries, name in (
        ("indexingPolicy", "vectorIndexes", "vector indexing"),
        ("vectorEmbeddingPolicy", "vectorEmbeddings", "embedding"),
    ):
        before, after = _by_path(present.get(policy), entries), _by_path(body.get(policy), entries)
        if any(after.get(path) != entry for path, entry in before.items()):
            _refuse(f"Paths in existing {name} policy cannot be modified in Collection Replace.")


def _by_path(policy: Json, entries: str) -> dict[str, Json]:
    found = policy.get(entries) if isinstance(policy, dict) else None
    listed = found if isinstance(found, list) else []
    return {str(entry["path"]): entry for entry in listed if isinstance(entry, dict)}


def _embeddings(policy: Json) -> dict[Names, Embedding]:
    embeddings: dict[Names, Embedding] = {}
    for entry in _entries(policy, "vectorEmbeddings"):
        path = _path(entry.get("path"), "The Vector Embedding Policy has an invalid Path")
        if path in embeddings:
            _refuse(f"The Vector Embedding Policy has the Path:{entry['path']} more than once.")
        dimensions = entry.get("dimensions", DEFAULT_DIMENSIONS)
        if not _is_integer(dimensions) or dimensions < 1:
            _refuse(f"The Vector Embedding Policy has Dimensions:{dimensions}, which is less than 1 or not an integer.")
        if dimensions > _MAX_DIMENSIONS:
            _refuse(
                f"The Vector Embedding Policy has Dimensions:{dimensions} which is more than the maximum supported "
                f"value: {_MAX_DIMENSIONS}."
            )
        embeddings[path] = Embedding(
            dimensions,
            _choice(entry, "dataType", DATA_TYPES, "float32", "The Vector Embedding Policy has an invalid DataType"),
            _choice(
                entry,
                "distanceFunction",
                DISTANCE_FUNCTIONS,
                "cosine",
                "The Vector Embedding Policy has an invalid DistanceFunction",
            ),
        )
        if "embeddingSource" in entry:
            _refuse("The property 'embeddingSource' is not supported by this emulator (generated embeddings).")
    return embeddings


def _languages(policy: Json) -> tuple[str, dict[Names, str]]:
    if policy is None:
        return DEFAULT_LANGUAGE, {}
    if not isinstance(policy, dict):
        _refuse_input("'fullTextPolicy' must be an object")
    default = _language(policy.get("defaultLanguage", DEFAULT_LANGUAGE))
    languages: dict[Names, str] = {}
    for entry in _entries(policy, "fullTextPaths"):
        path = _path(entry.get("path"), "The Full Text Policy contains an invalid Path")
        if path in languages:
            _refuse(f"The Full Text Policy contains the Path:{entry['path']} more than once.")
        languages[path] = _language(entry.get("language", default))
    return default, languages


def _language(value: Json) -> str:
    language = canonical(value, LANGUAGES)
    if language is None:
        _refuse(f"The Full Text Policy contains an unsupported language {value}. Supported: {', '.join(LANGUAGES)}.")
    return language


def _check_vector_indexes(indexes: Json, embeddings: Mapping[Names, Embedding]) -> None:
    for path, entry in _indexes(indexes, "vectorIndexes", "The Vector Indexing Policy has an invalid Path"):
        embedding = embeddings.get(path)
        if embedding is None:
            _refuse(f"The Vector Indexing Policy's path::{entry['path']} not matching in Embedding's path.")
        kind = canonical(entry.get("type"), tuple(_MOST_BY_TYPE))
        if kind is None:
            _refuse(f"The Vector Indexing Policy's Index Type::{entry.get('type')} is invalid.")
        if embedding.dimensions > _MOST_BY_TYPE[kind]:
            _refuse(
                f"The Vector Indexing Policy's Index Type::{kind} supports at most {_MOST_BY_TYPE[kind]} dimensions, "
                f"but the path::{entry['path']} has {embedding.dimensions}."
            )
        quantizer = entry.get("quantizerType", "product")
        if canonical(quantizer, _QUANTIZERS) is None:
            _refuse(f"The Vector Indexing Policy's Quantizer Type::{quantizer} is invalid.")
        most = min(embedding.dimensions, _MAX_QUANTIZED_BYTES)
        _check_range(entry, "quantizationByteSize", 1, most)
        _check_range(entry, "indexingSearchListSize", *_SEARCH_LIST_SIZES)
        _check_shard_key(entry.get("vectorIndexShardKey", []))


def _check_range(entry: JsonObject, name: str, least: int, most: int) -> None:
    value = entry.get(name, least)
    if not _is_integer(value) or not least <= value <= most:
        _refuse(
            f"The Vector Indexing Policy parameter {name[0].upper()}{name[1:]} value :: {value} is out of range. "
            f"The allowed range is between {least} and {most}."
        )


def _check_shard_key(paths: Json) -> None:
    if not isinstance(paths, list):
        _refuse_input("'vectorIndexShardKey' must be an array")
    if len(paths) > 1:
        _refuse(
            f"The number of shard paths defined in the Vector Indexing Policy: {len(paths)} exceeds the maximum: 1."
        )
    for path in paths:
        _path(path, "The Vector Indexing Policy has an invalid Shard Path", separator=": ")


def _check_full_text_indexes(indexes: Json, languages: Mapping[Names, str]) -> None:
    for path, entry in _indexes(indexes, "fullTextIndexes", "The Full Text Indexing Policy has an invalid Path"):
        if path not in languages:  # an assumption: azure-cosmos's test has no message
            _refuse(f"The Full Text Indexing Policy's path::{entry['path']} is not in the Full Text Policy.")


def _indexes(indexes: Json, name: str, problem: str) -> list[tuple[Names, JsonObject]]:
    found: dict[Names, JsonObject] = {}
    for entry in _entries({name: indexes}, name):
        path = _path(entry.get("path"), problem)
        if path in found:
            _refuse(f"The path '{entry['path']}' is more than once in '{name}'.")
        found[path] = entry
    return list(found.items())


def _entries(policy: Json, name: str) -> list[JsonObject]:
    if policy is None:
        return []
    entries = policy.get(name) if isinstance(policy, dict) else policy
    if entries is None:
        return []
    if not isinstance(entries, list):
        _refuse_input(f"'{name}' must be an array")
    found = [entry for entry in entries if isinstance(entry, dict)]
    if len(found) < len(entries):
        _refuse_input(f"an entry of '{name}' must be an object")
    return found


def _path(text: Json, problem: str, separator: str = ":") -> Names:
    """Return the names of a path without wildcards, which these policies do not support."""
    try:
        steps, wildcard = parse_path(text)
    except CosmosError:
        steps, wildcard = (), ""
    names = tuple(step for step in steps if isinstance(step, str))
    if not names or wildcard or len(names) < len(steps):
        _refuse(f"{problem}{separator}{text}.")
    return names


def _choice(entry: JsonObject, name: str, choices: tuple[str, ...], default: str, problem: str) -> str:
    value = entry.get(name, default)
    choice = canonical(value, choices)
    if choice is None:
        _refuse(f"{problem}:{value}. Supported: {', '.join(choices)}.")
    return choice


def _is_integer(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse(message: str) -> NoReturn:
    raise CosmosError(400, message)


def _refuse_input(problem: str) -> NoReturn:
    raise CosmosError(400, f"One of the specified inputs is invalid: {problem}.")
