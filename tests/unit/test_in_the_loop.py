"""What a person does while a step is under way: what is asked anew, what waits, and what can be undone."""

import asyncio

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.errors import UsageError
from core.levers import Off
from core.session import Session
from core.state import fold
from core.store.log import read_log
from tests.conftest import Open
from tests.scripted import HeldProvider, varied
from tests.unit.following import Follower, chain_of
from tests.unit.looped import OWN, STEER, TIDES, after, idea_of, plain_plan

# ── what is under way ─────────────────────────────────────────────────────────────────────────────────────────────────


Halfway = tuple[Session, HeldProvider, Follower, "asyncio.Task[ev.SessionEnded]"]


async def halfway(open_session: Open, *before: cmd.AnyCommand) -> Halfway:
    """A session in which one idea is in and the next is half written."""
    provider = HeldProvider(varied)
    session = open_session(replace(plain_plan(3), pipelining=False), provider)
    follower = Follower(session)
    for command in before:
        session.send(command)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    provider.halfway.clear()
    provider.go_on.set()
    await follower.next(ev.IdeaScored)
    provider.go_on.clear()
    await provider.halfway.wait()
    return session, provider, follower, running


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (cmd.EditIdea(idea=1, text=OWN), "idea 1 was edited"),
        (cmd.RemoveIdea(idea=1), "idea 1 was taken out"),
        (cmd.WithdrawSeed(id="s1"), "the seed Tidal locking was withdrawn"),
        (cmd.WithdrawSteer(id="g1"), "an instruction was withdrawn"),
    ],
)
async def test_a_step_whose_prompt_holds_what_stands_no_longer_is_asked_anew(
    open_session: Open, command: cmd.AnyCommand, why: str
) -> None:
    before = (cmd.InjectSeed(seed=TIDES, steps=None), cmd.AddSteer(text=STEER))
    session, provider, follower, running = await halfway(open_session, *before)
    session.send(command)
    provider.go_on.set()
    await running
    assert [dropped.why for dropped in follower.of(ev.StepDropped)] == [why]
    assert [failed.outcome for failed in follower.of(ev.ProposalFailed)] == ["cancelled"]
    assert [idea.step for idea in chain_of(session).ideas] == [1, 2, 3]


@pytest.mark.parametrize(
    "command",
    [
        cmd.AddSteer(text="cheaper"),
        cmd.InjectSeed(seed=TIDES),
        cmd.PinIdea(idea=1),
        cmd.RateIdea(idea=1, stars=3),
        cmd.CommentIdea(idea=1, text="good"),
        cmd.AddIdea(text=OWN),
    ],
    ids=lambda command: type(command).__name__,
)
async def test_what_only_adds_something_waits_for_the_next_prompt(open_session: Open, command: cmd.AnyCommand) -> None:
    session, provider, follower, running = await halfway(open_session)
    session.send(command)
    provider.go_on.set()
    await running
    assert follower.of(ev.StepDropped) == []
    assert follower.of(ev.ProposalFailed) == []


async def test_an_idea_that_is_edited_while_it_is_scored_gets_the_scores_of_its_new_text(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    follower = Follower(session)

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaAdded) and event.idea == 2:
            session.send(cmd.EditIdea(idea=2, text=chain_of(session).ideas[0].text))

    session.subscribe(hear)
    await session.run()
    second = idea_of(session, 2)
    assert second.score
    assert second.failed, "it now says what the first one says"
    assert fold(read_log(session.folder).events).chains == session.state.chains
    assert len(follower.of(ev.IdeaScored)) == 3


# ── undo ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "command",
    [
        cmd.EditIdea(idea=1, text=OWN),
        cmd.RemoveIdea(idea=1),
        cmd.PinIdea(idea=1),
        cmd.RateIdea(idea=1, stars=3),
        cmd.CommentIdea(idea=1, text="good"),
        cmd.InjectSeed(seed=TIDES, steps=None),
        cmd.AddSteer(text=STEER),
        cmd.SetSeeds(policy=Off()),
    ],
    ids=lambda command: type(command).__name__,
)
async def test_what_was_done_can_be_undone_and_then_there_is_nothing_left_to_undo(
    open_session: Open, command: cmd.AnyCommand
) -> None:
    def look(session: Session) -> object:
        first = replace(idea_of(session, 1), history=(), score=None)
        return first, session.state.in_force, session.state.seed_policy or session.plan.seeds

    session = open_session(plain_plan(2))
    seen: list[object] = []

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.StepStarted) and event.step == 2 and not seen:
            seen.append(look(session))
            session.send(command)
            seen.append(look(session))
            session.send(cmd.Undo())
            seen.append(look(session))
            with pytest.raises(UsageError, match="nothing to undo"):
                session.send(cmd.Undo())

    session.subscribe(hear)
    await session.run()
    before, done, undone = seen
    assert done != before
    assert undone == before


async def test_each_undoes_what_they_did_themselves(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    after(
        session,
        1,
        cmd.RateIdea(idea=1, stars=2, by="ada"),
        cmd.PinIdea(idea=1, by="bob"),
        cmd.Undo(by="ada"),
    )
    await session.run()
    assert (idea_of(session, 1).rating, idea_of(session, 1).pinned) == (0, True)
