"""What profiles come to, chart by chart: the results of this package's functions, ready to draw, print or write.

A model here is whoever wrote a chain: one model, or a team under its own name. Counts are `responses` unless they say
`valid`. Where nothing is known a number is None.
"""

from typing import Literal

from msgspec import Struct, field

from core.analysis.intervals import Interval


class Expected(Struct, frozen=True, kw_only=True):
    """Valid ideas of a chain that nothing but a rule ends, from the hazard of ending at each idea."""

    valid: float
    observed: float
    """The part of it that lies within lengths that were seen; the rest goes on at the last hazard known, and is too low
    where questions differ in theirs."""
    ended: int
    """Chains that a rule ended."""
    censored: int


class Ribbon(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model over its questions: over all, or over those of one leaf or domain; or one question."""

    model: str
    leaf: str | None = None
    domain: str | None = None
    question: str | None = None
    """Its text."""
    questions: int
    """Those that it answered. Means divide by these."""
    chains: int
    responses: int
    valid: int
    mean_responses: float
    """Over questions; of a question that has several chains, over these first."""
    mean_valid: float
    median: float
    fewest: float = field(name="min")
    """Of a question, as `mean_responses`."""
    most: float = field(name="max")
    log_mean: float
    """exp(mean(ln(1 + responses))) − 1: a mean that a few long chains do not carry."""
    top_tenth: float
    """The share of all responses that the tenth of questions with most of them has."""
    responses_interval: Interval
    valid_interval: Interval
    expected: Expected | None
    """None where no chain was ended by a rule: nothing then tells when they would have."""
    stops: dict[str, int]
    """Chains by why they ended, most first."""


class Ribbons(Struct, frozen=True, kw_only=True):
    """The highest `mean_responses` first."""

    rows: tuple[Ribbon, ...]


class Point(Struct, frozen=True, kw_only=True):
    model: str
    x: float
    y: float
    y_interval: Interval | None = None


class Scatter(Struct, frozen=True, kw_only=True):
    """Two profiles of the same models, with the line y = slope · x."""

    points: tuple[Point, ...]
    slope: float
    r: float | None
    """Pearson's; None with fewer than two points, or with all in one line across."""
    n: int
    x_name: str
    y_name: str


class Density(Struct, frozen=True, kw_only=True):
    """How a model's counts lie: a kernel density of ln(1 + responses), per unit of it."""

    model: str
    counts: tuple[float, ...]
    """Where it is given, as responses, evenly spaced in the logarithm."""
    density: tuple[float, ...]
    n: int


class Survival(Struct, frozen=True, kw_only=True):
    """The share of chains that no rule had ended after so many ideas (Kaplan–Meier), as steps."""

    model: str
    ideas: tuple[float, ...]
    """From 0; `alive` holds from here to the next."""
    alive: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    """95 %, of each step by itself."""
    chains: int
    censored: int
    expected: Expected | None
    expected_interval: Interval | None
    """Of `expected.valid`, over questions."""


class Lengths(Struct, frozen=True, kw_only=True):
    """The chart `densities`."""

    densities: tuple[Density, ...]
    survivals: tuple[Survival, ...]


class LeafRow(Struct, frozen=True, kw_only=True):
    """One model over the leaves."""

    model: str
    means: tuple[Interval | None, ...]
    """One a leaf; None where it answered nothing. `runs` is the number of questions."""
    overall: Interval
    jaggedness: "Jaggedness"


class LeafTable(Struct, frozen=True, kw_only=True):
    """The charts `radar` and `heat`."""

    leaves: tuple[str, ...]
    rows: tuple[LeafRow, ...]
    split: "Split | None"
    """None with fewer than two models or two questions that they share."""


class Jaggedness(Struct, frozen=True, kw_only=True):
    """How uneven one model is. Standard deviations over its mean: 0 is even, 1 as large as the mean itself."""

    over_questions: float
    over_leaves: float
    """Of the means of the leaves as they are."""
    beyond_chance: float
    """Of the leaves' true means: what is left of `over_leaves` when the luck of few questions is taken out."""
    strongest: str
    weakest: str
    """Leaves."""


class Split(Struct, frozen=True, kw_only=True):
    """Where the differences between chains lie, as shares of the variance of ln(1 + responses) that add up to 1."""

    model: float
    """Some models are better than others, everywhere."""
    question: float
    """Some questions are easier than others, for all."""
    interaction: float
    """Some models are better than others on some questions: this is jaggedness, with chance where `noise` is None."""
    by_leaf: float
    """The part of `interaction` that goes with leaves."""
    noise: float | None
    """Between chains of one model on one question; None where nobody has two."""
    models: int
    questions: int
    chains: int
    balanced: bool
    """Whether every model answered every question."""


class Effort(Struct, frozen=True, kw_only=True):
    """What an idea takes a model and what comes of it. Means over its ideas of which it is known; None: of none."""

    model: str
    score: Interval
    """Mean responses."""
    reasoning_tokens: Interval | None
    cost: Interval | None
    """US dollars."""
    seconds: Interval | None


class Efforts(Struct, frozen=True, kw_only=True):
    """The chart `effort`; correlations are Spearman's over models, None with fewer than three."""

    rows: tuple[Effort, ...]
    r_reasoning_tokens: float | None
    r_cost: float | None
    r_seconds: float | None


class Winner(Struct, frozen=True, kw_only=True):
    """Who is best in one leaf, and how sure that is."""

    leaf: str
    questions: int
    """That all its candidates answered."""
    model: str
    mean: Interval
    sure: float
    """In how many of all resamples of the questions it wins, as a share."""
    runner_up: str
    lead: Interval
    """Over the runner-up, question by question."""
    best_single: float | None
    """The mean there of the model that is best over all."""


class Contender(Struct, frozen=True, kw_only=True):
    name: str
    kind: Literal["router", "single", "team"]
    mean: Interval
    over_single: Interval
    """More than the best single model has on the same questions."""
    questions: int


class Winners(Struct, frozen=True, kw_only=True):
    rows: tuple[Winner, ...]
    left_out: tuple[str, ...] = ()
    """Leaves in which no two models answered a question in common."""
    contenders: tuple[Contender, ...]
    """The router with each leaf's winner on the very questions that it won on; the same with each question left out of
    its own choice; the best single model; and the teams, on the questions that they answered."""


class Series(Struct, frozen=True, kw_only=True):
    """One chain, idea by idea; one entry of each tuple an idea, in order."""

    chain: int
    """Its row in `Table.chains`."""
    model: str
    leaf: str
    question: str
    numbers: tuple[int, ...]
    coherence: tuple[float | None, ...]
    embedding_novelty: tuple[float | None, ...]
    judged_novelty: tuple[float | None, ...]
    failed: tuple[bool, ...]
    counted: tuple[bool, ...]
    """Whether the rules let the chain come so far."""
    responses: int
    valid: int
    ended: str


class Chains(Struct, frozen=True, kw_only=True):
    series: tuple[Series, ...]


class Place(Struct, frozen=True, kw_only=True):
    """One idea on the map; `chain` and `number` open it."""

    x: float
    y: float
    chain: int
    """Its row in `Table.chains`."""
    model: str
    question: str
    """Its text."""
    number: int
    author: str
    seed: str | None
    verdict: str


class Map(Struct, frozen=True, kw_only=True):
    """Ideas on their first two principal components."""

    places: tuple[Place, ...]
    explained: tuple[float, float]
    """The share of the variance that lies along each."""
    left_out: int
    """Ideas without a vector."""


class Contribution(Struct, frozen=True, kw_only=True):
    """What one member brought to a team."""

    team: str
    author: str
    offered: int | None
    """Proposals; None where the others' were not kept."""
    chosen: int
    valid: int
    share: float
    """Of the team's valid ideas."""
    novelty: Interval | None
    """Mean embedding novelty of its ideas, first ones left out; over questions."""


class Contributions(Struct, frozen=True, kw_only=True):
    """The chart `who`."""

    rows: tuple[Contribution, ...]


class SeedEffect(Struct, frozen=True, kw_only=True):
    """One seed. None where it has no pairs."""

    seed: str
    ideas: int
    valid: int
    pairs: int
    """Of an idea under it and one without any, at about the same place of a chain."""
    novelty: float | None
    """Mean embedding novelty in pairs: under the seed, and without."""
    without: float | None
    difference: Interval | None
    """Over chains."""


class SeedEffects(Struct, frozen=True, kw_only=True):
    rows: tuple[SeedEffect, ...]


class Cost(Struct, frozen=True, kw_only=True):
    """Per valid idea; None where it is not known."""

    model: str
    valid: Interval
    """A chain."""
    cost: Interval | None
    """US dollars."""
    seconds: Interval | None
    tokens: Interval | None
    reasoning_tokens: Interval | None


class Costs(Struct, frozen=True, kw_only=True):
    rows: tuple[Cost, ...]


class Difference(Struct, frozen=True, kw_only=True):
    """One selection beside another: mean responses on the questions that both answered."""

    name: str
    """Of a leaf, a domain, a question; or `all`."""
    questions: int
    one: float
    other: float
    difference: Interval
    """The one's less the other's."""


class Differences(Struct, frozen=True, kw_only=True):
    rows: tuple[Difference, ...]
    slope: float
    """s of the line one = s · other through the origin, over questions."""
    r: float | None
    """Pearson's, over questions; None with fewer than two, or where one selection has the same on all."""


Profile = (
    Ribbons
    | Scatter
    | Lengths
    | LeafTable
    | Efforts
    | Winners
    | Chains
    | Map
    | Contributions
    | SeedEffects
    | Costs
    | Differences
)
"""What a chart is drawn of."""
