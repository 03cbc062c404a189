"""Teams compared: what counts on a budget, who is the best alone, and what a difference lets one say."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from msgspec.structs import replace
from numpy.random import Generator, default_rng

from core.analysis.standings import Run, against_best, report, standing, verdict
from core.comparing import Comparison, Contest, is_alone, smaller
from core.errors import ModelUnavailableError, StoreError
from core.metering import Limit
from core.models import Chunk, Group, Member, ModelSpec, Prompt, TeamSpec
from core.providers.catalog import Providers
from core.questions import Question
from core.rules import Rules
from core.scoring.embeddings import WordLlamaEmbedder
from core.store import library
from tests.conftest import QUESTION, scripted_team
from tests.scripted import ScriptedProvider, same, varied

QUESTIONS = tuple(Question(f"q{number}", f"Propose way number {number}.") for number in range(1, 5))


def comparison(*teams: TeamSpec, limit: Limit | None = Limit("calls", 6), **more: object) -> Comparison:  # noqa: B008
    rules = Rules(embedding_novelty=0.0, patience=2)
    return Comparison(teams=teams, limit=limit, rules=rules, **{"questions": (QUESTION,), **more})  # type: ignore[arg-type]


async def runs_of(
    compared: Comparison,
    folder: Path,
    embedder: WordLlamaEmbedder,
    provider: ScriptedProvider | None = None,
) -> list[Run]:
    providers = Providers({"scripted": provider or ScriptedProvider(varied)})
    return await Contest(compared, folder, providers, embedder).run(4, lambda run: None)


def by_member(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """Anna says something new each time, everybody else always the same."""
    return varied(spec, prompt, random_seed) if spec.name == "model-anna" else same(spec, prompt, random_seed)


# ── who is compared ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_member_of_every_team_is_there_once_and_alone() -> None:
    both = comparison(scripted_team("anna", "bert"), replace(scripted_team("anna", "cleo"), name="second"))
    assert [(team.name, team.strategy, len(team.members)) for team in both.members] == [
        ("anna", "solo", 1),
        ("bert", "solo", 1),
        ("cleo", "solo", 1),
    ]
    assert both.members_of(both.teams[1]) == ("anna", "cleo")
    assert both.chains == 5


def test_the_same_name_for_another_model_is_told_apart() -> None:
    other = TeamSpec(name="anna", strategy="sample", members=(Member(name="bert", model=ModelSpec(name="x")),) * 1)
    team = scripted_team("anna", "bert")
    mixed = replace(other, members=(*other.members, team.members[0]))
    names = [each.name for each in comparison(team, mixed).entrants]
    assert names == ["scripted", "anna", "anna (2)", "bert", "bert (2)"]


def test_a_team_that_is_one_member_alone_needs_no_other_beside_it() -> None:
    anna = scripted_team("anna", strategy="solo")
    assert is_alone(anna)
    assert is_alone(scripted_team("anna", "bert", strategy="solo"))
    assert is_alone(scripted_team("anna", strategy="sample"))
    assert not is_alone(scripted_team("anna", strategy="parallel"))
    assert not is_alone(scripted_team("anna", "bert"))
    assert comparison(anna).members == ()
    assert comparison(anna).members_of(anna) == ()


def test_a_smaller_team_has_the_members_of_most_weight() -> None:
    team = scripted_team("anna", "bert", "cleo", strategy="router")
    weights = {"anna": 1.0, "bert": 3.0, "cleo": 2.0}
    members = tuple(replace(member, weight=weights[member.name]) for member in team.members)
    team = replace(team, members=members, routes={"Physics": "anna", "*": "bert"}, lead="anna")
    two = smaller(team, 2)
    assert two.name == "scripted, 2 of 3"
    assert [member.name for member in two.members] == ["bert", "cleo"]
    assert (two.routes, two.lead, two.strategy) == ({"*": "bert"}, "", "router")
    assert smaller(team, 3).routes == team.routes


def test_a_smaller_hierarchy_keeps_whoever_leads_it() -> None:
    team = scripted_team("anna", "bert", "cleo", strategy="hierarchy")
    heavier = replace(team, members=(team.members[0], *(replace(each, weight=9.0) for each in team.members[1:])))
    groups = (Group(name="lab", team=scripted_team("x"), weight=99.0),)
    for lead, size, kept in (
        ("", 1, ["anna"]),
        ("", 2, ["anna", "bert"]),
        ("cleo", 1, ["cleo"]),
        ("cleo", 2, ["bert", "cleo"]),
    ):
        small = smaller(replace(heavier, lead=lead), size)
        assert [place.name for place in small.places] == kept
        assert small.lead == (lead or "anna")
    assert [place.name for place in smaller(replace(heavier, groups=groups), 2).places] == ["anna", "lab"]


def test_a_smaller_team_keeps_teams_within_it() -> None:
    inner = Group(name="inner", team=scripted_team("dora"), weight=5.0)
    two = smaller(replace(scripted_team("anna", "bert"), groups=(inner,)), 2)
    assert [place.name for place in two.places] == ["anna", "inner"]


# ── what counts ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_everybody_has_as_many_calls(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    runs = await runs_of(comparison(scripted_team("anna", "bert")), sessions, embedder)
    assert {(run.team, run.calls, run.responses, run.valid, run.ended) for run in runs} == {
        (name, 6, 6, 6, "budget") for name in ("scripted", "anna", "bert")
    }
    assert sum(runs[0].by.values()) == 6


async def test_proposals_that_lose_are_calls_too(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    compared = comparison(scripted_team("anna", "bert", "cleo", strategy="parallel"))
    runs = await runs_of(compared, sessions, embedder)
    team = next(run for run in runs if run.team == "scripted")
    assert (team.calls, team.responses) == (6, 2)


async def test_an_idea_for_which_the_calls_did_not_last_does_not_count(
    sessions: Path, embedder: WordLlamaEmbedder
) -> None:
    compared = comparison(scripted_team("anna", "bert", "cleo", strategy="parallel"), limit=Limit("calls", 8))
    runs = await runs_of(compared, sessions, embedder)
    team = next(run for run in runs if run.team == "scripted")
    assert (team.responses, team.ended) == (2, "budget")


async def test_a_selector_and_a_lead_are_called_too(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    def choosing(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        return "<pick>1</pick>" if prompt.tag == "pick" else varied(spec, prompt, random_seed)

    selector = ModelSpec(name="selector", provider="scripted")
    team = replace(scripted_team("anna", "bert", strategy="parallel"), selector=selector)
    twice = replace(team, name="twice", selector_orders=2)
    runs = await runs_of(
        comparison(team, twice, limit=Limit("calls", 12)), sessions, embedder, ScriptedProvider(choosing)
    )
    found = {run.team: (run.calls, run.responses) for run in runs if run.team in ("scripted", "twice")}
    assert found == {"scripted": (12, 4), "twice": (12, 3)}


@pytest.mark.parametrize(("limit", "ideas"), [(Limit("tokens", 460), 3), (Limit("cost", 0.35), 3)])
async def test_tokens_and_money_are_budgets_too(
    sessions: Path, embedder: WordLlamaEmbedder, limit: Limit, ideas: int
) -> None:
    class Dear(ScriptedProvider):
        def cost(self, spec: object, usage: object) -> float | None:
            return 0.1

    runs = await runs_of(comparison(scripted_team("anna", "bert"), limit=limit), sessions, embedder, Dear(varied))
    assert {(run.responses, run.ended) for run in runs} == {(ideas, "budget")}
    assert all(run.cost is not None and run.cost >= 0.3 for run in runs)
    stored = library.load(next(sessions.iterdir()))
    assert stored.plan.budget == limit.budget


async def test_without_a_limit_a_rule_ends_a_chain(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    compared = comparison(scripted_team("anna", "bert"), limit=None)
    runs = await runs_of(compared, sessions, embedder, ScriptedProvider(same))
    assert {(run.valid, run.responses, run.ended) for run in runs} == {(1, 3, "mechanical")}


async def test_repeats_are_chains_of_their_own_and_kept_each_in_its_folder(
    sessions: Path, embedder: WordLlamaEmbedder
) -> None:
    compared = comparison(scripted_team("anna", "bert"), questions=QUESTIONS[:2], repeats=2, limit=Limit("calls", 2))
    runs = await runs_of(compared, sessions, embedder)
    assert len({(run.team, run.question, run.repeat) for run in runs}) == len(runs) == 12
    folders = sorted(folder.name for folder in sessions.iterdir())
    assert folders[0] == "00001-scripted-q1"
    assert len(folders) == 12
    states = [library.load(folder).state() for folder in sessions.iterdir()]
    assert all(state.ended and state.chain and state.chain.responses == 2 for state in states)


async def test_all_draw_alike_in_one_repeat_and_otherwise_in_the_next(
    sessions: Path, embedder: WordLlamaEmbedder
) -> None:
    compared = comparison(scripted_team("anna", "bert"), repeats=2, limit=Limit("calls", 2))
    await runs_of(compared, sessions, embedder)
    seeds: dict[int, list[str]] = {}
    for folder in sessions.iterdir():
        plan = library.load(folder).plan
        seeds.setdefault(plan.random_seed, []).append(plan.team.name)
    assert {seed: sorted(names) for seed, names in seeds.items()} == {
        seed: ["anna", "bert", "scripted"] for seed in (0, 1)
    }


# ── trouble ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_team_that_nobody_answers_is_stopped_and_says_why(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    provider = ScriptedProvider(varied, fail_after=0)
    runs = await runs_of(comparison(scripted_team("anna", strategy="solo"), limit=None), sessions, embedder, provider)
    assert [(run.ended, run.valid) for run in runs] == [("trouble", 0)]
    assert "the server said no" in runs[0].why


async def test_a_model_that_can_not_be_used_ends_the_comparison(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    class Unready(ScriptedProvider):
        async def prepare(self, spec: ModelSpec) -> None:
            raise ModelUnavailableError("no key: set ONE")

    with pytest.raises(ModelUnavailableError, match="set ONE"):
        await runs_of(comparison(scripted_team("anna", "bert")), sessions, embedder, Unready(varied))


async def test_a_folder_that_can_not_be_written_ends_it_too(tmp_path: Path, embedder: WordLlamaEmbedder) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError):
        await runs_of(comparison(scripted_team("anna", "bert")), tmp_path / "file" / "x", embedder)


async def test_stopped_it_leaves_what_is_there(sessions: Path, embedder: WordLlamaEmbedder) -> None:
    class Uneven(ScriptedProvider):
        async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
            await asyncio.sleep(60 if spec.name == "model-bert" else 0)
            async for chunk in super().stream(spec, prompt, random_seed):
                yield chunk

    compared = comparison(scripted_team("anna", strategy="solo"), scripted_team("bert", strategy="solo"))
    compared = replace(compared, teams=(*compared.teams[:1], replace(compared.teams[1], name="slow")), repeats=3)
    contest = Contest(compared, sessions, Providers({"scripted": Uneven(varied)}), embedder)
    runs = await contest.run(2, lambda run: contest.stop("SIGINT"))
    assert len(runs) == 1
    states = [library.load(folder).state() for folder in sessions.iterdir()]
    assert len(states) < compared.chains
    assert all(state.ended for state in states)
    assert {state.ended.message for state in states if state.ended} == {"budget", "SIGINT"}


def test_what_all_have_been_through_is_all_questions_some_times_else_some_of_them_once() -> None:
    compared = comparison(scripted_team("anna", "bert"), questions=QUESTIONS[:3], repeats=3)
    runs = [
        run(team.name, question.id, 1, repeat=repeat)
        for repeat in range(3)
        for question in compared.questions
        for team in compared.entrants
    ]
    assert [len(runs), compared.chains] == [27, 27]
    for done, questions, repeats in ((27, 3, 3), (26, 3, 2), (18, 3, 2), (17, 3, 1), (9, 3, 1), (8, 2, 1), (2, 0, 1)):
        whole = compared.finished(runs[:done])
        assert (len(whole.questions), whole.repeats) == (questions, repeats)
        assert len(whole.of(runs[:done])) == whole.chains
    late = [each for each in runs if (each.team, each.question, each.repeat) != ("anna", "q2", 0)]
    assert [each.id for each in compared.finished(late).questions] == ["q1", "q3"]


# ── what it says ──────────────────────────────────────────────────────────────────────────────────────────────────────


def run(team: str, question: str, valid: int, repeat: int = 0, calls: int = 10, by: str = "anna") -> Run:
    return Run(
        team=team,
        question=question,
        repeat=repeat,
        valid=valid,
        responses=valid + 1,
        calls=calls,
        tokens=1000 * calls,
        cost=0.5,
        seconds=60.0,
        by={by: valid},
        ended="budget",
    )


def draws() -> Generator:
    return default_rng(1)


def grid(team: str, *valid: int, calls: int = 10) -> list[list[Run]]:
    return [[run(team, f"q{place}", count, calls=calls)] for place, count in enumerate(valid)]


def test_a_standing_sums_up_its_chains() -> None:
    found = standing("t", grid("t", 2, 4, 6, 8), draws)
    assert (found.chains, found.valid.value, found.calls, found.tokens, found.cost) == (4, 5.0, 10, 10_000, 0.5)
    assert (found.per_call.value, found.per_1000_tokens.value, found.per_minute.value) == (0.5, 0.5, 5.0)
    assert (found.by, found.ended) == ({"anna": 20}, {"budget": 4})
    unknown = [[replace(each, cost=None) for each in row] for row in grid("t", 1, 2)]
    assert standing("t", unknown, draws).cost is None


def test_the_best_is_picked_on_the_half_that_it_is_not_shown_on() -> None:
    """Anna is lucky on the even questions, bert on the odd ones; shown where they were lucky, each would have 9."""
    members = {"anna": grid("anna", 9, 1, 9, 1, 9, 1), "bert": grid("bert", 1, 9, 1, 9, 1, 9)}
    found = against_best(grid("t", *[5] * 6), members, draws)
    assert (found.best, found.held_out) == (("bert", "anna"), True)
    assert found.standing.valid.value == 1.0
    assert (found.difference.value, found.verdict) == (4.0, "more")


def test_with_few_questions_it_is_picked_where_it_is_shown_and_that_is_said() -> None:
    members = {"anna": grid("anna", 9, 1, 9), "bert": grid("bert", 1, 9, 1)}
    found = against_best(grid("t", 5, 5, 5), members, draws)
    assert (found.best, found.held_out, found.standing.valid.value) == (("anna",), False, 19 / 3)
    assert found.verdict == "too few chains to tell"


def test_a_team_that_only_spends_more_is_seen_to() -> None:
    members = {"anna": grid("anna", *[5] * 8)}
    found = against_best(grid("t", *[6] * 8, calls=40), members, draws)
    assert (found.verdict, found.calls) == ("more", 4.0)


def test_a_difference_that_may_be_none_is_not_seen() -> None:
    members = {"anna": grid("anna", 5, 5, 5, 5, 5, 5, 5, 5)}
    assert against_best(grid("t", 3, 8, 2, 7, 5, 4, 9, 3), members, draws).verdict == "no difference seen"
    assert against_best(grid("t", 3, 4, 2, 4, 3, 4, 4, 3), members, draws).verdict == "fewer"


def test_a_report_has_teams_members_and_pairs() -> None:
    runs = [run(team, f"q{place}", valid) for place in range(6) for team, valid in
            (("one", 5), ("two", 7), ("anna", 3), ("bert", 4), ("solo", 1))]  # fmt: skip
    teams = {"one": ("anna", "bert"), "two": ("anna", "bert"), "solo": ()}
    found = report(runs, teams, [f"q{place}" for place in range(6)], draws)
    assert [(team.standing.team, team.alone.best if team.alone else None) for team in found.teams] == [
        ("one", ("bert", "bert")),
        ("two", ("bert", "bert")),
        ("solo", None),
    ]
    assert [member.team for member in found.members] == ["bert", "anna"]
    assert [(pair.team, pair.other, pair.difference.value, pair.verdict) for pair in found.pairs] == [
        ("one", "two", -2.0, "fewer"),
        ("one", "solo", 4.0, "more"),
    ]


def test_whoever_comes_twice_has_the_same_intervals() -> None:
    chains = [run(team, f"q{place}", place * 3 % 7, by=team) for place in range(6) for team in ("one", "two", "anna")]
    found = report(chains, {"one": ("anna",), "two": ("anna",)}, [f"q{place}" for place in range(6)], draws)
    one, two = (team.alone for team in found.teams)
    assert one == two
    assert one
    assert one.standing.valid == found.members[0].valid


def test_verdicts_need_enough_runs() -> None:
    from core.analysis.intervals import Interval

    assert verdict(Interval(3.0, 1.0, 5.0, 5)) == "too few chains to tell"
    assert verdict(Interval(3.0, None, None, 1)) == "too few chains to tell"
    assert verdict(Interval(3.0, 0.0, 5.0, 12)) == "no difference seen"
