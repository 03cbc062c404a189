"""Teams of recorded members, made of public result files: strategies tried on real ideas without a key or a cent."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from msgspec import Struct

from core.errors import UsageError
from core.exchange.public import THRESHOLDS, NoResultsError, PublicChain, read_public
from core.models import Member, ModelSpec, TeamSpec
from core.providers.recorded import ABOUT
from core.questions import OWN, Question, own_question, question_key
from core.randomness import generator
from core.teams.profiles import Profile, Tally
from core.teams.routes import Table, key_of, routes_from
from core.teams.written import free_name
from core.text import shown

if TYPE_CHECKING:
    from core.scoring.account import Account
    from core.scoring.embeddings import Embedder, Embedding

BEST = 5
"""Members of the teams of the best, as many as in the paper's."""

LEAST_PROFILE = 20
"""Questions left over from which members are judged on those; with fewer, on the very questions of the rehearsal."""


class Rehearsal(Struct, frozen=True, kw_only=True):
    """What to compare, and what the teams go by."""

    teams: tuple[TeamSpec, ...]
    questions: tuple[Question, ...]
    members: int
    shared: int
    """Questions that all members have answered."""
    held_out: bool
    """Whether weights, the best and the router's table come from other questions than those of the rehearsal."""
    left_out: tuple[str, ...]
    """Files and models that are not taken, and why, a line each."""


class Record(Struct, frozen=True, kw_only=True):
    """One model's own chains, by `question_key`."""

    name: str
    """What the member is called that tells it."""
    model: str
    path: Path
    chains: dict[str, PublicChain]


def rehearsal(path: Path, count: int, random_seed: int = 0) -> Rehearsal:
    """Teams of all models under `path`, and `count` of the questions that they share, drawn evenly over the leaves.

    Raises `UsageError` for a file that is broken, or if there is nothing to compare.
    """
    records, left_out = _records(path)
    if len(records) < 2:
        raise UsageError(f"{shown(path)} holds results of {len(records) or 'no'} model: a rehearsal needs two or more")
    shared = [key for key in records[0].chains if all(key in record.chains for record in records)]
    if not shared:
        raise UsageError(f"The models in {shown(path)} share no question")
    asked = _evenly(shared, records[0], count, random_seed)
    others = [key for key in shared if key not in set(asked)]
    held_out = len(others) >= LEAST_PROFILE
    teams = _teams(records, others if held_out else asked, asked if held_out else [])
    questions = tuple(_question(records[0].chains[key]) for key in asked)
    return Rehearsal(
        teams=teams,
        questions=questions,
        members=len(records),
        shared=len(shared),
        held_out=held_out,
        left_out=tuple(left_out),
    )


def _records(path: Path) -> tuple[list[Record], list[str]]:
    """Of every single model in the result files under `path`; and what is left out."""
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    records: dict[str, Record] = {}
    left_out: list[str] = []
    for file in files:
        try:
            chains = read_public(file)
        except NoResultsError as error:
            if file == path:
                raise
            left_out.append(error.message)
            continue
        for model, own in _by_model(chains).items():
            if any(chain.is_of_team for chain in own.values()):
                left_out.append(f"{model} is a team")
            elif model in records:
                left_out.append(f"{shown(file)} holds {model} once more")
            else:
                name = free_name(model, [record.name for record in records.values()])
                records[model] = Record(name=name, model=model, path=file, chains=own)
    return list(records.values()), left_out


def _by_model(chains: Iterable[PublicChain]) -> dict[str, dict[str, PublicChain]]:
    found: dict[str, dict[str, PublicChain]] = {}
    for chain in chains:
        found.setdefault(chain.model, {})[question_key(chain.question)] = chain
    return found


def _evenly(keys: Sequence[str], record: Record, count: int, random_seed: int) -> list[str]:
    """`count` of `keys`, so that each leaf has its share."""
    order = generator(random_seed, "rehearsal").permutation(len(keys))
    by_leaf = sorted((keys[int(place)] for place in order), key=lambda key: record.chains[key].leaf)
    count = min(count, len(by_leaf))
    return [by_leaf[place * len(by_leaf) // count] for place in range(count)]


def _question(chain: PublicChain) -> Question:
    own = own_question(chain.question)
    return Question(own.id, own.text, chain.domain or OWN, chain.subdomain)


# ── teams ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _teams(records: Sequence[Record], profile: Sequence[str], seen: Sequence[str]) -> tuple[TeamSpec, ...]:
    """Every strategy, over all members and over the best of them.

    Weights and routes are from the questions `profile`. One more router has its table from `seen`, the very questions
    of the rehearsal: it shows by how much luck flatters whoever is picked on what it is then shown on.
    """
    strength = [fmean(record.chains[key].responses for key in profile) for record in records]
    everybody = tuple(_member(record, weight) for record, weight in zip(records, strength, strict=True))
    best = tuple(sorted(everybody, key=lambda member: -member.weight)[:BEST])
    groups = {"all": everybody} if len(everybody) <= BEST else {"all": everybody, f"best {BEST}": best}
    teams = [team for name, members in groups.items() for team in _of(name, members)]
    routers = {"router": _routes(records, profile)}
    if seen:
        routers["router that has seen the questions"] = _raw_routes(records, seen)
    return (
        *teams,
        *(
            TeamSpec(name=name, strategy="router", members=everybody, routes=table, about=ABOUT)
            for name, table in routers.items()
        ),
    )


def _of(who: str, members: tuple[Member, ...]) -> list[TeamSpec]:
    return [
        TeamSpec(name=f"sample, {who}", strategy="sample", members=members, about=ABOUT),
        TeamSpec(name=f"inverted, {who}", strategy="sample", members=members, inverted=True, about=ABOUT),
        TeamSpec(name=f"bandit, {who}", strategy="bandit", members=members, about=ABOUT),
        TeamSpec(name=f"parallel, {who}", strategy="parallel", members=members, selector="novel", about=ABOUT),
    ]


def _member(record: Record, weight: float) -> Member:
    spec = ModelSpec(
        name=record.model,
        provider="recorded",
        model=f"{record.path}#{record.model}",
        context=10_000_000,
        pace=0.0,
    )
    return Member(name=record.name, model=spec, weight=max(float(weight), 0.01), style="tagged")


def _routes(records: Sequence[Record], keys: Sequence[str]) -> dict[str, str]:
    """The table that a router's team would have, had it answered the questions `keys`."""
    profiles = [
        Profile({leaf: sum(map(_tally, chains), Tally()) for leaf, chains in _by_leaf(record, keys).items()})
        for record in records
    ]
    return Table(routes_from([record.name for record in records], profiles), "own").as_spec


def _raw_routes(records: Sequence[Record], keys: Sequence[str]) -> dict[str, str]:
    """Whoever has the longest chains in each leaf, taken at their word."""
    leaves = [_by_leaf(record, keys) for record in records]
    return {
        key_of(leaf): max(
            zip(records, leaves, strict=True), key=lambda each: sum(chain.responses for chain in each[1][leaf])
        )[0].name
        for leaf in leaves[0]
    }


def _by_leaf(record: Record, keys: Sequence[str]) -> dict[str, list[PublicChain]]:
    found: dict[str, list[PublicChain]] = {}
    for key in keys:
        found.setdefault(record.chains[key].leaf, []).append(record.chains[key])
    return found


def _tally(chain: PublicChain) -> Tally:
    """One run: whole, if a threshold stopped it."""
    if chain.stop in THRESHOLDS:
        return Tally(runs=1, finished=chain.responses, squares=chain.responses**2)
    return Tally(open=chain.responses)


class Remembering:
    """An embedder that is asked for each text once: in a rehearsal the same ideas come again and again."""

    def __init__(self, embedder: "Embedder") -> None:
        self._embedder = embedder
        self.name = embedder.name
        self._known: dict[str, Embedding] = {}

    async def prepare(self) -> None:
        await self._embedder.prepare()

    async def embed(self, texts: Sequence[str], account: "Account") -> "list[Embedding]":
        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known.update(zip(new, await self._embedder.embed(new, account), strict=True))
        return [self._known[text] for text in texts]
