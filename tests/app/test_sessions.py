"""The list of sessions: mark some, export them, and see their profiles."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.store import library
from tests.app.screens import text_of, until, until_shown
from tests.conftest import QUESTION, make_plan
from tests.unit.exchanged import answer, chemistry, failing, write
from tui.app import JagstormApp
from tui.screens.profiles import ProfilesScreen


@pytest.fixture
def imported(tmp_path: Path, sessions: Path) -> Path:
    """Two sessions, of the models `one` and `two`."""
    from core.exchange.importing import import_results

    for model in ("one", "two"):
        answers = [answer(1, f"Listen to {model}."), failing(2, text="Again.")]
        import_results(write(tmp_path / f"{model}.json", chemistry(*answers, model=model)), sessions)
    return sessions


async def test_the_chosen_session_is_exported_as_the_name_says(
    app: JagstormApp, imported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f3")
        await until_shown(pilot, "1/2")
        await pilot.press("x")
        await until_shown(pilot, "Export to which file?")
        await pilot.press(*["backspace"] * 60, *"out.html", "enter")
        await until(pilot, (tmp_path / "out.html").exists)
        assert "Listen to" in (tmp_path / "out.html").read_text()


@pytest.mark.parametrize(("name", "said"), [("out.pdf", "must end in"), ("there.md", "another name")])
async def test_a_file_that_can_not_be_written_is_said(
    app: JagstormApp, imported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.md").write_text("mine")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f3")
        await until_shown(pilot, "1/2")
        await pilot.press("x", *["backspace"] * 60, *name, "enter")
        await until_shown(pilot, said)
    assert (tmp_path / "there.md").read_text() == "mine"
    assert not (tmp_path / "out.pdf").exists()


@pytest.mark.parametrize(("width", "team"), [(80, "with a very…"), (120, "with a very long name   ")])
async def test_each_row_names_the_team_as_far_as_there_is_room(
    app: JagstormApp, sessions: Path, width: int, team: str
) -> None:
    plan = make_plan()
    named = replace(plan.team, name="with a very long name" if width == 120 else "with a very long name indeed")
    library.create(sessions, replace(plan, team=named)).close()
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.press("f3")
        await until_shown(pilot, f" {team} ")
        await until_shown(pilot, QUESTION.text[:14])


async def test_marked_sessions_are_exported_together(
    app: JagstormApp, imported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f3")
        await until_shown(pilot, "1/2")
        await pilot.press("space", "space", "x")
        await until_shown(pilot, "Export 2 sessions to which file?")
        await pilot.press(*["backspace"] * 60, *"both.csv", "enter")
        await until(pilot, (tmp_path / "both.csv").exists)
        text = (tmp_path / "both.csv").read_text()
        assert "Listen to one." in text
        assert "Listen to two." in text


async def test_profiles_are_of_the_marked_sessions_or_of_all(app: JagstormApp, imported: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f3")
        await until_shown(pilot, "1/2")
        await pilot.press("f4")
        await until_shown(pilot, "2 models")
        await pilot.press("q", "space", "f4")
        await until(pilot, lambda: isinstance(app.screen, ProfilesScreen))
        await until_shown(pilot, "1 model ")
        await pilot.press("q", "up", "space", "f4")
        await until_shown(pilot, "2 models")
        assert "Profiles" in text_of(app)
