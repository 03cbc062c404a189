"""The teams that a person can choose from: their own, those made of what was found here, and the built-in ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from core.config import Judging
from core.errors import JagstormError
from core.models import EmbedderSpec, TeamSpec
from core.naming import broken_teams, embedder_of, judging_of, offered_judge, offered_team, solo_team, team_named, teams
from core.settings import Settings
from core.teams.presets import default_team, on_model, presets, shipped
from core.teams.results import Results
from core.teams.weights import weighed

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel


class Offer(Struct, frozen=True, kw_only=True):
    """A team, who judges it, and what measures its novelty."""

    team: TeamSpec
    judging: Judging
    embedder: Literal["wordllama"] | EmbedderSpec = "wordllama"
    trouble: str = ""
    """Why it can't be used now, in a line."""


def offered(
    settings: Settings,
    found: "Sequence[FoundModel]" = (),
    asked_for: TeamSpec | None = None,
    results: Callable[[], Results] = Results,
) -> list[Offer]:
    """The best first: the one asked for, the person's default, their others, what was found, what is built in.

    `results` are those of earlier sessions. Raises `UsageError` if the config file names a judge or an embedder that
    means nothing.
    """
    known = teams(settings, found or None, results)
    own = [_own(team, settings, found) for name, team in known.items() if name in settings.teams]
    built_in = [
        Offer(team=team, judging=judging_of(name, settings), embedder=embedder_of(name, settings))
        for name, team in presets().items()
        if name not in settings.teams
    ]
    of_paper = [team for name, team in known.items() if name not in settings.teams and shipped()[name].found]
    of_found = _of_found(settings, found, of_paper, results)
    apart = _told_apart([*own, *of_found, *built_in])
    every = sorted(apart, key=lambda offer: offer.team.name != settings.default_team)
    if asked_for is None:
        return every
    first = Offer(team=asked_for, judging=_judging(settings, found), embedder=embedder_of("", settings))
    return [first, *(offer for offer in every if offer.team.name != asked_for.name)]


def problems(settings: Settings) -> list[str]:
    """What is odd in the config file, a line each."""
    return [*settings.problems, *broken_teams(settings).values()]


def no_default(settings: Settings, found: "Sequence[FoundModel]", results: Callable[[], Results] = Results) -> str:
    """Why the person's default team is not among what is offered, in a line; "" if it is, or if `problems` says so."""
    if not settings.default_team or settings.default_team in broken_teams(settings):
        return ""
    try:
        team_named(settings.default_team, settings, found, results)
    except JagstormError as error:
        return f"The default team can't be chosen. {error.message}"
    return ""


def _told_apart(offers: Iterable[Offer]) -> Iterator[Offer]:
    """Each by a name of its own: a model alone that is called as a team is, or as one elsewhere, says where it is."""
    taken: set[str] = set()
    for offer in offers:
        team = offer.team
        if team.name in taken:
            team = replace(team, name=f"{team.name}, {team.about}")
        if team.name not in taken:
            taken.add(team.name)
            yield replace(offer, team=team)


def _own(team: TeamSpec, settings: Settings, found: "Sequence[FoundModel]") -> Offer:
    judging = judging_of(team.name, settings)
    specs = [member.model for member in team.everybody] + list(judging.judges)
    unready = (model for model in found if model.state != "ready" and model.spec in specs)
    trouble = next((f"{model.spec.name}: {model.todo or model.state}" for model in unready), "")
    return Offer(team=team, judging=judging, embedder=embedder_of(team.name, settings), trouble=trouble)


def _of_found(
    settings: Settings, found: "Sequence[FoundModel]", of_paper: Sequence[TeamSpec], results: Callable[[], Results]
) -> Iterator[Offer]:
    """Teams of models that are ready: of them together, those of the paper, and each alone."""
    ready = [model for model in found if model.state == "ready" and model.recommended]
    judging, embedder = _judging(settings, found), embedder_of("", settings)
    if (team := offered_team(found)) and len(team.members) > 1:
        yield Offer(team=weighed(team, results), judging=judging, embedder=embedder)
    for team in _different(of_paper):
        yield Offer(team=team, judging=judging, embedder=embedder)
    for model in ready:
        yield Offer(team=_alone(model), judging=judging, embedder=embedder)


def _different(of_paper: Sequence[TeamSpec]) -> list[TeamSpec]:
    """Those that are no other's twin: of five makers' models, the best of each maker are the best five of makers."""
    alike = [replace(team, name="", about="") for team in of_paper]
    return [team for place, team in enumerate(of_paper) if alike[place] not in alike[:place]]


def _alone(model: "FoundModel") -> TeamSpec:
    if model.spec.provider == "embedded" and model.spec.model:
        return replace(on_model(default_team(), Path(model.spec.model)), name=model.name, about=model.where)
    return replace(solo_team(model.spec), about=model.where)


def _judging(settings: Settings, found: "Sequence[FoundModel]") -> Judging:
    """The person's judges; if they name none, one that was found and is known to be good enough."""
    judging = judging_of("", settings)
    good = offered_judge(found)
    return judging if judging.judges or good is None else replace(judging, judges=(good,))
