"""How a session looks in which a person has a say, at the sizes people have, dark and light and in 16 colours."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from core import events as ev
from tests.app.screens import painted_through, until, until_shown
from tests.app.test_snapshots import SnapCompare, app_in, looks
from tests.app.told import WHERE, Told, ToldScreen, begun, offered, picking_team, steered
from tests.conftest import make_plan
from tui.screens.feed import FeedScreen
from tui.screens.own_first import OwnFirstScreen

Before = Callable[[Pilot[int]], Awaitable[None]]


def on(make: Callable[[], Screen[None]], shows: str, keys: Sequence[str] = (), then: str = "") -> Before:
    """What stands still before the picture: a screen that shows something, and what it shows after some keys."""

    async def run(pilot: Pilot[int]) -> None:
        await until_shown(pilot, "Physics / Fundamental")
        screen = make()
        await pilot.app.push_screen(screen)
        await until_shown(pilot, shows)
        await pilot.press(*keys)
        await until_shown(pilot, then)
        if isinstance(screen, FeedScreen):
            await until(pilot, lambda: screen._paint_timer is None)
        await painted_through(pilot)

    return run


def live() -> Screen[None]:
    return ToldScreen(Told(steered()))


def picking() -> Screen[None]:
    return ToldScreen(Told(offered(until=70.0), make_plan(team=picking_team())))


def own_first() -> Screen[None]:
    recorder = begun()
    recorder.add(
        ev.OwnIdeasFirst(**WHERE, minutes=5, shown=True),
        ev.Paused(by="own ideas first"),
        ev.IdeaAdded(**WHERE, idea=1, step=0, text="Ring the film like a bell, and hear where it dulls.", author="you"),
        ev.IdeaAdded(**WHERE, idea=2, step=0, text="Let dust that shuns the field settle.", author="you"),
    )
    return OwnFirstScreen(Told(recorder))


@looks
def test_live(snap_compare: SnapCompare, sessions: Path, width: int, height: int, theme: str) -> None:
    before = on(live, "magnetotaxis", ["home", "down", "M", "down", "down"], "▌")
    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=before)


@looks
def test_picking(snap_compare: SnapCompare, sessions: Path, width: int, height: int, theme: str) -> None:
    before = on(picking, "(in 42 s: the farthest)")
    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=before)


@looks
def test_own_ideas_first(snap_compare: SnapCompare, sessions: Path, width: int, height: int, theme: str) -> None:
    before = on(own_first, "2  Let dust", [*"Then"], "Then")
    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=before)


@pytest.mark.parametrize(
    ("keys", "shows"),
    [
        (["home", "down", "down", "down", "enter"], "The team is working out idea 4"),
        (["g"], "An instruction to the team"),
        (["home", "e"], "F2 or Ctrl+S done"),
        (["asterisk"], "How good is idea 6?"),
        (["t", "end", "enter"], "How often each is drawn"),
        (["question_mark"], "* pinned"),
    ],
    ids=["an-idea", "an-instruction", "an-edit", "a-rating", "the-team", "the-keys"],
)
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_over_it(
    snap_compare: SnapCompare, sessions: Path, width: int, height: int, keys: list[str], shows: str
) -> None:
    before = on(live, "magnetotaxis", keys, shows)
    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(width, height), run_before=before)
