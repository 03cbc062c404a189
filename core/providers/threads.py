"""From a thread of our own back to the event loop that waits for it."""

import asyncio
from collections.abc import Callable


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object) -> bool:
    """Have `function` called on `loop`. False if the loop is closed: then nobody listens any more."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        return False
    return True
