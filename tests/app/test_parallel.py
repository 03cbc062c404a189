"""A step in which several propose, as a person sees it: panes while it is written, the pick, the rest to open."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from core.providers.catalog import Providers
from core.store.library import load
from tests.app.screens import text_of, until, until_shown
from tests.conftest import make_plan, scripted_team
from tests.scripted import HeldProvider, ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.live import LiveScreen
from tui.screens.setup import SetupScreen

NAMES = ("anna", "bert", "cleo", "dora", "egon")


def app_with(sessions: Path, provider: ScriptedProvider) -> JagstormApp:
    return JagstormApp(str(sessions), providers=Providers({"scripted": provider}))


async def begin(pilot: Pilot[int], **options: object) -> LiveScreen:
    app = pilot.app
    assert isinstance(app, JagstormApp)
    await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    team = replace(scripted_team(*NAMES, strategy="parallel"), selector="random")
    app.start_session(make_plan(team=team, **options))  # type: ignore[arg-type]
    await until(pilot, lambda: isinstance(app.screen, LiveScreen))
    assert isinstance(app.screen, LiveScreen)
    return app.screen


async def test_five_stream_side_by_side_by_letter_then_the_pick_joins_the_chain(sessions: Path) -> None:
    provider = HeldProvider()
    app = app_with(sessions, provider)
    async with app.run_test(size=(160, 45)) as pilot:
        await begin(pilot, max_ideas=1)
        await until_shown(pilot, "1 ── 0 of 5 proposals")
        await until(pilot, lambda: text_of(app).count("Couple the") == 5)
        titles = next(line for line in text_of(app).splitlines() if line.split()[:5] == list("abcde"))
        assert titles
        assert not any(name in text_of(app) for name in NAMES), "letters only"
        provider.go_on.set()
        await until_shown(pilot, "Reached its cap")
        await pilot.press("enter")
        await until_shown(pilot, "One of 5 proposals, drawn")
        assert text_of(app).count("Couple the") >= 5, "the others are still there to read"
        await pilot.press("n")
        await until(pilot, lambda: sum(name in text_of(app) for name in NAMES) == 5)


@pytest.mark.parametrize("size", [(80, 24), (99, 40)])
async def test_on_a_narrow_screen_one_pane_has_tabs(sessions: Path, size: tuple[int, int]) -> None:
    provider = HeldProvider()
    app = app_with(sessions, provider)
    async with app.run_test(size=size) as pilot:
        await begin(pilot, max_ideas=1)
        await until_shown(pilot, "[  a]")
        await until(pilot, lambda: text_of(app).count("Couple the") == 1)
        await pilot.press("full_stop")
        await until_shown(pilot, "[  b]")
        await pilot.press("comma", "comma")
        await until_shown(pilot, "[  e]")
        provider.go_on.set()
        await until_shown(pilot, "Reached its cap")


async def test_two_proposals_are_tabs_there_too(sessions: Path) -> None:
    provider = HeldProvider()
    app = app_with(sessions, provider)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        app.start_session(make_plan(team=scripted_team("anna", "bert", strategy="parallel"), max_ideas=1))
        await until_shown(pilot, "[  a]  ")
        await until(pilot, lambda: text_of(app).count("Couple the") == 1)
        provider.go_on.set()
        await until_shown(pilot, "Reached its cap")


async def test_a_replay_shows_the_proposals_and_who_wrote_what(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.03))
    async with app.run_test(size=(160, 45)) as pilot:
        screen = await begin(pilot, max_ideas=2)
        await until_shown(pilot, "Reached its cap", 20)
        folder = screen.feed.folder
        assert load(folder).record.events
        await pilot.press("R")
        await until_shown(pilot, "of 5 proposals")
        await until(pilot, lambda: text_of(app).count("Couple the") >= 5)
        await pilot.press("n")
        await until_shown(pilot, "egon")


async def test_asking_ahead_is_switched_by_a_key_and_what_it_wasted_is_shown(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.05))
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        screen = await begin(pilot)
        await until_shown(pilot, "proposals")
        await pilot.press("z")
        await until(pilot, lambda: screen.feed.state.pipelining is False)
        await until_shown(pilot, "Each idea waits")
        await pilot.press("z")
        await until(pilot, lambda: screen.feed.state.pipelining is True)
        await pilot.press("q")
        await until_shown(pilot, "stopped")
        await until_shown(pilot, "Stopped by a person")
        assert "proposals" not in text_of(app), "what nobody writes any more is gone"


async def test_while_a_lead_names_directions_the_screen_says_so(sessions: Path) -> None:
    provider = HeldProvider()
    app = app_with(sessions, provider)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        app.start_session(make_plan(team=scripted_team(*NAMES, strategy="hierarchy"), max_ideas=1))
        await until_shown(pilot, "the lead names directions")
        provider.go_on.set()
        await until_shown(pilot, "Reached its cap")
        assert "the lead" not in text_of(app)
