"""A session of 4,000 ideas: read, replayed, sought in, opened in the app, and one idea longer."""

import asyncio
import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic, perf_counter

from msgspec.structs import replace
from textual.app import App, ComposeResult

from core.chain import Idea
from core.state import fold
from core.store.library import load
from core.store.replay import Replay
from tests.benchmarks.figures import median, megabytes, ms, show, timed, title
from tests.benchmarks.recorded import QUESTION, record
from tests.terminal.screen import SCRIPTED, Terminal
from tests.terminal.walks import AT_SETUP, ideas_shown, surroundings
from tui.widgets.chain import ChainList

IDEAS = 4000


def main() -> None:
    title(f"A session of {IDEAS:,} ideas")
    with tempfile.TemporaryDirectory() as place:
        folder = record(Path(place) / "big", IDEAS)
        size = (folder / "events.jsonl").stat().st_size
        show("events.jsonl", size / 1e6, "MB")
        show("read the log", ms(median([timed(lambda: load(folder)) for _ in range(5)])), "ms")
        stored = load(folder)
        show("fold it", ms(median([timed(lambda: fold(stored.record.events)) for _ in range(5)])), "ms")
        began = perf_counter()
        replay = Replay(stored.plan, stored.record.events)
        show("make a replay of it", ms(perf_counter() - began), "ms")
        asyncio.run(seek(replay))
        list(open_in_app(folder))  # warm
        for row in open_in_app(folder):
            show(*row)
        asyncio.run(append(fold(stored.record.events).chains["cloud"].ideas))


async def seek(replay: Replay) -> None:
    rng = random.Random(1)
    times = [timed(lambda: replay.seek_idea(rng.randint(1, IDEAS))) for _ in range(60)]
    show("seek to an idea, median", ms(median(times)), "ms")
    show("seek to an idea, worst of 60", ms(max(times)), "ms", 100)


Row = tuple[str, float, str, float | None]


def open_in_app(folder: Path) -> Iterator[Row]:
    """From the list of sessions, as a person would; and, to compare, from the shell."""
    env = surroundings(folder.parent, JAGSTORM_SCRIPT="varied:0.5")
    with in_the_list(env) as terminal:
        began = monotonic()
        terminal.send("\r")
        terminal.wait_for("playing")
        yield "replay it: from Enter to the painted screen", ms(monotonic() - began), "ms", 1000
        terminal.send(" ")
        terminal.wait_for("held")
        terminal.settle()
        began = monotonic()
        terminal.send("9")
        terminal.wait_until(lambda: ideas_shown(terminal) > IDEAS * 0.85, "the ninth tenth")
        yield "from a key to another place in the replay, painted", ms(monotonic() - began), "ms", 100
        yield from memory(terminal.child)
    with in_the_list(env) as terminal:
        began = monotonic()
        terminal.send("r")
        terminal.wait_until(lambda: ideas_shown(terminal) >= IDEAS, "the chain")
        yield "go on with it: from a key to the painted chain", ms(monotonic() - began), "ms", 1000
        yield from memory(terminal.child)
    with Terminal([*SCRIPTED, "replay", "big"], 100, 30, env=env) as terminal:
        terminal.wait_for("playing")
        yield "jagstorm replay, from the shell to the painted screen", ms(monotonic() - terminal.began), "ms", None


def memory(pid: int) -> Iterator[Row]:
    if Path(f"/proc/{pid}/smaps_rollup").exists():
        yield "resident memory then", megabytes(pid)[0], "MB", 250


def in_the_list(env: Mapping[str, str | None]) -> Terminal:
    terminal = Terminal(SCRIPTED, 100, 30, env=env)
    terminal.wait_for(AT_SETUP)
    terminal.settle()
    terminal.send("\x1bOR")  # F3
    terminal.wait_for(QUESTION.text)
    terminal.settle()
    return terminal


class ListApp(App[None]):
    def compose(self) -> ComposeResult:
        yield ChainList({})


async def append(ideas: list[Idea]) -> None:
    """From `show` to the repainted list, and to compare, a pause of the app in which nothing happens."""
    app = ListApp()
    async with app.run_test(size=(100, 30)) as pilot:
        chain = app.query_one(ChainList)
        chain.show("q", ideas)
        await pilot.pause()
        calls, painted, idle = [], [], []
        for _ in range(30):
            began = perf_counter()
            await pilot.pause()
            idle.append(perf_counter() - began)
            ideas = [*ideas, replace(ideas[-1], number=len(ideas) + 1)]
            began = perf_counter()
            chain.show("q", ideas)
            calls.append(perf_counter() - began)
            await pilot.pause()
            painted.append(perf_counter() - began)
    show("append one idea to its list: the call", ms(median(calls)), "ms")
    show("append one idea to its list: until painted", ms(median(painted)), "ms", 50)
    show("the same pause with nothing to do", ms(median(idle)), "ms")
