"""Screens over sessions that run elsewhere, and sessions that run on while other screens are shown."""

import asyncio
from pathlib import Path

from textual.pilot import Pilot

from core import events as ev
from core.opening import begin
from core.providers.catalog import Providers
from core.serving import Serving
from core.session import Session
from core.store.log import read_log
from core.store.runner import noted_runner
from tests.app.screens import until, until_shown
from tests.conftest import make_plan
from tests.scripted import HeldProvider, ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.attached import AttachedScreen, WatchScreen
from tui.screens.live import LiveScreen
from tui.screens.sessions import SessionsScreen
from tui.screens.setup import SetupScreen


def app_with(sessions: Path, provider: ScriptedProvider) -> JagstormApp:
    return JagstormApp(str(sessions), providers=Providers({"scripted": provider}))


def run_elsewhere(sessions: Path, ideas: int) -> "tuple[HeldProvider, Session, asyncio.Task[ev.SessionEnded]]":
    """A session of so many ideas that another process might run, amid its first."""
    provider = HeldProvider()
    session = begin(sessions, make_plan(max_ideas=ideas), Providers({"scripted": provider}))
    return provider, session, asyncio.create_task(Serving(session).run())


def on_live(app: JagstormApp) -> LiveScreen:
    assert isinstance(app.screen, LiveScreen)
    return app.screen


async def under_way(pilot: Pilot[int], app: JagstormApp, ideas: int) -> LiveScreen:
    """A session that the app runs, with so many ideas."""
    await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    app.start_session(make_plan())
    await until(pilot, lambda: isinstance(app.screen, LiveScreen))
    screen = on_live(app)
    await until(pilot, lambda: screen.feed.state.chain and screen.feed.state.chain.responses >= ideas)
    return screen


async def test_f_forks_at_the_idea_under_the_cursor_and_both_sessions_go_on(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.01))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        first = await under_way(pilot, app, 3)
        await pilot.press("home", "f")
        await until(pilot, lambda: app.screen is not first and isinstance(app.screen, LiveScreen))
        fork = on_live(app)
        assert fork.feed.state.forked is not None
        assert (fork.feed.state.forked.session, fork.feed.state.forked.idea) == (first.feed.folder.name, 1)
        await until_shown(pilot, "A new session")
        before = first.feed.state.seq
        await until(pilot, lambda: fork.feed.state.chain and fork.feed.state.chain.responses > 2)
        await until(pilot, lambda: first.feed.state.seq > before)
        assert len(app.runs.under_way) == 2
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.runs.under_way)
    assert len(app.parting_words) == 4


async def test_the_list_leads_back_to_a_session_that_runs_here(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied, delay=0.01))
    async with app.run_test(size=(120, 40)) as pilot:
        live = await under_way(pilot, app, 1)
        await pilot.press("f3")
        await until_shown(pilot, "running")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is live)
        assert not any(isinstance(screen, SessionsScreen) for screen in app.screen_stack)
        await pilot.press("q")
        await until(pilot, lambda: live.over)


async def test_the_list_says_when_a_session_runs_no_more(sessions: Path) -> None:
    provider, _, run = run_elsewhere(sessions, 1)
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        await pilot.press("f3")
        await until_shown(pilot, "running")
        provider.go_on.set()
        await run
        await until_shown(pilot, "finished, cap")


async def test_who_attaches_has_a_say_and_leaves_the_session_running(sessions: Path) -> None:
    provider, session, run = run_elsewhere(sessions, 2)
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await provider.halfway.wait()
        app.attach_session(session.folder)
        await until_shown(pilot, "attached")
        await until_shown(pilot, "Couple the")  # what was written before anybody looked
        await pilot.press("p")
        await until_shown(pilot, "There is no idea yet")
        await pilot.press("a", *"Weigh it.", "enter")
        await until(pilot, lambda: session.state.chain and session.state.chain.ideas)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    assert not run.done()
    assert noted_runner(session.folder) is not None
    [added] = [event for event in read_log(session.folder).events if isinstance(event, ev.IdeaAdded)]
    assert added.text == "Weigh it."
    provider.go_on.set()
    await run


async def test_who_resumes_what_another_has_just_resumed_sees_what_that_one_runs(sessions: Path) -> None:
    provider, session, run = run_elsewhere(sessions, 2)
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        await provider.halfway.wait()
        app.resume_session(session.folder)
        await until(pilot, lambda: isinstance(app.screen, AttachedScreen))
        await until_shown(pilot, "Couple the")
    assert not run.done()
    provider.go_on.set()
    await run


async def test_what_can_t_be_obeyed_is_said_on_the_screen_of_who_said_it(sessions: Path) -> None:
    provider, session, run = run_elsewhere(sessions, 1)
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await provider.halfway.wait()
        app.attach_session(session.folder)
        await until_shown(pilot, "attached")
        await pilot.press("U")
        await until_shown(pilot, "There is nothing to undo")
    provider.go_on.set()
    await run


async def test_who_watches_is_offered_no_command(sessions: Path) -> None:
    provider, session, run = run_elsewhere(sessions, 1)
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        await provider.halfway.wait()
        app.watch_session(session.folder)
        await until_shown(pilot, "you only watch")
        assert isinstance(app.screen, WatchScreen)
        offered = {active.binding.action for active in app.screen.active_bindings.values() if active.enabled}
        assert {"back", "search", "names", "fork"} <= offered
        assert not {"pause", "add", "seed", "steer", "pin", "edit", "stop", "end", "team", "undo"} & offered
        provider.go_on.set()
        await run
        await until_shown(pilot, "finished")


async def test_a_session_that_can_t_be_read_is_said(sessions: Path, tmp_path: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        for show in (app.attach_session, app.watch_session):
            show(tmp_path)
            await until_shown(pilot, "The session can't be read")
            await pilot.press("escape")
            assert not isinstance(app.screen, AttachedScreen)
