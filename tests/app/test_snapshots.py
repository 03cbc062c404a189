"""How the screens look: pictures at the sizes people have, dark and light and in 16 colours."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.store.library import example_folder, load
from core.store.replay import Replay
from tests.app.screens import until, until_shown
from tui.app import JagstormApp
from tui.screens.replay import ReplayScreen

SnapCompare = Callable[..., bool]

LOOKS = [
    (80, 24, "jagstorm-dark"),
    (120, 40, "jagstorm-dark"),
    (120, 40, "jagstorm-light"),
    (200, 60, "jagstorm-dark"),
    (80, 24, "ansi-dark"),
]
looks = pytest.mark.parametrize(("width", "height", "theme"), LOOKS, ids=[f"{w}x{h}-{t}" for w, h, t in LOOKS])


def app_in(theme: str, sessions: Path) -> JagstormApp:
    app = JagstormApp(str(sessions))
    app.theme = theme
    return app


async def _at_idea_eighteen(pilot: Pilot[int]) -> None:
    """The example session, held while an idea is being written."""
    await until_shown(pilot, "Physics / Fundamental")
    stored = load(example_folder())
    replay = Replay(stored.plan, stored.record.events)
    screen = ReplayScreen(replay)
    await pilot.app.push_screen(screen)
    replay.pause()
    replay.seek_idea(18)
    replay.seek(replay.seconds + 0.8)
    screen.paint()
    await pilot.press("end")
    await until_shown(pilot, "held")
    await until(pilot, lambda: screen._paint_timer is None)


@looks
def test_setup(snap_compare: SnapCompare, sessions: Path, width: int, height: int, theme: str) -> None:
    async def choose(pilot: Pilot[int]) -> None:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("down", "down", "enter", "down", "down")
        await until_shown(pilot, "▼")

    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=choose)


@looks
def test_replay(snap_compare: SnapCompare, sessions: Path, width: int, height: int, theme: str) -> None:
    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=_at_idea_eighteen)


def test_the_chart_where_the_screen_is_narrow(snap_compare: SnapCompare, sessions: Path) -> None:
    async def chart(pilot: Pilot[int]) -> None:
        await _at_idea_eighteen(pilot)
        await pilot.press("v")
        await until_shown(pilot, "passed")

    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(80, 24), run_before=chart)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_an_idea_in_full(snap_compare: SnapCompare, sessions: Path, width: int, height: int) -> None:
    async def open_one(pilot: Pilot[int]) -> None:
        await _at_idea_eighteen(pilot)
        await pilot.press("up", "enter")
        await until_shown(pilot, "Idea 17 of 18")

    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(width, height), run_before=open_one)


def test_the_keys(snap_compare: SnapCompare, sessions: Path) -> None:
    async def help_(pilot: Pilot[int]) -> None:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("question_mark")
        await until_shown(pilot, "everything by name")

    assert snap_compare(app_in("jagstorm-light", sessions), terminal_size=(80, 24), run_before=help_)


def test_the_rules(snap_compare: SnapCompare, sessions: Path) -> None:
    async def rules(pilot: Pilot[int]) -> None:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("r")
        await until_shown(pilot, "Failing ideas in a row")

    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(80, 24), run_before=rules)


def test_too_small(snap_compare: SnapCompare, sessions: Path) -> None:
    async def small(pilot: Pilot[int]) -> None:
        await until_shown(pilot, "Too small")

    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(40, 10), run_before=small)
