"""What a person tells a running session: marks on ideas, instructions, merging, working out, and taking it all back."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from core import commands as cmd
from core import events as ev
from core.chain import Idea
from core.models import Chunk, Finish, ModelSpec, Prompt
from core.store.log import read_log
from tests.app.screens import text_of, until, until_shown
from tests.app.test_live import app_with, begin
from tests.app.told import Told, ToldScreen, steered
from tests.conftest import QUESTION
from tests.scripted import ScriptedProvider, varied
from tui.app import JagstormApp
from tui.screens.idea import IdeaScreen
from tui.screens.live import LiveScreen
from tui.widgets.chain import ChainList
from tui.widgets.in_force import InForceList

HOSTILE = "[/x] [bold]no[/bold] [@click=app.quit]way[/]"


def idea(screen: LiveScreen, number: int) -> Idea:
    chain = screen.feed.state.chain
    assert chain
    found = chain.idea(number)
    assert found
    return found


async def held(pilot: Pilot[int], ideas: int = 3) -> LiveScreen:
    """A live session with so many scored ideas, that waits."""
    screen = await begin(pilot)
    await until(pilot, lambda: screen.feed.state.chain and len(screen.feed.state.chain.ideas) >= ideas)
    await pilot.press("space")
    await until(pilot, lambda: screen.feed.state.paused)
    chain = screen.feed.state.chain
    assert chain
    await until(pilot, lambda: not chain.writing and not chain.pending)
    return screen


async def told(pilot: Pilot[int], feed: Told) -> ToldScreen:
    """The live screen on a session that stands still."""
    await until_shown(pilot, "Physics / Fundamental")
    screen = ToldScreen(feed)
    await pilot.app.push_screen(screen)
    await until_shown(pilot, QUESTION.text)
    return screen


def writer(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """Answers what is asked beside the steps too."""
    asked = prompt.messages[-1].text
    if "Work the idea out" in asked:
        return "Mechanism: heat walks.\n\nFirst experiment: a bolometer."
    if "Make one idea of them" in asked:
        return "<idea>Join the lens to the sieve and let light sort the vortices by their size.</idea>"
    if "in at most six words" in asked:
        return "thermal unpinning"
    return varied(spec, prompt, random_seed)


class Gated(ScriptedProvider):
    """Ends one answer whenever the gate is released."""

    def __init__(self) -> None:
        super().__init__(writer)
        self.gate = asyncio.Semaphore(0)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        async for chunk in super().stream(spec, prompt, random_seed):
            if isinstance(chunk, Finish):
                await self.gate.acquire()
            yield chunk


@pytest.fixture
def app(sessions: Path) -> JagstormApp:
    return app_with(sessions, ScriptedProvider(writer, delay=0.005))


async def test_an_idea_is_taken_out_and_brought_back(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await held(pilot)
        await pilot.press("home", "x")
        await until_shown(pilot, "Idea 1 is taken out")
        await until_shown(pilot, "-   1")
        assert idea(screen, 1).removed
        await pilot.press("u")
        await until(pilot, lambda: not idea(screen, 1).removed)
        await until_shown(pilot, "Idea 1 is back")


async def test_a_pin_a_rating_and_a_comment_are_seen_in_the_row_and_beside_it(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await held(pilot)
        await pilot.press("home", "p", "asterisk")
        await until_shown(pilot, "How good is idea 1?")
        await pilot.press("4", "c", *"ask Ada", "enter")
        await until(pilot, lambda: idea(screen, 1).comment == "ask Ada")
        await until_shown(pilot, "*   1")
        await until_shown(pilot, "4/5")
        await until_shown(pilot, "pinned, rated 4 of 5")
        await until_shown(pilot, "“ask Ada”")
        await pilot.press("c", *["backspace"] * 7, "enter", "asterisk", "0", "p")
        await until(pilot, lambda: not (idea(screen, 1).comment or idea(screen, 1).rating or idea(screen, 1).pinned))


async def test_what_was_done_last_is_undone_and_it_is_said_what_that_was(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await held(pilot)
        await pilot.press("home", "p", "x", "U")
        await until_shown(pilot, "Undone: idea 1 is back")
        await pilot.press("ctrl+z")
        await until_shown(pilot, "Undone: idea 1 is no longer")
        await pilot.press("U")
        await until_shown(pilot, "There is nothing to undo")
        assert not idea(screen, 1).removed
        assert not idea(screen, 1).pinned


async def test_an_edited_idea_is_scored_anew_and_its_first_words_are_kept(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await held(pilot)
        before = idea(screen, 1)
        await pilot.press("home", "e", *" Then wait.", "f2")
        await until(pilot, lambda: idea(screen, 1).text == f"{before.text} Then wait.")
        await until(pilot, lambda: idea(screen, 1).score and idea(screen, 1).score is not before.score)
        await until_shown(pilot, "~")
        await pilot.press("enter")
        await until_shown(pilot, "As it was written first")
        assert before.text[:40] in text_of(app).split("As it was written first")[1]


async def test_ctrl_d_leaves_from_an_edit_too_and_the_session_runs_on(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await held(pilot)
        await pilot.press("home", "e", "z", "ctrl+d", "ctrl+d")
        await until(pilot, lambda: app.parting_words)
    assert not screen.over
    app.runs.stop("SIGTERM")
    await app.runs.ended()


async def test_an_edit_is_not_lost_by_one_escape(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await held(pilot)
        before = idea(screen, 1).text
        await pilot.press("home", "e", "z", "escape")
        await until_shown(pilot, "Esc again lets your changes go")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        assert idea(screen, 1).text == before


async def test_an_instruction_is_in_the_prompts_until_it_is_withdrawn(sessions: Path) -> None:
    provider = ScriptedProvider(writer, delay=0.005)
    app = app_with(sessions, provider)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await held(pilot)
        await pilot.press("g", *"prefer cheap tools", "enter")
        await until_shown(pilot, "Instruction in force")
        await until_shown(pilot, "instruction “prefer cheap tools”")
        before = len(provider.calls)
        await pilot.press("space")
        await until(pilot, lambda: len(provider.calls) > before)
        await pilot.press("space")
        assert "prefer cheap tools" in str(provider.calls[before])
        await pilot.press("g", "tab")
        await until(pilot, lambda: isinstance(app.focused, InForceList))
        await pilot.press("delete", "escape")
        await until(pilot, lambda: not screen.feed.state.steers_in_force)
        before = len(provider.calls)
        await pilot.press("space")
        await until(pilot, lambda: len(provider.calls) > before)
        assert "prefer cheap tools" not in str(provider.calls[before])


async def test_what_is_in_force_is_withdrawn_in_the_panel_beside_the_chain_too(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        screen = await told(pilot, feed)
        panel = screen.query_one(InForceList)
        panel.focus()
        await pilot.press("end", "delete", "home", "delete")
        await until(pilot, lambda: len(feed.sent) == 2)
        assert feed.sent == [cmd.WithdrawSteer(id="g1"), cmd.WithdrawSeed(id="s1")]


@pytest.mark.parametrize("width", [80, 120])
async def test_what_is_in_force_is_always_seen(app: JagstormApp, width: int) -> None:
    async with app.run_test(size=(width, 24 if width == 80 else 40)) as pilot:
        await told(pilot, Told(steered()))
        await until_shown(pilot, "seed error-correcting codes (1 idea left)")
        await until_shown(pilot, "under error-correcting codes, magnetotaxis")


async def test_a_step_that_shows_what_was_taken_out_is_asked_anew_and_the_screen_says_which(sessions: Path) -> None:
    provider = Gated()
    app = app_with(sessions, provider)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await begin(pilot)
        provider.gate.release()
        await until(pilot, lambda: len(provider.calls) == 2 and idea(screen, 1).score)
        await pilot.press("home", "x")
        await until_shown(pilot, "Idea 1 is taken out, from step 2")
        await until_shown(pilot, "Step 2 is asked anew: idea 1 was")
        await until(pilot, lambda: len(provider.calls) == 3)
        assert idea(screen, 1).text not in str(provider.calls[-1].messages)


async def test_two_marked_ideas_are_merged_by_the_team(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await held(pilot)
        await pilot.press("home", "m")
        assert not screen.feed.state.tasks_given, "nothing is marked yet"
        await pilot.press("M")
        await until_shown(pilot, "1▌")
        await pilot.press("down", "m")
        await until(pilot, lambda: any(one.parents == (1, 2) for one in screen.feed.state.chain.ideas))  # type: ignore[union-attr]
        assert screen.query_one(ChainList).marked == []
        await pilot.press("end", "enter")
        await until_shown(pilot, "merged of ideas 1 and 2")
        await until_shown(pilot, "Merged from idea 1")


async def test_what_the_team_makes_of_an_idea_comes_under_it(sessions: Path) -> None:
    provider = Gated()
    app = app_with(sessions, provider)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await begin(pilot)
        await pilot.press("space")
        provider.gate.release()
        await until(pilot, lambda: screen.feed.state.chain.ideas and idea(screen, 1).score)  # type: ignore[union-attr]
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, IdeaScreen))
        await pilot.press("d")
        await until_shown(pilot, "The team is working out idea 1")
        provider.gate.release()
        await until_shown(pilot, "First experiment: a bolometer.")
        assert "The team is" not in text_of(app)
        await pilot.press("escape")
        await until_shown(pilot, "worked out")


async def test_the_mechanism_of_an_idea_is_forbidden(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await held(pilot, 1)
        await pilot.press("home", "D")
        await until_shown(pilot, "forbidden thermal unpinning")


async def test_a_session_that_has_ended_still_takes_marks_and_nothing_else(app: JagstormApp, sessions: Path) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await begin(pilot, max_ideas=2)
        await until_shown(pilot, "finished")
        await pilot.press("home", "p", "asterisk", "5")
        await until(pilot, lambda: idea(screen, 1).pinned and idea(screen, 1).rating == 5)
        for key in ("g", "m", "d", "a", "t"):
            await pilot.press(key)
            assert app.screen is screen
        await pilot.press("R")
        await until_shown(pilot, "replay, ")
        await until_shown(pilot, "5/5")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None or not app.is_running)
    [folder] = sessions.iterdir()
    assert any(isinstance(event, ev.IdeaRated) for event in read_log(folder).events)
    assert any("Pinned and rated: 1 by" in line for line in app.parting_words)


@pytest.mark.parametrize(
    ("keys", "command"),
    [
        (["x"], cmd.RemoveIdea(question=QUESTION.id, idea=6)),
        (["u"], cmd.RestoreIdea(question=QUESTION.id, idea=6)),
        (["p"], cmd.PinIdea(question=QUESTION.id, idea=6, on=True)),
        (["home", "p"], cmd.PinIdea(question=QUESTION.id, idea=1, on=False)),
        (["asterisk", "3"], cmd.RateIdea(question=QUESTION.id, idea=6, stars=3)),
        (["c", "w", "enter"], cmd.CommentIdea(question=QUESTION.id, idea=6, text="w")),
        (["d"], cmd.DevelopIdea(question=QUESTION.id, idea=6)),
        (["D"], cmd.DenyMechanism(question=QUESTION.id, idea=6)),
        (["U"], cmd.Undo()),
        (["space"], cmd.Pause()),
        (["a", "w", "enter"], cmd.AddIdea(text="w")),
        (["g", "w", "enter"], cmd.AddSteer(text="w")),
        (["M", "up", "up", "M", "m"], cmd.MergeIdeas(question=QUESTION.id, ideas=(6, 4))),
        (["z"], cmd.SetPipelining(on=False)),
        (["W", "end", "enter"], cmd.WithdrawSteer(id="g1")),
        (["W", "enter"], cmd.WithdrawSeed(id="s1")),
    ],
)
async def test_each_key_says_what_its_name_says(app: JagstormApp, keys: list[str], command: cmd.AnyCommand) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        await told(pilot, feed)
        await pilot.press(*keys)
        await until(pilot, lambda: feed.sent)
        assert feed.sent == [command]


async def test_what_cannot_be_obeyed_is_said_as_text(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        feed = Told(steered())
        feed.refusal = HOSTILE
        await told(pilot, feed)
        await pilot.press("x")
        await until_shown(pilot, HOSTILE)


async def test_what_persons_type_is_text_wherever_it_is_shown(app: JagstormApp) -> None:
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        screen = await held(pilot, 1)
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.focused, Input))
        app.focused.value = HOSTILE  # type: ignore[union-attr]
        await pilot.press("enter", "home", "c")
        await until(pilot, lambda: isinstance(app.focused, Input))
        app.focused.value = HOSTILE  # type: ignore[union-attr]
        await pilot.press("enter")
        await until(pilot, lambda: idea(screen, 1).comment == HOSTILE)
        await until_shown(pilot, f"instruction “{HOSTILE}”")
        await pilot.press("enter")
        await until_shown(pilot, f"Your comment\n{HOSTILE}".splitlines()[1])


@pytest.mark.parametrize("action", ["steer", "seed", "open"])
async def test_whatever_comes_while_a_screen_opens_or_closes_the_session_does_not_stumble_over_it(
    app: JagstormApp, action: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        feed = Told(steered())
        screen = await told(pilot, feed)

        def come(number: int) -> None:
            feed.come([ev.SteerAdded(question=QUESTION.id, id=f"g{number}", text=f"dare {number}")])

        if action == "open":
            screen.query_one(ChainList).action_open()
            await until(pilot, lambda: isinstance(app.screen, IdeaScreen))
        else:
            await screen.run_action(action)
        come(2)  # raises what whoever listens raises
        await until(pilot, lambda: app.screen is not screen)
        come(3)
        await pilot.press("escape")
        come(4)
        await until(pilot, lambda: app.screen is screen)
        come(5)
        await until_shown(pilot, "dare 5")


async def test_what_others_do_is_said_with_their_name(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        feed = Told(steered())
        await told(pilot, feed)
        feed.come([ev.SteerAdded(question=QUESTION.id, id="g2", text="dare more", by="ada")])
        await until_shown(pilot, "ada: Instruction in force")


async def test_who_did_it_is_said_wherever_it_is_shown(app: JagstormApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        feed = Told(steered())
        await told(pilot, feed)
        of_idea: dict[str, Any] = {"question": QUESTION.id, "idea": 1, "by": "ada"}
        feed.come(
            [
                ev.IdeaCommented(**of_idea, old="", new="Too dear."),
                ev.IdeaRated(**of_idea, old=0, new=2),
                ev.IdeaPinned(**of_idea, old=False, new=True),
                ev.Paused(by="ada"),
            ]
        )
        await until_shown(pilot, "ada: Idea 1 has a comment")
        await until_shown(pilot, "ada: Paused")
        await pilot.press("home")
        await until_shown(pilot, "pinned by ada, rated 2 of 5 by ada")
        await until_shown(pilot, "ada: “Too dear.”")
        await pilot.press("c")
        await until_shown(pilot, "ada's comment on idea 1")
        await pilot.press("escape", "enter")
        await until_shown(pilot, "Comment by ada")
        feed.come([ev.IdeaCommented(**of_idea | {"by": "you"}, old="Too dear.", new="Cheap enough.")])
        await until_shown(pilot, "Your comment")
