"""The ideas so far for one question, and the step under way. Changed by `core.state.apply` alone."""

from msgspec import Struct, field
from msgspec.structs import replace

from core import events as ev
from core.models import YOU

LASTING = frozenset({"quota", "denied", "missing", "address", "context", "request", "parameter"})
"""Kinds of failure that stay until a person does something about them."""


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
    chosen: ev.ProposalChosen | None = None
    """How it was picked, where there was a choice."""
    others: tuple[ev.ProposalFinished, ...] = ()
    """What else was proposed in its step."""

    @property
    def failed(self) -> bool:
        return self.score is not None and self.score.verdict == "failed"


class Writing(Struct, frozen=True, kw_only=True):
    """What one member is writing right now."""

    member: str
    step: int
    draft: int = 0
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
    asked: tuple[str, ...] = ()
    """Who was drawn for this step."""
    failed_when_asked: int = 0
    """How many ideas had failed when this step was asked."""
    writing: dict[str, Writing] = field(default_factory=dict)
    prompts: dict[str, ev.ProposalStarted] = field(default_factory=dict)
    """What was asked in this step, by `core.events.slot_of`."""
    outcomes: dict[str, ev.ProposalFinished | ev.ProposalFailed] = field(default_factory=dict)
    """How the calls of this step ended, by the same; cancelled ones left out."""
    directions: ev.DirectionsNamed | None = None
    """Where the lead of this step wants to look."""
    chosen: ev.ProposalChosen | None = None
    """Which proposal of this step was picked."""
    failures: int = 0
    """Calls in a row that brought no idea since the session last went on, but for those that failed for good."""
    barred: dict[str, ev.ProposalFailed] = field(default_factory=dict)
    """Members whose newest call failed in a way that stays until a person does something, since the session went on."""
    scoring: ev.ScoringProgress | None = None
    given: dict[int, tuple[ev.Given, ...]] = field(default_factory=dict)
    """What judges said of ideas that have no scores yet, by their number."""
    unscored: int = 0
    """The team's ideas in a row, since the session last went on, of which a score could not be had."""
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

    @property
    def failed(self) -> int:
        return self.responses - self.valid

    @property
    def passed(self) -> int:
        """Those whose scores are all there and good enough; `valid` counts the unscored too."""
        return sum(idea.score is not None and idea.score.verdict == "passed" for idea in self.ideas)

    def take_scores(self, scores: ev.IdeaScored) -> None:
        """Give one of its ideas the scores that came for it."""
        self.scoring = None
        self.given.pop(scores.idea, None)
        places = [place for place, idea in enumerate(self.ideas) if idea.number == scores.idea]
        if not places:
            return
        self.ideas[places[-1]] = idea = replace(self.ideas[places[-1]], score=scores)
        if idea.author == YOU:
            return
        if scores.verdict == "unscored" or scores.lacks_judges:
            self.unscored += 1
        elif scores.failed_rule != "mechanical":  # such an idea is shown to no judge, and tells nothing of them
            self.unscored = 0

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
