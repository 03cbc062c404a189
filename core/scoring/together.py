"""Many questions asked at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar, cast

from core.errors import JagstormError
from core.models import CallFailedError

T = TypeVar("T")
S = TypeVar("S")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results, in order. If one part fails, the others are cancelled and its fault is raised as it is."""
    fault: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part) for part in work]
    except* (JagstormError, CallFailedError) as faults:
        fault = faults.exceptions[0]
    if fault is not None:
        raise fault
    return [task.result() for task in tasks]


async def both(one: Coroutine[Any, Any, T], other: Coroutine[Any, Any, S]) -> tuple[T, S]:
    """The same for two of different kinds."""
    first, second = await together(cast("Iterable[Coroutine[Any, Any, object]]", (one, other)))
    return cast("T", first), cast("S", second)
