"""Where seeds come from: the bank and a person's own files, earlier ideas, other questions, a line, other levers."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from msgspec import Struct

from core.chain import Idea
from core.config import own_seed_files
from core.errors import JagstormError, UsageError
from core.levers import Seed
from core.questions import Question, load_bank
from core.seeds.bank import Concept, SeedBank
from core.store import library
from core.text import clean_line

LONGEST_NAME = 500
"""Characters of a seed's name; what is longer goes on in its text."""

LONGEST_TYPED = 80
"""Characters before a colon that can be the name of what a person typed."""

LONGEST_TEXT = 20_000

MOST_EARLIER = 2000
"""Ideas of earlier sessions that are looked at, the newest sessions' first."""


class Stock(Struct, frozen=True):
    """What a source has."""

    seeds: tuple[Seed, ...]
    marked: frozenset[str] = frozenset()
    """The names of those that a person has pinned or rated."""
    problems: tuple[str, ...] = ()
    """What could not be read, one line each."""


def banked() -> SeedBank:
    """The bank with a person's own files: one of theirs takes the place of the bank's of that name.

    Raises `UsageError` if the config folder can't be searched.
    """
    return SeedBank.built_in() | SeedBank.from_files(own_seed_files())


def of_bank(concepts: Iterable[Concept]) -> list[Seed]:
    return [Seed(name=each.name, text=each.text, source=each.source, field=each.leaf) for each in concepts]


def field_named(name: str, leaves: Sequence[str]) -> str:
    """The one of `leaves` that a person means, in full or by its last part, in whatever case. Raises `UsageError`."""
    wanted = clean_line(name).casefold()
    found = [leaf for leaf in leaves if wanted in (leaf.casefold(), leaf.casefold().rpartition(" / ")[2])]
    if not found:
        raise UsageError(f"There is no field {clean_line(name, 80)!r}: there are {', '.join(leaves)}")
    return found[0]


def stock_of_bank() -> Stock:
    """All of the bank. Raises `UsageError` if the config folder can't be searched."""
    bank = banked()
    return Stock(tuple(of_bank(bank.seeds)), problems=bank.problems)


def stock_of_questions(question: Question, own_files: Sequence[Path]) -> Stock:
    """The questions of other domains than that of `question`."""
    others = load_bank(own_files)
    return Stock(
        tuple(
            _seed(other.text, source="question", field=other.leaf)
            for other in others.questions
            if other.domain != question.domain
        ),
        problems=others.problems,
    )


def typed(line: str) -> Seed:
    """What a person typed: a name, or a name and a mechanism with a colon between. Raises `UsageError`."""
    line = clean_line(line)
    if not line.partition(":")[0]:
        raise UsageError(f"A seed needs some words{' before the colon' if line else ''}")
    if len(line) > LONGEST_TEXT:
        raise UsageError(f"A seed can have {LONGEST_TEXT:,} characters, not {len(line):,}")
    name, _, text = line.partition(": ")
    if text.strip() and len(name) <= LONGEST_TYPED:
        return Seed(name=name.rstrip(), text=text.strip())
    return _seed(line, source="person")


@cache
def levers() -> tuple[Seed, ...]:
    """Languages to think in, and who to be, that come with Jagstorm."""
    table = tomllib.loads((resources.files("data") / "levers.toml").read_text("utf-8"))
    languages = tuple(Seed(name=name, lever="language", source="bank") for name in table["languages"])
    return (*languages, *(Seed(name=name, lever="persona", source="bank") for name in table["personas"]))


def stock_of_ideas(sessions: Path, besides: str = "", stopped: Callable[[], bool] = lambda: False) -> Stock:
    """Ideas that stand of the sessions in `sessions` other than `besides`, an id.

    A session that can't be read is left out: the list of sessions says why. Raises `UsageError` if none can be.
    """
    found: dict[str, Seed] = {}
    marked: set[str] = set()
    for folder in library.session_folders(sessions):
        if stopped() or len(found) >= MOST_EARLIER:
            break
        for idea, leaf in _ideas_of(folder) if folder.name != besides else ():
            seed = _seed(idea.text, source="idea", field=leaf)
            found.setdefault(seed.name, seed)
            if idea.pinned or idea.rating:
                marked.add(seed.name)
    return Stock(tuple(found.values()), frozenset(marked))


def _ideas_of(folder: Path) -> Iterator[tuple[Idea, str]]:
    """The ideas that stand in a session, each with the leaf of its question."""
    try:
        state = library.load(folder).state()
    except JagstormError:
        return
    for chain in state.chains.values():
        leaf = Question(chain.question, chain.text, chain.domain, chain.subdomain).leaf
        for idea in chain.ideas:
            if idea.stands:
                yield idea, leaf


def _seed(text: str, *, source: str, field: str = "") -> Seed:
    line = clean_line(text, LONGEST_TEXT)
    if len(line) <= LONGEST_NAME:
        return Seed(name=line, source=source, field=field)
    return Seed(name=line[: LONGEST_NAME - 1].rstrip() + "…", text=line, source=source, field=field)
