"""Steering as the question turns, and from the palette."""

from typing import Any

import pytest

from core import commands as cmd
from core import events as ev
from core.levers import Hand
from tests.app.screens import until, until_shown
from tests.app.test_steering import told
from tests.app.told import IDEAS, Told, steered
from tests.conftest import QUESTION
from tests.unit.test_at_odd_moments import WING
from tui.app import JagstormApp
from tui.editor import EditorFailedError
from tui.screens.idea import IdeaScreen
from tui.widgets.chain import ChainList

# ── another question ──────────────────────────────────────────────────────────────────────────────────────────────────


def turn(feed: Told) -> None:
    """The first question's chain ends, and the next question brings three ideas."""
    wing: dict[str, Any] = {"question": WING.id}
    end = ev.QuestionEnded(question=QUESTION.id, reason="cap", censored=True, responses=6, valid=5)
    begin = ev.QuestionStarted(**wing, text=WING.text, domain=WING.domain)
    ideas = [ev.IdeaAdded(**wing, idea=n, step=n, text=f"Wing {n}", author="anna") for n in (1, 2, 3)]
    feed.come([end, begin, *ideas])


async def test_an_ideas_screen_acts_on_that_idea_though_another_question_is_under_way(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        await told(pilot, feed)
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, IdeaScreen))
        turn(feed)
        await pilot.press("x", "d")
        await until(pilot, lambda: len(feed.sent) == 2)
        assert feed.sent == [
            cmd.RemoveIdea(question=QUESTION.id, idea=1),
            cmd.DevelopIdea(question=QUESTION.id, idea=1),
        ]


async def test_a_key_is_about_the_idea_that_is_shown_though_the_next_question_has_just_begun(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        screen = await told(pilot, feed)
        turn(feed)
        screen.action_remove()  # before anything is painted
        assert feed.sent == [cmd.RemoveIdea(question=QUESTION.id, idea=6)]


async def test_what_a_failing_editor_leaves_is_for_the_idea_it_was_of(
    app: JagstormApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Told(steered())

    async def failing(_: JagstormApp, text: str) -> str:
        turn(feed)
        raise EditorFailedError("It crashed", f"{text} Then wait.")

    monkeypatch.setattr("tui.editor.edited", failing)
    async with app.run_test(size=(120, 40)) as pilot:
        await told(pilot, feed)
        await pilot.press("home", "E")
        await until_shown(pilot, "Idea 1, as the editor left it")
        await pilot.press("f2")
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [cmd.EditIdea(question=QUESTION.id, idea=1, text=f"{IDEAS[0]} Then wait.")]


async def test_marks_go_with_the_question_that_they_were_made_for(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        screen = await told(pilot, feed)
        await pilot.press("home", "M", "down", "M")
        assert screen.query_one(ChainList).marked == [1, 2]
        turn(feed)
        await until_shown(pilot, "Wing 3")
        await until(pilot, lambda: not screen.query_one(ChainList).marked)
        await pilot.press("m")
        assert not feed.sent
        await pilot.press("M", "up", "M", "m")
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [cmd.MergeIdeas(question=WING.id, ideas=(3, 2))]


# ── the palette ───────────────────────────────────────────────────────────────────────────────────────────────────────

PALETTE = """Edit, Editor, Take out, Bring back, Pin, Rate, Comment, Work out, Forbid, Fork, Undo, Seed, Steer, Add,
Mark, Merge, Team, Pause, When seeds come, Withdraw"""


async def test_everything_is_on_the_palette_with_its_help(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await told(pilot, Told(steered()))
        commands = {command.title: command.help for command in app.get_system_commands(app.screen)}
        for wanted in PALETTE.replace("\n", " ").split(", "):
            assert commands[wanted]


async def test_what_has_two_keys_is_on_the_palette_once(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await told(pilot, Told(steered()))
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert len(titles) == len(set(titles))


async def test_when_seeds_come_is_set_from_the_palette(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        screen = await told(pilot, feed)
        await screen.run_action("seed_policy")
        await until_shown(pilot, "They come")
        await pilot.click("#done")
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [cmd.SetSeeds(policy=Hand())]
