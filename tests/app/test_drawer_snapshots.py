"""How the drawer of seeds looks, and the form that says when they come."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from core.levers import Plateau
from tests.app.screens import until, until_shown
from tests.app.test_drawer import on_tab, opened, seeds_of
from tests.app.test_snapshots import app_in
from tests.app.told import Told, steered
from tui.screens.seed_policy import SeedPolicyScreen

SnapCompare = Callable[..., bool]

LOOKS = [
    (80, 24, "jagstorm-dark"),
    (120, 40, "jagstorm-dark"),
    (120, 40, "jagstorm-light"),
    (160, 45, "jagstorm-dark"),
    (80, 24, "ansi-dark"),
]


@pytest.mark.parametrize(("width", "height", "theme"), LOOKS, ids=[f"{w}x{h}-{t}" for w, h, t in LOOKS])
def test_the_drawer(snap_compare: SnapCompare, sessions: Path, width: int, height: int, theme: str) -> None:
    async def open_(pilot: Pilot[int]) -> None:
        drawer = await opened(pilot, Told(steered()))
        await on_tab(pilot, drawer, "Astrophysics")
        await pilot.press("down", "down", "plus")
        await until(pilot, lambda: {seed.field for seed in seeds_of(drawer)} == {"Physics / Astrophysics"})
        await until_shown(pilot, "for 2 ideas")
        await pilot.wait_for_animation()

    assert snap_compare(app_in(theme, sessions), terminal_size=(width, height), run_before=open_)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_when_they_come(snap_compare: SnapCompare, sessions: Path, width: int, height: int) -> None:
    async def open_(pilot: Pilot[int]) -> None:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.app.push_screen(Screen())
        await pilot.app.push_screen(SeedPolicyScreen(Plateau(field="Chemistry")))
        await until_shown(pilot, "When mean novelty has fallen by")

    assert snap_compare(app_in("jagstorm-dark", sessions), terminal_size=(width, height), run_before=open_)
