"""What a person sees when something goes wrong, and what they paste."""

import signal
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from core.errors import UsageError
from core.models import ModelSpec, Prompt
from core.store.log import EventLog
from tests.app.screens import text_of, until, until_shown
from tests.app.test_live import _fill_the_disk, app_with, begin, ideas_of
from tests.conftest import make_plan
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.dialogs import Fault
from tui.screens.live import LiveScreen
from tui.screens.sessions import SessionsScreen
from tui.screens.setup import SetupScreen
from tui.widgets.questions import QuestionTree


async def test_a_fault_of_ours_is_shown_and_the_session_can_be_left(sessions: Path) -> None:
    def broken(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        raise KeyError("[/x] nobody expected this")

    app = app_with(sessions, ScriptedProvider(broken))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        app.start_session(make_plan())
        await until(pilot, lambda: isinstance(app.screen, Fault))
        await until_shown(pilot, "A fault in Jagstorm itself")
        await pilot.press("escape")
        await until_shown(pilot, "interrupted")
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None or not app.is_running)


async def test_the_too_small_screen_goes_even_if_a_dialog_came_over_it(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.resize_terminal(40, 10)
        await until_shown(pilot, "Too small")
        app.show_fault(UsageError("one more thing"))
        await until(pilot, lambda: isinstance(app.screen, Fault))
        await pilot.resize_terminal(120, 40)
        await pilot.press("escape")
        await until_shown(pilot, "Physics / Fundamental")


async def test_what_is_not_saved_is_not_let_go_by_one_key(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.005))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await begin(pilot)
        await until(pilot, lambda: len(ideas_of(screen)) >= 2)
        [folder] = sessions.iterdir()
        _fill_the_disk(monkeypatch, folder)
        await until_shown(pilot, "No space left")
        await pilot.press("q")
        await until_shown(pilot, "w saves it elsewhere")
        assert not screen.over
        await pilot.press("q")
        await until(pilot, lambda: screen.over)
        await until(pilot, lambda: isinstance(app.screen, Fault))


async def test_a_sessions_folder_that_cannot_be_read_is_said(app: JagstormApp, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.store import listing

    def refuse(folder: Path) -> list[Path]:
        raise UsageError(f"{folder} can't be read: Permission denied")

    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        monkeypatch.setattr(listing, "session_folders", refuse)
        await pilot.press("f3")
        await until_shown(pilot, "Permission denied")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))


async def test_what_is_pasted_is_text_on_one_line(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("n")
        field = app.screen.query_one(Input)
        field.post_message(events.Paste("Propose\na way \x1b]52;c;aGk=\x07 to \x9b2J weigh \u202eit[/x]"))
        await until(pilot, lambda: field.value)
        assert field.value == "Propose a way ]52;c;aGk= to 2J weigh it[/x]"
        assert "\x1b" not in text_of(app)


async def test_a_second_signal_says_nothing_twice(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.02))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot)
        await until(pilot, lambda: len(ideas_of(screen)) >= 1)
        app._on_signal(signal.SIGTERM)
        app._on_signal(signal.SIGTERM)
        await until(pilot, lambda: app.return_code is not None or not app.is_running)
    assert app.return_code == 4
    assert len(app.parting_words) == len(set(app.parting_words)) == 2


async def test_a_session_busy_elsewhere_is_said_and_left_alone(app: JagstormApp, sessions: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("s")
        await until_shown(pilot, "▼")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await pilot.press("q")
        await until_shown(pilot, "stopped")
        [folder] = sessions.iterdir()
        log, _ = EventLog.reopen(folder)
        try:
            await pilot.press("r")
            await until_shown(pilot, "Another jagstorm is writing")
        finally:
            log.close()


async def test_enter_typed_twice_begins_one_session(app: JagstormApp, sessions: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("s")
        await until_shown(pilot, "▼")
        tree = app.screen.query_one(QuestionTree)
        for _ in range(5):
            tree.action_choose()
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await pilot.pause(0.2)
        assert len(list(sessions.iterdir())) == 1
        await pilot.press("q")
        await until_shown(pilot, "stopped")


async def test_a_dialog_is_whole_on_the_smallest_usual_screen(app: JagstormApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        app.show_fault(UsageError("This chain is finished: " + "look at it again and again, " * 8 + "to its end."))
        await until_shown(pilot, "to its end.")
