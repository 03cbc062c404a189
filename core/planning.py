"""From what a person asks for, and what their config file says, to the plan of a session."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from core.config import Judging, Plan, path_of
from core.levers import OwnFirst, SeedPolicy
from core.models import Budget, Cap, EmbedderSpec, TeamSpec
from core.naming import (
    embedder_named,
    embedder_of,
    judge_named,
    judging_of,
    model_named,
    needs_models,
    solo_team,
    team_named,
    team_of,
)
from core.questions import Question
from core.rules import WORDLLAMA_THRESHOLD, Rules, extended, rules_for
from core.settings import Settings
from core.store import library
from core.teams.presets import default_team, on_model
from core.teams.results import Results
from core.teams.weights import weighed

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel


class Wishes(Struct, frozen=True, kw_only=True):
    """What a person asks for on the command line; None, "" and () leave it to the config file and the defaults."""

    team: str = ""
    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    """`none` alone means that nobody judges."""
    nearest: Annotated[int, Meta(ge=1)] | None = None
    """Judges compare an idea with so many earlier ones only."""
    controls: float | None = None
    embedder: str = ""
    paper: bool = False
    """The published benchmark's rules: the first idea that fails ends the chain, and nothing mechanical does."""
    max_ideas: Cap | None = None
    patience: int | None = None
    budget: Budget = Budget()
    random_seed: int | None = None
    seeds: SeedPolicy | None = None
    """When seeds come; None: by hand."""
    own_first: OwnFirst | None = None
    """Whether the person writes before the team does."""


def plan_for(
    question: Question,
    wishes: Wishes,
    settings: Settings,
    found: "Sequence[FoundModel] | None" = None,
    results: Callable[[], Results] = Results,
) -> Plan:
    """`found` are the models that were looked for because `looks_for_models` said so; `results` those of earlier
    sessions, asked for only if weights or routes rest on them.

    Raises `UsageError` for a name that means nothing, `ModelUnavailableError` for a file that is no model or a team
    that lacks models.
    """
    team = team_for(wishes, settings, found, results)
    embedder = embedder_named(wishes.embedder, settings) if wishes.embedder else embedder_of(team.name, settings)
    plan = library.new_plan(
        (question,),
        team,
        _rules(wishes, embedder),
        wishes.random_seed,
        embedder=embedder,
        judging=judging_for(team, wishes, settings),
        budget=extended(settings.budget, wishes.budget),
    )
    return replace(plan, seeds=wishes.seeds or plan.seeds, own_first=wishes.own_first)


def looks_for_models(wishes: Wishes, settings: Settings) -> bool:
    """Whether the team that is asked for is made of what is found here."""
    name = wishes.team or settings.default_team
    return bool(name) and not wishes.models and needs_models(name, settings)


def team_for(
    wishes: Wishes,
    settings: Settings,
    found: "Sequence[FoundModel] | None" = None,
    results: Callable[[], Results] = Results,
) -> TeamSpec:
    """The team that is asked for: by name, or of the models that are named; else the person's own default."""
    name = wishes.team or settings.default_team
    if not wishes.models:
        return team_named(name, settings, found, results) if name else default_team()
    if len(wishes.models) == 1 and wishes.models[0].casefold().endswith(".gguf"):
        # Another file for a team that runs in this process.
        team = team_named(wishes.team, settings) if wishes.team else default_team()
        if all(member.model.provider == "embedded" for member in team.everybody):
            return on_model(team, path_of(wishes.models[0]))
    specs = [model_named(model, settings) for model in wishes.models]
    return solo_team(specs[0]) if len(specs) == 1 else weighed(team_of(specs), results)


def judging_for(team: TeamSpec, wishes: Wishes, settings: Settings) -> Judging:
    judging = judging_of(team.name, settings)
    if wishes.judges == ("none",):
        judging = replace(judging, judges=())
    elif wishes.judges:
        judging = replace(judging, judges=tuple(judge_named(name, settings) for name in wishes.judges))
    if wishes.nearest is not None:
        judging = replace(judging, mode="nearest", nearest=wishes.nearest)
    if wishes.controls is not None:
        judging = replace(judging, controls=wishes.controls)
    return judging


def threshold_of(embedder: Literal["wordllama"] | EmbedderSpec) -> float:
    """The least novelty that passes, on the embedder's own scale."""
    return WORDLLAMA_THRESHOLD if embedder == "wordllama" else embedder.threshold


def _rules(wishes: Wishes, embedder: Literal["wordllama"] | EmbedderSpec) -> Rules:
    rules = replace(rules_for(threshold_of(embedder)), max_ideas=wishes.max_ideas)
    if wishes.paper:
        rules = replace(rules, patience=1, mechanical=False)
    return rules if wishes.patience is None else replace(rules, patience=wishes.patience)
