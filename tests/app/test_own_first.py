"""The person writes before the team does: a quiet screen, ideas in the log at once, and then the team begins."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from core import commands as cmd
from core import events as ev
from core.events.course import OWN_FIRST
from core.levers import OwnFirst
from core.store.log import read_log
from tests.app.screens import text_of, until, until_shown
from tests.app.test_live import app_with
from tests.app.told import Told, begun
from tests.conftest import QUESTION, make_plan
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.live import LiveScreen
from tui.screens.own_first import OwnFirstScreen
from tui.screens.setup import SetupScreen


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(varied, delay=0.005)


@pytest.fixture
def app(sessions: Path, provider: ScriptedProvider) -> JagstormApp:
    return app_with(sessions, provider)


async def begin(pilot: Pilot[int], *, shown: bool = True, minutes: float = 5) -> OwnFirstScreen:
    app = pilot.app
    assert isinstance(app, JagstormApp)
    await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    app.start_session(replace(make_plan(max_ideas=4), own_first=OwnFirst(shown=shown, minutes=minutes)))
    await until(pilot, lambda: isinstance(app.screen, OwnFirstScreen))
    assert isinstance(app.screen, OwnFirstScreen)
    assert sum(isinstance(screen, OwnFirstScreen) for screen in app.screen_stack) == 1
    return app.screen


async def test_ideas_are_given_one_a_line_and_are_in_the_log_at_once(app: JagstormApp, sessions: Path) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        await until_shown(pilot, QUESTION.text[:40])
        await until_shown(pilot, "about 5 minutes left")
        await pilot.press(*"Ring the film", "enter", "enter", *"Paint the flux", "enter")
        await until_shown(pilot, "2  Paint the flux")
        [folder] = sessions.iterdir()
        added = [event for event in read_log(folder).events if isinstance(event, ev.IdeaAdded)]
        assert [(event.text, event.author) for event in added] == [("Ring the film", "you"), ("Paint the flux", "you")]
        shown = text_of(app)
        assert "novelty" not in shown, "no scores"
        assert "who" not in shown.split(), "no chain"


@pytest.mark.parametrize("shown", [True, False])
async def test_then_the_team_begins_and_is_shown_them_or_not(
    app: JagstormApp, provider: ScriptedProvider, shown: bool
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await begin(pilot, shown=shown)
        await until_shown(pilot, "the team will see your ideas" if shown else "the team will not see your ideas")
        await pilot.press(*"Ring the film", "enter")
        assert not provider.calls, "the team waits"
        await pilot.press(*"Paint the flux", "f2")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until_shown(pilot, "finished", 20)
        assert ("Ring the film" in str(provider.calls[0].messages)) == shown
        assert ("Paint the flux" in str(provider.calls[0].messages)) == shown, "what stood in the line was given too"
        assert isinstance(app.screen, LiveScreen)
        ideas = app.screen.feed.state.chain.ideas  # type: ignore[union-attr]
        assert [idea.author for idea in ideas[:2]] == ["you", "you"]
        assert all(idea.score for idea in ideas), "scored like any other"


async def test_the_last_one_given_is_taken_back(app: JagstormApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot)
        await pilot.press(*"Ring the film", "enter")
        await until_shown(pilot, "1  Ring the film")
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "Ring the film" not in text_of(app))


def waiting(minutes: float = 5) -> Told:
    """A session that has let the person begin a moment ago, and waits for them."""
    feed = Told(begun())
    feed.come([ev.OwnIdeasFirst(question=QUESTION.id, minutes=minutes, shown=True), ev.Paused(by=OWN_FIRST)])
    return feed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "about 5 minutes left"),
        (4 * 60, "about 1 minute left"),
        (4 * 60 + 45, "less than a minute left"),
        (5 * 60, "The time you gave yourself is over"),
    ],
)
async def test_the_timer_counts_from_when_the_person_began_whichever_screen_shows_it(
    app: JagstormApp, seconds: float, words: str
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        feed = waiting()
        feed.seconds = feed.state.t + seconds
        await app.push_screen(OwnFirstScreen(feed))
        await until_shown(pilot, words)


async def test_the_timer_only_advises(app: JagstormApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        feed = waiting(minutes=1)
        screen = OwnFirstScreen(feed)
        await app.push_screen(screen)
        await until_shown(pilot, "about 1 minute left")
        feed.seconds = 3600
        screen.show_time()
        await until_shown(pilot, "The time you gave yourself is over")
        await pilot.press(*"One more", "enter")
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [cmd.AddIdea(text="One more")]
        assert app.screen is screen


async def test_ctrl_d_leaves_the_session_running_but_warns_of_a_line_that_is_being_typed(app: JagstormApp) -> None:
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await begin(pilot)
        await pilot.press(*"Half", "ctrl+d")
        await until_shown(pilot, "is not said yet")
        assert not app.parting_words
        await pilot.press("ctrl+d")
        await until(pilot, lambda: app.parting_words)
    assert "It runs on without you" in app.parting_words[0]
    assert app.return_value == 0
    app.runs.stop("SIGTERM")
    await app.runs.ended()


async def test_at_the_end_it_is_said_whose_ideas_were_thought_well_of(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await begin(pilot)
        await pilot.press(*"Ring the film", "f2")
        await until_shown(pilot, "finished", 20)
        await pilot.press("home", "p", "asterisk", "4", "end", "asterisk", "2", "ctrl+q")
        await until(pilot, lambda: app.return_code is not None or not app.is_running)
    [line] = [line for line in app.parting_words if line.startswith("Pinned and rated")]
    assert "1 yours (50%, of 1 idea, 4.0 of 5 on average)" in line


async def test_it_is_chosen_on_the_first_screen_which_asks_whether_the_team_shall_see_them(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "the team at once")
        await pilot.press("o")
        await until_shown(pilot, "Shall the team see your ideas?")
        await pilot.press("down", "enter")
        await until_shown(pilot, "you, about 5 minutes")
        await pilot.press("o")
        await until_shown(pilot, "the team at once")
        await pilot.press("o", "enter", "n", *"Propose a way to cool a chip.", "enter")
        await until(pilot, lambda: isinstance(app.screen, OwnFirstScreen))
        await until_shown(pilot, "the team will see your ideas")
