"""Who contributed what, which seeds helped, what ideas take, and whether short texts buy novelty."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.random import default_rng

from core.analysis.brevity import brevities
from core.analysis.intervals import Interval
from core.analysis.members import contributions
from core.analysis.rescoring import Change, rescored
from core.analysis.seed_effect import by_seed
from core.analysis.series import chain_series
from core.analysis.spending import costs, efforts
from core.analysis.table import ChainRow, IdeaRow
from tests.unit.tables import counts_of, grid_of, public_counts, question, row


def ideas(*rows: Mapping[str, object]) -> list[IdeaRow]:
    usual: dict[str, object] = {"author": "a", "embedding_novelty": 0.5}
    return [IdeaRow(number=number, **{**usual, **each}) for number, each in enumerate(rows, 1)]  # type: ignore[arg-type]


def chain(*rows: Mapping[str, object], model: str = "m", asked: str = "q", is_team: bool = False) -> ChainRow:
    return row(model, asked, len(rows), "cap", ideas=ideas(*rows), is_team=is_team)


def value(interval: Interval | None) -> float | None:
    return None if interval is None else interval.value


# ── members ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_members_are_offered_chosen_and_valid() -> None:
    team = chain(
        {"author": "a", "offered": ("b", "c")},
        {"author": "b", "offered": ("a", "c"), "embedding_novelty": 0.3},
        {"author": "a", "offered": ("b", "c"), "embedding_novelty": 0.1, "failed_rule": "embedding_novelty"},
        model="team",
        is_team=True,
    )
    counts = counts_of(team, chain({"author": "x"}, model="single"))
    found = {each.author: each for each in contributions(counts).rows}
    assert {name: (each.offered, each.chosen, each.valid) for name, each in found.items()} == {
        "a": (3, 2, 1),
        "b": (3, 1, 1),
        "c": (3, 0, 0),
    }
    assert found["a"].share == 0.5
    assert value(found["a"].novelty) == pytest.approx(0.1), "first ideas are new by definition"
    assert found["c"].novelty is None


def test_what_a_shorter_chain_leaves_out_nobody_has_offered() -> None:
    team = chain(*({"author": "a", "offered": ("b",)} for _ in range(4)), model="team", is_team=True)
    found = {each.author: each for each in contributions(rescored(counts_of(team).table, Change(max_ideas=2))).rows}
    assert (found["a"].chosen, found["b"].offered) == (2, 2)


def test_where_losing_proposals_were_not_kept_nobody_knows_what_was_offered() -> None:
    [found] = contributions(counts_of(chain({"author": "a"}, model="team", is_team=True))).rows
    assert found.offered is None


# ── seeds ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def falling(number: int) -> float:
    return 0.8 - 0.15 * float(np.log(number))


def seeded_chain(asked: str, lift: Mapping[str, float], seeds: Sequence[str | None]) -> ChainRow:
    """Novelty falls along it, and is higher under a seed by what that one lifts it."""
    return chain(
        *(
            {"embedding_novelty": falling(number) + lift.get(seed or "", 0.0), "seed": seed}
            for number, seed in enumerate(seeds, 1)
        ),
        asked=asked,
    )


def test_each_idea_under_a_seed_stands_beside_one_without_at_its_place() -> None:
    seeds = [None] * 8 + ["moss", None] * 3
    [found] = by_seed(counts_of(*(seeded_chain(f"q{place}", {}, seeds) for place in range(3)))).rows
    assert (found.seed, found.ideas, found.valid, found.pairs) == ("moss", 9, 9, 9)
    assert found.difference is not None
    assert found.difference.value == pytest.approx(0.0, abs=0.02), "it came late, when all is less novel"
    assert found.difference.runs == 3


def test_seeds_that_help_come_first() -> None:
    seeds = [None, None, "salt", None, None, "moss", None, None]
    rows = [seeded_chain(f"q{place}", {"moss": 0.1, "salt": -0.1}, seeds) for place in range(3)]
    moss, salt = by_seed(counts_of(*rows)).rows
    assert (moss.seed, salt.seed) == ("moss", "salt")
    for found, lift in ((moss, 0.1), (salt, -0.1)):
        assert found.difference is not None
        assert found.novelty is not None
        assert found.without is not None
        assert found.difference.value == pytest.approx(found.novelty - found.without)
        assert found.difference.value == pytest.approx(lift, abs=0.06), "neighbours differ by a little themselves"


def test_a_chain_that_had_a_seed_all_along_is_compared_with_nothing() -> None:
    [found] = by_seed(counts_of(chain({"seed": "moss"}, {"seed": "moss"}))).rows
    assert (found.ideas, found.pairs, found.difference, found.novelty) == (2, 0, None, None)


# ── what it takes ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_an_idea_takes_is_a_mean_over_those_of_which_it_is_known() -> None:
    counts = counts_of(
        chain(
            {"seconds": 2.0, "reasoning_tokens": 100, "cost": 0.1, "input_tokens": 50, "output_tokens": 10},
            {"seconds": 4.0, "reasoning_tokens": 300, "cost": None, "input_tokens": 70, "output_tokens": 30},
            {"seconds": None, "failed_rule": "coherence"},
        )
    )
    [found] = efforts(counts).rows
    assert (value(found.seconds), value(found.reasoning_tokens)) == (3.0, 200.0)
    assert value(found.cost) == pytest.approx(0.1)
    assert found.score.value == 3.0
    [cost] = costs(counts).rows
    assert cost.valid.value == 2.0
    assert value(cost.seconds) == pytest.approx(3.0 * 3 / 2), "three ideas for two valid ones"
    assert value(cost.tokens) == pytest.approx(80 * 3 / 2)
    assert value(cost.reasoning_tokens) == pytest.approx(300)


def test_what_it_takes_has_intervals_over_questions() -> None:
    chains = [
        chain({"seconds": 2.0 + number % 3}, {"seconds": 4.0}, {"failed_rule": "coherence"}, asked=f"q{number}")
        for number in range(12)
    ]
    [effort], [cost] = efforts(counts_of(*chains)).rows, costs(counts_of(*chains)).rows
    for found, mean in ((effort.seconds, 3.5), (cost.seconds, 3.5 * 3 / 2)):
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert value(found) == pytest.approx(mean)
        assert found.low < mean < found.high
        assert found.runs == 12


def test_effort_and_score_are_correlated_over_models_of_which_both_are_known() -> None:
    rows = [
        chain(*[{"seconds": seconds}] * length, model=f"m{seconds}", asked="q")
        for seconds, length in ((1.0, 2), (2.0, 4), (9.0, 8))
    ]
    found = efforts(counts_of(*rows, chain({}, model="unknown")))
    assert found.r_seconds == pytest.approx(1.0)
    assert found.r_cost is None
    assert [each.model for each in found.rows] == ["m9.0", "m2.0", "m1.0", "unknown"]


# ── length ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_short_texts_that_buy_novelty_are_found_and_charged_for_it() -> None:
    rng = default_rng(1)

    def written(model: str, doublings: float, extra: float) -> list[ChainRow]:
        rows = []
        for place in range(6):
            lengths = 2 ** rng.normal(doublings, 0.5, 12)
            novelty = 0.9 - 0.05 * np.log2(lengths) + extra
            each = [{"embedding_novelty": n, "length": round(size)} for n, size in zip(novelty, lengths, strict=True)]
            rows.append(chain(*each, model=model, asked=f"q{place}"))
        return rows

    found = brevities(counts_of(*written("short", 6, 0.0), *written("long", 9, 0.05)))
    assert found.slope == pytest.approx(-0.05, abs=0.002)
    assert found.r is not None
    assert found.r < -0.5
    long, short = found.rows
    assert (long.model, short.model) == ("long", "short")
    assert short.novelty.value > long.novelty.value, "as they are"
    assert long.at_usual_length.value - short.at_usual_length.value == pytest.approx(0.05, abs=0.01)
    assert short.r is not None
    assert short.r < -0.9


def test_that_later_ideas_are_longer_and_less_novel_is_no_slope_of_length() -> None:
    """Novelty falls along a chain while texts grow; within that, length does nothing."""
    rng = default_rng(2)
    rows = [
        chain(
            *(
                {"embedding_novelty": falling(place), "length": round(100 * place ** rng.uniform(0.5, 1.5))}
                for place in range(1, 15)
            ),
            asked=f"q{number}",
        )
        for number in range(8)
    ]
    found = brevities(counts_of(*rows))
    assert found.r is not None
    assert found.r < -0.5, "taken as they are, long texts are less novel"
    assert found.slope == pytest.approx(0.0, abs=1e-6)


def test_that_questions_with_longer_answers_are_less_novel_is_no_slope_of_length() -> None:
    rng = default_rng(3)
    rows = [
        chain(
            *(
                {"embedding_novelty": 0.9 - 0.05 * number, "length": round(2 ** (5 + number + rng.normal(0, 0.3)))}
                for _ in range(8)
            ),
            asked=f"q{number}",
        )
        for number in range(8)
    ]
    found = brevities(counts_of(*rows))
    assert found.r is not None
    assert found.r < -0.9
    assert found.slope == pytest.approx(0.0, abs=1e-6)


def test_how_unsure_the_slope_is_shows_in_what_a_model_has_at_the_usual_length() -> None:
    """Texts of one model are long throughout, so that its figure rests on the slope; the question decides that."""
    rng = default_rng(4)

    def written(model: str, doublings: float, slopes: Sequence[float]) -> list[ChainRow]:
        return [
            chain(
                *(
                    {"embedding_novelty": 0.5 + slope * (at - doublings), "length": round(2**at)}
                    for at in rng.normal(doublings, 0.5, 12)
                ),
                model=model,
                asked=f"q{place}",
            )
            for place, slope in enumerate(slopes)
        ]

    def width(slopes: Sequence[float]) -> float:
        found = brevities(counts_of(*written("long", 14, slopes), *written("short", 8, slopes)))
        [interval] = [each.at_usual_length for each in found.rows if each.model == "long"]
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < interval.value < interval.high
        return interval.high - interval.low

    assert width([-0.09, 0.01] * 6) > 3 * width([-0.04] * 12)


def test_texts_of_one_length_tell_nothing_of_length() -> None:
    [found] = brevities(counts_of(chain(*[{"length": 40}] * 3))).rows
    assert found.r is None
    assert found.at_usual_length.value == found.novelty.value


def test_among_the_published_models_short_texts_buy_novelty() -> None:
    found = brevities(public_counts())
    assert found.r is not None
    assert found.r < -0.4
    assert found.slope < 0


# ── chains ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chain_is_told_idea_by_idea_with_what_the_rules_leave_out() -> None:
    table = grid_of({"m": [2, 4]}).table
    longer, shorter = chain_series(rescored(table, Change(max_ideas=3)), [1, 0]).series
    assert (longer.chain, longer.question, longer.leaf) == (1, question("q1").text, "Chemistry")
    assert longer.numbers == (1, 2, 3, 4)
    assert longer.embedding_novelty == (0.5, 0.5, 0.5, 0.1)
    assert longer.counted == (True, True, True, False)
    assert longer.failed == (False, False, False, True)
    assert (longer.responses, longer.valid, longer.ended) == (3, 3, "cap")
    assert (shorter.responses, shorter.valid, shorter.ended) == (2, 1, "embedding_novelty")
    assert chain_series(counts_of(chain({"embedding_novelty": None})), [0]).series[0].embedding_novelty == (None,)
