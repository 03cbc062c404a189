"""The ideas so far for one question, and the step under way. Changed by `core.state.apply` alone."""

from msgspec import Struct, field
from msgspec.structs import replace

from core import events as ev

LASTING = frozenset({"quota", "denied", "missing", "address", "context", "request", "parameter"})
"""Kinds of failure that stay until a person does something about them."""

Mark = ev.IdeaEdited | ev.IdeaRemoved | ev.IdeaRestored | ev.IdeaPinned | ev.IdeaRated | ev.IdeaCommented
"""What a person does to an idea that is there; also when the session has ended."""

Change = ev.IdeaScored | Mark


class Idea(Struct, frozen=True, kw_only=True):
    """One idea with everything known of it. Never changed, only replaced, so that states can share it."""

    number: int
    step: int
    text: str
    author: str
    t: float = 0.0
    added: int = -1
    """The number of the event that added it."""
    by_person: bool = False
    """A person's own, or one that a person asked for beside the steps."""
    parents: tuple[int, ...] = ()
    """The ideas that it was merged from."""
    seeds: tuple[str, ...] = ()
    """The seeds that it was written under, by their ids."""
    steers: tuple[str, ...] = ()
    team: str = ""
    """The team at work when it came, where that is not the plan's any more."""
    call: ev.ProposalFinished | None = None
    prompt: ev.ProposalStarted | None = None
    score: ev.IdeaScored | None = None
    chosen: ev.ProposalChosen | None = None
    """How it was picked, where there was a choice."""
    others: tuple[ev.ProposalFinished, ...] = ()
    """What else was proposed in its step."""
    original: str = ""
    """As it was first, where a person has edited it."""
    removed: bool = False
    pinned: bool = False
    rating: int = 0
    """1 to 5; 0 where nobody has rated it."""
    comment: str = ""
    developments: tuple[ev.TaskDone, ...] = ()
    """What the team made of it when it was asked to work it out."""
    history: tuple[Change, ...] = ()
    """What changed it, in order."""

    @property
    def failed(self) -> bool:
        return self.score is not None and self.score.verdict == "failed"

    @property
    def stands(self) -> bool:
        """Whether prompts show it."""
        return not self.removed and (self.pinned or not self.failed)

    @property
    def counts(self) -> bool:
        """Whether its verdict tells how the team does: it is as a step brought it."""
        return not (self.by_person or self.removed or self.original)

    def changed_by(self, event: Change) -> "Idea":
        return _changed(replace(self, history=(*self.history, event)), event)

    def as_of(self, seq: int) -> "Idea":
        """As it was when the event of that number came."""
        if not self.history or self.history[-1].seq < seq:
            return self
        idea = replace(
            self,
            text=self.original or self.text,
            original="",
            score=None,
            removed=False,
            pinned=False,
            rating=0,
            comment="",
            history=(),
        )
        for event in self.history:
            if event.seq < seq:
                idea = idea.changed_by(event)
        return idea


def _changed(idea: Idea, event: Change) -> Idea:
    match event:
        case ev.IdeaScored():
            return replace(idea, score=event)
        case ev.IdeaEdited():
            first = idea.original or idea.text
            original = "" if event.new == first else first
            return replace(idea, text=event.new, original=original, score=_score_of(idea, event.new))
        case ev.IdeaRemoved():
            return replace(idea, removed=True)
        case ev.IdeaRestored():
            return replace(idea, removed=False)
        case ev.IdeaPinned():
            return replace(idea, pinned=event.new)
        case ev.IdeaRated():
            return replace(idea, rating=event.new)
        case ev.IdeaCommented():
            return replace(idea, comment=event.new)


def _score_of(idea: Idea, text: str) -> ev.IdeaScored | None:
    """The scores that an idea had the last time that it said this; None if it never did."""
    said, found = idea.original or idea.text, None
    for change in idea.history:
        if isinstance(change, ev.IdeaEdited):
            said = change.new
        elif isinstance(change, ev.IdeaScored) and said == text:
            found = change
    return found


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
    """The seeds that the step's prompts hold, by their ids."""
    steers: tuple[str, ...] = ()
    out_of_date: str = ""
    """Why what the step's prompts hold stands no longer, if it does not."""
    own_first: ev.OwnIdeasFirst | None = None
    """Whether a person wrote ideas before the team did, and whether it is shown them."""
    offered: ev.ChoiceOffered | None = None
    """What a person is to pick from now."""
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
    forgiven: int = 0
    """The number of the last idea that came before a fork: what failed until then ends nothing here."""
    failures: int = 0
    """Calls in a row that brought no idea since the session last went on, but for those that failed for good."""
    barred: dict[str, ev.ProposalFailed] = field(default_factory=dict)
    """Members whose newest call failed in a way that stays until a person does something, since the session went on."""
    silent: dict[str, ev.AsideFailed] = field(default_factory=dict)
    """Models that pick or lead, whose newest call failed so, by name."""
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
        return sum(not (idea.failed or idea.removed) for idea in self.ideas)

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
        return sum(idea.failed for idea in self.ideas)

    @property
    def passed(self) -> int:
        """Those whose scores are all there and good enough; `valid` counts the unscored too."""
        return sum(
            idea.score is not None and idea.score.verdict == "passed" and not idea.removed for idea in self.ideas
        )

    def idea(self, number: int) -> Idea | None:
        """None if it has none of that number."""
        place = self._place(number)
        return None if place is None else self.ideas[place]

    def shows(self, idea: Idea) -> bool:
        """Whether prompts show it."""
        first = idea.step == 0 and idea.by_person
        hidden = first and self.own_first is not None and not self.own_first.shown and not idea.pinned
        return idea.stands and not hidden

    def shown_by(self, prompt: ev.ProposalStarted) -> list[Idea]:
        """The ideas that a prompt showed, as they were then."""
        named = set(prompt.shown)
        then = [idea.as_of(prompt.seq) for idea in self.ideas if idea.added < prompt.seq]
        return [idea for idea in then if (self.shows(idea) if prompt.whole else idea.number in named)]

    def change(self, number: int, event: Change) -> Idea | None:
        """Change one of its ideas; None if it has none of that number."""
        place = self._place(number)
        if place is None:
            return None
        self.ideas[place] = idea = self.ideas[place].changed_by(event)
        return idea

    def outdate(self, why: str) -> None:
        """Note that what the prompts of the step under way hold stands no longer; nothing that came of it is picked."""
        if self.step_open:
            self.out_of_date = why
            self.offered = None

    def forget_judgements(self, number: int) -> None:
        """Let go of what judges said of an idea, and of others against it: its text is another one now."""
        self.given.pop(number, None)
        for idea, given in self.given.items():
            self.given[idea] = tuple(one for one in given if one.against != number)

    @property
    def owed(self) -> list[ev.ProposalFinished]:
        """Proposals that a person took beside the pick of the newest step, and that are not ideas yet."""
        if self.chosen is None or self.step_open:
            return []
        taken = {
            ev.slot_of(idea.author, idea.call.draft) for idea in self.ideas if idea.step == self.step and idea.call
        }
        found = [self.outcomes.get(slot) for slot in self.chosen.also if slot not in taken]
        return [end for end in found if isinstance(end, ev.ProposalFinished)]

    def develop(self, number: int, done: ev.TaskDone) -> None:
        """Keep what the team made of one of its ideas."""
        place = self._place(number)
        if place is not None:
            idea = self.ideas[place]
            self.ideas[place] = replace(idea, developments=(*idea.developments, done))

    def take_scores(self, scores: ev.IdeaScored) -> None:
        """Give one of its ideas the scores that came for it."""
        self.scoring = None
        self.given.pop(scores.idea, None)
        idea = self.change(scores.idea, scores)
        if idea is None or idea.by_person:
            return
        if scores.verdict == "unscored" or scores.lacks_judges:
            self.unscored += 1
        elif scores.failed_rule != "mechanical":  # such an idea is shown to no judge, and tells nothing of them
            self.unscored = 0

    def _place(self, number: int) -> int | None:
        """Of an idea in `ideas`: most often the place before its number."""
        if 0 < number <= len(self.ideas) and self.ideas[number - 1].number == number:
            return number - 1
        return next((place for place in reversed(range(len(self.ideas))) if self.ideas[place].number == number), None)

    def failing_in_row(self) -> int:
        """How many of the team's newest scored ideas fail in a row.

        What a person brought, edited or took out neither counts nor interrupts.
        """
        count = 0
        for idea in reversed(self.ideas):
            if idea.number <= self.forgiven:
                break
            if not idea.counts or idea.score is None:
                continue
            if not idea.failed:
                break
            count += 1
        return count
