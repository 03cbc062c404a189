"""How scores come."""

from core import events as ev
from core.state.record import State


def idea_scored(state: State, event: ev.IdeaScored) -> None:
    state.pay_judges(event.usage, event.cost)
    _stop_waiting_for_scores(state)
    if chain := state.chains.get(event.question):
        chain.take_scores(event)


def judging_paid(state: State, event: ev.JudgingPaid) -> None:
    state.pay_judges(event.usage, event.cost)
    _stop_waiting_for_scores(state)
    chain = state.chains.get(event.question)
    if chain and event.idea is not None:
        chain.scoring = None
        chain.given[event.idea] = event.given


def _stop_waiting_for_scores(state: State) -> None:
    if state.retry and state.retry.scoring:
        state.retry = None


def scoring_progress(state: State, event: ev.ScoringProgress) -> None:
    _stop_waiting_for_scores(state)
    if chain := state.chains.get(event.question):
        chain.scoring = event


def control_scored(state: State, event: ev.ControlScored) -> None:
    state.pay_judges(event.usage, event.cost)
    state.controls += 1
    state.controls_passed += event.passed
