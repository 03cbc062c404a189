"""Members for a team that is built from the models found here: the best of them, or the best of each maker."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from core.errors import TeamIncompleteError
from core.models import Member, ModelSpec
from core.settings import TeamTable
from core.teams.profiles import levels, spread_of
from core.teams.published import published
from core.teams.results import Asked, Results
from core.teams.routes import leaf_profiles
from core.teams.vendors import effort_of, identity, maker_of

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel

CONFIGURED = "config.toml"
"""Where models were found that a person has described themselves."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def chosen(
    name: str, table: TeamTable, found: "Sequence[FoundModel] | None", results: Callable[[], Results]
) -> list[ModelSpec]:
    """The models that the team's table asks for, the best first.

    `found` is None where nobody has looked. Raises `TeamIncompleteError`, which says what is missing.
    """
    if found is None:
        raise TeamIncompleteError(f"{name} is made of the models that are found here, and nobody has looked")
    models = ranked(found, results())
    if table.strategy == "router":
        return _enough(name, 2, _with_leaves(models, results()), _words_for_router)[: table.size]
    if table.found == "vendors":
        return _enough(name, table.size or 2, _of_each_maker(models), _words_for_makers)[: table.size]
    return _enough(name, table.size or 2, models, _words_for_models)[: table.size]


def ranked(found: "Iterable[FoundModel]", results: Results) -> list[ModelSpec]:
    """Every model that can be used now, each once, the best first: by one's own results, then by published totals of
    the very model, then in the catalogue's order, the best of each place in turn; those recommended before the others.

    The built-in model is none of them: it is too small to be anybody's best.
    """
    able = [
        model for model in found if model.state == "ready" and (model.spec.provider != "embedded" or model.spec.model)
    ]
    turns: dict[str, int] = {}
    order: list[tuple[bool, int, int]] = []
    for place, model in enumerate(able):
        turn = 0 if model.where == CONFIGURED else turns.get(model.where, 0)
        turns[model.where] = turn + 1
        order.append((not model.recommended, turn, place))
    once: dict[Asked, ModelSpec] = {}
    for _, model in sorted(zip(order, able, strict=True), key=lambda each: each[0]):
        spec = model.spec
        once.setdefault(Asked(identity(spec), effort_of(spec), spec.thinking_tokens), spec)
    specs = list(once.values())
    own = _own_levels(specs, results)
    return sorted(specs, key=lambda spec: (*_rank(own.get(spec)), *_rank(_total(spec))))


def _own_levels(specs: Sequence[ModelSpec], results: Results) -> dict[ModelSpec, float]:
    profiles = {spec: profile for spec in specs if (profile := results.of_model(spec)).total.ideas}
    found = levels(list(profiles.values()), spread_of(profiles.values()))
    return {spec: level.mean for spec, level in zip(profiles, found, strict=True)}


def _total(spec: ModelSpec) -> float | None:
    likeness = published(spec)
    return likeness.model.total if likeness and likeness.itself else None


def _rank(value: float | None) -> tuple[bool, float]:
    """What sorts the greatest first, and after all of them what is not known."""
    return value is None, -(value or 0.0)


def _of_each_maker(models: Iterable[ModelSpec]) -> list[ModelSpec]:
    best: dict[str, ModelSpec] = {}
    for spec in models:
        best.setdefault(maker_of(spec), spec)
    return list(best.values())


def _with_leaves(models: Sequence[ModelSpec], results: Results) -> list[ModelSpec]:
    """Those of which results by leaf are known, all by the same hand."""
    _, profiles = leaf_profiles([Member(name=spec.name, model=spec) for spec in models], results)
    return [spec for spec, profile in zip(models, profiles, strict=True) if profile.leaves]


def _enough(
    name: str, wanted: int, models: list[ModelSpec], words: Callable[[str, Sequence[ModelSpec]], str]
) -> list[ModelSpec]:
    if len(models) >= wanted:
        return models
    said = words(_number(wanted), models).rstrip()
    raise TeamIncompleteError(f"{name} needs {said}")


def _words_for_models(wanted: str, models: Sequence[ModelSpec]) -> str:
    return f"{wanted} models; {_listed([spec.name for spec in models])}"


def _words_for_makers(wanted: str, models: Sequence[ModelSpec]) -> str:
    return f"models of {wanted} makers; {_listed([maker_of(spec) for spec in models])}"


def _words_for_router(wanted: str, models: Sequence[ModelSpec]) -> str:
    known = _listed([spec.name for spec in models]) if models else "none of those found here has any"
    return (
        f"results by domain of {wanted} models; {known}. Run sessions with each on questions of several domains first"
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none that can be used was found (see `jagstorm models`)"
    return f"{_number(len(names))} {'was' if len(names) == 1 else 'were'} found: {', '.join(names)}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)
