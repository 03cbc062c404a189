"""The replay screen: a recorded session, played, held, searched and dragged through."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.store.replay import Replay
from tests.app.screens import text_of, until, until_shown
from tests.conftest import Open, make_plan
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.idea import IdeaScreen
from tui.screens.replay import ReplayScreen
from tui.screens.sessions import SessionsScreen
from tui.screens.setup import SetupScreen
from tui.widgets.chain import ChainList
from tui.widgets.plot import Plot
from tui.widgets.timebar import TimeBar


@pytest.fixture
async def recorded(open_session: Open) -> Path:
    """A session of eight ideas that took a second or two."""
    session = open_session(make_plan(max_ideas=8), ScriptedProvider(varied, delay=0.01))
    await session.run()
    return Path(session.folder)


async def open_replay(pilot: Pilot[int], folder: Path) -> Replay:
    app = pilot.app
    assert isinstance(app, JagstormApp)
    await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    app.open_replay(folder)
    await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
    assert isinstance(app.screen, ReplayScreen)
    replay = app.screen.feed
    assert isinstance(replay, Replay)
    return replay


def shown_ideas(replay: Replay) -> int:
    return len(replay.state.chain.ideas) if replay.state.chain else 0


async def test_it_plays_to_the_end_and_says_how_it_ended(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await until_shown(pilot, "is writing")
        await until_shown(pilot, "at the end", 20)
        assert shown_ideas(replay) == 8
        assert "Reached its cap" in text_of(app)


async def test_space_holds_and_a_point_steps_and_digits_jump(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("space")
        await until_shown(pilot, "held")
        await pilot.press("0")
        assert shown_ideas(replay) == 0
        before = replay.seconds
        for _ in range(12):
            await pilot.press("full_stop")
        assert replay.seconds > before
        await pilot.press("9")
        assert replay.seconds == pytest.approx(replay.length * 0.9)
        await pilot.press("left")
        assert replay.seconds < replay.length * 0.9


async def test_brackets_change_the_speed_from_half_to_as_fast_as_possible(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("space", "left_square_bracket", "left_square_bracket", "left_square_bracket")
        await until_shown(pilot, "0.5×")
        await pilot.press("0", *["right_square_bracket"] * 9)
        await until_shown(pilot, "as fast as possible")
        await pilot.press("space")
        await until(pilot, lambda: replay.at_end)


async def test_going_to_an_idea_shows_the_chain_up_to_it(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("g", "5", "enter")
        await until(pilot, lambda: shown_ideas(replay) == 5)
        await until_shown(pilot, "idea 5")
        await pilot.press("g", "9", "9", "enter")
        await until(pilot, lambda: shown_ideas(replay) == 8)


async def test_the_time_bar_is_clicked_and_dragged(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(101, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("space")
        bar = app.screen.query_one(TimeBar)
        width = bar.size.width
        await pilot.click(bar, offset=(width // 2, 0))
        await until(pilot, lambda: abs(replay.seconds - replay.length / 2) < replay.length * 0.03)
        await pilot.mouse_down(bar, offset=(width // 2, 0))
        await pilot.hover(bar, offset=(width - 1, 0))
        await pilot.mouse_up(bar, offset=(width - 1, 0))
        await until(pilot, lambda: replay.seconds == pytest.approx(replay.length, rel=0.03))
        await pilot.click(bar, offset=(1, 0))  # the first cell within its padding
        await until(pilot, lambda: replay.seconds == 0)


async def test_an_idea_opens_from_a_replay_too(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("g", "3", "enter")
        await until(pilot, lambda: shown_ideas(replay) == 3)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, IdeaScreen))
        await until_shown(pilot, "Idea 3 of 3")
        await pilot.press("escape", "q")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))


async def test_the_list_of_sessions_replays_one(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        await until_shown(pilot, "/8")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))


async def test_resuming_a_finished_session_says_that_there_is_nothing_to_go_on_with(
    app: JagstormApp, recorded: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        await pilot.press("f3")
        await until_shown(pilot, "/8")
        await pilot.press("r")
        await until_shown(pilot, "its cap of 8 ideas")


async def test_a_damaged_session_is_listed_with_its_reason(app: JagstormApp, recorded: Path) -> None:
    broken = recorded.parent / "20260101-000000-broken-0000"
    broken.mkdir()
    (broken / "session.toml").write_text("format = [")
    (broken / "events.jsonl").touch()
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        await pilot.press("f3")
        await until_shown(pilot, "damaged")
        await until_shown(pilot, "it is not TOML")


async def test_before_the_question_there_is_nothing_to_see(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("g", "5", "enter")
        await until(pilot, lambda: shown_ideas(replay) == 5)
        replay.seek(-1)
        assert isinstance(app.screen, ReplayScreen)
        app.screen.paint()
        await until(pilot, lambda: app.screen.query_one(ChainList).matches == 0)
        assert "Couple the" not in text_of(app)


async def test_playing_and_holding_leave_the_cursor_where_the_person_put_it(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("g", "6", "enter")
        await until(pilot, lambda: shown_ideas(replay) == 6)
        chain = app.screen.query_one(ChainList)
        await pilot.press("home", "down", "space", "space")
        assert chain.cursor == 1
        await pilot.press("end")
        assert chain.cursor == shown_ideas(replay) - 1


async def test_another_theme_recolours_the_chart_at_once(app: JagstormApp, recorded: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        replay = await open_replay(pilot, recorded)
        await pilot.press("g", "6", "enter")
        await until(pilot, lambda: shown_ideas(replay) == 6)

        def colours() -> set[str]:
            plot = app.screen.query_one(Plot)
            strips = [plot.render_line(y) for y in range(plot.size.height)]
            return {str(s.style.color) for strip in strips for s in strip if "•" in s.text and s.style}

        dark = colours()
        await pilot.press("ctrl+t")
        await pilot.pause(0.2)
        assert dark
        assert colours() != dark
