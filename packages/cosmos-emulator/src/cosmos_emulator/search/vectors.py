"""Distances of vectors.

Source: learn.microsoft.com/azure/cosmos-db/vector-search, "Container vector policies".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cosmos_emulator.query.values import JsonOrUndefined

Floats: TypeAlias = "NDArray[np.float64]"
Vector: TypeAlias = "NDArray[np.float32]"

_REFINED: Final = 256  # vectors
# Integers up to 255 are exact in float32.
_KINDS: Final = {"float32": np.float32, "float16": np.float16, "int8": np.float32, "uint8": np.float32}


def vector_of(value: JsonOrUndefined, data_type: str) -> Vector | None:
    """Return an array of numbers as a vector; None for another value."""
    if type(value) is not list or not value:
        return None
    try:
        with np.errstate(over="ignore"):
            vector = np.array(value, _KINDS[data_type])
    except (TypeError, ValueError, OverflowError):
        return None
    # NumPy also converts booleans and texts.
    if vector.ndim != 1 or not {*map(type, value)} <= {int, float}:
        return None
    return vector.astype(np.float32, copy=False)  # a copy would give up the GIL; see texts.py


def score(one: Vector, other: Vector, distance: str) -> float:
    """Return a score of two vectors of equal length, higher for nearer ones; NaN if it is undefined."""
    return float(_scores(one.astype(np.float64)[np.newaxis], other.astype(np.float64), distance)[0])


def distance_of(nearness: float, distance: str) -> float:
    """Return what VectorDistance returns for a score."""
    return -nearness if distance == "euclidean" else nearness


class VectorIndex:
    """The vectors of items, those without one included, by position."""

    def __init__(self, values: Sequence[Vector | None], dimensions: int) -> None:
        known = [one for one in values if one is not None]
        self._rows = np.array([i for i, one in enumerate(values) if one is not None], np.intp)
        self._matrix = np.stack(known) if known else np.zeros((0, dimensions), np.float32)
        rows = iter(self._matrix)
        self.values: list[Vector | None] = [None if one is None else next(rows) for one in values]
        self._squares = np.einsum("ij,ij->i", self._matrix, self._matrix)

    @property
    def size_bytes(self) -> int:
        """About how much memory the index uses."""
        return self._matrix.nbytes + 200 * len(self.values)

    def scores(self, vector: Vector, distance: str) -> Floats:
        """Return the score of each item, NaN without a vector. The nearest items' scores are more precise."""
        products = (self._matrix @ vector).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if distance == "cosine":
                rough = products / np.sqrt(self._squares.astype(np.float64) * float(vector @ vector))
            elif distance == "euclidean":
                rough = -np.sqrt(np.maximum(self._squares - 2 * products + float(vector @ vector), 0.0))
            else:
                rough = products
        nearest = np.argpartition(-rough, _REFINED)[:_REFINED] if len(rough) > _REFINED else np.arange(len(rough))
        rough[nearest] = _scores(self._matrix[nearest].astype(np.float64), vector.astype(np.float64), distance)
        found = np.full(len(self.values), np.nan)
        found[self._rows] = rough
        return found


def _scores(matrix: Floats, vector: Floats, distance: str) -> Floats:
    if distance == "euclidean":
        differences = matrix - vector
        distances: Floats = np.sqrt(np.einsum("ij,ij->i", differences, differences))
        return -distances
    products: Floats = np.einsum("ij,j->i", matrix, vector)
    if distance == "cosine":
        with np.errstate(divide="ignore", invalid="ignore"):
            products /= np.sqrt(np.einsum("ij,ij->i", matrix, matrix) * float(vector @ vector))
    return products
