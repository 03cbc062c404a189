"""A step in which the person picks among the proposals: blind, by number, one, two or none, perhaps by the clock."""

from pathlib import Path

from msgspec.structs import replace
from textual.pilot import Pilot

from core import commands as cmd
from core import events as ev
from tests.app.screens import text_of, until, until_shown
from tests.app.test_live import app_with
from tests.app.told import IDEAS, Told, ToldScreen, offered, picking_team
from tests.conftest import QUESTION, make_plan
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.live import LiveScreen
from tui.screens.setup import SetupScreen

NAMES = ("anna", "bert", "cleo")
PLAN = make_plan(team=picking_team())


async def begin(pilot: Pilot[int], seconds: float | None = None) -> LiveScreen:
    """A session whose proposals wait for a person."""
    app = pilot.app
    assert isinstance(app, JagstormApp)
    await until(pilot, lambda: isinstance(app.screen, SetupScreen))
    app.start_session(make_plan(team=replace(picking_team(), selector_seconds=seconds)))
    await until(pilot, lambda: isinstance(app.screen, LiveScreen))
    assert isinstance(app.screen, LiveScreen)
    return app.screen


async def told(pilot: Pilot[int], feed: Told) -> ToldScreen:
    await until_shown(pilot, "Physics / Fundamental")
    screen = ToldScreen(feed)
    await pilot.app.push_screen(screen)
    await until_shown(pilot, "pick 1–3")
    return screen


def chosen(screen: LiveScreen, texts: list[str]) -> list[str]:
    """The last ideas of the chain."""
    chain = screen.feed.state.chain
    assert chain
    return [idea.text for idea in chain.ideas][-len(texts) :]


async def proposals(pilot: Pilot[int], screen: LiveScreen) -> list[str]:
    """What there is to pick from, in the order offered."""
    await until(pilot, lambda: screen.feed.state.chain and screen.feed.state.chain.offered)
    chain = screen.feed.state.chain
    assert chain
    return screen.scene(chain).proposals()


async def test_a_number_takes_that_proposal_and_its_row_flashes_once(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(160, 45)) as pilot:
        screen = await begin(pilot)
        texts = await proposals(pilot, screen)
        await until_shown(pilot, "waiting for your pick")
        await pilot.press("2")
        await until(pilot, lambda: screen.feed.state.chain.ideas)  # type: ignore[union-attr]
        assert chosen(screen, [texts[1]]) == [texts[1]]
        chain_list = screen.query_one("#chain")
        await until(pilot, lambda: any(s.style and s.style.reverse for s in chain_list.render_line(0)))
        await until(pilot, lambda: not any(s.style and s.style.reverse for s in chain_list.render_line(0)))


async def test_two_join_the_chain_or_none_and_the_team_is_asked_again(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(160, 45)) as pilot:
        screen = await begin(pilot)
        texts = await proposals(pilot, screen)
        await pilot.press("b", "3")
        await until_shown(pilot, "pick two: 3 and …")
        await pilot.press("1")
        await until(pilot, lambda: len(screen.feed.state.chain.ideas) == 2)  # type: ignore[union-attr]
        assert chosen(screen, texts[:2]) == [texts[2], texts[0]]
        await proposals(pilot, screen)
        step = screen.feed.state.chain.step  # type: ignore[union-attr]
        await pilot.press("0")
        await until(pilot, lambda: screen.feed.state.chain.step > step)  # type: ignore[union-attr]
        await proposals(pilot, screen)
        assert len(screen.feed.state.chain.ideas) == 2  # type: ignore[union-attr]


async def test_whoever_takes_too_long_has_it_picked_for_them(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(160, 45)) as pilot:
        screen = await begin(pilot, seconds=0.3)
        await until(pilot, lambda: screen.feed.state.chain and screen.feed.state.chain.ideas)
        [first, *_] = screen.feed.state.chain.ideas  # type: ignore[union-attr]
        assert first.chosen
        assert first.chosen.by == "novelty"


async def test_proposals_are_numbered_as_offered_and_blind_until_names_are_revealed(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(160, 45)) as pilot:
        await told(pilot, Told(offered(), PLAN))
        panes = text_of(app).split("pick 1–3")[1]
        first, second, third = (panes.index(text[:30]) for text in (IDEAS[2], IDEAS[3], IDEAS[1]))
        assert first < second < third, "in the order offered"
        assert panes.splitlines()[1].split() == ["1", "2", "3"]
        await pilot.press("n")
        await until(pilot, lambda: "1 bert" in text_of(app))
        assert text_of(app).split("pick 1–3")[1].splitlines()[1].split() == ["1", "bert", "2", "cleo", "3", "anna"]


async def test_while_they_write_nothing_tells_who_writes_what(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(160, 45)) as pilot:
        feed = Told(offered(), PLAN)
        feed.state.chain.offered = None  # type: ignore[union-attr]
        await until_shown(pilot, "Physics / Fundamental")
        screen = ToldScreen(feed)
        await app.push_screen(screen)
        await until_shown(pilot, "choosing")
        titles = [pane.title for pane in screen.scene(feed.state.chain).panes()]  # type: ignore[arg-type]
        assert titles == ["✓ ·"] * 3


async def test_the_clock_and_who_picks_then_are_said(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(80, 24)) as pilot:
        feed = Told(offered(), PLAN)
        feed.state.chain.offered = replace(feed.state.chain.offered, until=feed.state.t + 42)  # type: ignore[union-attr,type-var]
        await told(pilot, feed)
        await until_shown(pilot, "(in 42 s: the farthest)")


async def test_all_proposals_can_be_read_in_full(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(80, 24)) as pilot:
        await told(pilot, Told(offered(), PLAN))
        await pilot.press("o")
        await until_shown(pilot, "The proposals")


async def test_digits_pick_only_while_there_is_something_to_pick(sessions: Path) -> None:
    app = app_with(sessions, ScriptedProvider(varied))
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(offered(), PLAN)
        await told(pilot, feed)
        await pilot.press("b", "b", "3")
        assert feed.sent == [cmd.Choose(picks=(3,), step=2)], "a second b thinks again"
        feed.come(
            [ev.ProposalChosen(question=QUESTION.id, step=2, order=("bert", "cleo", "anna"), pick="anna", by="person")]
        )
        await pilot.press("1", "b", "0", "o")
        assert len(feed.sent) == 1
        assert isinstance(app.screen, ToldScreen)
