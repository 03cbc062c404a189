"""Sessions as people read them: what Markdown and HTML show, in words and in order."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from core.analysis.shares import shares
from core.chain import Chain, Idea
from core.exchange.authors import authors
from core.exchange.oddities import odd_words
from core.models import YOU, Member
from core.questions import OWN
from core.rules import Rules
from core.state import State
from core.store.library import StoredSession
from core.text import shown

FAILED = {
    "coherence": "coherence too low",
    "embedding_novelty": "too like an earlier idea",
    "judged_novelty": "judged too like an earlier idea",
    "mechanical": "no idea at all",
}

ENDED = {
    "cap": "it reached its cap",
    "budget": "its budget was used up",
    "person": "a person stopped it",
    "refused": "the model refused",
    "error": "an error ended it",
}


BLANK = "(blank)"
"""What stands in the place of an idea without a text."""


class Passage(Struct, frozen=True):
    """A text that belongs to an idea, and what it is."""

    name: str
    text: str


class ReportedIdea(Struct, frozen=True, kw_only=True):
    number: int
    author: str
    """The member, and its model where that is called otherwise."""
    text: str
    pinned: bool
    rating: int
    """1 to 5; 0 where nobody has rated it."""
    novelty: float | None
    """By embedding."""
    scores: tuple[str, ...]
    verdict: str
    """What is to be said of it beside its scores; "" for one that passed."""
    stands: bool
    """Whether it neither failed nor was taken out."""
    under: tuple[str, ...]
    """Seeds and instructions that its prompt held."""
    more: tuple[Passage, ...]
    """Its comment, what it was before it was edited, what was made of it."""
    thoughts: str


class ReportedChain(Struct, frozen=True, kw_only=True):
    question: str
    leaf: str
    outcome: str
    """How many ideas there are, and why there are no more."""
    chosen: tuple[ReportedIdea, ...]
    """The pinned ones, then the rated ones, the best first."""
    others: tuple[ReportedIdea, ...]
    """All the rest, in order."""


class ReportedSession(Struct, frozen=True, kw_only=True):
    title: str
    facts: tuple[tuple[str, str], ...]
    """What it is, and a line of it each."""
    chains: tuple[ReportedChain, ...]


def reported(session: StoredSession) -> ReportedSession:
    state = session.state()
    members = authors(session)
    chains = tuple(_chain(chain, state, members) for chain in state.chains.values())
    questions = [question.text for question in session.plan.questions]
    name = session.plan.team.name
    return ReportedSession(
        title=questions[0] if len(questions) == 1 else f"{name}: {len(questions)} questions",
        facts=tuple(_facts(session, state)),
        chains=chains,
    )


def _facts(session: StoredSession, state: State) -> Iterator[tuple[str, str]]:
    plan = session.plan
    team = state.team or plan.team
    yield "Team", f"{team.name} ({team.strategy}): {', '.join(_who(member) for member in team.everybody)}"
    yield "Judges", ", ".join(judge.name for judge in plan.judging.judges) or ("unknown" if plan.origin else "nobody")
    embedder = plan.embedder if isinstance(plan.embedder, str) else plan.embedder.name
    yield "Rules", _rules(plan.rules, embedder, judged=bool(plan.judging.judges or plan.origin))
    yield "Begun", _date(plan.created)
    if plan.origin:
        yield "Imported from", f"{plan.origin.file} ({plan.origin.model}, temperature {plan.origin.temperature})"
    if state.forked:
        yield "Forked from", f"{state.forked.session}, after idea {state.forked.idea}"
    if found := [share for share in shares(state.chains.values()) if share.marked]:
        yield "Pinned and rated", ", ".join(f"{each.marked} by {each.author} ({each.of_marked:.0%})" for each in found)
    yield "Session", shown(session.folder.name)


def _date(created: str) -> str:
    try:
        return f"{datetime.fromisoformat(created):%d %B %Y, %H:%M}".lstrip("0")
    except ValueError:
        return created


def _rules(rules: Rules, embedder: str, *, judged: bool) -> str:
    least = f"novelty {rules.embedding_novelty:g} or more by {embedder}"
    if judged:
        least += f", coherence above {rules.coherence:g}, judged novelty {rules.judged_novelty:g} or more"
    ends = "the first failing idea ends" if rules.patience == 1 else f"{rules.patience} failing ideas in a row end"
    return f"{least}; {ends} a chain"


def _chain(chain: Chain, state: State, members: dict[str, Member]) -> ReportedChain:
    ideas = [_idea(idea, state, members) for idea in chain.ideas]
    chosen = [idea for idea in ideas if idea.pinned or idea.rating]
    return ReportedChain(
        question=chain.text,
        leaf=f"{chain.domain} / {chain.subdomain}" if chain.subdomain else "" if chain.domain == OWN else chain.domain,
        outcome=outcome_of(chain),
        chosen=tuple(sorted(chosen, key=lambda idea: (not idea.pinned, -idea.rating, idea.number))),
        others=tuple(idea for idea in ideas if not (idea.pinned or idea.rating)),
    )


def outcome_of(chain: Chain) -> str:
    """How many ideas a chain has, and why there are no more."""
    ideas = "1 idea" if chain.responses == 1 else f"{chain.responses} ideas"
    counts = f"{ideas}, {chain.valid} valid"
    if chain.ended is None:
        return f"{counts}; not finished"
    reason = chain.ended.reason
    why = ENDED.get(reason) or f"the last failed: {FAILED[reason]}"
    return f"{counts}; {why}{f' ({chain.ended.message})' if chain.ended.message else ''}"


def _idea(idea: Idea, state: State, members: dict[str, Member]) -> ReportedIdea:
    force = state.was_in_force(idea)
    return ReportedIdea(
        number=idea.number,
        author=_who(members[idea.author]) if idea.author in members else idea.author,
        text=idea.text,
        pinned=idea.pinned,
        rating=idea.rating,
        novelty=idea.score.embedding_novelty if idea.score else None,
        scores=scores_of(idea),
        verdict=verdict_of(idea),
        stands=not (idea.failed or idea.removed),
        under=(
            *(f"{seed.lever}: {seed.name}" for seed in force.seeds),
            *(f"instruction: {steer}" for steer in force.steers),
        ),
        more=tuple(_passages(idea)),
        thoughts=idea.call.thoughts if idea.call and idea.author != YOU else "",
    )


def _who(member: Member) -> str:
    return member.name if member.name == member.model.name else f"{member.name} ({member.model.name})"


def scores_of(idea: Idea) -> tuple[str, ...]:
    """The scores that an idea has, each with its name."""
    if (score := idea.score) is None:
        return ()
    named = (
        ("novelty", score.embedding_novelty, "{:.2f}"),
        ("coherence", score.coherence, "{:.0f}"),
        ("judged novelty", score.judged_novelty, "{:.2f}"),
    )
    return tuple(f"{name} {form.format(value)}" for name, value, form in named if value is not None)


def verdict_of(idea: Idea) -> str:
    """What is to be said of an idea beside its scores."""
    parts = ["taken out"] if idea.removed else []
    if score := idea.score:
        if idea.failed:
            nearest = f" ({score.nearest})" if score.failed_rule == "embedding_novelty" and score.nearest else ""
            parts.append(f"failed: {score.detail or FAILED.get(score.failed_rule or '', '')}{nearest}")
        elif score.verdict == "unscored":
            why = ", ".join(part for part in (score.mark, score.why) if part)
            parts.append(f"unscored ({why})" if why else "unscored")
        parts += [odd_words(name) for name in score.odd]
    if idea.parents:
        parts.append(f"made of {', '.join(map(str, idea.parents))}")
    return "; ".join(parts)


def _passages(idea: Idea) -> Iterator[Passage]:
    if idea.comment:
        yield Passage("Comment", idea.comment)
    if idea.original:
        yield Passage("Before it was edited", idea.original)
    for done in idea.developments:
        yield Passage(f"Worked out by {done.member}", done.text)
