"""Another team amid a session, a fork from one of its ideas, and a replay of what persons did."""

from pathlib import Path

import pytest

from core.state import fold
from core.store.replay import Replay
from tests.app.screens import text_of, until, until_shown
from tests.app.test_live import app_with
from tests.app.test_steering import Gated, held, idea, told, writer
from tests.app.told import Told, steered
from tests.conftest import QUESTION, make_plan
from tests.scripted import ScriptedProvider
from tests.unit.test_at_odd_moments import WING, two_questions
from tui.app import JagstormApp
from tui.screens.idea import IdeaScreen
from tui.screens.live import LiveScreen
from tui.screens.replay import ReplayScreen
from tui.screens.setup import SetupScreen

HOSTILE = "[/x] [bold]no[/bold] [@click=app.quit]way[/]"


@pytest.fixture
def app(sessions: Path) -> JagstormApp:
    return app_with(sessions, ScriptedProvider(writer, delay=0.005))


async def test_another_weight_and_another_strategy_from_the_next_step_on(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await held(pilot, 1)
        await pilot.press("t")
        await until_shown(pilot, "Who goes on from the next step?")
        await pilot.press("end", "enter")
        await until_shown(pilot, "How often each is drawn")
        await pilot.press("5", "tab", "0", "enter")
        await until_shown(pilot, "From the next step on: scripted")
        await pilot.press("space")
        await until(pilot, lambda: screen.feed.state.team)
        assert screen.feed.state.team
        weights = {member.name: member.weight for member in screen.feed.state.team.members}
        assert weights == {"anna": 5.0, "cleo": 1.0}


async def test_a_weight_that_is_no_number_is_asked_for_again(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        await told(pilot, feed)
        await pilot.press("t", "end", "enter")
        await until_shown(pilot, "How often each is drawn")
        await pilot.press("m", "enter")
        await until_shown(pilot, "anna: a number is needed")
        await pilot.press("backspace", "0", "tab", "0", "tab", "0", "enter")
        await until_shown(pilot, "A team needs a member")
        await pilot.press("escape")
        assert not feed.sent


async def test_a_fork_is_at_the_idea_that_is_shown_though_another_question_is_under_way(sessions: Path) -> None:
    provider = Gated()
    app = app_with(sessions, provider)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        app.start_session(two_questions(3))
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        provider.gate.release()
        await until_shown(pilot, "idea 1 ")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, IdeaScreen))
        for _ in range(10):
            provider.gate.release()
        await until(pilot, lambda: screen.over)
        assert screen.feed.state.current == WING.id
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen is not screen)
        assert isinstance(app.screen, LiveScreen)
        assert app.screen.feed.state.forked
        assert app.screen.feed.state.forked.question == QUESTION.id


async def test_a_fork_shares_the_past_and_says_so(app: JagstormApp, sessions: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await held(pilot, 2)
        first = idea(screen, 1).text
        await pilot.press("home", "f")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen is not screen)
        forked = app.screen
        assert isinstance(forked, LiveScreen)
        await until(pilot, lambda: forked.feed.state.chain and len(forked.feed.state.chain.ideas) > 1)
        assert idea(forked, 1).text == first
        await until_shown(pilot, "forked at idea 1 of")
        await until_shown(pilot, screen.feed.folder.name)
        assert len(list(sessions.iterdir())) == 2


async def test_a_replay_shows_all_that_persons_did_and_takes_no_commands(app: JagstormApp, sessions: Path) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        recorder = steered()
        screen = ReplayScreen(Replay(make_plan(), recorder.events))
        await until_shown(pilot, "Physics / Fundamental")
        await app.push_screen(screen)
        await pilot.press("space", "9")
        screen.feed.seek(1000)  # type: ignore[attr-defined]
        screen.paint()
        await until_shown(pilot, "seed error-correcting codes (1 idea left)")
        shown = text_of(app)
        assert "-   5" in shown
        assert "4/5" in shown
        assert "|" in shown.splitlines()[-2]
        assert "+" in shown.splitlines()[-2]
        await pilot.press("home", "enter")
        await until_shown(pilot, "Idea 1 of 6")
        await pilot.press("p", "x", "escape", "x", "tab", "delete")
        assert screen.feed.state == fold(recorder.events)
