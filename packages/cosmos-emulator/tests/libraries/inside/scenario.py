"""What the scripts of the libraries share. It runs in their environments."""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

# A script ends with its own error. azure-cosmos checks the account in a thread, which logs that the client is closed.
logging.lastResort = None

ENDPOINT = os.environ["COSMOS_ENDPOINT"]
KEY = os.environ["COSMOS_KEY"]
CONNECTION_STRING = f"AccountEndpoint={ENDPOINT};AccountKey={KEY};"
DIMENSIONS = 4
_TOPICS = (("apple", "pear", "fruit"), ("cat", "dog", "animal"), ("car", "train", "vehicle"))


def embed(text: str) -> list[float]:
    """Embed a text: how often it has the words of each topic, and a constant, so that no vector is zero.

    Texts about the same topic are near each other.
    """
    words = re.findall(r"\w+", text.lower())
    return [float(sum(word in topic for word in words)) for topic in _TOPICS] + [0.25]


def cosine(one: str, other: str) -> float:
    """Return the similarity of two texts."""
    pair = (embed(one), embed(other))
    product = sum(left * right for left, right in zip(*pair, strict=True))
    return product / math.prod(math.sqrt(sum(number * number for number in vector)) for vector in pair)


def search_policies(vectors: str = "/embedding", *texts: str) -> dict[str, Any]:
    """Return the arguments with which azure-cosmos creates a container with vectors, and with texts at some paths."""
    policies: dict[str, Any] = {
        "vector_embedding_policy": {
            "vectorEmbeddings": [
                {"path": vectors, "dataType": "float32", "dimensions": DIMENSIONS, "distanceFunction": "cosine"}
            ]
        },
        "indexing_policy": {
            "includedPaths": [{"path": "/*"}],
            "excludedPaths": [{"path": f"{vectors}/*"}, {"path": '/"_etag"/?'}],
            "vectorIndexes": [{"path": vectors, "type": "quantizedFlat"}],
        },
    }
    if texts:
        paths = [{"path": path, "language": "en-US"} for path in texts]
        policies["full_text_policy"] = {"defaultLanguage": "en-US", "fullTextPaths": paths}
        policies["indexing_policy"]["fullTextIndexes"] = [{"path": path} for path in texts]
    return policies


async def check_conformance(saver: Callable[[], AsyncIterator[Any]], least: int) -> None:
    """Run LangGraph's conformance tests of what a checkpointer implements, which are at least so many.

    `saver` yields a checkpointer on a new container: each group of tests starts with an empty one.
    """
    from langgraph.checkpoint.conformance import checkpointer_test, validate

    report = await validate(checkpointer_test(name="tried")(saver))
    assert report.passed_all(), report.to_dict()
    assert sum(result.tests_passed for result in report.results.values()) >= least, report.to_dict()
