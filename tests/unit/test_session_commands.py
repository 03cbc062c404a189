"""What a person says, at every moment of a session: before it begins, mid-idea, in a pause, after its end."""

import asyncio
from contextlib import suppress

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.chain import Chain, Idea
from core.errors import UsageError
from core.models import YOU
from core.rules import Scores
from core.scoring.account import Account
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import fold
from core.store.log import EventLog, read_log
from tests.conftest import Open, make_plan, texts
from tests.scripted import HeldProvider, ScriptedProvider, calling, same, varied
from tests.unit.following import Follower, chain_of

OWN = "Teach harbour seals to wear magnetometers while they hunt below the floe."


def reopened(session: Session, provider: ScriptedProvider, max_ideas: int | None = None) -> Session:
    """The session taken up again from its file, as after a kill or a stop."""
    log, record = EventLog.reopen(session.folder)
    return Session(
        session.plan,
        log,
        calling(provider),
        session._scorer,
        history=fold(record.events),
        max_ideas=max_ideas,
    )


# ── before it begins ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_stop_before_the_start_ends_it_without_a_call(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(make_plan(), provider)
    session.send(cmd.Stop(by="SIGTERM"))
    ended = await session.run()
    assert (ended.how, ended.message) == ("interrupted", "SIGTERM")
    assert provider.calls == []
    await reopened(session, provider, max_ideas=2).run()
    assert len(provider.calls) == 2


async def test_pause_before_the_start_holds_it_at_the_start(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(make_plan(max_ideas=2), provider)
    follower = Follower(session)
    session.send(cmd.Pause())
    running = asyncio.create_task(session.run())
    await follower.next(ev.Paused)
    assert follower.names() == ["session_started", "question_started", "paused"]
    assert provider.calls == []
    session.send(cmd.Resume())
    await running
    assert chain_of(session).responses == 2


async def test_pause_before_a_resumed_session_starts_holds_it_too(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=2))
    await first.run()
    provider = ScriptedProvider(varied)
    session = reopened(first, provider, max_ideas=3)
    follower = Follower(session)
    session.send(cmd.Pause())
    running = asyncio.create_task(session.run())
    await follower.next(ev.Paused)
    assert provider.calls == []
    session.send(cmd.Resume())
    await running
    assert chain_of(session).responses == 3


async def test_an_idea_given_before_the_start_is_the_first(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=3))
    session.send(cmd.AddIdea(text=OWN))
    await session.run()
    ideas = chain_of(session).ideas
    assert [idea.author == YOU for idea in ideas] == [True, False, False]
    assert ideas[0].text == OWN
    assert ideas[0].score
    assert ideas[0].score.embedding_novelty == 1.0


# ── while it writes ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_own_idea_is_scored_at_once_while_another_is_being_written(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=2), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    session.send(cmd.AddIdea(text=f"  {OWN}\n"))
    scored = await follower.next(ev.IdeaScored)
    assert scored.idea == 1
    assert chain_of(session).writing, "the other is still being written"
    assert (texts(session.state), chain_of(session).ideas[0].author) == ([OWN], YOU)
    provider.go_on.set()
    await running
    assert [idea.number for idea in chain_of(session).ideas] == [1, 2]


async def test_an_own_idea_is_shown_to_the_team_from_then_on(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=4), provider)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    session.send(cmd.AddIdea(text=OWN))
    provider.go_on.set()
    await running
    assert [OWN in call.messages[-1].text for call in provider.calls] == [False, True, True]


async def test_two_own_ideas_at_once_are_both_there_in_order(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=3), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    session.send(cmd.AddIdea(text=OWN))
    session.send(cmd.AddIdea(text=f"{OWN} Twice."))
    await follower.next(ev.IdeaScored, lambda scored: scored.idea == 2)
    assert [scored.idea for scored in follower.of(ev.IdeaScored)] == [1, 2]
    assert follower.of(ev.IdeaScored)[1].verdict == "failed"
    provider.go_on.set()
    await running
    assert len(follower.of(ev.IdeaScored)) == 3


@pytest.mark.parametrize("text", ["", "  \n", "\x1b\x00\u202e"])
async def test_a_blank_idea_is_none(open_session: Open, text: str) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=1), provider)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    with pytest.raises(UsageError, match="words"):
        session.send(cmd.AddIdea(text=text))
    assert chain_of(session).ideas == []
    provider.go_on.set()
    await running


async def test_a_persons_failing_ideas_end_nothing(open_session: Open) -> None:
    provider = HeldProvider(varied)
    session = open_session(make_plan(max_ideas=6, patience=1), provider)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    for _ in range(4):
        session.send(cmd.AddIdea(text=OWN))
    provider.go_on.set()
    await running
    chain = chain_of(session)
    assert chain.ended
    assert [idea.failed for idea in chain.ideas[:4]] == [False, True, True, True]
    assert chain.ended.reason == "cap"


async def test_pause_holds_after_the_idea_under_way(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=3), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    session.send(cmd.Pause())
    session.send(cmd.Pause())
    provider.go_on.set()
    await follower.next(ev.IdeaScored)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(provider.calls) == 1
    assert follower.names().count("paused") == 1
    session.send(cmd.Resume())
    session.send(cmd.Resume())
    await running
    assert follower.names().count("resumed") == 1
    assert chain_of(session).responses == 3


# ── in a pause ────────────────────────────────────────────────────────────────────────────────────────────────────────


Run = tuple[Session, Follower, "asyncio.Task[ev.SessionEnded]"]


async def paused_after_one(open_session: Open, max_ideas: int) -> Run:
    session = open_session(make_plan(max_ideas=max_ideas))
    follower = Follower(session)
    session.subscribe(lambda event: session.send(cmd.Pause()) if isinstance(event, ev.IdeaAdded) else None)
    running = asyncio.create_task(session.run())
    await follower.next(ev.IdeaScored)
    return session, follower, running


async def test_an_own_idea_is_scored_in_a_pause_and_the_pause_goes_on(open_session: Open) -> None:
    session, follower, running = await paused_after_one(open_session, max_ideas=5)
    session.send(cmd.AddIdea(text=OWN))
    assert (await follower.next(ev.IdeaScored)).idea == 2
    assert session.state.paused
    session.send(cmd.Stop())
    await running
    assert len(follower.of(ev.StepStarted)) == 1


async def test_a_cap_reached_in_a_pause_lets_no_further_call_happen(open_session: Open) -> None:
    session, follower, running = await paused_after_one(open_session, max_ideas=2)
    session.send(cmd.AddIdea(text=OWN))
    await follower.next(ev.IdeaScored)
    session.send(cmd.Resume())
    await running
    assert texts(session.state)[1:] == [OWN]
    assert len(follower.of(ev.StepStarted)) == 1


async def test_stop_in_a_pause(open_session: Open) -> None:
    session, follower, running = await paused_after_one(open_session, max_ideas=5)
    session.send(cmd.Stop())
    assert (await running).how == "stopped"
    assert session.state.paused is None
    assert follower.names()[-4:] == ["paused", "idea_scored", "question_ended", "session_ended"]


# ── at the end, and after it ──────────────────────────────────────────────────────────────────────────────────────────


async def test_after_the_end_nothing_happens_any_more(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    await session.run()
    before = (session.folder / "events.jsonl").read_bytes()
    for command in (cmd.Pause(), cmd.Resume(), cmd.Stop(), cmd.SaveElsewhere(folder="/")):
        session.send(command)
    for late in (cmd.AddIdea(text=OWN), cmd.AddSteer(text="cheaper"), cmd.MergeIdeas(ideas=(1, 2)), cmd.Undo()):
        with pytest.raises(UsageError, match=r"ended|undo"):
            session.send(late)
    assert (session.folder / "events.jsonl").read_bytes() == before
    assert session.elapsed() == session.state.t


@pytest.mark.parametrize("command", [cmd.Stop(), cmd.AddIdea(text=OWN), cmd.Pause()], ids=lambda c: type(c).__name__)
async def test_a_command_in_the_very_moment_of_the_end(open_session: Open, command: cmd.AnyCommand) -> None:
    """A chain that its ideas ended has ended by them, not by whoever came too late."""
    session = open_session(make_plan(patience=1), ScriptedProvider(same))

    def too_late(event: ev.Event) -> None:
        if isinstance(event, ev.QuestionEnded):
            with suppress(UsageError):
                session.send(command)

    session.subscribe(too_late)
    ended = await session.run()
    chain = chain_of(session)
    assert chain.ended
    assert (ended.how, chain.ended.reason, chain.responses) == ("finished", "mechanical", 2)


@pytest.mark.parametrize("moment", range(1, 30))
async def test_stop_at_any_event_leaves_a_session_that_goes_on_to_the_same_chain(
    open_session: Open, moment: int
) -> None:
    uncut = open_session(replace(make_plan(max_ideas=4), id="uncut"))
    await uncut.run()

    session = open_session(make_plan(max_ideas=4))
    count = 0

    def stop(event: ev.Event) -> None:
        nonlocal count
        count += 1
        if count == moment:
            session.send(cmd.Stop())

    session.subscribe(stop)
    ended = await session.run()
    assert ended.how == "stopped"
    assert read_log(session.folder).events[-1] == ended
    again = reopened(session, ScriptedProvider(varied))
    assert (await again.run()).how == "finished"
    assert texts(again.state) == texts(uncut.state)
    assert [idea.author for idea in chain_of(again).ideas] == [idea.author for idea in chain_of(uncut).ideas]


class SlowJudge(ChainScorer):
    """Scores the first idea at once, and ponders the others for ever."""

    async def score(self, chain: Chain, idea: Idea, account: Account) -> Scores:
        if idea.number > 1:
            await asyncio.Event().wait()
        return Scores(coherence=80.0)


async def test_stop_waits_for_no_judge_and_the_idea_is_scored_when_it_goes_on(
    open_session: Open, embedder: WordLlamaEmbedder
) -> None:
    session = open_session(make_plan(max_ideas=3), scorer=SlowJudge(embedder))
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await follower.next(ev.IdeaAdded, lambda added: added.idea == 2)
    session.send(cmd.AddIdea(text=OWN))
    session.send(cmd.Stop())
    await asyncio.wait_for(running, 2)
    assert [scored.idea for scored in follower.of(ev.IdeaScored)] == [1]
    session._scorer = ChainScorer(embedder)
    again = reopened(session, ScriptedProvider(varied))
    await again.run()
    assert [idea.score is not None for idea in chain_of(again).ideas] == [True] * 3


async def test_a_run_that_is_cancelled_lets_go_of_the_file_and_can_be_resumed(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(max_ideas=2), provider)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    again = reopened(session, ScriptedProvider(varied))
    await again.run()
    assert chain_of(again).responses == 2


async def test_a_cap_given_anew_holds_even_for_a_session_that_never_began(open_session: Open) -> None:
    first = open_session(make_plan())
    first._log.close()
    again = reopened(first, ScriptedProvider(varied), max_ideas=2)
    await again.run()
    assert chain_of(again).responses == 2


def stopped_in_the_second(open_session: Open) -> Session:
    """A session of two questions, to be stopped at the first idea for the second."""
    plan = make_plan(max_ideas=2)
    other = replace(plan.questions[0], id="other", text="Propose a way to hear ice melt.")
    session = open_session(replace(plan, questions=(*plan.questions, other)))

    def stop(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaAdded) and event.question == "other":
            session.send(cmd.Stop())

    session.subscribe(stop)
    return session


async def test_of_two_questions_only_the_unfinished_one_goes_on(open_session: Open) -> None:
    session = stopped_in_the_second(open_session)
    await session.run()
    again = reopened(session, ScriptedProvider(varied))
    follower = Follower(again)
    await again.run()
    assert [chain.responses for chain in again.state.chains.values()] == [2, 2]
    assert [chain.ended is not None for chain in again.state.chains.values()] == [True, True]
    assert {added.question for added in follower.of(ev.IdeaAdded)} == {"other"}


async def test_with_a_higher_cap_both_go_on_and_an_own_idea_goes_to_the_one_under_way(open_session: Open) -> None:
    session = stopped_in_the_second(open_session)
    await session.run()
    first = session.plan.questions[0].id
    again = reopened(session, ScriptedProvider(varied), max_ideas=4)

    def add(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaAdded) and event.question == first and event.author != YOU:
            again.send(cmd.AddIdea(text=OWN))

    again.subscribe(add)
    await again.run()
    assert [chain.responses for chain in again.state.chains.values()] == [4, 4]
    assert [[i.author for i in chain.ideas].count(YOU) for chain in again.state.chains.values()] == [1, 0]
