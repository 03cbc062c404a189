"""The fold: events → what a screen, a report or a resumed run needs.

`apply` is the only way a `State` changes, in a live run, a resumed run, a replay and a report alike.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from core import events as ev
from core.chain import LASTING, Chain, Idea, Writing
from core.models import YOU, Budget, TeamSpec, Usage


class State(Struct, kw_only=True):
    """A session as far as its events tell."""

    chains: dict[str, Chain] = field(default_factory=dict)
    current: str | None = None
    started: bool = False
    version: str = ""
    seq: int = -1
    t: float = 0.0
    at: str = ""
    input_tokens: int = 0
    """Read by members."""
    output_tokens: int = 0
    """Written by members."""
    generation_seconds: float = 0.0
    tokens_per_second: float = 0.0
    """Of the newest call."""
    cost: float = 0.0
    cost_known: bool = True
    aside_tokens: int = 0
    """Of selectors and leads, read and written, where they write no proposals."""
    judging_tokens: int = 0
    """Of judges and embedder, read and written."""
    judging_cost: float = 0.0
    """The part of `cost` that scores took."""
    max_ideas: int | None = None
    """A cap given when the session was resumed."""
    budget: Budget | None = None
    """A budget given when the session was resumed."""
    team: TeamSpec | None = None
    """The team that took over, if one did."""
    pipelining: bool | None = None
    """As a person set it; None: as the plan has it."""
    wasted_tokens: int = 0
    """Used by steps that were asked ahead of the scores and dropped; they are in the other counts too."""
    controls: int = 0
    """Things of known score that judges were given."""
    controls_passed: int = 0
    paused: ev.Paused | None = None
    ended: ev.SessionEnded | None = None
    retry: ev.RetryScheduled | None = None
    notices: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """The names of events that this version does not know."""

    @property
    def tokens(self) -> int:
        """All that were read and written."""
        return self.input_tokens + self.output_tokens + self.aside_tokens + self.judging_tokens

    @property
    def chain(self) -> Chain | None:
        return self.chains[self.current] if self.current is not None else None

    @property
    def resumable(self) -> bool:
        """Whether there is something to go on with as things stand; a chain at its cap needs a higher one first."""
        if self.ended:
            return self.ended.how != "finished"
        ends = [chain.ended for chain in self.chains.values()]
        return not ends or any(end is None or end.reason in ("person", "error") for end in ends)


def fold(history: Iterable[ev.Event]) -> State:
    state = State()
    for event in history:
        apply(state, event)
    return state


def apply(state: State, event: ev.Event) -> None:
    """Change `state` by one event. For a question that never started only the clock and the totals change."""
    if event.seq >= 0:
        state.seq = max(state.seq, event.seq)
        state.at = event.at
    state.t = max(state.t, event.t)
    _HANDLERS[type(event)](state, event)


def snapshot(state: State) -> State:
    """A copy that later events leave as it is. Ideas are shared: they never change."""
    copy = replace(state, notices=list(state.notices), unknown=list(state.unknown))
    copy.chains = {
        name: replace(
            chain,
            ideas=list(chain.ideas),
            writing=dict(chain.writing),
            prompts=dict(chain.prompts),
            outcomes=dict(chain.outcomes),
            barred=dict(chain.barred),
            given=dict(chain.given),
        )
        for name, chain in state.chains.items()
    }
    return copy


def _session_started(state: State, event: ev.SessionStarted) -> None:
    state.started = True
    state.version = event.version


def _session_ended(state: State, event: ev.SessionEnded) -> None:
    state.ended = event
    state.paused = None
    state.retry = None
    for chain in state.chains.values():
        chain.writing.clear()
        chain.scoring = None


def _question_started(state: State, event: ev.QuestionStarted) -> None:
    if event.question not in state.chains:
        state.chains[event.question] = Chain(
            question=event.question, text=event.text, domain=event.domain, subdomain=event.subdomain
        )
    state.current = event.question


def _step_started(state: State, event: ev.StepStarted) -> None:
    if chain := state.chains.get(event.question):
        if event.step != chain.step:
            _forget_step(chain)
        chain.step = event.step
        chain.step_open = True
        chain.asked = event.members
        chain.failed_when_asked = event.failed
        chain.seeds = event.seeds
        chain.steers = event.steers
        chain.writing.clear()


def _forget_step(chain: Chain) -> None:
    """What came of the step under way."""
    chain.prompts.clear()
    chain.outcomes.clear()
    chain.writing.clear()
    chain.directions = None
    chain.chosen = None


def _step_dropped(state: State, event: ev.StepDropped) -> None:
    state.wasted_tokens += event.usage.input_tokens + event.usage.output_tokens
    if chain := state.chains.get(event.question):
        _forget_step(chain)


def _proposal_started(state: State, event: ev.ProposalStarted) -> None:
    if chain := state.chains.get(event.question):
        slot = ev.slot_of(event.member, event.draft)
        chain.prompts[slot] = event
        chain.writing[slot] = Writing(member=event.member, step=event.step, draft=event.draft, since=event.t)


def _proposal_delta(state: State, event: ev.ProposalDelta) -> None:
    chain = state.chains.get(event.question)
    slot = ev.slot_of(event.member, event.draft)
    if chain and (writing := chain.writing.get(slot)):
        _stop_waiting(state, event.member)
        chain.writing[slot] = replace(
            writing, text=writing.text + event.text, thoughts=writing.thoughts + event.thoughts
        )


def _stop_waiting(state: State, member: str) -> None:
    if state.retry and state.retry.member == member and not state.retry.scoring:
        state.retry = None


def _proposal_finished(state: State, event: ev.ProposalFinished) -> None:
    _account(state, event)
    if chain := state.chains.get(event.question):
        slot = ev.slot_of(event.member, event.draft)
        chain.writing.pop(slot, None)
        chain.outcomes[slot] = event
        chain.failures = 0
        chain.barred.pop(event.member, None)


def _proposal_failed(state: State, event: ev.ProposalFailed) -> None:
    _account(state, event)
    if chain := state.chains.get(event.question):
        slot = ev.slot_of(event.member, event.draft)
        chain.writing.pop(slot, None)
        if event.outcome != "cancelled":
            chain.outcomes[slot] = event
            if event.kind in LASTING:
                chain.barred[event.member] = event
            elif event.kind != "connection":  # a server that is gone is waited for
                chain.failures += 1


def _proposal_chosen(state: State, event: ev.ProposalChosen) -> None:
    _pay(state, event.cost)
    state.aside_tokens += event.usage.input_tokens + event.usage.output_tokens
    if chain := state.chains.get(event.question):
        chain.chosen = event


def _directions_named(state: State, event: ev.DirectionsNamed) -> None:
    _pay(state, event.cost)
    state.aside_tokens += event.usage.input_tokens + event.usage.output_tokens
    if chain := state.chains.get(event.question):
        chain.directions = event


def _aside_failed(state: State, event: ev.AsideFailed) -> None:
    _pay(state, event.cost)
    state.aside_tokens += event.usage.input_tokens + event.usage.output_tokens


def _pipelining_set(state: State, event: ev.PipeliningSet) -> None:
    state.pipelining = event.on


def _account(state: State, event: ev.ProposalFinished | ev.ProposalFailed) -> None:
    _stop_waiting(state, event.member)
    _pay(state, event.cost)
    state.input_tokens += event.usage.input_tokens
    state.output_tokens += event.usage.output_tokens
    state.generation_seconds += event.usage.seconds
    state.tokens_per_second = event.usage.tokens_per_second or state.tokens_per_second


def _pay(state: State, cost: float | None) -> None:
    if cost is None:
        state.cost_known = False
    else:
        state.cost += cost


def _pay_judges(state: State, usage: Usage, cost: float | None) -> None:
    _pay(state, cost)
    state.judging_tokens += usage.input_tokens + usage.output_tokens
    state.judging_cost += cost or 0.0


def _idea_added(state: State, event: ev.IdeaAdded) -> None:
    chain = state.chains.get(event.question)
    if chain is None:
        return
    idea = Idea(number=event.idea, step=event.step, text=event.text, author=event.author, t=event.t)
    if event.author != YOU:
        slot = ev.slot_of(event.author, event.draft)
        outcome = chain.outcomes.get(slot)
        idea = replace(
            idea,
            call=outcome if isinstance(outcome, ev.ProposalFinished) else None,
            prompt=chain.prompts.get(slot),
            chosen=chain.chosen,
            others=tuple(
                end for name, end in chain.outcomes.items() if isinstance(end, ev.ProposalFinished) and name != slot
            ),
        )
        chain.step_open = False
        chain.writing.clear()
    chain.ideas.append(idea)


def _idea_scored(state: State, event: ev.IdeaScored) -> None:
    _pay_judges(state, event.usage, event.cost)
    _stop_waiting_for_scores(state)
    if chain := state.chains.get(event.question):
        chain.take_scores(event)


def _judging_paid(state: State, event: ev.JudgingPaid) -> None:
    _pay_judges(state, event.usage, event.cost)
    _stop_waiting_for_scores(state)
    chain = state.chains.get(event.question)
    if chain and event.idea is not None:
        chain.scoring = None
        chain.given[event.idea] = event.given


def _stop_waiting_for_scores(state: State) -> None:
    if state.retry and state.retry.scoring:
        state.retry = None


def _scoring_progress(state: State, event: ev.ScoringProgress) -> None:
    _stop_waiting_for_scores(state)
    if chain := state.chains.get(event.question):
        chain.scoring = event


def _control_scored(state: State, event: ev.ControlScored) -> None:
    _pay_judges(state, event.usage, event.cost)
    state.controls += 1
    state.controls_passed += event.passed


def _team_changed(state: State, event: ev.TeamChanged) -> None:
    state.team = event.team
    state.retry = None
    for chain in state.chains.values():
        chain.barred.clear()
        chain.failures = 0


def _context_trimmed(state: State, event: ev.ContextTrimmed) -> None:
    if chain := state.chains.get(event.question):
        chain.trimmed = event


def _retry_scheduled(state: State, event: ev.RetryScheduled) -> None:
    state.retry = event
    chain = state.chains.get(event.question)
    if chain and not event.scoring and (writing := chain.writing.get(event.member)):
        chain.writing[event.member] = replace(writing, text="", thoughts="")


def _notice(state: State, event: ev.Notice) -> None:
    state.notices.append(event.text)


def _paused(state: State, event: ev.Paused) -> None:
    state.paused = event


def _resumed(state: State, event: ev.Resumed) -> None:
    state.paused = None
    state.ended = None
    state.retry = None
    state.max_ideas = event.max_ideas or state.max_ideas
    state.budget = event.budget or state.budget
    for chain in state.chains.values():
        chain.failures = 0
        chain.unscored = 0
        chain.barred.clear()
        chain.scoring = None
        chain.writing.clear()
        if chain.ended and reopens(chain.ended):
            chain.ended = None


def reopens(end: ev.QuestionEnded) -> bool:
    """Whether a chain that ended so can go on: it was stopped from outside, not by its ideas."""
    return end.reason in ("person", "cap", "budget", "error")


def _question_ended(state: State, event: ev.QuestionEnded) -> None:
    if chain := state.chains.get(event.question):
        chain.ended = event
        chain.writing.clear()
        chain.scoring = None


def _unknown(state: State, event: ev.Unknown) -> None:
    state.unknown.append(event.name)


_HANDLERS: dict[type[ev.Event], Callable[[State, Any], None]] = {
    ev.SessionStarted: _session_started,
    ev.SessionEnded: _session_ended,
    ev.QuestionStarted: _question_started,
    ev.StepStarted: _step_started,
    ev.ProposalStarted: _proposal_started,
    ev.ProposalDelta: _proposal_delta,
    ev.ProposalFinished: _proposal_finished,
    ev.ProposalFailed: _proposal_failed,
    ev.ProposalChosen: _proposal_chosen,
    ev.DirectionsNamed: _directions_named,
    ev.AsideFailed: _aside_failed,
    ev.StepDropped: _step_dropped,
    ev.PipeliningSet: _pipelining_set,
    ev.IdeaAdded: _idea_added,
    ev.IdeaScored: _idea_scored,
    ev.JudgingPaid: _judging_paid,
    ev.ScoringProgress: _scoring_progress,
    ev.ControlScored: _control_scored,
    ev.TeamChanged: _team_changed,
    ev.ContextTrimmed: _context_trimmed,
    ev.RetryScheduled: _retry_scheduled,
    ev.Notice: _notice,
    ev.Paused: _paused,
    ev.Resumed: _resumed,
    ev.QuestionEnded: _question_ended,
    ev.Unknown: _unknown,
}
