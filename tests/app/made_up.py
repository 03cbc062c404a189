"""Numbers made up for charts, a few of each, so that a person can check the picture; and result files to go through."""

import json
import math
from pathlib import Path
from typing import Any

from core.analysis.intervals import Interval
from core.analysis.profiles import (
    Chains,
    Contender,
    Contribution,
    Contributions,
    Cost,
    Costs,
    Density,
    Difference,
    Differences,
    Effort,
    Efforts,
    Expected,
    Jaggedness,
    LeafRow,
    LeafTable,
    Lengths,
    Map,
    Place,
    Point,
    Ribbon,
    Ribbons,
    Scatter,
    SeedEffect,
    SeedEffects,
    Series,
    Split,
    Survival,
    Winner,
    Winners,
)

LEAVES = ("Physics / Fundamental", "Physics / Condensed Matter", "Chemistry", "Biology", "Environmental Science")
MODELS = ("anna:7b", "bert", "cleo/large", "dora-thinking", "emil", "fritz")


def interval(value: float, reach: float = 0.3, runs: int = 20) -> Interval:
    return Interval(value, value * (1 - reach), value * (1 + reach), runs)


def ribbon(model: str, mean: float, most: int) -> Ribbon:
    return Ribbon(
        model=model,
        questions=20,
        chains=20,
        responses=round(20 * mean),
        valid=round(19 * mean),
        mean_responses=mean,
        mean_valid=mean - 1,
        median=round(mean * 0.8),
        fewest=1,
        most=most,
        log_mean=mean * 0.7,
        top_tenth=0.3,
        responses_interval=interval(mean),
        valid_interval=interval(mean - 1),
        expected=None,
        stops={"embedding_novelty": 18, "error": 2},
    )


RIBBONS = Ribbons(rows=tuple(ribbon(name, 30 - 5 * place, 150 - 25 * place) for place, name in enumerate(MODELS)))
FORTY = Ribbons(rows=tuple(ribbon(f"model-{number}", 50 - number, 200) for number in range(1, 41)))

SCATTER = Scatter(
    points=tuple(
        Point(
            model=name,
            x=10.0 * place + 4,
            y=5.0 * place + (3 if place % 2 else 1),
            y_interval=interval(5.0 * place + 1),
        )
        for place, name in enumerate(MODELS)
    ),
    slope=0.52,
    r=0.98,
    n=6,
    x_name="the other benchmark, ideas a question",
    y_name="ideas a question",
)


def _density(model: str, middle: float) -> Density:
    places = [step / 20 for step in range(101)]
    heights = [math.exp(-((place - middle) ** 2) / 0.5) / 1.25 for place in places]
    return Density(model=model, counts=tuple(math.expm1(place) for place in places), density=tuple(heights), n=20)


def _survival(model: str, half: float) -> Survival:
    ideas = tuple(float(number) for number in range(0, 60, 3))
    alive = tuple(0.5 ** (number / half) for number in ideas)
    return Survival(
        model=model,
        ideas=ideas,
        alive=alive,
        low=(None, *(max(share - 0.1, 0) for share in alive[1:])),
        high=(None, *(min(share + 0.1, 1) for share in alive[1:])),
        chains=20,
        censored=2,
        expected=Expected(valid=half * 1.4, observed=half, ended=18, censored=2),
        expected_interval=interval(half * 1.4),
    )


LENGTHS = Lengths(
    densities=tuple(_density(name, 3.2 - 0.5 * place) for place, name in enumerate(MODELS[:4])),
    survivals=tuple(_survival(name, 20 - 5 * place) for place, name in enumerate(MODELS[:4])),
)


def _leaf_row(place: int, model: str) -> LeafRow:
    means = [24 - 4 * place + 6 * math.sin(place + 2 * leaf) for leaf in range(len(LEAVES))]
    return LeafRow(
        model=model,
        means=tuple(None if place == 3 and leaf == 2 else interval(mean) for leaf, mean in enumerate(means)),
        overall=interval(sum(means) / len(means)),
        jaggedness=Jaggedness(
            over_questions=0.9, over_leaves=0.25, beyond_chance=0.2, strongest=LEAVES[0], weakest=LEAVES[3]
        ),
    )


LEAF_TABLE = LeafTable(
    leaves=LEAVES,
    rows=tuple(_leaf_row(place, name) for place, name in enumerate(MODELS[:4])),
    split=Split(
        model=0.5,
        question=0.2,
        interaction=0.3,
        by_leaf=0.1,
        noise=None,
        models=4,
        questions=20,
        chains=80,
        balanced=True,
    ),
)

EFFORTS = Efforts(
    rows=tuple(
        Effort(
            model=name,
            score=interval(6.0 + 4 * place),
            reasoning_tokens=None if place == 2 else interval(100.0 * 3**place),
            cost=interval(0.001 * 2**place) if place < 3 else None,
            seconds=interval(2.0 + 8 * place),
        )
        for place, name in enumerate(MODELS)
    ),
    r_reasoning_tokens=0.9,
    r_cost=None,
    r_seconds=-0.4,
)

WINNERS = Winners(
    rows=tuple(
        Winner(
            leaf=leaf,
            questions=20,
            model=MODELS[place % 3],
            mean=interval(30.0 + 2 * place),
            sure=0.9 - 0.1 * place,
            runner_up=MODELS[(place + 1) % 3],
            lead=Interval(2.0, -1.0, 5.0, 20),
            best_single=28.0 if place else None,
        )
        for place, leaf in enumerate(LEAVES)
    ),
    contenders=(
        Contender(
            name="router", kind="router", mean=interval(36.0), over_single=Interval(6.0, 2.0, 10.0, 20), questions=100
        ),
        Contender(
            name="anna:7b", kind="single", mean=interval(30.0), over_single=Interval(0.0, 0.0, 0.0, 20), questions=100
        ),
        Contender(name="all of us", kind="team", mean=interval(50.0, 0.5), over_single=Interval(20.0), questions=5),
    ),
)


def _series(model: str, length: int, question: str) -> Series:
    numbers = range(1, length + 1)
    return Series(
        chain=0,
        model=model,
        leaf="Chemistry",
        question=question,
        numbers=tuple(numbers),
        coherence=tuple(None if number % 7 == 0 else 90.0 - number for number in numbers),
        embedding_novelty=tuple(1.0 if number == 1 else 0.45 - 0.4 * number / length for number in numbers),
        judged_novelty=tuple(1.0 if number == 1 else 0.5 - 0.3 * number / length for number in numbers),
        failed=tuple(number == length for number in numbers),
        counted=tuple(number <= length - 2 for number in numbers),
        responses=length - 2,
        valid=length - 3,
        ended="embedding_novelty",
    )


CHAINS = Chains(
    series=(
        _series("anna:7b", 30, "How to hear ice melt from far away?"),
        _series("bert", 18, "How to hear ice melt from far away?"),
    )
)

MAP = Map(
    places=tuple(
        Place(
            x=math.cos(number) * (1 + number % 3),
            y=math.sin(number * 2) * (1 + number % 2),
            chain=0,
            model="m",
            question="How?",
            number=number,
            author=MODELS[number % 3],
            seed="origami" if number % 5 == 0 else None,
            verdict="embedding_novelty" if number % 9 == 0 else "passed",
        )
        for number in range(1, 41)
    ),
    explained=(0.31, 0.12),
    left_out=2,
)

WHO = Contributions(
    rows=tuple(
        Contribution(
            team="all of us",
            author=name,
            offered=None if place == 2 else 40,
            chosen=20 - 4 * place,
            valid=18 - 4 * place,
            share=(18 - 4 * place) / 48,
            novelty=None if place == 3 else interval(0.4 - 0.05 * place),
        )
        for place, name in enumerate(MODELS[:4])
    )
)

SEEDS = SeedEffects(
    rows=tuple(
        SeedEffect(
            seed=seed,
            ideas=12,
            valid=10,
            pairs=0 if by == 0.0 else 12,
            novelty=0.4 + by,
            without=0.4,
            difference=None if by == 0.0 else Interval(by, by - 0.08, by + 0.08, 12),
        )
        for seed, by in (("error-correcting codes", 0.12), ("origami", 0.02), ("ant trails", -0.1), ("sourdough", 0.0))
    )
)

COSTS = Costs(
    rows=tuple(
        Cost(
            model=name,
            valid=interval(20.0 - 3 * place),
            cost=None if place == 1 else interval(0.002 * 4**place),
            seconds=interval(3.0 * 3**place),
            tokens=interval(300.0 * 5**place),
            reasoning_tokens=None if place % 2 else interval(100.0 * 5**place),
        )
        for place, name in enumerate(MODELS[:4])
    )
)

DIFFERENCES = Differences(
    slope=1.214,
    r=-0.084,
    rows=tuple(
        Difference(name=name, questions=20, one=30.0, other=30.0 - by, difference=Interval(by, by - 3, by + 3, 20))
        for name, by in (("all", 2.0), ("Physics / Fundamental", 5.0), ("Chemistry", -4.0), ("Biology", 0.0))
    ),
)


def answers(numbers: int, likeness: float) -> list[dict[str, Any]]:
    """Answers of a public result file, ever less novel; the last one ends the chain."""
    found = [
        {
            "answer_num": number,
            "answer": f"Idea {number}: listen to the {number}th crack of the ice.",
            "coherence_score": 90 - number,
            "embedding_dissimilarity_score": 1.0 if number == 1 else max(0.16, 0.6 - likeness * number),
            "llm_dissimilarity_score": 1.0 if number == 1 else 0.4,
            "processing_time": 2.0 * number,
            "reasoning_tokens": 100 * number,
            "stopping_condition": None,
        }
        for number in range(1, numbers + 1)
    ]
    found[-1] |= {"embedding_dissimilarity_score": 0.1, "stopping_condition": "embedding_dissimilarity_threshold"}
    return found


def results(folder: Path) -> Path:
    """A public result file of three models on six questions in three leaves."""
    leaves = {"Chemistry": ("ice", "salt"), "Biology": ("moss", "yeast"), "Neuroscience": ("sleep", "smell")}
    lengths = {"anna:7b": (12, 9, 4, 5, 7, 8), "bert": (5, 6, 9, 11, 3, 4), "cleo/large": (2, 3, 2, 4, 3, 2)}
    asked = [(leaf, subject) for leaf, subjects in leaves.items() for subject in subjects]
    domains: dict[str, Any] = {leaf: {"models": {}} for leaf in leaves}
    for model, counts in lengths.items():
        for (leaf, subject), count in zip(asked, counts, strict=True):
            questions = domains[leaf]["models"].setdefault(model, {"0.7": {}})["0.7"]
            questions[f"What would you ask {subject}?"] = answers(count, 0.03)
    path = folder / "results.json"
    path.write_text(json.dumps({"domains": domains}), encoding="utf-8")
    return path
