"""The fold: events → what a screen, a report or a resumed run needs.

`apply` is the only way a `State` changes, in a live run, a resumed run, a replay and a report alike.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from core import events as ev
from core.models import YOU


class Idea(Struct, frozen=True, kw_only=True):
    """One idea with everything known of it. Never changed, only replaced, so that states can share it."""

    number: int
    step: int
    text: str
    author: str
    t: float = 0.0
    call: ev.ProposalFinished | None = None
    prompt: ev.ProposalStarted | None = None
    score: ev.IdeaScored | None = None

    @property
    def failed(self) -> bool:
        return self.score is not None and self.score.verdict == "failed"


class Writing(Struct, frozen=True, kw_only=True):
    """What one member is writing right now."""

    member: str
    step: int
    since: float
    text: str = ""
    thoughts: str = ""


class Chain(Struct, kw_only=True):
    """The ideas so far for one question, and the step under way."""

    question: str
    text: str
    domain: str
    subdomain: str | None = None
    ideas: list[Idea] = field(default_factory=list)
    step: int = 0
    step_open: bool = False
    """Whether the newest step has not brought its idea yet; a session that goes on takes it up again."""
    seeds: tuple[str, ...] = ()
    steers: tuple[str, ...] = ()
    writing: dict[str, Writing] = field(default_factory=dict)
    prompts: dict[str, ev.ProposalStarted] = field(default_factory=dict)
    """What was asked in this step, by member."""
    outcomes: dict[str, ev.ProposalFinished | ev.ProposalFailed] = field(default_factory=dict)
    """How the calls of this step ended, by member; cancelled ones left out."""
    failures: int = 0
    """Calls that failed in a row since the session last went on."""
    unscored: int = 0
    """The team's ideas without any score in a row since the session last went on."""
    trimmed: ev.ContextTrimmed | None = None
    ended: ev.QuestionEnded | None = None

    @property
    def responses(self) -> int:
        return len(self.ideas)

    @property
    def valid(self) -> int:
        return sum(not idea.failed for idea in self.ideas)

    @property
    def next_number(self) -> int:
        """One more than the last: a damaged log may lack some."""
        return self.ideas[-1].number + 1 if self.ideas else 1

    @property
    def pending(self) -> Idea | None:
        """The first idea that has no scores yet."""
        return next((idea for idea in self.ideas if idea.score is None), None)

    def failing_in_row(self) -> int:
        """How many of the team's newest scored ideas fail in a row. A person's own neither count nor interrupt."""
        count = 0
        for idea in reversed(self.ideas):
            if idea.author == YOU or idea.score is None:
                continue
            if not idea.failed:
                break
            count += 1
        return count


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
    output_tokens: int = 0
    generation_seconds: float = 0.0
    tokens_per_second: float = 0.0
    """Of the newest call."""
    cost: float = 0.0
    cost_known: bool = True
    max_ideas: int | None = None
    """A cap given when the session was resumed."""
    paused: ev.Paused | None = None
    ended: ev.SessionEnded | None = None
    retry: ev.RetryScheduled | None = None
    notices: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """The names of events that this version does not know."""

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


def _question_started(state: State, event: ev.QuestionStarted) -> None:
    if event.question not in state.chains:
        state.chains[event.question] = Chain(
            question=event.question, text=event.text, domain=event.domain, subdomain=event.subdomain
        )
    state.current = event.question


def _step_started(state: State, event: ev.StepStarted) -> None:
    if chain := state.chains.get(event.question):
        if event.step != chain.step:
            chain.prompts.clear()
            chain.outcomes.clear()
        chain.step = event.step
        chain.step_open = True
        chain.seeds = event.seeds
        chain.steers = event.steers
        chain.writing.clear()


def _proposal_started(state: State, event: ev.ProposalStarted) -> None:
    if chain := state.chains.get(event.question):
        chain.prompts[event.member] = event
        chain.writing[event.member] = Writing(member=event.member, step=event.step, since=event.t)


def _proposal_delta(state: State, event: ev.ProposalDelta) -> None:
    chain = state.chains.get(event.question)
    if chain and (writing := chain.writing.get(event.member)):
        chain.writing[event.member] = replace(
            writing, text=writing.text + event.text, thoughts=writing.thoughts + event.thoughts
        )


def _proposal_finished(state: State, event: ev.ProposalFinished) -> None:
    _account(state, event)
    if chain := state.chains.get(event.question):
        chain.writing.pop(event.member, None)
        chain.outcomes[event.member] = event
        chain.failures = 0


def _proposal_failed(state: State, event: ev.ProposalFailed) -> None:
    _account(state, event)
    if chain := state.chains.get(event.question):
        chain.writing.pop(event.member, None)
        if event.outcome != "cancelled":
            chain.outcomes[event.member] = event
            chain.failures += 1


def _account(state: State, event: ev.ProposalFinished | ev.ProposalFailed) -> None:
    state.retry = None
    state.input_tokens += event.usage.input_tokens
    state.output_tokens += event.usage.output_tokens
    state.generation_seconds += event.usage.seconds
    state.tokens_per_second = event.usage.tokens_per_second or state.tokens_per_second
    if event.cost is None:
        state.cost_known = False
    else:
        state.cost += event.cost


def _idea_added(state: State, event: ev.IdeaAdded) -> None:
    chain = state.chains.get(event.question)
    if chain is None:
        return
    idea = Idea(number=event.idea, step=event.step, text=event.text, author=event.author, t=event.t)
    if event.author != YOU:
        outcome = chain.outcomes.get(event.author)
        idea = replace(
            idea,
            call=outcome if isinstance(outcome, ev.ProposalFinished) else None,
            prompt=chain.prompts.get(event.author),
        )
        chain.step_open = False
        chain.writing.clear()
    chain.ideas.append(idea)


def _idea_scored(state: State, event: ev.IdeaScored) -> None:
    if chain := state.chains.get(event.question):
        for index in range(len(chain.ideas) - 1, -1, -1):
            if chain.ideas[index].number == event.idea:
                chain.ideas[index] = replace(chain.ideas[index], score=event)
                if chain.ideas[index].author != YOU:
                    chain.unscored = chain.unscored + 1 if event.verdict == "unscored" else 0
                break


def _context_trimmed(state: State, event: ev.ContextTrimmed) -> None:
    if chain := state.chains.get(event.question):
        chain.trimmed = event


def _retry_scheduled(state: State, event: ev.RetryScheduled) -> None:
    state.retry = event


def _notice(state: State, event: ev.Notice) -> None:
    state.notices.append(event.text)


def _paused(state: State, event: ev.Paused) -> None:
    state.paused = event


def _resumed(state: State, event: ev.Resumed) -> None:
    state.paused = None
    state.ended = None
    state.max_ideas = event.max_ideas or state.max_ideas
    for chain in state.chains.values():
        chain.failures = 0
        chain.unscored = 0
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


def _unknown(state: State, event: ev.Unknown) -> None:
    state.unknown.append(event.name)


def _nothing(state: State, event: ev.Event) -> None:
    """For events that only matter in the record."""


_HANDLERS: dict[type[ev.Event], Callable[[State, Any], None]] = {
    ev.SessionStarted: _session_started,
    ev.SessionEnded: _session_ended,
    ev.QuestionStarted: _question_started,
    ev.StepStarted: _step_started,
    ev.ProposalStarted: _proposal_started,
    ev.ProposalDelta: _proposal_delta,
    ev.ProposalFinished: _proposal_finished,
    ev.ProposalFailed: _proposal_failed,
    ev.ProposalChosen: _nothing,
    ev.IdeaAdded: _idea_added,
    ev.IdeaScored: _idea_scored,
    ev.ContextTrimmed: _context_trimmed,
    ev.RetryScheduled: _retry_scheduled,
    ev.Notice: _notice,
    ev.Paused: _paused,
    ev.Resumed: _resumed,
    ev.QuestionEnded: _question_ended,
    ev.Unknown: _unknown,
}
