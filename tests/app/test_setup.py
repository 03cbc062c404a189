"""The setup screen: from nothing to a running chain."""

from pathlib import Path

from tests.app.screens import text_of, until, until_shown
from tui.app import JagstormApp
from tui.screens.live import LiveScreen
from tui.screens.setup import SetupScreen


async def test_search_then_enter_starts_that_question(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("slash", *"forgets its shape", "enter")
        await until_shown(pilot, "exactly ten uses")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until_shown(pilot, "Design a material that forgets its shape after exactly ten uses.")
        await pilot.press("q")
        await until_shown(pilot, "stopped")


async def test_an_own_question_is_text_whatever_it_holds(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("n")
        app.screen.query_one("Input").value = "Propose [/x] a [@click=app.quit]way[/] to \x1b[2J \U0001f52c"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until_shown(pilot, "Propose [/x] a [@click=app.quit]way[/] to [2J \U0001f52c")
        await pilot.press("q")
        await until_shown(pilot, "stopped")


async def test_a_blank_own_question_says_what_is_wanted(app: JagstormApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("n", "enter")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))


async def test_rules_out_of_range_are_named_and_good_ones_are_kept(app: JagstormApp) -> None:
    async with app.run_test(size=(160, 45)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("r")
        await until_shown(pilot, "Least novelty")
        app.screen.query_one("#patience").value = "0"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until_shown(pilot, "a whole number")
        app.screen.query_one("#patience").value = "5"  # type: ignore[attr-defined]
        app.screen.query_one("#max_ideas").value = "12"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until_shown(pilot, "patience 5, stop at 12")


async def test_the_other_team_is_a_key_and_an_arrow_away(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "is drawn")
        await pilot.press("t", "down", "enter")
        await until_shown(pilot, "writes every idea")


async def test_one_click_shows_a_question_and_two_begin(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("slash", *"shape after exactly", "enter")
        await until_shown(pilot, "exactly ten uses")
        await pilot.click("#questions", offset=(6, 1))
        await pilot.pause(0.1)
        assert isinstance(app.screen, SetupScreen)
        await pilot.click("#questions", offset=(6, 1), times=2)
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await pilot.press("q")
        await until_shown(pilot, "stopped")


async def test_a_broken_question_file_is_named_and_the_rest_is_there(sessions: Path, tmp_path: Path) -> None:
    broken = tmp_path / "mine.toml"
    broken.write_text('[[questions]]\ntext = "Propose a way to weigh [a] smell."\n[[questions]]\nid = "no-text"\n')
    app = JagstormApp(str(sessions), (str(broken),))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until_shown(pilot, "a question needs")
        await until_shown(pilot, "mine.toml:3")
        await pilot.press("slash", *"smell", "enter")
        await until_shown(pilot, "Propose a way to weigh [a] smell.")


async def test_a_sessions_folder_that_cannot_be_written_is_said_and_nothing_ends(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    app = JagstormApp(str(tmp_path / "file" / "sessions"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.press("s")
        await until_shown(pilot, "▼")
        await pilot.press("enter")
        await until_shown(pilot, "choose another folder")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))


async def test_too_small_says_so_and_recovers(app: JagstormApp) -> None:
    async with app.run_test(size=(40, 10)) as pilot:
        await until_shown(pilot, "Too small")
        await pilot.resize_terminal(80, 24)
        await until_shown(pilot, "Physics / Fundamental")
        await pilot.resize_terminal(40, 10)
        await until_shown(pilot, "Too small")
        await pilot.resize_terminal(120, 40)
        await until_shown(pilot, "Physics / Fundamental")


async def test_every_key_of_the_screen_is_in_the_help_and_on_the_palette(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 50)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        offered = {command.title for command in app.get_system_commands(app.screen)}
        wanted = {"Start", "Search", "Own", "Team", "Rules", "Surprise", "Quit", "Keys", "Sessions"}
        assert wanted <= offered
        await pilot.press("question_mark")
        await until_shown(pilot, "Surprise")
        shown = text_of(app)
        assert all(title in shown for title in wanted)
