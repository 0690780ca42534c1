"""How many items a command has read, and about how many it reads in total."""

from __future__ import annotations

import re

from shared.platform.database.container import Container
from shared.platform.database.refusals import database_errors

_USAGE = "x-ms-resource-usage"
# Microsoft documents neither the field nor how old it is. Its Spark connector estimates the size of a container with it
# (azure-sdk-for-java, azure-cosmos-spark_3, `estimateStatistics`).
_COUNT = re.compile(r"\bdocumentsCount=(\d+)")


class ItemCount:
    """Counts the items read. `total` is an estimate, or None if it is unknown."""

    def __init__(self) -> None:
        self.items = 0
        self.total: int | None = 0

    def expect(self, number: int | None) -> None:
        """Add to the total. With None, it becomes unknown."""
        self.total = None if self.total is None or number is None else self.total + number

    def add(self, number: int) -> None:
        """Count items that were read."""
        self.items += number


async def number_of_items(*containers: Container) -> int | None:
    """Return about how many items the containers have, or None if the service does not say.

    Reads each container's definition. Raises DatabaseUnavailable.
    """
    total = 0
    for container in containers:
        with database_errors():
            definition = await container.proxy.read(populate_quota_info=True)
        found = _COUNT.search(definition.get_response_headers().get(_USAGE, ""))
        if found is None:
            return None
        total += int(found[1])
    return total
