"""How the session itself goes: its questions, its pauses, its end."""

from core import events as ev
from core.chain import Chain
from core.state.record import State


def session_started(state: State, event: ev.SessionStarted) -> None:
    state.started = True
    state.version = event.version


def session_ended(state: State, event: ev.SessionEnded) -> None:
    state.ended = event
    state.paused = None
    state.retry = None
    for chain in state.chains.values():
        chain.writing.clear()
        chain.scoring = None


def forked(state: State, event: ev.Forked) -> None:
    """What another session did can't be undone here, and what it cost was paid there."""
    state.forked = event
    state.deeds.clear()
    state.cost = state.judging_cost = 0.0
    state.cost_known = True
    state.input_tokens = state.output_tokens = state.aside_tokens = state.judging_tokens = state.wasted_tokens = 0
    state.generation_seconds = 0.0
    for chain in state.chains.values():
        chain.forgiven = chain.ideas[-1].number if chain.ideas else 0


def question_started(state: State, event: ev.QuestionStarted) -> None:
    if event.question not in state.chains:
        state.chains[event.question] = Chain(
            question=event.question, text=event.text, domain=event.domain, subdomain=event.subdomain
        )
    state.current = event.question


def paused(state: State, event: ev.Paused) -> None:
    state.paused = event


def resumed(state: State, event: ev.Resumed) -> None:
    paused = state.paused is not None and state.ended is None  # then who writes has gone on writing
    state.paused = None
    state.ended = None
    state.retry = None
    state.max_ideas = event.max_ideas or state.max_ideas
    state.budget = event.budget or state.budget
    for chain in state.chains.values():
        chain.failures = 0
        chain.unscored = 0
        chain.barred.clear()
        chain.silent.clear()
        chain.scoring = None
        if not paused:
            chain.writing.clear()
        if chain.ended and reopens(chain.ended, event.max_ideas):
            chain.ended = None


def reopens(end: ev.QuestionEnded, max_ideas: int | None) -> bool:
    """Whether a chain that ended so goes on: it was stopped from outside, or has room under a new cap."""
    if end.reason == "cap":
        return max_ideas is not None and max_ideas > end.responses
    return end.reason in ("person", "budget", "error")


def question_ended(state: State, event: ev.QuestionEnded) -> None:
    if chain := state.chains.get(event.question):
        chain.ended = event
        chain.offered = None
        chain.writing.clear()
        chain.scoring = None


def notice(state: State, event: ev.Notice) -> None:
    state.notices.append(event.text)


def unknown(state: State, event: ev.Unknown) -> None:
    state.unknown.append(event.name)
