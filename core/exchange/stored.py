"""Ideas that were written before, by who wrote them and for which question: in a public result file or a session."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from core import events as ev
from core.errors import UsageError
from core.exchange.public import PublicChain, read_public
from core.files import read_file
from core.lines import EVENTS_FILE, decode
from core.questions import question_key
from core.text import shown

EVERYBODY = ""
"""Who wrote all that stands in a session: its members together."""


class StoredIdea(Struct, frozen=True, gc=False):
    """What was written, as it was written."""

    text: str
    thoughts: str = ""
    trace: ev.Trace = ()
    """How it arrived; () where nobody noted it."""


Shelf = dict[str, dict[str, tuple[StoredIdea, ...]]]
"""By who wrote them (a model of a result file, a member of a session), then by `question_key`, in order."""


def read_shelf(path: Path) -> Shelf:
    """All that a public result file or a session's folder holds. Raises `UsageError` for one that can't be read."""
    if path.is_dir():
        return shelf(_written_in(path))
    return shelf_of(read_public(path))


def shelf_of(chains: Iterable[PublicChain]) -> Shelf:
    return shelf(
        (chain.model, chain.question, StoredIdea(answer.text, answer.thoughts or ""))
        for chain in chains
        for answer in chain.answers
    )


def shelf(written: Iterable[tuple[str, str, StoredIdea]]) -> Shelf:
    """From (who, question, idea), in order."""
    found: dict[str, dict[str, list[StoredIdea]]] = {}
    for who, question, idea in written:
        found.setdefault(who, {}).setdefault(question_key(question), []).append(idea)
    return {who: {question: tuple(ideas) for question, ideas in own.items()} for who, own in found.items()}


def _written_in(folder: Path) -> Iterator[tuple[str, str, StoredIdea]]:
    """What the members of a session wrote, chosen or not. Lines that can't be read are passed over."""
    try:
        lines = read_file(folder / EVENTS_FILE).split(b"\n")
    except OSError as error:
        raise UsageError(f"{shown(folder)} is no session's folder: {error.strerror or error}") from None
    questions: dict[str, str] = {}
    for line in lines:
        try:
            event = decode(line)
        except msgspec.DecodeError:
            continue
        match event:
            case ev.QuestionStarted():
                questions[event.question] = event.text
            case ev.ProposalFinished() if event.question in questions:
                idea = StoredIdea(event.raw or event.text, event.thoughts, event.trace)
                for who in (event.member, EVERYBODY):
                    yield who, questions[event.question], idea
