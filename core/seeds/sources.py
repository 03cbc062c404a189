"""Where seeds come from: the bank and a person's own files, earlier ideas, other questions, a line, other levers."""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from msgspec import Struct

from core.chain import Idea
from core.config import own_seed_files
from core.errors import JagstormError, UsageError
from core.levers import Seed
from core.questions import Question
from core.seeds import bank
from core.seeds.bank import SeedBank
from core.store import library
from core.text import clean_line

LONGEST_NAME = 500
"""Characters of a seed's name; what is longer goes on in its text."""

LONGEST_TYPED = 80
"""Characters before a colon that can be the name of what a person typed."""

LONGEST_TEXT = 20_000

MOST_EARLIER = 2000
"""Ideas of earlier sessions that are offered, the newest sessions' first, but for those that a person has marked."""


class Earlier(Struct, frozen=True, kw_only=True):
    """An idea of an earlier session, as a seed."""

    seed: Seed
    pinned: bool = False
    rating: int = 0

    @property
    def marked(self) -> bool:
        """Whether a person has chosen it."""
        return self.pinned or self.rating > 0


def banked() -> SeedBank:
    """The bank with a person's own files: one of theirs takes the place of the bank's of that name.

    Raises `UsageError` if the config folder can't be searched.
    """
    return SeedBank.built_in() | SeedBank.from_files(own_seed_files())


def of_bank(seeds: Iterable[bank.Seed]) -> list[Seed]:
    return [Seed(name=seed.name, text=seed.text, source=seed.source, field=seed.leaf) for seed in seeds]


def of_questions(questions: Iterable[Question], question: Question) -> list[Seed]:
    """The questions of other domains than that of `question`."""
    return [
        _seed(other.text, source="question", field=other.leaf) for other in questions if other.domain != question.domain
    ]


def of_idea(idea: Idea, field: str) -> Seed:
    return _seed(idea.text, source="idea", field=field)


def typed(line: str) -> Seed:
    """What a person typed: a name, or a name and a mechanism with a colon between. Raises `UsageError`."""
    line = clean_line(line)
    if not line:
        raise UsageError("A seed needs some words")
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


def earlier_ideas(sessions: Path, besides: str = "", stopped: Callable[[], bool] = lambda: False) -> list[Earlier]:
    """Ideas that stand of the sessions in `sessions` other than `besides`, an id: those that a person has marked first.

    A session that can't be read is left out: the list of sessions says why. Raises `UsageError` if none can be.
    """
    found: list[Earlier] = []
    for folder in library.session_folders(sessions):
        if stopped() or len(found) >= MOST_EARLIER:
            break
        if folder.name != besides:
            found += _of_session(folder)
    return sorted(found, key=lambda earlier: (not earlier.marked, -earlier.pinned, -earlier.rating))


def _of_session(folder: Path) -> Sequence[Earlier]:
    try:
        state = library.load(folder).state()
    except JagstormError:
        return ()
    return [
        Earlier(
            seed=of_idea(idea, Question(chain.question, chain.text, chain.domain, chain.subdomain).leaf),
            pinned=idea.pinned,
            rating=idea.rating,
        )
        for chain in state.chains.values()
        for idea in chain.ideas
        if idea.stands
    ]


def _seed(text: str, *, source: str, field: str = "") -> Seed:
    line = clean_line(text, LONGEST_TEXT)
    if len(line) <= LONGEST_NAME:
        return Seed(name=line, source=source, field=field)
    return Seed(name=line[: LONGEST_NAME - 1].rstrip() + "…", text=line, source=source, field=field)
