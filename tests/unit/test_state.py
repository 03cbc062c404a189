"""The fold: the same events make the same state, whoever plays them and however odd they are."""

import asyncio
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import commands as cmd
from core import events as ev
from core.models import Usage
from core.state import State, apply, fold, reopens, snapshot
from core.store.log import read_log
from tests.conftest import Open, make_plan
from tests.scripted import HeldProvider, ScriptedProvider, same
from tests.unit.following import Follower, chain_of

QUESTIONS = st.sampled_from(["q", "r", "never-started"])
MEMBERS = st.sampled_from(["anna", "bert", "you"])
SMALL = st.integers(0, 5)
TEXTS = st.sampled_from(["", "Use ice.", "Use fire."])
OUTCOMES = st.sampled_from(["ok", "refused", "truncated", "empty", "failed", "cancelled"])
USAGE = st.builds(Usage, input_tokens=SMALL, output_tokens=SMALL, seconds=st.floats(0, 9), estimated=st.booleans())
WHERE = {"question": QUESTIONS, "step": SMALL, "member": MEMBERS}
COST = st.none() | st.floats(0, 1)

ANY_EVENT: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.SessionStarted, version=TEXTS),
    st.builds(ev.SessionEnded, how=st.sampled_from(["finished", "stopped", "interrupted", "error"])),
    st.builds(ev.QuestionStarted, question=st.sampled_from(["q", "r"]), text=TEXTS, domain=TEXTS),
    st.builds(ev.StepStarted, question=QUESTIONS, step=SMALL, members=st.tuples(MEMBERS)),
    st.builds(ev.ProposalStarted, **WHERE),
    st.builds(ev.ProposalDelta, **WHERE, text=TEXTS, thoughts=TEXTS),
    st.builds(ev.ProposalFinished, **WHERE, text=TEXTS, usage=USAGE, cost=COST),
    st.builds(ev.ProposalFailed, **WHERE, outcome=OUTCOMES, usage=USAGE, cost=COST),
    st.builds(
        ev.ProposalChosen, question=QUESTIONS, step=SMALL, order=st.tuples(MEMBERS), pick=MEMBERS, by=st.just("draw")
    ),
    st.builds(ev.IdeaAdded, question=QUESTIONS, idea=SMALL, step=SMALL, text=TEXTS, author=MEMBERS),
    st.builds(
        ev.IdeaScored,
        question=QUESTIONS,
        idea=SMALL,
        embedding_novelty=st.none() | st.floats(0, 2),
        verdict=st.sampled_from(["passed", "failed", "unscored"]),
    ),
    st.builds(ev.ContextTrimmed, **WHERE, ideas=SMALL, shown=SMALL, why=TEXTS),
    st.builds(ev.RetryScheduled, **WHERE, why=TEXTS, until=st.floats(0, 9)),
    st.builds(ev.Notice, text=TEXTS),
    st.builds(ev.Paused, by=MEMBERS),
    st.builds(ev.Resumed, by=MEMBERS, max_ideas=st.none() | SMALL),
    st.builds(
        ev.QuestionEnded,
        question=QUESTIONS,
        reason=st.sampled_from(["cap", "person", "refused", "error", "coherence", "mechanical"]),
        censored=st.booleans(),
        responses=SMALL,
        valid=SMALL,
    ),
    st.builds(ev.Unknown, name=TEXTS, raw=st.just(b"{}")),
)
HISTORIES = st.lists(ANY_EVENT, max_size=25).map(
    lambda events: [ev.QuestionStarted(question="q", text="Propose a test.", domain="Own"), *events]
)


@given(HISTORIES)
def test_folding_twice_gives_equal_states(history: list[ev.Event]) -> None:
    assert fold(history) == fold(history)


@given(HISTORIES, HISTORIES)
def test_a_snapshot_never_changes_again(before: list[ev.Event], after: list[ev.Event]) -> None:
    state = fold(before)
    kept = snapshot(state)
    for event in after:
        apply(state, event)
    assert kept == fold(before)
    for event in after:
        apply(kept, event)
    assert kept == state


@given(HISTORIES)
def test_what_is_counted_is_what_the_events_say(history: list[ev.Event]) -> None:
    state = fold(history)
    calls = [event for event in history if isinstance(event, ev.ProposalFinished | ev.ProposalFailed)]
    assert state.input_tokens == sum(call.usage.input_tokens for call in calls)
    assert state.output_tokens == sum(call.usage.output_tokens for call in calls)
    assert abs(state.generation_seconds - sum(call.usage.seconds for call in calls)) < 1e-9
    assert abs(state.cost - sum(call.cost or 0 for call in calls)) < 1e-9
    assert state.cost_known == all(call.cost is not None for call in calls)
    for chain in state.chains.values():
        assert 0 <= chain.valid <= chain.responses == len(chain.ideas)
        assert chain.responses - chain.valid == sum(idea.failed for idea in chain.ideas)
        assert chain.failing_in_row() <= chain.responses


@given(HISTORIES)
def test_only_those_who_write_are_shown_writing(history: list[ev.Event]) -> None:
    state = fold([*history, ev.SessionEnded(how="stopped")])
    assert [chain.writing for chain in state.chains.values() if chain.writing] == []
    assert (state.paused, state.retry) == (None, None)


def test_the_clock_and_the_numbers_never_go_back() -> None:
    state = State()
    apply(state, ev.Notice(seq=7, t=5.0, at="then", text=""))
    apply(state, ev.Notice(seq=3, t=2.0, at="edited", text=""))
    assert (state.seq, state.t) == (7, 5.0)


def test_text_grows_as_it_comes_and_goes_when_it_is_done() -> None:
    state = fold(
        [
            ev.QuestionStarted(question="q", text="Propose a test.", domain="Own"),
            ev.StepStarted(question="q", step=1, members=("anna",)),
            ev.ProposalStarted(question="q", step=1, member="anna", t=2.0),
            ev.ProposalDelta(question="q", step=1, member="anna", text="Use "),
            ev.ProposalDelta(question="q", step=1, member="anna", text="ice", thoughts="cold?"),
            ev.ProposalDelta(question="q", step=1, member="bert", text="never asked"),
        ]
    )
    assert state.chain
    [writing] = state.chain.writing.values()
    assert (writing.member, writing.text, writing.thoughts, writing.since) == ("anna", "Use ice", "cold?", 2.0)
    apply(state, ev.ProposalFailed(question="q", step=1, member="anna", outcome="cancelled"))
    assert state.chain.writing == {}
    assert state.chain.failures == 0, "a cancelled call is nobody's fault"


def test_an_idea_knows_the_call_and_the_prompt_it_came_from() -> None:
    started = ev.ProposalStarted(question="q", step=1, member="anna", random_seed=3)
    finished = ev.ProposalFinished(question="q", step=1, member="anna", text="Use ice.")
    state = fold(
        [
            ev.QuestionStarted(question="q", text="Propose a test.", domain="Own"),
            ev.StepStarted(question="q", step=1, members=("anna",)),
            started,
            finished,
            ev.IdeaAdded(question="q", idea=1, step=1, text="Use ice.", author="anna", t=9.0),
            ev.IdeaAdded(question="q", idea=2, step=1, text="Use fire.", author="you"),
        ]
    )
    assert state.chain
    first, second = state.chain.ideas
    assert (first.call, first.prompt, first.t) == (finished, started, 9.0)
    assert (second.call, second.prompt) == (None, None)
    assert not state.chain.step_open


def test_a_number_is_never_given_twice_even_where_the_log_lacks_an_idea() -> None:
    state = fold(
        [
            ev.QuestionStarted(question="q", text="Propose a test.", domain="Own"),
            *[ev.IdeaAdded(question="q", idea=number, step=number, text="x", author="anna") for number in (1, 2, 4)],
        ]
    )
    assert state.chain
    assert state.chain.next_number == 5
    assert state.chain.responses == 3


QUESTION = ev.QuestionStarted(question="q", text="Propose a test.", domain="Own")


def end_of(reason: ev.EndReason) -> ev.QuestionEnded:
    return ev.QuestionEnded(question="q", reason=reason, censored=True, responses=1, valid=1)


@pytest.mark.parametrize("reason", get_args(ev.EndReason))
def test_what_was_ended_from_outside_can_go_on_and_what_its_ideas_ended_can_not(reason: ev.EndReason) -> None:
    end = end_of(reason)
    state = fold([QUESTION, end, ev.SessionEnded(how="stopped"), ev.Resumed(by="you", max_ideas=2)])
    assert state.chain
    assert state.ended is None
    assert (state.chain.ended is None) is reopens(end, 2) is (reason in ("person", "cap", "budget", "error"))
    again = fold([QUESTION, end, ev.Resumed(by="you")])
    assert again.chain
    assert (again.chain.ended is None) is (reason in ("person", "budget", "error")), "a full chain has no room yet"


@pytest.mark.parametrize(
    ("history", "resumable"),
    [
        ([], True),
        ([QUESTION], True),
        ([QUESTION, end_of("person")], True),
        ([QUESTION, end_of("error")], True),
        ([QUESTION, end_of("person"), ev.SessionEnded(how="stopped")], True),
        ([QUESTION, end_of("error"), ev.SessionEnded(how="error")], True),
        ([QUESTION, end_of("person"), ev.SessionEnded(how="interrupted"), ev.Resumed(by="you")], True),
        # Killed after the last chain had ended, but before the session had.
        ([QUESTION, end_of("mechanical")], False),
        ([QUESTION, end_of("cap")], False),
        ([QUESTION, end_of("cap"), ev.SessionEnded(how="finished")], False),
        ([QUESTION, end_of("refused"), ev.SessionEnded(how="finished")], False),
        ([QUESTION, end_of("cap"), ev.SessionEnded(how="finished"), ev.Resumed(by="you", max_ideas=9)], True),
    ],
)
def test_whether_there_is_something_to_go_on_with(history: list[ev.Event], resumable: bool) -> None:
    assert fold(history).resumable is resumable


def test_it_has_started_once_it_said_so() -> None:
    assert not State().started
    assert not fold([QUESTION]).started
    assert fold([ev.SessionStarted(version="")]).started


# ── live and read again ───────────────────────────────────────────────────────────────────────────────────────────────


def stored(folder: Path) -> State:
    return fold(read_log(folder).events)


async def test_the_state_of_a_run_is_the_fold_of_its_log(open_session: Open) -> None:
    session = open_session()
    await session.run()
    assert stored(session.folder) == session.state


async def test_so_it_is_at_every_moment_between(open_session: Open) -> None:
    """But for the text that streams in, which is shown and not stored."""
    session = open_session(make_plan(patience=1), ScriptedProvider(same))
    unequal: list[ev.Event] = []

    def compare(event: ev.Event) -> None:
        if not isinstance(event, ev.ProposalDelta):
            state, live = stored(session.folder), snapshot(session.state)
            for chain in (*state.chains.values(), *live.chains.values()):
                chain.writing.clear()
            # The clock runs on in what is only shown.
            state.t = live.t
            if state != live:
                unequal.append(event)

    session.subscribe(compare)
    await session.run()
    assert session.state.seq > 5
    assert unequal == []


async def test_so_it_is_after_a_pause_an_own_idea_and_a_stop_mid_idea(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(), provider)
    follower = Follower(session)

    async def meddle() -> None:
        await provider.halfway.wait()
        session.send(cmd.Pause())
        session.send(cmd.AddIdea(text="Listen to the ice \x1b[2J\ud800."))
        await follower.next(ev.IdeaScored)
        session.send(cmd.Resume())
        session.send(cmd.Stop())

    await asyncio.gather(session.run(), meddle())
    assert [idea.text for idea in chain_of(session).ideas] == ["Listen to the ice [2J\ufffd."]
    live = session.state
    live.t = stored(session.folder).t
    assert stored(session.folder) == live
