"""Many things done at once, whose faults come as they are and not in groups."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from core.errors import JagstormError
from core.models import CallFailedError

T = TypeVar("T")
S = TypeVar("S")


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results, in order. If one part fails, the others are cancelled and its fault is raised as it is."""
    with plain_faults():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part) for part in work]
    return [task.result() for task in tasks]


async def both(one: Coroutine[Any, Any, T], other: Coroutine[Any, Any, S]) -> tuple[T, S]:
    """The same for two of different kinds."""
    with plain_faults():
        async with asyncio.TaskGroup() as group:
            first, second = group.create_task(one), group.create_task(other)
    return first.result(), second.result()


@contextmanager
def plain_faults() -> Iterator[None]:
    """Raise the first fault of a task group as it is; of one that a person or a program can act on, that is."""
    fault: Exception | None = None
    try:
        yield
    except* (JagstormError, CallFailedError) as faults:
        fault = faults.exceptions[0]
    if fault is not None:
        raise fault


def being_cancelled() -> bool:
    """Whether it is this task itself that is to end, and not one that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
