"""Several people at one session: whose pick counts, whose deed is undone, and what was said at an awkward moment."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.clock import SystemClock
from core.errors import UsageError
from core.levers import POLICY, Every, Off, Seed
from core.models import Budget, ModelSpec, Prompt
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import fold
from core.store import library
from core.store.log import read_log
from core.tasking import ROOM
from tests.conftest import Open, make_plan, scripted_team
from tests.scripted import ScriptedProvider, calling, varied
from tests.unit.following import Follower, chain_of
from tests.unit.looped import OWN, STEER, TIDES, after, idea_of, plain_plan
from tests.unit.test_at_odd_moments import BANK, again, once

LATIN = Seed(name="Latin", lever="language")
PERSON_PICKS = replace(scripted_team("anna", "bert", "cleo", strategy="parallel"), selector="me")


def in_turns(count: int, do: Callable[[], object]) -> None:
    """Do it when the loop has gone round so many times."""
    if count:
        asyncio.get_running_loop().call_soon(in_turns, count - 1, do)
    else:
        do()


def second_idea_scored(event: ev.Event) -> bool:
    return isinstance(event, ev.IdeaScored) and event.idea == 2


# ── picking ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_pick_that_comes_too_late_is_not_taken_for_the_next_choice(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=2, team=PERSON_PICKS))
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    seen = await follower.next(ev.ChoiceOffered)
    next_one = asyncio.create_task(follower.next(ev.ChoiceOffered))
    await asyncio.sleep(0)
    session.send(cmd.Choose(picks=(2,), step=seen.step, by="ada"))
    await next_one
    with pytest.raises(UsageError, match="That choice is over"):
        session.send(cmd.Choose(picks=(1,), step=seen.step, by="bob"))
    session.send(cmd.Choose(picks=(3,), by="bob"))
    await running
    assert [(chosen.step, chosen.chooser) for chosen in follower.of(ev.ProposalChosen)] == [(1, "ada"), (2, "bob")]


@pytest.mark.parametrize("turns", range(5))
async def test_a_pick_at_the_very_end_of_its_time_counts_or_is_refused(
    sessions: Path, embedder: object, turns: int
) -> None:
    refused: list[UsageError] = []

    def pick() -> None:
        try:
            session.send(cmd.Choose(picks=(2,), by="ada"))
        except UsageError as error:
            refused.append(error)

    class Clock(SystemClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(0.02)
            if seconds == 30.0:
                in_turns(turns, pick)

    caller = calling(ScriptedProvider(varied))
    caller.clock = Clock()
    plan = make_plan(max_ideas=1, team=replace(PERSON_PICKS, selector_seconds=30.0, instead="novel"))
    session = Session(plan, library.create(sessions, plan), caller, ChainScorer(embedder))  # type: ignore[arg-type]
    follower = Follower(session)
    await asyncio.wait_for(session.run(), 10)
    [chosen] = follower.of(ev.ProposalChosen)
    assert chosen.by == ("novelty" if refused else "person")
    assert idea_of(session, 1).author == chosen.pick


# ── undo ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ada", "bob"),
    [
        ([cmd.RemoveIdea(idea=1)], [cmd.RestoreIdea(idea=1), cmd.RemoveIdea(idea=1)]),
        ([cmd.AddSteer(text="One")], [cmd.WithdrawSteer(id="g1")]),
        ([cmd.InjectSeed(seed=TIDES, steps=None)], [cmd.WithdrawSeed(id="s1")]),
        ([cmd.SetSeeds(policy=Every(steps=2))], [cmd.SetSeeds(policy=Off())]),
        ([cmd.RateIdea(idea=1, stars=4)], [cmd.RateIdea(idea=1, stars=5), cmd.RateIdea(idea=1, stars=4)]),
        ([cmd.EditIdea(idea=1, text=OWN)], [cmd.EditIdea(idea=1, text="Bob writes that.")]),
        ([cmd.AddIdea(text=OWN)], [cmd.RemoveIdea(idea=3)]),
    ],
    ids=lambda commands: type(commands[0]).__name__,
)
async def test_nobody_takes_back_what_another_did_since(
    open_session: Open, ada: list[cmd.Command], bob: list[cmd.Command]
) -> None:
    session = open_session(plain_plan(4), bank=lambda: BANK)
    said = [replace(each, by=by) for by, commands in (("ada", ada), ("bob", bob)) for each in commands]
    once(session, second_idea_scored, *said)  # type: ignore[arg-type]
    refusals: list[str] = []

    def undo(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaScored) and event.idea == 4:
            try:
                session.send(cmd.Undo(by="ada"))
            except UsageError as error:
                refusals.append(error.message)

    session.subscribe(undo)
    await session.run()
    assert refusals == ["There is nothing to undo: others have changed it since"]
    assert [deed.undoes for deed in read_log(session.folder).events if isinstance(deed, ev.Deed) and deed.undoes] == []


async def test_a_seed_that_is_used_up_is_passed_over(open_session: Open) -> None:
    session = open_session(plain_plan(5))
    after(session, 1, cmd.AddSteer(text=STEER), cmd.InjectSeed(seed=TIDES, steps=1))
    after(session, 3, cmd.Undo())
    await session.run()
    assert session.state.steers_in_force == ()
    assert not [event for event in read_log(session.folder).events if isinstance(event, ev.SeedWithdrawn)]


async def test_what_was_undone_since_does_not_stand_in_the_way(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    twice = (
        cmd.RemoveIdea(idea=1),
        cmd.RestoreIdea(idea=1),
        cmd.RateIdea(idea=1, stars=4),
        cmd.RateIdea(idea=1, stars=5),
    )
    after(session, 2, *twice, *[cmd.Undo()] * 4)
    await session.run()
    assert (idea_of(session, 1).removed, idea_of(session, 1).rating, session.state.deeds) == (False, 0, [])


async def test_an_edit_that_is_undone_gives_the_scores_back_also_when_nobody_scores_any_more(
    open_session: Open,
) -> None:
    session = open_session(plain_plan(3))
    await session.run()
    before = idea_of(session, 2)
    session.send(cmd.EditIdea(idea=2, text=OWN))
    assert idea_of(session, 2).score is None
    session.send(cmd.Undo())
    assert (idea_of(session, 2).text, idea_of(session, 2).score) == (before.text, before.score)


async def test_a_policys_seed_that_is_brought_back_is_still_the_policys(open_session: Open) -> None:
    session = open_session(replace(plain_plan(8), seeds=Every(steps=3, lasts=50)), bank=lambda: BANK)
    after(session, 3, cmd.WithdrawSeed(id="s1"), cmd.Undo())
    await session.run()
    assert {len(idea.seeds) for idea in chain_of(session).ideas[2:]} == {1}, "one at a time"
    assert session.state.seeds["s1"].brought_by == POLICY
    assert session.state.seeds["s1"].withdrawn, "it ended when the policy brought the next"


# ── tasks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class SlowMerger(ScriptedProvider):
    """Merges when it is let."""

    def __init__(self) -> None:
        super().__init__(self.write)
        self.merging = asyncio.Event()
        self.go_on = asyncio.Event()
        self.merges: list[str] = []

    def write(self, spec: object, prompt: object, random_seed: int) -> str:
        if "Make one idea" in str(prompt):
            return "<idea>Let the seals and the ice ring together at one frequency.</idea>"
        return varied(spec, prompt, random_seed)  # type: ignore[arg-type]

    async def stream(self, spec, prompt, random_seed):  # type: ignore[no-untyped-def]
        if "Make one idea" in str(prompt):
            self.merges.append(str(prompt))
            self.merging.set()
            await self.go_on.wait()
        async for part in super().stream(spec, prompt, random_seed):
            yield part


async def merging(open_session: Open, command: cmd.AnyCommand) -> tuple[Session, SlowMerger]:
    """A session in which `command` came while two ideas were being merged under a lever and an instruction."""
    provider = SlowMerger()
    session = open_session(plain_plan(5), provider)
    in_force = cmd.AddSteer(text=STEER), cmd.InjectSeed(seed=LATIN, steps=None)
    after(session, 2, *in_force, cmd.MergeIdeas(ideas=(1, 2)))
    running = asyncio.create_task(session.run())
    await provider.merging.wait()
    session.send(command)
    provider.go_on.set()
    await running
    assert fold(read_log(session.folder).events) == session.state
    return session, provider


def outcomes(session: Session) -> list[tuple[str, str]]:
    return [(each.outcome, each.message) for each in read_log(session.folder).events if isinstance(each, ev.TaskFailed)]


@pytest.mark.parametrize(
    ("command", "gone"),
    [
        (cmd.WithdrawSteer(id="g1"), STEER),
        (cmd.WithdrawSeed(id="s1"), "Latin"),
        (cmd.EditIdea(idea=1, text=OWN), None),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_task_whose_prompt_holds_what_stands_no_longer_is_asked_anew(
    open_session: Open, command: cmd.AnyCommand, gone: str | None
) -> None:
    session, provider = await merging(open_session, command)
    first, second = provider.merges
    assert [outcome for outcome, _ in outcomes(session)] == ["cancelled"]
    if gone:
        assert gone in first
        assert gone not in second
    else:
        assert OWN in second
    [merged] = [idea for idea in chain_of(session).ideas if idea.parents]
    held = session.state.was_in_force(merged)
    assert {seed.name for seed in held.seeds} == ({"Latin"} if "Latin" in second else set())
    assert set(held.steers) == ({STEER} if STEER in second else set())


async def test_a_task_goes_with_the_team(open_session: Open) -> None:
    provider = SlowMerger()
    session = open_session(plain_plan(6), provider)
    after(session, 2, cmd.MergeIdeas(ideas=(1, 2)))
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await provider.merging.wait()
    session.send(cmd.ChangeTeam(team=scripted_team("dora")))
    await follower.next(ev.TeamChanged)
    provider.go_on.set()
    await running
    assert [outcome for outcome, _ in outcomes(session)] == ["cancelled"]
    [merged] = [idea for idea in chain_of(session).ideas if idea.parents]
    assert merged.author == "dora"


async def test_ideas_of_which_one_was_taken_out_are_not_merged(open_session: Open) -> None:
    session, provider = await merging(open_session, cmd.RemoveIdea(idea=1))
    assert len(provider.merges) == 1
    assert outcomes(session)[1:] == [("failed", "idea 1 was taken out")]
    assert not any(idea.parents for idea in chain_of(session).ideas)


@pytest.mark.parametrize("command", [cmd.AddSteer(text="cheaper"), cmd.PinIdea(idea=1), cmd.AddIdea(text=OWN)])
async def test_a_task_goes_on_where_what_its_prompt_holds_stands(open_session: Open, command: cmd.AnyCommand) -> None:
    session, provider = await merging(open_session, command)
    assert (len(provider.merges), outcomes(session)) == (1, [])


async def test_a_member_with_little_room_has_more_for_a_task(open_session: Open) -> None:
    rooms: dict[bool, set[int]] = {True: set(), False: set()}

    def write(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        rooms["Work the idea out" in str(prompt)].add(spec.max_tokens)
        return varied(spec, prompt, random_seed)

    plan = plain_plan(3)
    anna = plan.team.members[0]
    small = replace(plan.team, members=(replace(anna, model=replace(anna.model, max_tokens=96)),))
    session = open_session(replace(plan, team=small), ScriptedProvider(write))
    after(session, 1, cmd.DevelopIdea(idea=1))
    await session.run()
    assert rooms == {True: {ROOM["develop"]}, False: {96}}


async def test_an_idea_that_was_taken_out_is_not_worked_out(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    after(session, 2, cmd.RemoveIdea(idea=1))
    refusals: list[str] = []

    def develop(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaRemoved):
            with pytest.raises(UsageError) as refusal:
                session.send(cmd.DevelopIdea(idea=1))
            refusals.append(refusal.value.message)

    session.subscribe(develop)
    await session.run()
    assert refusals == ["Idea 1 was taken out: bring it back first"]


# ── awkward moments ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("turns", range(5))
@pytest.mark.parametrize(
    "command", [cmd.DevelopIdea(idea=1), cmd.EditIdea(idea=1, text=OWN)], ids=lambda each: type(each).__name__
)
async def test_what_comes_as_the_last_work_ends_is_done_or_refused(
    open_session: Open, command: cmd.AnyCommand, turns: int
) -> None:
    session = open_session(plain_plan(2))
    said: list[bool] = []

    def say() -> None:
        running = session.state.ended is None
        try:
            session.send(command)
            said.append(running)
        except UsageError:
            said.append(False)

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.QuestionEnded):
            in_turns(turns, say)

    session.subscribe(hear)
    ended = await asyncio.wait_for(session.run(), 10)
    await asyncio.sleep(0.01)
    assert ended.how == "finished"
    assert session.state.tasks == {}
    if said == [True]:
        idea = idea_of(session, 1)
        assert idea.developments or (idea.text == OWN and idea.score)
    assert fold(read_log(session.folder).events) == session.state


@pytest.mark.parametrize("budget", [Budget(), Budget(max_tokens=10**9)], ids=["", "budget"])
@pytest.mark.parametrize("turns", range(5))
async def test_an_instruction_withdrawn_as_an_answer_comes_leaves_no_idea_under_it(
    open_session: Open, turns: int, budget: Budget
) -> None:
    session = open_session(replace(plain_plan(3), budget=budget))
    session.send(cmd.AddSteer(text=STEER))
    withdraw = cmd.WithdrawSteer(id="g1")

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.ProposalFinished) and event.step == 2 and session.state.steers_in_force:
            in_turns(turns, lambda: session.send(withdraw))

    session.subscribe(hear)
    await session.run()
    withdrawn = next(e.seq for e in read_log(session.folder).events if isinstance(e, ev.SteerWithdrawn))
    assert not [idea for idea in chain_of(session).ideas if idea.steers and idea.added > withdrawn]
    assert chain_of(session).responses == 3


async def test_a_team_wanted_while_another_gets_ready_is_there_after_a_kill(open_session: Open) -> None:
    getting_ready, ready = asyncio.Event(), asyncio.Event()

    class Provider(ScriptedProvider):
        async def prepare(self, spec: object) -> None:
            if getattr(spec, "name", "") == "model-dora":
                getting_ready.set()
                await ready.wait()

    session = open_session(plain_plan(6), Provider(varied, delay=0.01))
    after(session, 1, cmd.ChangeTeam(team=scripted_team("dora")))
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await getting_ready.wait()
    session.send(cmd.ChangeTeam(team=scripted_team("emil")))
    changed = asyncio.create_task(follower.next(ev.TeamChanged))
    await asyncio.sleep(0)
    ready.set()
    assert (await changed).team.name == scripted_team("dora").name
    running.cancel()
    await asyncio.wait([running])
    resumed = again(session)
    await resumed.run()
    assert chain_of(resumed).ideas[-1].author == "emil"
