"""Whether seeds help: how ideas are paired, and what is said of the pairs."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from core import events as ev
from core.analysis.intervals import ENOUGH
from core.analysis.rescoring import as_stored
from core.analysis.seed_effect import FLIPS, Contrast, Effect, effect
from core.analysis.seed_pairs import Written, paired, written
from core.config import Plan
from core.levers import POLICY, Each, Hand, Plateau, Seed
from core.randomness import generator
from core.store.library import create
from core.store.tables import session_table
from tests.app.told import Recorder, begun
from tests.conftest import QUESTION, make_plan


def idea(number: int, seed: str = "", *, chain: str = "c", novelty: float | None = 0.5, **more: object) -> Written:
    question = f"question of {chain}"
    plain = Written(chain=chain, alike=(question, "team", "7"), question=question, number=number, seed=seed)
    return replace(plain, embedding_novelty=novelty, **more)


def numbers(ideas: Iterable[Written]) -> list[tuple[int, int]]:
    return sorted((pair.seeded.number, pair.plain.number) for pair in paired(ideas))


def found(ideas: Iterable[Written]) -> Effect:
    ideas = list(ideas)
    return effect(ideas, {idea.question: (0.87, 0.94) for idea in ideas}, generator(0, "test"))


def contrast(of: Effect, measure: str = "embedding_novelty", band: str = "all") -> Contrast:
    [one] = [each for each in of.contrasts if (each.measure, each.band) == (measure, band)]
    return one


# ── what is looked at ─────────────────────────────────────────────────────────────────────────────────────────────────


def session(seeded: dict[int, ev.SeedInjected], last: int = 5) -> Recorder:
    recorder = begun()
    for number in range(1, last + 1):
        force = {}
        if injected := seeded.get(number):
            recorder.add(injected)
            force = {"seeds": (injected.id,)}
        recorder.step(number, f"Idea {number}", "anna", **force)
        recorder.score(number, 0.9 - number / 10, failed=number == last)
    return recorder


def injected(name: str, *, by: str = POLICY, lever: str = "seed") -> ev.SeedInjected:
    seed = Seed(name=name, lever=lever, distance=0.95)  # type: ignore[arg-type]
    return ev.SeedInjected(question=QUESTION.id, id=name, seed=seed, step=1, by=by)


@pytest.fixture
def looked_at(tmp_path: Path) -> Callable[[Recorder, Plan], list[Written]]:
    """What is looked at of a session with these events."""

    def read(recorder: Recorder, plan: Plan) -> list[Written]:
        log = create(tmp_path, plan)
        for event in recorder.events:
            log.append(event)
        log.close()
        return written(as_stored(session_table(log.folder)))

    return read


LookedAt = Callable[[Recorder, Plan], list[Written]]


def test_an_idea_is_looked_at_with_its_seed_its_place_and_its_scores(looked_at: LookedAt) -> None:
    plan = replace(make_plan(), seeds=Each())
    _, third, _, last = looked_at(session({3: injected("codes")}), plan)
    assert (third.number, third.seed, third.distance, third.called) == (3, "codes", 0.95, False)
    assert third.embedding_novelty == pytest.approx(0.6)
    assert (third.coherence, third.judged_novelty) == (80, None)
    assert (third.passed, last.passed, last.seed) == (1.0, 0.0, "")


def test_the_first_of_a_chain_and_what_a_person_wrote_edited_or_took_out_tell_nothing(looked_at: LookedAt) -> None:
    recorder = session({4: injected("codes")}, last=6)
    recorder.add(ev.IdeaAdded(question=QUESTION.id, idea=7, step=6, text="Mine", author="you"))
    recorder.score(7, 0.7)
    recorder.add(ev.IdeaEdited(question=QUESTION.id, idea=2, old="Idea 2", new="Other"))
    recorder.score(2, 0.7)
    recorder.add(ev.IdeaRemoved(question=QUESTION.id, idea=5))
    assert [each.number for each in looked_at(recorder, make_plan())] == [3, 4, 6]


@pytest.mark.parametrize(
    ("policy", "by", "called"), [(Hand(), "you", True), (Plateau(), POLICY, True), (Each(), "you", True)]
)
def test_a_seed_that_came_because_of_how_ideas_went_is_known(
    policy: Hand, by: str, called: bool, looked_at: LookedAt
) -> None:
    third = looked_at(session({3: injected("codes", by=by)}), replace(make_plan(), seeds=policy))[1]
    assert third.called is called


def test_another_lever_is_no_seed(looked_at: LookedAt) -> None:
    seeded = {3: injected("Latin", lever="language"), 4: injected("codes")}
    third = looked_at(session(seeded), make_plan())[1]
    assert (third.number, third.seed) == (3, "")


def test_where_no_seed_was_ever_in_force_there_is_nothing_to_look_at(looked_at: LookedAt) -> None:
    assert looked_at(session({}), make_plan()) == []


# ── pairs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_neighbours_are_paired_by_turns_the_one_before_and_the_one_after() -> None:
    chain = [idea(number, "s" if number % 4 == 0 else "") for number in range(2, 18)]
    assert numbers(chain) == [(4, 3), (8, 9), (12, 11), (16, 17)] or numbers(chain) == [
        (4, 5),
        (8, 7),
        (12, 13),
        (16, 15),
    ]


def test_each_idea_is_used_once_and_none_is_taken_from_afar() -> None:
    ideas = [idea(2), idea(3), *(idea(number, "s") for number in range(4, 20))]
    pairs = numbers(ideas)
    assert sorted(plain for _, plain in pairs) == [2, 3]
    assert {seeded for seeded, _ in pairs} == {4, 5}


def test_where_a_chain_has_none_without_a_seed_one_that_differs_in_nothing_else_has() -> None:
    seeded = [idea(number, "s", chain="far") for number in range(2, 6)]
    plain = [replace(idea(number, chain="off"), alike=seeded[0].alike) for number in range(2, 6)]
    other = [idea(number, chain="else") for number in range(2, 6)]
    pairs = paired([*seeded, *other, *plain])
    assert [(pair.seeded.number, pair.plain.number, pair.plain.chain) for pair in pairs] == [
        (number, number, "off") for number in range(2, 6)
    ]
    assert len({pair.block for pair in pairs}) == 1, "two chains could be swapped, but not an idea of them"


def test_an_idea_without_a_seed_stands_beside_each_chain_with_some() -> None:
    far = [idea(number, "s", chain="far") for number in range(2, 6)]
    near = [replace(idea(number, "s", chain="near"), alike=far[0].alike) for number in range(2, 6)]
    plain = [replace(idea(number, chain="off"), alike=far[0].alike) for number in range(2, 6)]
    pairs = paired([*far, *plain, *near])
    assert sorted((pair.seeded.chain, pair.seeded.number) for pair in pairs) == [
        (chain, number) for chain in ("far", "near") for number in range(2, 6)
    ]
    assert all(pair.seeded.number == pair.plain.number for pair in pairs)
    assert len({pair.block for pair in pairs}) == 1, "both share the luck of the chain without"


def test_a_plan_that_draws_otherwise_is_another_chain(looked_at: LookedAt) -> None:
    seeded = session({3: injected("codes")})
    alike = {looked_at(seeded, replace(make_plan(), random_seed=seed))[0].alike for seed in (1, 2)}
    assert len(alike) == 2


def test_ideas_of_different_judges_are_not_compared() -> None:
    assert paired([idea(2, "s"), replace(idea(3), alike=("question of c", "team", "7", "a judge"))]) == []


# ── what they tell ────────────────────────────────────────────────────────────────────────────────────────────────────


def chains(count: int, gain: float, noise: float = 0.05, length: int = 26) -> list[Written]:
    """Chains whose novelty falls; every fourth idea is under a seed, which adds `gain`."""
    rng = np.random.default_rng(3)
    return [
        idea(
            number,
            "s" * (number % 4 == 0),
            chain=f"c{chain}",
            novelty=0.8 * np.exp(-number / 12) + gain * (number % 4 == 0) + rng.normal(0, noise),
            distance=0.95 if number % 4 == 0 else None,
        )
        for chain in range(count)
        for number in range(2, length)
    ]


def test_what_seeds_add_is_seen_with_its_interval() -> None:
    seen = contrast(found(chains(10, 0.1)))
    assert seen.verdict == "more"
    assert seen.pairs == 60
    assert (seen.difference.low or 0) < 0.1 < (seen.difference.high or 0)
    assert seen.difference.above_zero
    assert seen.difference.value == pytest.approx(seen.seeded - seen.plain)
    assert (seen.p or 1) < 0.01


def test_what_seeds_take_away_is_seen_too() -> None:
    assert contrast(found(chains(10, -0.1))).verdict == "less"


def test_that_novelty_falls_along_a_chain_is_no_effect_of_seeds() -> None:
    seen = contrast(found(chains(10, 0.0)))
    assert seen.verdict == "no difference seen"
    assert abs(seen.difference.value) < 0.02


def test_a_few_pairs_are_too_few_to_tell() -> None:
    seen = contrast(found(chains(1, 0.3, length=4 * ENOUGH - 2)))
    assert seen.pairs == ENOUGH - 1
    assert seen.verdict == "too few to tell"


def test_p_is_that_of_all_ways_to_swap() -> None:
    differences = [0.3, 0.1, 0.2, -0.05, 0.25, 0.15, 0.02]
    ideas = [
        each
        for place, difference in enumerate(differences)
        for each in (
            idea(2, "s", chain=f"c{place}", novelty=0.5 + difference),
            idea(3, chain=f"c{place}", novelty=0.5),
        )
    ]
    signs = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(sign * each for sign, each in zip(way, differences, strict=True))) for way in signs]
    exact = sum(each >= abs(sum(differences)) - 1e-9 for each in sums) / len(sums)
    assert 2 ** len(differences) < FLIPS
    assert contrast(found(ideas)).p == pytest.approx(exact)


def test_two_chains_side_by_side_are_one_chance_to_swap_not_many() -> None:
    seeded = [idea(number, "s", chain="far", novelty=0.9) for number in range(2, 40)]
    plain = [replace(idea(number, chain="off", novelty=0.1), alike=seeded[0].alike) for number in range(2, 40)]
    seen = contrast(found([*seeded, *plain]))
    assert (seen.pairs, seen.p, seen.verdict) == (38, None, "too few to tell")


def test_where_no_difference_could_have_been_seen_it_says_that_they_are_too_few() -> None:
    def told(count: int) -> Contrast:
        seeded = [idea(2, "s", chain=f"c{chain}", novelty=0.9) for chain in range(count)]
        return contrast(found([*seeded, *(idea(3, chain=f"c{chain}", novelty=0.1) for chain in range(count))]))

    assert told(5).verdict == "too few to tell"
    assert told(6).verdict == "more"
    assert told(6).p == pytest.approx(2 / 2**6), "all one way, or all the other"


def test_a_third_that_holds_all_pairs_is_not_tested_twice() -> None:
    ideas = [idea(2, "s", distance=0.99), idea(3)]
    assert [each.band for each in found(ideas).contrasts] == ["all"]


def test_a_score_that_nobody_gave_makes_no_pair_of_its_measure() -> None:
    ideas = [idea(2, "s", coherence=80.0, passed=1.0), idea(3, passed=0.0), idea(5, "s"), idea(6, coherence=3.0)]
    measures = {each.measure: each.pairs for each in found(ideas).contrasts if each.band == "all"}
    assert measures == {"embedding_novelty": 2, "passed": 1}


def test_seeds_are_told_apart_by_their_distance() -> None:
    ideas = [
        each
        for place, distance in enumerate((0.7, 0.87, 0.88, 0.94, 1.2, None))
        for each in (idea(2, "s", chain=f"c{place}", distance=distance), idea(3, chain=f"c{place}"))
    ]
    bands = {each.band: each.pairs for each in found(ideas).contrasts}
    assert bands == {"all": 6, "near": 2, "middle": 1, "far": 2}
    unknown = effect(ideas, {}, generator(0, "test"))
    assert {each.band for each in unknown.contrasts} == {"all"}, "of these questions nobody knows what is far"


def test_a_difference_that_grows_with_distance_is_a_trend() -> None:
    ideas = [
        each
        for place in range(12)
        for each in (
            idea(2, "s", chain=f"c{place}", distance=0.7 + place / 20, novelty=0.3 + place / 20),
            idea(3, chain=f"c{place}"),
        )
    ]
    trend = found(ideas).trend
    assert trend is not None
    assert trend.rho == pytest.approx(1)
    assert trend.pairs == 12
    assert trend.p < 0.01


def test_nothing_under_a_seed_is_nothing_to_tell() -> None:
    nothing = found([idea(2), idea(3)])
    assert (nothing.seeded, nothing.pairs, nothing.contrasts, nothing.trend) == (0, 0, (), None)


def test_the_same_ideas_tell_the_same_each_time() -> None:
    assert found(chains(4, 0.05)) == found(chains(4, 0.05))
