"""The paper's teams, built from the models that are found, or what they lack in one line."""

import pytest
from msgspec.structs import replace

from core.errors import EXIT_MODEL, TeamIncompleteError
from core.models import ModelSpec, TeamSpec
from core.naming import broken_teams, needs_models, team_named, teams
from core.offers import no_default, offered
from core.planning import Wishes, looks_for_models, team_for
from core.providers.discovery.found import FoundModel, FoundState
from core.settings import MemberTable, Settings, TeamTable, settings_path
from core.teams.building import ranked
from core.teams.profiles import Profile, Tally
from core.teams.results import Asked, Results

PAPER = ("top-5", "top-5-inverted", "top-5-vendors", "top-5-parallel", "router", "vendors")


def found(
    name: str, where: str = "A", *, state: FoundState = "ready", recommended: bool = True, **settings: object
) -> FoundModel:
    model = name.rpartition("/")[2]
    spec = ModelSpec(name=model, provider="openai", model=name, **settings)  # type: ignore[arg-type]
    return FoundModel(name=name, spec=spec, where=where, state=state, recommended=recommended)


BUILT_IN = FoundModel(name="embedded", spec=ModelSpec(name="SmolLM2-135M-Instruct"), where="built in")

TWO = [found("anthropic/claude-next"), found("openai/wonder"), BUILT_IN]
FIVE = [found(name) for name in ("o3-mini-high", "claude-3-7-sonnet", "gemini-2.5-pro", "o1", "llama3.3")]
NINE = [*FIVE, *(found(name) for name in ("o3-mini", "o1-mini", "mistral-large-latest", "kimi-k3"))]


def settings(**tables: TeamTable) -> Settings:
    return Settings(path=settings_path(), teams=tables)


def team(
    name: str, models: list[FoundModel], results: Results | None = None, own: dict[str, TeamTable] | None = None
) -> TeamSpec:
    return team_named(name, settings(**(own or {})), models, lambda: results or Results())


def lacking(name: str, models: list[FoundModel]) -> str:
    with pytest.raises(TeamIncompleteError) as caught:
        team(name, models)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == EXIT_MODEL
    return caught.value.message


def names(team: TeamSpec) -> list[str]:
    return [member.name for member in team.members]


def own(**lengths: list[int]) -> Results:
    return Results(
        {
            Asked(name.replace("_", "-"), style="tagged"): Profile(
                {"Biology": Tally(len(each), sum(each), sum(length**2 for length in each))}
            )
            for name, each in lengths.items()
        }
    )


@pytest.mark.parametrize("models", [[], [BUILT_IN], [found("o1", state="server down")]])
@pytest.mark.parametrize("name", PAPER)
def test_of_nothing_found_no_team_is_built(models: list[FoundModel], name: str) -> None:
    said = lacking(name, models)
    assert said.startswith(f"{name} needs ")
    assert ("none that can be used was found" in said) == (name != "router")


def test_of_two_found_it_is_said_what_is_missing() -> None:
    assert lacking("top-5", TWO) == "top-5 needs five models; two were found: claude-next, wonder"
    assert lacking("top-5-inverted", TWO).startswith("top-5-inverted needs five models; two were found")
    assert lacking("top-5-parallel", TWO).startswith("top-5-parallel needs five models; two were found")
    assert lacking("top-5-vendors", TWO) == (
        "top-5-vendors needs models of five makers; two were found: Anthropic, openai"
    )
    assert "router needs results by domain of two models; none of those found here has any" in lacking("router", TWO)
    assert names(team("vendors", TWO)) == ["claude-next", "wonder"]
    assert lacking("vendors", [found("o1"), found("o3-mini")]).endswith("of two makers; one was found: OpenAI")


def test_of_five_found_they_are_the_team_the_best_first_and_weigh_their_totals() -> None:
    top = team("top-5", FIVE)
    assert (top.strategy, top.inverted) == ("sample", False)
    assert [(member.name, member.weight, member.style) for member in top.members] == [
        ("gemini-2.5-pro", 4613.0, "tagged"),
        ("o1", 4485.0, "tagged"),
        ("o3-mini-high", 4452.0, "tagged"),
        ("claude-3-7-sonnet", 3047.0, "tagged"),
        ("llama3.3", 1460.0, "tagged"),
    ]
    inverted = team("top-5-inverted", FIVE)
    assert inverted.inverted
    assert inverted.members == top.members
    parallel = team("top-5-parallel", FIVE)
    assert parallel.strategy == "parallel"
    assert parallel.selector == top.members[0].model, "the strongest picks"
    assert names(parallel) == names(top)
    # Of o1 and o3-mini-high only one can speak for OpenAI.
    assert lacking("top-5-vendors", FIVE).endswith("four were found: Google, OpenAI, Anthropic, Meta")


def test_of_nine_found_the_best_are_taken() -> None:
    assert names(team("top-5", NINE)) == ["o3-mini", "gemini-2.5-pro", "o1", "o3-mini-high", "claude-3-7-sonnet"]
    vendors = team("top-5-vendors", NINE)
    assert names(vendors) == ["o3-mini", "gemini-2.5-pro", "claude-3-7-sonnet", "llama3.3", "mistral-large-latest"]
    assert vendors.members[-1].weight == pytest.approx(3460, abs=10), "of whom nothing is known: the others' mean"
    assert names(team("vendors", NINE)) == [*names(vendors), "kimi-k3"]


def test_the_router_takes_specialists_and_leaves_out_who_is_best_nowhere() -> None:
    router = team("router", NINE)
    assert router.strategy == "router"
    assert router.routes["Nanoscience"] == "o3-mini-high"
    assert router.routes["*"] == "o3-mini"
    assert set(names(router)) == set(router.routes.values())
    assert "llama3.3" not in names(router)
    assert "kimi-k3" not in names(router)


def test_results_of_ones_own_come_before_published_totals() -> None:
    results = own(kimi_k3=[40, 50, 45, 60], llama3_3=[9, 9, 9])
    top = team("top-5", NINE, results)
    assert names(top)[:3] == ["kimi-k3", "llama3.3", "o3-mini"]
    results = own(kimi_k3=[40, 50] * 20, mistral_large=[4, 5] * 20)
    router = team("router", [found("o1"), found("kimi-k3"), found("mistral-large-latest")], results)
    assert router.routes["Biology"] == "kimi-k3", "published figures of o1 are not compared with one's own of others"
    assert names(router) == ["kimi-k3"]


def test_where_nothing_is_known_the_catalogues_order_counts_the_best_of_each_place_in_turn() -> None:
    models = [
        found("b1", "B"),
        found("b2", "B"),
        found("b3", "B"),
        found("c0", "C", recommended=False),
        found("c1", "C"),
        found("mine1", "config.toml"),
        found("mine2", "config.toml"),
    ]
    assert [spec.name for spec in ranked(models, Results())] == ["b1", "mine1", "mine2", "b2", "c1", "b3", "c0"]


def test_one_model_on_two_servers_is_one_but_two_efforts_are_two() -> None:
    models = [
        found("o3-mini", "A"),
        found("openai/o3-mini-2025-01-31", "B"),
        found("openai/o3-mini", "C", effort="high"),
    ]
    assert [spec.model for spec in ranked(models, Results())] == ["o3-mini", "openai/o3-mini"]


def test_a_persons_own_team_can_be_built_of_what_is_found() -> None:
    mine = TeamTable(found="best", size=2, strategy="parallel", drafts=3)
    built = team("mine", NINE, own={"mine": mine})
    assert (names(built), built.drafts) == (["o3-mini", "gemini-2.5-pro"], 3)
    alone = TeamTable(found="best", size=1)
    assert team("one", NINE, own={"one": alone}).strategy == "solo"
    hidden = TeamTable(found="best", size=2)
    assert len(team("top-5", NINE, own={"top-5": hidden}).members) == 2, "it may take a shipped team's name"


def test_such_a_team_can_stand_for_a_member() -> None:
    both = TeamTable(members=("embedded", MemberTable(team="top-5", name="five")))
    built = team("both", FIVE, own={"both": both})
    assert [group.name for group in built.groups] == ["five"]
    with pytest.raises(TeamIncompleteError, match="top-5 needs five models; two were found"):
        team("both", TWO, own={"both": both})
    assert broken_teams(settings(both=both)) == {}, "nothing is wrong with it"


def test_models_are_looked_for_only_if_the_team_is_made_of_them() -> None:
    both = TeamTable(members=("embedded", MemberTable(team="vendors")))
    assert needs_models("both", settings(both=both))
    assert needs_models("top-5", settings())
    assert not needs_models("embedded", settings())
    assert not needs_models("nobody", settings())
    assert looks_for_models(Wishes(team="router"), settings())
    assert looks_for_models(Wishes(), replace(settings(), default_team="top-5"))
    assert not looks_for_models(Wishes(), settings())
    assert not looks_for_models(Wishes(team="top-5", models=("embedded",)), settings())
    with pytest.raises(TeamIncompleteError, match="nobody has looked"):
        team_for(Wishes(team="top-5"), settings())
    assert names(team_for(Wishes(team="top-5"), settings(), FIVE))[0] == "gemini-2.5-pro"


def test_models_named_on_the_command_line_weigh_what_is_known_of_them() -> None:
    both = team_for(Wishes(models=("openai/o1", "openai/o3-mini")), settings())
    assert [member.weight for member in both.members] == [4485.0, 4726.0]


def test_they_stand_among_the_offers_once_they_can_be_built() -> None:
    def offers(models: list[FoundModel]) -> list[str]:
        return [offer.team.name for offer in offered(settings(), models)]

    built_in = ["embedded", "embedded-solo", "embedded-parallel", "embedded-bandit"]
    assert offers([]) == built_in
    assert offers(TWO) == ["found", "vendors", "claude-next", "wonder", *built_in]
    alone = [model.spec.name for model in NINE]
    paper = ["top-5", "top-5-inverted", "top-5-vendors", "top-5-parallel", "router", "vendors"]
    assert offers(NINE) == ["found", *paper, *alone, *built_in]
    five_makers = [*FIVE[:3], found("llama3.3"), found("kimi-k3")]
    assert "vendors" not in offers(five_makers), "it would be top-5-vendors again"


def test_each_is_offered_by_a_name_of_its_own() -> None:
    own = {"o1": TeamTable(members=("openai/o1",)), "qwen3": TeamTable(members=("openai/qwen3",))}
    models = [
        found("o1", "config.toml"),
        found("qwen3", "gpu07:11434"),
        found("qwen3", "gpu08:11434", base_url="http://gpu08:11434"),
        found("qwen3", "gpu08:11434", base_url="http://gpu08:11434"),
    ]
    for default in ("", "o1", "qwen3"):
        offers = [offer.team.name for offer in offered(replace(settings(**own), default_team=default), models)]
        assert len(offers) == len(set(offers))
        assert {"o1", "o1, config.toml", "qwen3", "qwen3, gpu07:11434", "qwen3, gpu08:11434"} <= set(offers)
        assert offers[0] == (default or "o1")


def test_why_the_default_team_is_not_offered_is_said_in_a_line() -> None:
    def why(default: str, models: list[FoundModel]) -> str:
        own = {"broken": TeamTable(members=("lunar",)), "mine": TeamTable(members=("openai/o1",))}
        return no_default(replace(settings(**own), default_team=default), models)

    assert why("top-5", TWO) == (
        "The default team can't be chosen. top-5 needs five models; two were found: claude-next, wonder"
    )
    assert why("nope", FIVE).startswith("The default team can't be chosen. There is no team 'nope'")
    assert [why(name, FIVE) for name in ("", "top-5", "mine", "embedded")] == [""] * 4
    assert why("broken", FIVE) == "", "what is wrong in the file is said anyway"


def test_what_cannot_be_built_is_no_team_and_no_fault() -> None:
    assert "top-5" not in teams(settings(), TWO)
    assert "top-5" in teams(settings(), FIVE)
    assert broken_teams(settings(mine=TeamTable(found="best"))) == {}
