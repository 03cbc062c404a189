"""How the profiles screen looks: at the sizes people have, dark and light and in 16 colours."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.app.made_up import results
from tests.app.screens import until, until_shown
from tests.app.test_snapshots import SnapCompare, app_in
from tui.screens.profiles import ProfilesScreen
from tui.widgets.chart_view import ChartView

LOOKS = [
    (80, 24, "jagstorm-dark"),
    (80, 24, "ansi-dark"),
    (120, 40, "jagstorm-dark"),
    (120, 40, "jagstorm-light"),
    (160, 45, "jagstorm-dark"),
]
looks = pytest.mark.parametrize(("width", "height", "theme"), LOOKS, ids=[f"{w}x{h}-{t}" for w, h, t in LOOKS])


def after(place: Path, *keys: str, shown: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Brings the screen up, presses `keys` and waits until `shown` is there."""

    async def bring_up(pilot: Pilot[int]) -> None:
        screen = ProfilesScreen([place])
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: screen._explorer is not None)
        await pilot.press(*keys)
        await until_shown(pilot, shown)
        await until(pilot, lambda: not screen._due)

    return bring_up


@looks
def test_ribbons(
    snap_compare: SnapCompare, sessions: Path, tmp_path: Path, width: int, height: int, theme: str
) -> None:
    bring_up = after(results(tmp_path), "down", shown="fewest to most")
    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=bring_up)


@looks
def test_chains_with_a_threshold_moved(
    snap_compare: SnapCompare, sessions: Path, tmp_path: Path, width: int, height: int, theme: str
) -> None:
    async def move(pilot: Pilot[int]) -> None:
        await after(results(tmp_path), "enter", "enter", "enter", shown="at least .15")(pilot)
        pilot.app.screen.query_one(ChartView).focus()
        await pilot.press(*["up"] * 20)
        await until_shown(pilot, "at least .25")

    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=move)


@pytest.mark.parametrize("key", ["3", "4", "5", "7"])
def test_models_side_by_side(snap_compare: SnapCompare, sessions: Path, tmp_path: Path, key: str) -> None:
    words = {"3": "share that goes on", "4": "jaggedness", "5": "differences:", "7": "Best by leaf"}[key]
    bring_up = after(results(tmp_path), "down", key, shown=words)
    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(120, 40), run_before=bring_up)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (160, 45)])
def test_two_selections(snap_compare: SnapCompare, sessions: Path, tmp_path: Path, width: int, height: int) -> None:
    async def beside(pilot: Pilot[int]) -> None:
        await after(results(tmp_path), "b", "space", shown="across the line")(pilot)
        pilot.app.clear_notifications()
        await pilot.pause(0.3)

    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(width, height), run_before=beside)


def test_the_list_and_the_rules_where_it_is_narrow(snap_compare: SnapCompare, sessions: Path, tmp_path: Path) -> None:
    bring_up = after(results(tmp_path), "v", "space", shown="[ ] anna")
    assert snap_compare(app_in("jagstorm-light", sessions), terminal_size=(80, 24), run_before=bring_up)
