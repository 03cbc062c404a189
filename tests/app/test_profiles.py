"""The profiles screen: what it shows, and what keys and the mouse do on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from core.analysis.rescoring import Change
from core.exchange.importing import import_file
from core.store.library import example_folder
from tests.app.made_up import results
from tests.app.screens import text_of, until, until_shown
from tui.app import JagstormApp
from tui.screens.dialogs import Ask, Choose, Message
from tui.screens.profiles import ProfilesScreen
from tui.widgets.chart_view import ChartView
from tui.widgets.picks import Picks
from tui.widgets.slider import Slider


@asynccontextmanager
async def profiles(
    app: JagstormApp, places: list[Path] | None, width: int = 120, height: int = 40
) -> AsyncIterator[tuple[Pilot[int], ProfilesScreen]]:
    async with app.run_test(size=(width, height), notifications=True, tooltips=True) as pilot:
        screen = ProfilesScreen(places)
        await app.push_screen(screen)
        await until(pilot, lambda: screen._explorer is not None)
        yield pilot, screen


@pytest.fixture
def places(tmp_path: Path) -> list[Path]:
    return [results(tmp_path)]


async def test_f4_shows_all_sessions(app: JagstormApp, sessions: Path, tmp_path: Path) -> None:
    import_file(results(tmp_path), sessions)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f4")
        await until_shown(pilot, "3 models")
        await until_shown(pilot, "anna:7b")


async def test_without_any_session_it_says_what_to_do(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f4")
        await until_shown(pilot, "jagstorm import")
        await pilot.press("1", "b", "w", "d", "slash", "space", "enter", "escape")
        await until_shown(pilot, "Team")


async def test_the_chart_follows_the_cursor_and_the_boxes(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await until_shown(pilot, "From the fewest to the most")
        await pilot.press("down", "space")
        await until_shown(pilot, "[ ] bert")
        assert screen._chart is not None
        assert [row[0] for row in screen._chart.sheet().rows] == ["anna:7b", "cleo/large"]
        await pilot.press("a")
        await until(pilot, lambda: len(screen._chart.sheet().rows) == 3 if screen._chart else False)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("1", "fewest to most"),
        ("2", "There are no totals"),
        ("3", "share that goes on"),
        ("4", "jaggedness"),
        ("5", "differences:"),
        ("6", "reasoning tokens"),
        ("7", "Best by leaf"),
        ("8", "at least .15"),
        ("9", "needs a vector"),
        ("0", "There is no team"),
    ],
)
async def test_numbers_choose_the_chart(app: JagstormApp, places: list[Path], key: str, words: str) -> None:
    async with profiles(app, places) as (pilot, _):
        await pilot.press(key)
        await until_shown(pilot, words)


async def test_charts_are_on_the_palette_too(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (_, screen):
        titles = [command.title for command in app.get_system_commands(screen)]  # type: ignore[arg-type]
        assert {"Who is best where", "A map of ideas", "Write", "Beside", "Filter"} <= set(titles)


async def test_a_slider_rescores_at_once_and_can_be_reset(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        before = text_of(app).splitlines()[0]
        slider = screen.query_one("#embedding_novelty", Slider)
        slider.focus()
        await pilot.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        await until_shown(pilot, ".300 ")
        assert text_of(app).splitlines()[0] != before
        await pilot.press("backspace")
        await until(pilot, lambda: text_of(app).splitlines()[0] == before)


async def test_x_brings_all_rules_back_wherever_the_cursor_is(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        assert screen._explorer
        screen._explorer.change("coherence", 60)
        screen._explorer.change("patience", 3)
        await pilot.press("x")
        assert screen._explorer.selection.change == Change()
        slider = screen.query_one("#coherence", Slider)
        await until(pilot, lambda: slider.value is None)


async def test_a_slider_follows_the_mouse(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        slider = screen.query_one("#coherence", Slider)
        await pilot.mouse_down("#coherence", offset=(25, 0))
        await pilot.hover("#coherence", offset=(33, 0))
        await pilot.mouse_up("#coherence", offset=(33, 0))
        await until(pilot, lambda: slider.value is not None and slider.value > 80)
        assert screen._explorer is not None
        assert screen._explorer.selection.change.coherence == slider.value


async def test_enter_goes_down_to_an_ideas_text_and_escape_comes_back(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await pilot.press("down", "enter")
        await until_shown(pilot, "Leaves")
        await pilot.press("enter")
        await until_shown(pilot, "Questions")
        await pilot.press("enter")
        await until_shown(pilot, "  1 Idea 1: listen")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Message))
        await until_shown(pilot, "Idea 2: listen to the 2th crack of the ice.")
        await pilot.press("escape", "escape", "escape", "escape")
        await until_shown(pilot, "Models and teams")
        picks = screen.query_one(Picks)
        assert picks.selected is not None
        assert picks.selected.name == "bert"
        await pilot.press("escape")
        await until_shown(pilot, "Team")


async def test_words_filter_questions(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await pilot.press("slash", *"yeast", "enter")
        await until_shown(pilot, "3 chains")
        await until_shown(pilot, "“yeast”")
        await pilot.press("escape")
        await until_shown(pilot, "18 chains")
        assert screen.query_one("#filter", Input).value == ""


async def test_a_domain_is_chosen_from_those_that_there_are(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, _):
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "down", "enter")
        await until_shown(pilot, "6 chains")
        await until_shown(pilot, "· Biology")


async def test_two_selections_stand_side_by_side(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await pilot.press("b", "space")
        await until_shown(pilot, "across the line")
        await until_shown(pilot, "kept")
        assert screen.query_one("#pair").display
        await pilot.press("b")
        await until(pilot, lambda: "across the line" not in text_of(app))


async def test_where_there_is_no_room_for_two_charts_there_is_their_difference(
    app: JagstormApp, places: list[Path]
) -> None:
    async with profiles(app, places, 80, 24) as (pilot, screen):
        await pilot.press("b", "space")
        await until_shown(pilot, "across the line")
        assert not screen.query_one("#pair").display


async def test_sessions_can_be_listed_instead_of_models(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, [*places, example_folder()]) as (pilot, screen):
        await pilot.press("s")
        await until_shown(pilot, "[x] results.json")
        await pilot.press("space")
        await until_shown(pilot, "[ ] results.json")
        await until_shown(pilot, "1 model ")
        await pilot.press("escape")
        await until_shown(pilot, "Models and teams")
        assert screen.is_current


@pytest.mark.parametrize("end", ["svg", "txt", "csv"])
async def test_what_is_shown_is_written(app: JagstormApp, places: list[Path], tmp_path: Path, end: str) -> None:
    async with profiles(app, places) as (pilot, _):
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        path = tmp_path / f"chart.{end}"
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await until_shown(pilot, "Written to")
        assert "cleo/large" in path.read_text(encoding="utf-8")


async def test_a_file_that_can_not_be_written_is_said(app: JagstormApp, places: list[Path], tmp_path: Path) -> None:
    async with profiles(app, places) as (pilot, _):
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        app.screen.query_one(Input).value = str(tmp_path / "chart.png")
        await pilot.press("enter")
        await until_shown(pilot, "must end in")


async def test_a_threshold_is_dragged_on_the_chart(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await pilot.press("8")
        await until_shown(pilot, "at least .15")
        view = screen.query_one(ChartView)
        top = view.region.y
        line = next(row for row, text in enumerate(text_of(app).splitlines()) if "═" in text) - top
        await pilot.mouse_down(ChartView, offset=(20, line))
        await pilot.hover(ChartView, offset=(20, line - 3))
        await pilot.mouse_up(ChartView, offset=(20, line - 3))
        slider = screen.query_one("#embedding_novelty", Slider)
        await until(pilot, lambda: slider.value is not None and slider.value > 0.2)
        before = slider.value
        await pilot.press("down")
        await until(pilot, lambda: slider.value == pytest.approx((before or 0) - 0.005))


async def test_on_other_charts_the_same_keys_move_along_the_list(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places, 80, 24) as (pilot, screen):
        screen.query_one(ChartView).focus()
        await pilot.press("down", "down")
        picks = screen.query_one(Picks)
        assert picks.selected is not None
        assert picks.selected.name == "cleo/large"
        await pilot.press("enter")
        await until_shown(pilot, "· cleo/large")


async def test_the_map_makes_vectors_when_asked_and_opens_ideas(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await pilot.press("9", "enter")
        await until_shown(pilot, "component 1", 30)
        screen.query_one(ChartView).focus()
        await pilot.press("right", "right")
        await until_shown(pilot, "idea ")
        await pilot.press("enter")
        await until_shown(pilot, "crack of the ice")


async def test_two_selections_have_a_map_each(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places) as (pilot, screen):
        await pilot.press("b", "9")
        await until_shown(pilot, "needs a vector")
        await pilot.press("enter")
        await until_shown(pilot, "across the line", 30)
        assert screen.query_one("#pair").display
        assert text_of(app).count("component 1") == 2


async def test_where_it_is_narrow_a_key_shows_the_list_or_the_chart(app: JagstormApp, places: list[Path]) -> None:
    async with profiles(app, places, 80, 24) as (pilot, _):
        await until_shown(pilot, "From the fewest")
        assert "Rules" not in text_of(app)
        await pilot.press("v")
        await until_shown(pilot, "Rules")
        assert "From the fewest" not in text_of(app)
        await pilot.press("v")
        await until_shown(pilot, "From the fewest")


@pytest.mark.parametrize("key", ["5", "."])
async def test_where_the_list_hides_the_chart_asking_for_one_shows_it(
    app: JagstormApp, places: list[Path], key: str
) -> None:
    async with profiles(app, places, 80, 24) as (pilot, _):
        await until_shown(pilot, "From the fewest")
        await pilot.press("v")
        await until_shown(pilot, "Rules")
        await pilot.press(key)
        await until_shown(pilot, "Every model in every leaf" if key == "5" else "One benchmark against another")
        assert "Rules" not in text_of(app)


async def test_a_session_that_can_not_be_read_is_named_and_the_others_are_shown(
    app: JagstormApp, places: list[Path], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    async with profiles(app, [broken, *places]) as (pilot, _):
        await until_shown(pilot, "3 models")
        await until_shown(pilot, "broken.json")


async def test_leaving_while_it_reads_ends_the_reading(app: JagstormApp, places: list[Path]) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = ProfilesScreen(places * 50)
        await app.push_screen(screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)
        await app.workers.wait_for_complete()
        await until_shown(pilot, "Team")
