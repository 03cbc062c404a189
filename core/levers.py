"""What pushes a chain somewhere new: seeds and other levers, instructions, and when a seed comes by itself."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Lever = Literal["seed", "language", "persona", "deny"]
"""A concept as a source of analogy; a language to think in; who to be; a mechanism that may not be used again."""

SeedStyle = Literal["mention", "analogy", "constraint"]
"""How a seed is put into a prompt: in passing, as a source of analogy, or as something that the idea must use."""

Distance = Literal["near", "far", "any"]

POLICY = "policy"
"""Who brings a seed that comes by itself."""

Steps = Annotated[int, Meta(ge=1, le=100_000)]


LONGEST_NAME = 500
"""Characters of a seed's name."""


class Seed(Struct, frozen=True, kw_only=True):
    """Outside content for a prompt."""

    name: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    text: Annotated[str, Meta(max_length=20_000)] = ""
    """For a seed its mechanism; for other levers nothing is needed beside the name."""
    lever: Lever = "seed"
    style: SeedStyle = "analogy"
    source: str = "person"
    """Where it comes from: `bank`, `file`, `person`, `question`, `idea`."""
    field: str = ""
    """The leaf that it belongs to, where it has one."""
    distance: float | None = None
    """From the question: 1 − the cosine of their embeddings, 0 to 2."""


class InForce(Struct, frozen=True):
    """What a step's prompts hold beside question and ideas."""

    seeds: tuple[Seed, ...] = ()
    steers: tuple[str, ...] = ()

    def of(self, lever: Lever) -> tuple[Seed, ...]:
        return tuple(seed for seed in self.seeds if seed.lever == lever)


class _Policy(Struct, frozen=True, kw_only=True, tag_field="when", tag=str.lower):
    """When seeds come."""


class Off(_Policy, frozen=True):
    """Never, not even by hand: for comparisons."""


class Hand(_Policy, frozen=True):
    """When a person brings one."""


class _Automatic(_Policy, frozen=True, kw_only=True):
    """By themselves, and when a person brings one."""

    distance: Distance = "far"
    field: str = ""
    """Only of this leaf; "" for any."""
    style: SeedStyle = "analogy"
    lasts: Steps = 1
    """Ideas that are written under one seed."""


class Every(_Automatic, frozen=True, kw_only=True):
    """One at each `steps`-th step."""

    steps: Steps = 4


class Plateau(_Automatic, frozen=True, kw_only=True):
    """One when the mean embedding novelty of the newest ideas has fallen, or when ideas fail one after the other."""

    fall: Annotated[float, Meta(gt=0, le=1)] = 0.1
    """How far below the mean of the ideas before them, for the newest `window`."""
    window: Annotated[int, Meta(ge=1, le=1000)] = 4
    failures: Annotated[int, Meta(ge=1, le=1000)] = 2
    """Failed ideas in a row."""


class Each(_Automatic, frozen=True, kw_only=True):
    """A fresh one for every step; with `seed`, always that one."""

    seed: str = ""
    """The name of one in the bank."""


SeedPolicy = Off | Hand | Every | Plateau | Each


class OwnFirst(Struct, frozen=True, kw_only=True):
    """The person writes ideas before the team does."""

    minutes: Annotated[float, Meta(gt=0, le=1440)] = 5.0
    """What the timer advises; nothing ends by it."""
    shown: bool = True
    """Whether the team is shown these ideas."""
