"""The live screen: what a person sees and does while ideas are written."""

from pathlib import Path

import platformdirs
import pytest
from textual.pilot import Pilot

from core import events as ev
from core.errors import StoreError
from core.providers.catalog import Providers
from core.store.log import read_log
from tests.app.screens import text_of, until, until_shown
from tests.conftest import make_plan
from tests.scripted import ScriptedProvider, same, varied
from tui.app import JagstormApp
from tui.screens.idea import IdeaScreen
from tui.screens.live import LiveScreen
from tui.screens.replay import ReplayScreen
from tui.screens.setup import SetupScreen
from tui.widgets.chain import ChainList

HOSTILE = "Use [/x] [bold]lenses[/bold] and [@click=app.quit]mirrors[/] {0} %s"


def app_with(sessions: Path, provider: ScriptedProvider) -> JagstormApp:
    return JagstormApp(str(sessions), providers=Providers({"scripted": provider, "embedded": provider}))


async def begin(pilot: Pilot[int], **options: object) -> LiveScreen:
    """A live screen on a scripted team."""
    app = pilot.app
    assert isinstance(app, JagstormApp)
    await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    app.start_session(make_plan(**options))  # type: ignore[arg-type]
    await until(pilot, lambda: isinstance(app.screen, LiveScreen))
    assert isinstance(app.screen, LiveScreen)
    return app.screen


def ideas_of(screen: LiveScreen) -> list[str]:
    chain = screen.feed.state.chain
    return [idea.text for idea in chain.ideas] if chain else []


async def test_ideas_arrive_with_scores_until_the_cap(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.005))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await begin(pilot, max_ideas=4)
        await until_shown(pilot, "is writing")
        await until_shown(pilot, "finished")
        shown = text_of(app)
        assert len(ideas_of(screen)) == 4
        assert "1.00" in shown
        assert "Reached its cap" in shown
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))


async def test_space_holds_after_the_idea_under_way_and_goes_on(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.01))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await begin(pilot, max_ideas=30)
        await until(pilot, lambda: len(ideas_of(screen)) >= 1)
        await pilot.press("space")
        await until_shown(pilot, "paused")
        await until(pilot, lambda: not screen.feed.state.chain.writing and not screen.feed.state.chain.pending)  # type: ignore[union-attr]
        held = len(ideas_of(screen))
        await pilot.pause(0.4)
        assert len(ideas_of(screen)) == held
        await pilot.press("space")
        await until(pilot, lambda: len(ideas_of(screen)) > held)


async def test_an_own_idea_is_added_scored_and_marked_as_yours(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.05))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot)
        await until(pilot, lambda: screen.feed.state.chain)
        await pilot.press("a", *"Listen to the film with a tuning fork", "enter")
        await until_shown(pilot, "Listen to the film with a tuning fork")
        await until_shown(pilot, " you ")
        chain = screen.feed.state.chain
        assert chain
        await until(pilot, lambda: next(i for i in chain.ideas if i.author == "you").score)


async def test_a_failing_idea_says_which_rule_failed(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(same, delay=0.005))
    async with app.run_test(size=(120, 40)) as pilot:
        await begin(pilot)
        await until_shown(pilot, "×   2")
        await until_shown(pilot, "echo of an earlier idea")
        await until_shown(pilot, "The last 3 ideas failed")


async def test_what_a_model_writes_is_text(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(lambda *_: HOSTILE))
    async with app.run_test(size=(160, 45), notifications=True, tooltips=True) as pilot:
        await begin(pilot, max_ideas=1)
        await until_shown(pilot, "finished")
        assert HOSTILE in text_of(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, IdeaScreen))
        assert HOSTILE in text_of(app)
        await pilot.press("y")
        await until_shown(pilot, "Copied")


async def test_enter_opens_an_idea_with_its_nearest_and_its_prompt(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot, max_ideas=3)
        await until_shown(pilot, "finished")
        await pilot.press("enter")
        await until_shown(pilot, "Idea 3 of 3, by ")
        shown = text_of(app)
        assert "Nearest earlier idea" in shown
        assert "The prompt (style list, showing 2 ideas)" in shown
        assert not any(member.name in shown for member in screen.feed.plan.team.members)
        await pilot.press("left")
        await until_shown(pilot, "Idea 2 of 3")
        await pilot.press("n")
        assert any(f"by {member.name}" in text_of(app) for member in screen.feed.plan.team.members)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))


async def test_search_shows_only_ideas_with_the_words_and_escape_shows_all(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot, max_ideas=6)
        await until_shown(pilot, "finished")
        word = ideas_of(screen)[0].split()[2]
        with_word = sum(word in text for text in ideas_of(screen))
        await pilot.press("slash", *word)
        await until(pilot, lambda: screen.query_one(ChainList).matches == with_word < 6)
        await pilot.press("escape")
        await until(pilot, lambda: screen.query_one(ChainList).matches == 6)


async def test_copy_goes_to_the_clipboard_and_to_a_file_that_is_named(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await begin(pilot, max_ideas=1)
        await until_shown(pilot, "finished")
        await pilot.press("y")
        await until_shown(pilot, "Copied")
        assert app.clipboard == ideas_of(screen)[0]
        assert (platformdirs.user_state_path("jagstorm") / "copied.txt").read_text() == ideas_of(screen)[0]


async def test_a_stopped_session_resumes_where_it_was_and_replays(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.01))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot, max_ideas=8)
        await until(pilot, lambda: len(ideas_of(screen)) >= 2)
        await pilot.press("q")
        await until_shown(pilot, "stopped")
        before = ideas_of(screen)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen is not screen)
        resumed = app.screen
        assert isinstance(resumed, LiveScreen)
        await until_shown(pilot, "finished", 20)
        assert ideas_of(resumed)[: len(before)] == before
        assert len(ideas_of(resumed)) == 8
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))


async def test_quitting_ends_the_session_cleanly_and_says_how_to_go_on(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.02))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot)
        await until(pilot, lambda: len(ideas_of(screen)) >= 1)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None or not app.is_running)
    [folder] = sessions.iterdir()
    events = read_log(folder).events
    assert isinstance(events[-1], ev.SessionEnded)
    assert any(f"jagstorm resume {folder.name}" in line for line in app.parting_words)


async def test_ctrl_c_quits_only_the_second_time(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.02))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await begin(pilot)
        await pilot.press("ctrl+c")
        await until_shown(pilot, "again to quit")
        assert app.is_running
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.return_code is not None or not app.is_running)


async def test_when_the_disk_is_full_the_session_waits_and_can_go_on_elsewhere(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.005))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot, max_ideas=9)
        await until(pilot, lambda: len(ideas_of(screen)) >= 2)
        [folder] = sessions.iterdir()
        full = _fill_the_disk(monkeypatch, folder)
        await until_shown(pilot, "No space left")
        await pilot.press("space")
        await until(pilot, lambda: screen.feed.state.notices)
        full["now"] = False
        await pilot.press("w", *str(tmp_path / "elsewhere"), "enter")
        await until_shown(pilot, "finished", 20)
    [moved] = (tmp_path / "elsewhere").iterdir()
    events = read_log(moved).events
    assert [event.seq for event in events] == list(range(len(events)))
    assert sum(isinstance(event, ev.IdeaAdded) for event in events) == 9


def _fill_the_disk(monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, bool]:
    """From now on nothing more can be written, until `now` is false."""
    from core.store.log import EventLog

    full = {"now": True}
    flush = EventLog.flush

    def refuse(log: EventLog) -> None:
        if full["now"]:
            raise StoreError(f"No space left on device: {log.folder} can't be written")
        flush(log)

    monkeypatch.setattr(EventLog, "flush", refuse)
    return full


async def test_a_server_that_fails_again_and_again_pauses_and_says_why(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, fail_after=2))
    async with app.run_test(size=(160, 45)) as pilot:
        await begin(pilot)
        await until_shown(pilot, "5 calls in a row brought no idea")
        await until_shown(pilot, "the server said no")


async def test_every_key_of_the_live_screen_is_in_the_help(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.02))
    async with app.run_test(size=(120, 50)) as pilot:
        await begin(pilot)
        await until_shown(pilot, "is writing")
        await pilot.press("question_mark")
        await until_shown(pilot, "Add an idea of your own")
        shown = text_of(app)
        for wanted in ("Pause", "Stop", "Seed", "Steer", "Open", "Copy", "Take out", "* pinned"):
            assert wanted in shown
        await pilot.press("end")
        await until_shown(pilot, "The question in full")
