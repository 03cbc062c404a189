"""When seeds come by themselves: the form, and the plan that it leads to."""

from pathlib import Path

import pytest
from textual.widgets import Input, Select

from core.levers import Each, Every
from tests.app.screens import text_of, until, until_shown
from tui.app import JagstormApp
from tui.screens.live import LiveScreen
from tui.screens.seed_policy import SeedPolicyScreen

LAST = ("Ideas", "Questions", "Any", "Levers")

HOSTILE = "[/x] [bold]no[/bold] [@click=app.quit]way[/]"


async def test_a_policy_is_set_in_a_form_that_shows_what_belongs_to_it(app: JagstormApp) -> None:
    found: list[object] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await app.push_screen(SeedPolicyScreen(Every(steps=5, distance="near", lasts=2)), found.append)
        await until_shown(pilot, "Every so many steps")
        assert "mean novelty" not in text_of(app)
        field = app.screen.query_one("#steps", Input)
        field.value = "0"
        field.focus()
        await pilot.press("enter")
        await until_shown(pilot, "Every so many steps: a whole number, at least 1")
        field.value = "7"
        await pilot.press("enter")
        await until(pilot, lambda: found)
        assert found == [Every(steps=7, distance="near", lasts=2)]


async def test_a_fixed_seed_must_be_one_of_the_bank(app: JagstormApp) -> None:
    found: list[object] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await app.push_screen(SeedPolicyScreen(Each()), found.append)
        await until_shown(pilot, "Always this one")
        field = app.screen.query_one("#seed", Input)
        field.focus()
        await pilot.press(*"vortex pining", "enter")
        await until_shown(pilot, "There is no seed")
        field.value = "vortex PINNING"
        await pilot.press("enter")
        await until(pilot, lambda: found)
        assert found == [Each(seed="Vortex pinning")]


@pytest.mark.parametrize("field", ["[/x]", "[bold]Art", HOSTILE])
async def test_a_field_of_a_persons_own_is_text_whatever_it_is_called(
    app: JagstormApp, tmp_path: Path, field: str
) -> None:
    seeds = tmp_path / "config" / "jagstorm" / "seeds"
    seeds.mkdir(parents=True)
    (seeds / "mine.toml").write_text(f'domain = "{field}"\n[[seeds]]\nname = "Fold"\ntext = "It folds."\n')
    found: list[object] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await app.push_screen(SeedPolicyScreen(Every()), found.append)
        await until_shown(pilot, "Only of the field")
        app.screen.query_one("#field", Select).focus()
        await pilot.press("enter", "end")
        await until_shown(pilot, field[:30])
        await pilot.press("enter")
        await until_shown(pilot, field[:30])
        await pilot.click("#done")
        await until(pilot, lambda: found)
        assert found == [Every(field=field)]


async def test_a_field_that_the_bank_has_no_more_stays_as_it_was_set(app: JagstormApp) -> None:
    found: list[object] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Physics / Fundamental")
        await app.push_screen(SeedPolicyScreen(Every(field="Cooking")), found.append)
        await until_shown(pilot, "Cooking")
        await pilot.click("#done")
        await until(pilot, lambda: found)
        assert found == [Every(field="Cooking")]


async def test_setup_puts_the_policy_into_the_plan(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Seeds   by hand")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, SeedPolicyScreen))
        await pilot.press("enter", "down", "enter")
        await until_shown(pilot, "Every so many steps")
        await pilot.click("#done")
        await until_shown(pilot, "far, every 4 steps, as analogy")
        await pilot.press("down", "down", "enter", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        assert isinstance(app.screen, LiveScreen)
        assert app.screen.feed.plan.seeds == Every()
