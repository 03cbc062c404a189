"""A fork shares the past of a session up to an idea, and nothing that came later."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Origin
from core.errors import SessionUnreadableError, StoreError, UsageError
from core.lines import EVENTS_FILE, encode
from core.rules import Rules
from core.scoring.embeddings import WordLlamaEmbedder
from core.session import Session
from core.state import fold
from core.store import library, listing
from core.store.forking import OF_A_STEP, fork
from core.store.log import EventLog, read_log
from tests.conftest import Open, make_plan, scripted_team
from tests.scripted import ScriptedProvider, calling, same
from tests.unit.following import Follower, chain_of
from tests.unit.test_at_odd_moments import two_questions
from tests.unit.test_pipelining import SlowScorer, by_prompt

OWN = "Let the harbour seals carry the hydrophones."

E = TypeVar("E", bound=ev.Event)


def slowly(open_session: Open, embedder: WordLlamaEmbedder, max_ideas: int = 8) -> Session:
    """A session in which steps are asked for while scores are still coming; each idea depends on those before it."""
    plan = make_plan(team=scripted_team("anna", "bert", "cleo"))
    plan = replace(plan, rules=Rules(embedding_novelty=0.185, max_ideas=max_ideas, patience=9))
    return open_session(plan, ScriptedProvider(by_prompt, delay=0.001), scorer=SlowScorer(embedder))


def past(folder: Path) -> Sequence[ev.Event]:
    """What the log of a fork holds, which must be sound."""
    record = read_log(folder)
    assert record.problems == ()
    assert [event.seq for event in record.events] == list(range(len(record.events)))
    assert [event.t for event in record.events] == sorted(event.t for event in record.events)
    return record.events


def of(events: Sequence[ev.Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


async def go_on(folder: Path, embedder: WordLlamaEmbedder) -> Session:
    """The fork, run to its end."""
    log, record = EventLog.reopen(folder)
    session = Session(
        library.load(folder).plan,
        log,
        calling(ScriptedProvider(by_prompt)),
        SlowScorer(embedder),
        history=fold(record.events),
    )
    await session.run()
    return session


async def test_at_whatever_idea_the_fork_holds_it_and_all_before_and_goes_on_as_the_session_did(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = slowly(open_session, embedder)
    await session.run()
    whole = chain_of(session).ideas
    for number in range(1, 9):
        folder = fork(session.folder, number, sessions)
        events = past(folder)
        state = fold(events)
        assert state.chain is not None
        assert [(idea.text, idea.author, idea.score and idea.score.verdict) for idea in state.chain.ideas] == [
            (idea.text, idea.author, idea.score and idea.score.verdict) for idea in whole[:number]
        ]
        assert max(event.step for event in events if isinstance(event, OF_A_STEP)) == whole[number - 1].step
        assert state.resumable
        assert [idea.text for idea in chain_of(await go_on(folder, embedder)).ideas] == [idea.text for idea in whole]


async def test_a_fork_where_patience_had_run_out_goes_on(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = open_session(make_plan(patience=2), ScriptedProvider(same))
    await session.run()
    last = chain_of(session).ideas[-1].number
    assert chain_of(session).failing_in_row() == 2
    forked = await go_on(fork(session.folder, last, sessions), embedder)
    assert chain_of(forked).responses > last


async def test_it_says_where_it_comes_from_and_has_a_plan_of_its_own(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    stored = library.load(fork(session.folder, 2, sessions))
    assert stored.plan.id != session.plan.id
    assert stored.plan.id == stored.folder.name
    assert replace(stored.plan, id="", created="") == replace(session.plan, id="", created="")
    last = stored.record.events[-1]
    assert isinstance(last, ev.Forked)
    assert (last.session, last.question, last.idea) == (session.plan.id, session.plan.questions[0].id, 2)
    assert listing.summary(stored).status == "interrupted"
    assert stored.state().forked == last


async def test_the_session_itself_stays_as_it_is(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    before = {path.name: path.read_bytes() for path in session.folder.iterdir()}
    fork(session.folder, 1, sessions)
    assert {path.name: path.read_bytes() for path in session.folder.iterdir()} == before


async def test_what_persons_did_by_then_is_shared_and_what_they_did_later_is_not(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = slowly(open_session, embedder, max_ideas=6)
    follower = Follower(session)
    run = asyncio.create_task(session.run())
    await follower.next(ev.IdeaScored)
    session.send(cmd.PinIdea(idea=1))
    session.send(cmd.RateIdea(idea=1, stars=2))
    session.send(cmd.Undo())
    session.send(cmd.AddSteer(text="Prefer cheap ones"))
    added = await follower.next(ev.IdeaAdded)
    session.send(cmd.PinIdea(idea=1, on=False))
    session.send(cmd.CommentIdea(idea=1, text="Later"))
    session.send(cmd.RemoveIdea(idea=1))
    await run
    events = past(fork(session.folder, added.idea, sessions))
    state = fold(events)
    assert state.chain is not None
    first = state.chain.ideas[0]
    assert (first.pinned, first.rating, first.comment, first.removed) == (True, 0, "", False)
    assert [steer.text for steer in state.steers_in_force] == ["Prefer cheap ones"]
    rated, taken_back = of(events, ev.IdeaRated)
    assert taken_back.undoes == rated.seq


async def test_an_idea_edited_later_has_its_first_text_and_its_first_scores(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = slowly(open_session, embedder, max_ideas=4)
    follower = Follower(session)
    run = asyncio.create_task(session.run())
    scored = await follower.next(ev.IdeaScored, lambda event: event.idea == 2)
    session.send(cmd.EditIdea(idea=2, text=OWN))
    await run
    events = past(fork(session.folder, 2, sessions))
    assert [replace(event, seq=0) for event in of(events, ev.IdeaScored) if event.idea == 2] == [replace(scored, seq=0)]
    idea = fold(events).chains[scored.question].ideas[1]
    assert idea.text != OWN
    assert idea.original == ""


async def test_an_idea_edited_before_its_scores_came_is_scored_by_the_fork(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = slowly(open_session, embedder, max_ideas=4)
    follower = Follower(session)
    run = asyncio.create_task(session.run())
    added = await follower.next(ev.IdeaAdded, lambda event: event.idea == 2)
    session.send(cmd.EditIdea(idea=2, text=OWN))
    await run
    folder = fork(session.folder, 2, sessions)
    assert fold(past(folder)).chains[added.question].ideas[1].score is None
    second = chain_of(await go_on(folder, embedder)).ideas[1]
    assert second.text == added.text
    assert second.score is not None


async def test_a_step_under_way_beside_a_person_s_idea_is_not_shared(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = slowly(open_session, embedder, max_ideas=5)
    follower = Follower(session)
    run = asyncio.create_task(session.run())
    started = await follower.next(ev.ProposalStarted, lambda event: event.step == 2)
    session.send(cmd.AddIdea(text=OWN))
    await run
    own = next(idea for idea in chain_of(session).ideas if idea.text == OWN)
    folder = fork(session.folder, own.number, sessions)
    chain = fold(past(folder)).chains[started.question]
    assert (chain.step, chain.step_open, chain.ideas[-1].text) == (1, False, OWN)
    assert chain.ideas[-1].score is not None
    assert chain_of(await go_on(folder, embedder)).responses == 5


async def test_a_running_session_can_be_forked(open_session: Open, embedder: WordLlamaEmbedder, sessions: Path) -> None:
    session = slowly(open_session, embedder)
    follower = Follower(session)
    run = asyncio.create_task(session.run())
    await follower.next(ev.IdeaAdded, lambda event: event.idea == 3)
    folder = fork(session.folder, 3, sessions)
    assert len(fold(past(folder)).chains[session.plan.questions[0].id].ideas) == 3
    await run
    assert chain_of(session).responses == 8


async def test_what_the_past_cost_was_paid_by_the_other_session(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    assert session.state.tokens
    assert fold(past(fork(session.folder, 2, sessions))).tokens == 0


async def test_events_of_a_newer_version_are_shared_too(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(max_ideas=2))
    await session.run()
    path = session.folder / EVENTS_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    odd = b'{"type":"moon_rose","seq":2,"t":0.0,"at":"","phase":"full"}\n'
    path.write_bytes(b"".join([*lines[:2], odd, *lines[2:]]))
    [unknown] = of(past(fork(session.folder, 2, sessions)), ev.Unknown)
    assert msgspec.json.decode(encode(unknown)) == {"type": "moon_rose", "seq": 2, "t": 0.0, "at": "", "phase": "full"}


async def test_the_idea_may_be_one_of_an_earlier_question(
    open_session: Open, embedder: WordLlamaEmbedder, sessions: Path
) -> None:
    session = open_session(two_questions(3))
    await session.run()
    first, second = session.state.chains.values()
    state = fold(past(fork(session.folder, 2, sessions, first.question)))
    assert state.forked
    assert (state.forked.question, state.forked.idea) == (first.question, 2)
    assert {name: [idea.text for idea in chain.ideas] for name, chain in state.chains.items()} == {
        first.question: [idea.text for idea in first.ideas[:2]]
    }
    for question in (second.question, ""):
        state = fold(past(fork(session.folder, 1, sessions, question)))
        assert state.current == second.question
        assert [len(chain.ideas) for chain in state.chains.values()] == [3, 1]


async def test_a_question_that_is_not_there_is_refused(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(max_ideas=2))
    await session.run()
    only = session.plan.questions[0].id
    with pytest.raises(UsageError, match=rf"There is no question 'ice' in this session: there are {only}$"):
        fork(session.folder, 1, sessions, "ice")
    assert list(sessions.iterdir()) == [session.folder]


async def test_a_fork_can_be_forked(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    second = fork(fork(session.folder, 3, sessions), 1, sessions)
    events = past(second)
    assert len(of(events, ev.IdeaAdded)) == 1
    assert len(of(events, ev.Forked)) == 1


@pytest.mark.parametrize("number", [0, 4, 99])
async def test_an_idea_that_is_not_there(open_session: Open, sessions: Path, number: int) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    before = sorted(sessions.iterdir())
    with pytest.raises(UsageError, match=f"There is no idea {number} to fork at"):
        fork(session.folder, number, sessions)
    assert sorted(sessions.iterdir()) == before


def test_a_session_that_has_not_begun(sessions: Path) -> None:
    log = library.create(sessions, make_plan())
    log.close()
    with pytest.raises(UsageError, match="no idea 1"):
        fork(log.folder, 1, sessions)


def test_no_session(tmp_path: Path, sessions: Path) -> None:
    with pytest.raises(SessionUnreadableError):
        fork(tmp_path, 1, sessions)


def test_an_imported_session_has_nobody_to_go_on_with_it(sessions: Path) -> None:
    origin = Origin(file="results.jsonl", digest="0", layout="sciaidanbench", model="m", temperature="1")
    log = library.create(sessions, replace(make_plan(), origin=origin))
    log.close()
    with pytest.raises(UsageError, match=r"imported from results\.jsonl"):
        fork(log.folder, 1, sessions)


async def test_a_fork_that_can_t_be_written_leaves_nothing(
    open_session: Open, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(make_plan(max_ideas=3))
    await session.run()
    flush: Callable[[EventLog], None] = EventLog.flush
    written = 0

    def full(log: EventLog) -> None:
        nonlocal written
        written += 1
        if written > 5:
            raise StoreError("The disk is full")
        flush(log)

    monkeypatch.setattr(EventLog, "flush", full)
    with pytest.raises(StoreError, match="disk is full"):
        fork(session.folder, 3, sessions)
    assert list(sessions.iterdir()) == [session.folder]
