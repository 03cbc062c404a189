"""What takes long on the profiles screen, done beside it: reading sessions, and making vectors of ideas."""

import asyncio
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep

import numpy as np
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from core.analysis.table import Flags, Table
from core.errors import UsageError
from core.store.tables import Found
from tui.explorer import Explorer
from tui.host import host
from tui.idea_vectors import IdeaVectors, laid_out

TELL_EVERY = 0.25
"""Seconds between two words on how far it is."""

QUIET = 1.0
"""Seconds in which the first chart is painted, and nothing else is done."""

Say = Callable[[str], None]


def read_in_background(
    screen: Screen[None], folders: Sequence[Path] | None, say: Say, take: Callable[[Found], None]
) -> Callable[[], None]:
    """Read sessions, all of them if `folders` is None; `take` what was found. Returns what ends it."""

    def read() -> None:
        from core.store.library import session_folders, without_example
        from core.store.tables import StoppedError, read_tables

        worker = get_current_worker()
        tell = _now_and_then(lambda done, of: screen.app.call_from_thread(say, f"Reading the sessions: {done} of {of}"))
        places = without_example(session_folders(host(screen).sessions)) if folders is None else folders
        try:
            found = read_tables(places, tell, lambda: worker.is_cancelled)
        except StoppedError:
            return
        if worker.is_cancelled:
            return
        screen.app.call_from_thread(take, found)
        sleep(QUIET)
        if worker.is_cancelled:
            return
        importlib.import_module("scipy.stats")  # takes a second: before somebody asks for densities

    worker = screen.run_worker(read, thread=True, exit_on_error=False, group="profiles")
    return worker.cancel


def embed_in_background(
    screen: Screen[None], table: Table, chains: Flags, say: Say, take: Callable[[IdeaVectors], None]
) -> Callable[[], None]:
    """Make vectors of the ideas of some of `table`'s chains; `take` them with NaN for all others.

    Returns what ends it; what is whole by then is kept beside its session.
    """

    async def embed() -> None:
        from core.scoring.embeddings import WordLlamaEmbedder
        from core.store.vectors import embed_ideas

        tell = _now_and_then(lambda done, of: say(f"Making vectors: {done:,} of {of:,} ideas   Esc stops it"))
        found = await embed_ideas(table.only(chains), WordLlamaEmbedder(), progress=tell)
        vectors = np.full((len(table.ideas.chain), found.shape[1]), np.nan, dtype=np.float32)
        vectors[chains[table.ideas.chain]] = found
        take(await asyncio.to_thread(laid_out, vectors))

    worker: Worker[None] = screen.run_worker(embed(), exit_on_error=False, group="profiles")
    return worker.cancel


def texts_in_background(
    screen: Screen[None], session: str, chain: int, numbers: Sequence[int], take: Callable[[dict[int, str]], None]
) -> None:
    """Read what some ideas of a chain say; `take` it, by their numbers."""

    def texts() -> dict[int, str]:
        from core.store.texts import idea_text

        return {number: idea_text(Path(session), chain, number) for number in numbers}

    async def read() -> None:
        take(await asyncio.to_thread(texts))

    screen.run_worker(read(), exit_on_error=False, exclusive=True, group="texts")


def _now_and_then(tell: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Told of everything, it passes on four a second."""
    told = 0.0

    def passed(done: int, of: int) -> None:
        nonlocal told
        if monotonic() - told >= TELL_EVERY:
            told = monotonic()
            tell(done, of)

    return passed


def exploring(table: Table, say: Callable[[str], None]) -> Explorer:
    """What is explored, beside those totals of another benchmark that know most of its models."""
    from core.exchange.totals_table import kept_totals, most_in_common

    try:
        known = most_in_common(kept_totals(), table.models)
    except UsageError as error:
        say(error.message)
        known = None
    means = {row.model: row.mean for row in known.rows} if known else {}
    return Explorer(table, means, known.name if known else "")
