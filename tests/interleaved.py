"""A container in which something else happens before, after or instead of one operation."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from shared.platform.database.container import Container

Hook = Callable[..., Awaitable[object]]


class Interleaved(Container):
    """Another container, except for one operation, such as "batch". For two operations, wrap it twice.

    `before` runs first, and prevents the operation if it raises an error. `refuse` returns the error to raise, and
    `instead` answers, in place of the operation. `after` gets the result, then the arguments, which the others get too.

    This applies to the calls for whose arguments `when` is true, or only to the first `times` of these.
    """

    def __init__(
        self,
        container: Container,
        operation: str,
        *,
        before: Hook | None = None,
        refuse: Callable[[], Exception] | None = None,
        instead: Hook | None = None,
        after: Hook | None = None,
        when: Callable[..., bool] = lambda *_, **__: True,
        times: int | None = None,
    ) -> None:
        super().__init__(container.proxy)
        vars(self).update(vars(container))  # its hooks, if it is another Interleaved
        calls = itertools.count()

        def applies(*arguments: Any, **options: Any) -> bool:
            return when(*arguments, **options) and (times is None or next(calls) < times)

        async def hooked(*arguments: Any, **options: Any) -> Any:
            original = getattr(container, operation)
            if not applies(*arguments, **options):
                return await original(*arguments, **options)
            if before:
                await before(*arguments, **options)
            if refuse:
                raise refuse()
            result = await (instead or original)(*arguments, **options)
            if after:
                await after(result, *arguments, **options)
            return result

        async def hooked_rows(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
            if before and applies(*arguments, **options):
                await before(*arguments, **options)
            async for row in getattr(container, operation)(*arguments, **options):
                yield row

        returns_rows = inspect.isasyncgenfunction(getattr(Container, operation))
        setattr(self, operation, hooked_rows if returns_rows else hooked)
