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
from core.store.forking import fork
from core.store.library import create
from core.store.tables import read_tables, session_table
from tests.app.told import Recorder, begun
from tests.conftest import QUESTION, make_plan, scripted_team


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


def injected(name: str, *, by: str = POLICY, lever: str = "seed", set_before: bool = False) -> ev.SeedInjected:
    seed = Seed(name=name, lever=lever, distance=0.95)  # type: ignore[arg-type]
    return ev.SeedInjected(question=QUESTION.id, id=name, seed=seed, step=1, by=by, set_before=set_before)


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
    _, third, _, last = looked_at(session({3: injected("codes", set_before=True)}), make_plan())
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


@pytest.mark.parametrize("by", ["you", POLICY])
def test_a_seed_that_came_because_of_how_ideas_went_is_known(by: str, looked_at: LookedAt) -> None:
    assert looked_at(session({3: injected("codes", by=by)}), make_plan())[1].called


def test_a_seed_is_judged_by_the_policy_that_brought_it_whatever_came_after(looked_at: LookedAt) -> None:
    recorder = session({3: injected("codes", set_before=True)})
    recorder.add(ev.SeedPolicySet(question=QUESTION.id, old=Each(), new=Plateau(), by="you"))
    assert not looked_at(recorder, replace(make_plan(), seeds=Hand()))[1].called


def test_ideas_of_a_team_that_took_over_are_not_compared_with_those_of_the_old_one(looked_at: LookedAt) -> None:
    def made(recorder: Recorder, numbers: Iterable[int], **force: tuple[str, ...]) -> None:
        for number in numbers:
            recorder.step(number, f"Idea {number}", "anna", **force)
            recorder.score(number, 0.5)

    def pairs(*between: ev.Event) -> list[tuple[int, int]]:
        recorder = begun()
        made(recorder, range(1, 4))
        recorder.add(*between, injected("codes"))
        made(recorder, range(4, 6), seeds=("codes",))
        return numbers(looked_at(recorder, make_plan()))

    assert pairs() == [(4, 3), (5, 2)]
    assert pairs(ev.TeamChanged(team=replace(scripted_team("bert", "cleo"), name="others"), by="you")) == []


def test_what_a_fork_shares_with_its_session_counts_once(tmp_path: Path) -> None:
    log = create(tmp_path, make_plan())
    for event in session({2: injected("codes")}, last=6).events:
        log.append(event)
    log.close()
    own = written(as_stored(read_tables([log.folder]).table))
    forked = fork(log.folder, 4, tmp_path)
    both = read_tables([log.folder, forked]).table
    assert both.lengths.tolist() == [6, 4]
    assert both.ideas.shared.tolist() == [False] * 6 + [True] * 4
    assert written(as_stored(both)) == own


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
            idea(2, f"s{place}", chain=f"c{place}", distance=0.7 + place / 20, novelty=0.3 + place / 20),
            idea(3, chain=f"c{place}"),
        )
    ]
    trend = found(ideas).trend
    assert trend is not None
    assert trend.rho == pytest.approx(1)
    assert (trend.pairs, trend.units) == (12, 12)
    assert trend.p < 0.01


def lucky(seeds: int, rng: np.random.Generator) -> list[Written]:
    """Each seed is for some ideas of a chain, and has its own luck there, which its distance has no part in."""
    return [
        each
        for seed in range(seeds)
        for distance, luck in [(float(rng.uniform(0.2, 0.9)), rng.normal(0, 0.05))]
        for number in range(2, 12, 2)
        for each in (
            idea(number, f"s{seed}", chain=f"c{seed}", novelty=0.4 + luck + rng.normal(0, 0.05), distance=distance),
            idea(number + 1, chain=f"c{seed}", novelty=0.4),
        )
    ]


def test_the_luck_of_a_few_seeds_is_no_trend_however_many_ideas_they_had() -> None:
    rng = np.random.default_rng(3)
    trends = [trend for _ in range(60) if (trend := found(lucky(8, rng)).trend)]
    assert {(trend.pairs, trend.units) for trend in trends} == {(40, 8)}
    found_something = sum(trend.p < 0.05 for trend in trends)
    assert found_something <= 8, "chance alone makes 9 of 3 once in five hundred times"


def test_a_few_seeds_are_too_few_for_a_trend() -> None:
    assert found(lucky(ENOUGH - 1, np.random.default_rng(3))).trend is None
    assert found(lucky(ENOUGH, np.random.default_rng(3))).trend is not None


def test_many_seeds_in_few_chains_share_the_luck_of_these() -> None:
    ideas = [
        each
        for number in range(2, 40, 2)
        for each in (
            idea(number, f"s{number}", novelty=number / 50, distance=0.5 + number / 100),
            idea(number + 1, novelty=0.4),
        )
    ]
    assert found(ideas).pairs == 19
    assert found(ideas).trend is None


def test_nothing_under_a_seed_is_nothing_to_tell() -> None:
    nothing = found([idea(2), idea(3)])
    assert (nothing.seeded, nothing.pairs, nothing.contrasts, nothing.trend) == (0, 0, (), None)


def test_the_same_ideas_tell_the_same_each_time() -> None:
    assert found(chains(4, 0.05)) == found(chains(4, 0.05))
