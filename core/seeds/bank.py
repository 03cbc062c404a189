"""The seed bank: concepts of many fields, each with its mechanism, and a person's own files of them."""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from core.errors import UsageError
from core.leaf_files import Entry, built_in_file, read_entries, read_text
from core.questions import LEAVES, OWN
from core.spelling import nearest
from core.text import clean_line, shown

LONGEST = 2_000
"""The longest mechanism, in characters."""

Kind = Literal["phenomenon", "method", "material", "organism", "formal"]


class Concept(Struct, frozen=True, kw_only=True):
    """What an idea can borrow its mechanism from: in a prompt it is a `core.levers.Seed`."""

    name: str
    text: str
    """How it works."""
    kind: Kind | None = None
    """Always there in the built-in bank."""
    domain: str = OWN
    subdomain: str | None = None
    source: Literal["bank", "file"] = "bank"

    @property
    def leaf(self) -> str:
        return f"{self.domain} / {self.subdomain}" if self.subdomain else self.domain


class SeedBank(Struct, frozen=True):
    """Seeds in the order they are shown, and what was wrong with the files they came from."""

    seeds: tuple[Concept, ...] = ()
    problems: tuple[str, ...] = ()
    """One line each: file, line, reason."""

    @classmethod
    def built_in(cls) -> "SeedBank":
        """The bank that comes with Jagstorm, leaf by leaf in the order of `LEAVES`."""
        return _built_in()

    @classmethod
    def from_files(cls, paths: Iterable[Path]) -> "SeedBank":
        """What can be read of a person's files, which are as the built-in ones; what can't be is in `problems`."""
        seeds: dict[str, Concept] = {}
        problems: list[str] = []
        for path in paths:
            for place, found in _read_file(path):
                if isinstance(found, str):
                    problems.append(f"{place}: {found}")
                elif seeds.setdefault(folded(found.name), found) != found:
                    problems.append(f"{place}: the name {found.name!r} is taken by another seed: choose another")
        return cls(tuple(seeds.values()), tuple(problems))

    def __len__(self) -> int:
        return len(self.seeds)

    def __or__(self, other: "SeedBank") -> "SeedBank":
        """Both, as with dicts: a seed of `other` takes the place of one that has its name."""
        seeds = {folded(seed.name): seed for seed in (*self.seeds, *other.seeds)}
        return SeedBank(tuple(seeds.values()), self.problems + other.problems)

    def get(self, name: str) -> Concept:
        """The seed of that name, in whatever case. Raises `UsageError`, naming the nearest, if there is none."""
        wanted = folded(clean_line(name))
        if seed := next((seed for seed in self.seeds if folded(seed.name) == wanted), None):
            return seed
        near = nearest(name, [seed.name for seed in self.seeds], 3)
        hint = f"; the nearest: {', '.join(near)}" if near else ""
        raise UsageError(f"There is no seed {clean_line(name, 80)!r}{hint}")

    def leaves(self) -> list[str]:
        """The leaves that have seeds: the nine in their order, then a person's own."""
        present = dict.fromkeys(seed.leaf for seed in self.seeds)
        return [leaf for leaf in LEAVES if leaf in present] + [leaf for leaf in present if leaf not in LEAVES]

    def search(self, words: str = "", domain: str = "") -> list[Concept]:
        """Seeds with every word of `words` in name, text, kind or leaf, in leaves that hold `domain`.

        Case and accents are ignored: `mossbauer` finds Mössbauer.
        """
        wanted = folded(words).split()
        within = folded(domain)
        return [
            seed
            for seed in self.seeds
            if within in folded(seed.leaf)
            and _holds(folded(f"{seed.name} {seed.text} {seed.kind or ''} {seed.leaf}"), wanted)
        ]


@cache
def _built_in() -> SeedBank:
    seeds: list[Concept] = []
    for leaf in LEAVES:
        for place, found in _read_toml(*built_in_file("seeds", leaf), "bank"):
            if isinstance(found, str):
                raise AssertionError(f"the built-in seed bank is broken: {place}: {found}")
            seeds.append(found)
    return SeedBank(tuple(seeds))


def _read_file(path: Path) -> Iterator[tuple[str, Concept | str]]:
    """The seeds of a file, each with its place; or what is wrong, and where."""
    try:
        content = read_text(path)
    except UsageError as error:
        yield shown(path), error.message
        return
    yield from _read_toml(path, content, "file")


def _read_toml(path: Path, content: str, source: Literal["bank", "file"]) -> Iterator[tuple[str, Concept | str]]:
    for place, entry in read_entries(path, content, "seeds"):
        yield place, entry if isinstance(entry, str) else _read_entry(entry, source)


def _read_entry(entry: Entry, source: Literal["bank", "file"]) -> Concept | str:
    """The seed, or what is wrong with it: the key, and what was expected there."""
    name, text, kind = (entry.values.get(key) for key in ("name", "text", "kind"))
    if not isinstance(name, str) or not (name := clean_line(name, 80)):
        return 'a seed needs `name = "..."`'
    if not isinstance(text, str) or not (text := clean_line(text)):
        return 'a seed needs `text = "..."`, which says how it works'
    if len(text) > LONGEST:
        return f"`text` has {len(text):,} characters; {LONGEST:,} is the most"
    if kind is not None and kind not in get_args(Kind):
        return f"`kind` must be one of {', '.join(get_args(Kind))}"
    return Concept(
        name=name, text=text, kind=kind, domain=entry.domain or OWN, subdomain=entry.subdomain, source=source
    )


def _holds(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


def folded(text: str) -> str:
    """`text` without case and accents."""
    text = text.casefold()
    if text.isascii():
        return text
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
