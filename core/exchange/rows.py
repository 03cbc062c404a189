"""Ideas as rows of a table: one object a line, or a CSV for pandas, R and spreadsheets."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from core.chain import Chain, Idea
from core.exchange.authors import authors
from core.exchange.csv_text import csv_record
from core.models import Usage
from core.state import State
from core.store.library import StoredSession
from core.text import shown


class Row(Struct, frozen=True, kw_only=True):
    """One idea. What is not known is null, and an empty cell of the CSV."""

    session: str
    """The id of its session."""
    team: str
    question: str
    """The id of its question."""
    question_text: str
    domain: str
    subdomain: str | None
    idea: int
    """Its number in the chain, from 1."""
    step: int
    """The step that brought it; 0 for what a person brought before the first."""
    author: str
    """A member, or `you`."""
    model: str
    """The author's; "" for a person."""
    text: str
    coherence: float | None
    """0 to 100, from judges."""
    embedding_novelty: float | None
    """1 − the greatest cosine similarity to any earlier idea."""
    judged_novelty: float | None
    """1 − the greatest similarity that a judge gives to any earlier idea."""
    nearest: int | None
    """The number of the earlier idea that it is most like, by embedding."""
    verdict: str | None
    """`passed`, `failed`, `unscored`; null while it waits for its scores."""
    failed_rule: str | None
    """`coherence`, `embedding_novelty`, `judged_novelty`, `mechanical`."""
    embedder: str
    judges: tuple[str, ...]
    pinned: bool
    rating: int | None
    """1 to 5."""
    comment: str
    original: str
    """As it was before a person edited it; "" if nobody did."""
    removed: bool
    """Whether it was taken out of the chain."""
    parents: tuple[int, ...]
    """The ideas that it was merged from."""
    seeds: tuple[str, ...]
    """What it was written under: seeds and other levers."""
    steers: tuple[str, ...]
    """The instructions that it was written under."""
    seconds: float
    """When it came, since the session's start."""
    input_tokens: int | None
    """Of the call that wrote it, as are the following."""
    output_tokens: int | None
    reasoning_tokens: int | None
    writing_seconds: float | None
    cost: float | None
    """US dollars."""
    mark: str
    """How the file that it was imported from marks it, where that is no rule's name."""
    odd: tuple[str, ...]
    """What is odd in it, if it was imported."""
    chain_ended: str | None
    """Why the chain ended: a rule's name, `cap`, `budget`, `person`, `refused`, `error`; null if it did not."""
    thoughts: str
    """Not in the CSV."""


COLUMNS = tuple(name for name in Row.__struct_fields__ if name != "thoughts")
"""Of the CSV, in order."""


def rows(sessions: Iterable[StoredSession]) -> Iterator[Row]:
    """All ideas of all chains, those that failed or were taken out too."""
    for session in sessions:
        state = session.state()
        models = {name: member.model.name for name, member in authors(session).items()}
        for chain in state.chains.values():
            for idea in chain.ideas:
                yield _row(session, state, chain, idea, models.get(idea.author, ""))


def _row(session: StoredSession, state: State, chain: Chain, idea: Idea, model: str) -> Row:
    score = idea.score
    force = state.was_in_force(idea)
    usage = idea.call.usage if idea.call else Usage()
    return Row(
        session=shown(session.folder.name),
        team=(state.team or session.plan.team).name,
        question=chain.question,
        question_text=chain.text,
        domain=chain.domain,
        subdomain=chain.subdomain,
        idea=idea.number,
        step=idea.step,
        author=idea.author,
        model=model,
        text=idea.text,
        coherence=score.coherence if score else None,
        embedding_novelty=score.embedding_novelty if score else None,
        judged_novelty=score.judged_novelty if score else None,
        nearest=score.nearest if score else None,
        verdict=score.verdict if score else None,
        failed_rule=score.failed_rule if score else None,
        embedder=score.embedder if score else "",
        judges=score.judges if score else (),
        pinned=idea.pinned,
        rating=idea.rating or None,
        comment=idea.comment,
        original=idea.original,
        removed=idea.removed,
        parents=idea.parents,
        seeds=tuple(seed.name for seed in force.seeds),
        steers=force.steers,
        seconds=idea.t,
        # A call reads and writes something: where that is 0, nobody counted.
        input_tokens=usage.input_tokens or None,
        output_tokens=usage.output_tokens or None,
        reasoning_tokens=usage.reasoning_tokens if usage.output_tokens or usage.reasoning_tokens else None,
        writing_seconds=usage.seconds or None,
        cost=idea.call.cost if idea.call else None,
        mark=score.mark if score else "",
        odd=score.odd if score else (),
        chain_ended=chain.ended.reason if chain.ended else None,
        thoughts=idea.call.thoughts if idea.call else "",
    )


def json_lines(sessions: Iterable[StoredSession]) -> Iterator[str]:
    """Each row as a line of JSON."""
    for row in rows(sessions):
        yield f"{msgspec.json.encode(row).decode()}\n"


def csv_lines(sessions: Iterable[StoredSession]) -> Iterator[str]:
    """The header, then a record a row."""
    yield csv_record(COLUMNS)
    for row in rows(sessions):
        yield csv_record(getattr(row, name) for name in COLUMNS)
