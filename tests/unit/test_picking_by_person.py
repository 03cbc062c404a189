"""A parallel step in which the person picks: by number, two of them, none, too late, and after a kill."""

import asyncio

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.errors import UsageError
from core.models import TeamSpec
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import fold
from core.store.log import EventLog
from tests.clocks import HeldClock
from tests.conftest import Open, make_plan, scripted_team
from tests.scripted import ScriptedProvider, calling, varied
from tests.unit.following import Follower, chain_of


def my_team(**settings: object) -> TeamSpec:
    return replace(scripted_team("anna", "bert", "cleo", strategy="parallel"), selector="me", **settings)


def begun(open_session: Open, ideas: int = 3, **settings: object) -> tuple[Session, Follower]:
    session = open_session(make_plan(max_ideas=ideas, team=my_team(**settings)), ScriptedProvider(varied))
    return session, Follower(session)


def picking(session: Session, *picks: int) -> None:
    """A person who always picks the same places."""

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.ChoiceOffered):
            asyncio.get_running_loop().call_soon(session.send, cmd.Choose(picks=picks, by="ada"))

    session.subscribe(hear)


async def test_the_person_picks_by_the_number_that_they_see(open_session: Open) -> None:
    session, follower = begun(open_session)
    picking(session, 2)
    await session.run()
    offered, chosen = follower.of(ev.ChoiceOffered), follower.of(ev.ProposalChosen)
    assert [choice.pick for choice in chosen] == [offer.order[1] for offer in offered]
    assert {(choice.by, choice.chooser) for choice in chosen} == {("person", "ada")}
    assert [idea.author for idea in chain_of(session).ideas] == [choice.pick for choice in chosen]
    assert len({offer.order for offer in offered}) > 1, "shuffled, so that nobody is known by their place"


async def test_two_of_them_make_two_ideas_of_one_step(open_session: Open) -> None:
    session, follower = begun(open_session, ideas=4)
    picking(session, 3, 1)
    await session.run()
    ideas = chain_of(session).ideas
    assert [idea.step for idea in ideas] == [1, 1, 2, 2]
    for offer, pair in zip(follower.of(ev.ChoiceOffered), (ideas[:2], ideas[2:]), strict=True):
        assert [idea.author for idea in pair] == [offer.order[2], offer.order[0]]
    assert all(idea.score and idea.call for idea in ideas)


async def test_none_of_them_asks_again_with_another_step(open_session: Open) -> None:
    session, follower = begun(open_session, ideas=1)
    answers = iter([(), (), (1,)])

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.ChoiceOffered):
            asyncio.get_running_loop().call_soon(session.send, cmd.Choose(picks=next(answers)))

    session.subscribe(hear)
    await session.run()
    assert [offer.step for offer in follower.of(ev.ChoiceOffered)] == [1, 2, 3]
    proposals = [done.text for done in follower.of(ev.ProposalFinished)]
    assert len(set(proposals)) == 9, "asked again, they say something else"
    assert [idea.step for idea in chain_of(session).ideas] == [3]


async def test_a_single_proposal_is_shown_to_the_person_too(open_session: Open) -> None:
    plan = make_plan(max_ideas=1, team=replace(scripted_team("anna", strategy="parallel"), selector="me"))
    session = open_session(plan, ScriptedProvider(varied))
    follower = Follower(session)
    picking(session, 1)
    await session.run()
    assert len(follower.of(ev.ChoiceOffered)) == 1


async def test_a_number_that_is_none_of_them_is_refused_and_the_choice_stands(open_session: Open) -> None:
    session, follower = begun(open_session, ideas=1)
    running = asyncio.create_task(session.run())
    await follower.next(ev.ChoiceOffered)
    with pytest.raises(UsageError, match="There is no proposal 4: pick from 1 to 3, or none"):
        session.send(cmd.Choose(picks=(4,)))
    assert chain_of(session).offered
    session.send(cmd.Choose(picks=(3,)))
    with pytest.raises(UsageError, match="nothing to pick"):
        session.send(cmd.Choose(picks=(1,)))
    await running
    assert len(follower.of(ev.ProposalChosen)) == 1


async def test_who_takes_too_long_has_it_picked_for_them(sessions: object, embedder: WordLlamaEmbedder) -> None:
    from core.store import library

    clock = HeldClock()
    caller = calling(ScriptedProvider(varied))
    caller.clock = clock
    plan = make_plan(max_ideas=1, team=my_team(selector_seconds=30.0, instead="novel"))
    session = Session(plan, library.create(sessions, plan), caller, ChainScorer(embedder))  # type: ignore[arg-type]
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    offer = await follower.next(ev.ChoiceOffered)
    assert offer.until
    await clock.asleep(1)
    await clock.advance(29)
    assert follower.of(ev.ProposalChosen) == []
    await clock.advance(2)
    await asyncio.wait_for(running, 10)
    [chosen] = follower.of(ev.ProposalChosen)
    assert chosen.by == "novelty"
    assert chain_of(session).offered is None


async def test_what_stands_to_be_picked_after_a_kill_is_what_stood_before_it(open_session: Open) -> None:
    session, follower = begun(open_session)
    running = asyncio.create_task(session.run())
    offer = await follower.next(ev.ChoiceOffered)
    running.cancel()
    await asyncio.wait([running])
    log, record = EventLog.reopen(session.folder)
    provider = ScriptedProvider(varied)
    again = Session(session.plan, log, calling(provider), session._scorer, history=fold(record.events))
    follower = Follower(again)
    running = asyncio.create_task(again.run())
    assert (await follower.next(ev.ChoiceOffered)).order == offer.order
    assert provider.calls == [], "nothing that came is asked for again"
    picking(again, 1)
    again.send(cmd.Choose(picks=(1,)))
    await running
    assert chain_of(again).ideas[0].author == offer.order[0]


async def test_a_pick_from_before_a_kill_stands(open_session: Open) -> None:
    session, follower = begun(open_session, ideas=2)
    picked = asyncio.Event()

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.ChoiceOffered):
            asyncio.get_running_loop().call_soon(session.send, cmd.Choose(picks=(2, 3)))
        if isinstance(event, ev.ProposalChosen):
            picked.set()

    session.subscribe(hear)
    running = asyncio.create_task(session.run())
    await picked.wait()
    running.cancel()
    await asyncio.wait([running])
    lines = (session.folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    cut = next(place for place, line in enumerate(lines) if b'"type":"proposal_chosen"' in line)
    (session.folder / "events.jsonl").write_bytes(b"".join(lines[: cut + 1]))
    log, record = EventLog.reopen(session.folder)
    again = Session(session.plan, log, calling(ScriptedProvider(varied)), session._scorer, history=fold(record.events))
    await again.run()
    order = follower.of(ev.ChoiceOffered)[0].order
    assert [idea.author for idea in chain_of(again).ideas] == [order[1], order[2]]
