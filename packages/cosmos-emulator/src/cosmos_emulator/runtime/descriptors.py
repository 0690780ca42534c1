"""How connections and the files of partitions share the descriptors of the process."""

from __future__ import annotations

import sys
from typing import Final

_WITHOUT_LIMIT: Final = 8192  # such as on Windows
_FOR_FILES: Final = 512  # and for connections that asyncio accepts in one step, before they are counted
_ACCEPTED: Final = 128
_PER_PARTITION: Final = 7  # a writer with the index of its log, and two readers, each with a file and its log
_LEAST_PARTITIONS: Final = 4


def most_connections() -> int:
    """Return how many connections can be open."""
    descriptors = _descriptors()
    return max(descriptors // 4, descriptors - _FOR_FILES)


def most_partitions() -> int:
    """Return how many partitions can have open files."""
    return max(_LEAST_PARTITIONS, (_descriptors() - most_connections() - _ACCEPTED) // _PER_PARTITION)


def _descriptors() -> int:
    if sys.platform == "win32":
        return _WITHOUT_LIMIT
    import resource  # only on Unix

    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if descriptors == resource.RLIM_INFINITY else descriptors
