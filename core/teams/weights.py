"""How often each member of a team is drawn, and who says so: given > own results > published figures > all alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from core.models import Member, Place, TeamSpec
from core.teams.profiles import Profile, levels, spread_of
from core.teams.published import published
from core.teams.results import Results

Source = Literal["given", "beside", "own", "published", "mean", "alike"]
"""Who says it: the team's file; nobody, beside others of which the file does; results of one's own; the published
figures; nobody, so it is the mean of the others; nobody of anybody."""


class Weight(Struct, frozen=True):
    """One member's weight."""

    member: str
    value: float
    source: Source
    about: str = ""
    """What it rests on, in a few words."""


def weights(
    places: Sequence[Place], results: Callable[[], Results], given: Mapping[str, float] | None = None
) -> list[Weight]:
    """The weights of a team's places.

    `given` are those that a person wrote; if there are any, the others weigh 1. Else they are the mean lengths of the
    members' runs in earlier sessions, pulled toward the mean of all while there are few, if at least as many of them
    have such results as have published figures; else published totals: the two are never mixed, they are on different
    scales. Of whom nothing is known, the mean of the others.
    """
    if given:
        return [_given(place.name, given.get(place.name)) for place in places]
    own, public = _own(places, results()), _published(places)
    found = own if len(own) >= len(public) else public
    if not found:
        return [Weight(place.name, 1.0, "alike") for place in places]
    usual = sum(weight.value for weight in found.values()) / len(found)
    return [found.get(place.name) or Weight(place.name, _rounded(usual), "mean") for place in places]


def weighed(team: TeamSpec, results: Callable[[], Results], given: Mapping[str, float] | None = None) -> TeamSpec:
    """`team` with these weights, if it draws by weight; as it is if not."""
    return with_weights(team, weights(team.places, results, given)) if team.strategy == "sample" else team


def with_weights(team: TeamSpec, found: Sequence[Weight]) -> TeamSpec:
    values = {weight.member: weight.value for weight in found}
    return replace(
        team,
        members=tuple(replace(member, weight=values[member.name]) for member in team.members),
        groups=tuple(replace(group, weight=values[group.name]) for group in team.groups),
    )


def _given(name: str, value: float | None) -> Weight:
    return Weight(name, 1.0, "beside") if value is None else Weight(name, value, "given")


def _own(places: Sequence[Place], results: Results) -> dict[str, Weight]:
    profiles = {place.name: own_profile(place, results) for place in places}
    known = {name: profile for name, profile in profiles.items() if profile.total.ideas}
    found = levels(list(known.values()), spread_of(known.values()))
    return {
        name: Weight(name, _rounded(level.mean), "own", f"{profile.total.ideas:.0f} ideas, {level.runs:.0f} failed")
        for (name, profile), level in zip(known.items(), found, strict=True)
    }


def own_profile(place: Place, results: Results) -> Profile:
    """Of a member; of a team in its place, that of all its members together."""
    if isinstance(place, Member):
        return results.of(place)
    return sum((results.of(member) for member in place.team.everybody), Profile())


def _published(places: Sequence[Place]) -> dict[str, Weight]:
    found = {place.name: _published_weight(place) for place in places}
    return {name: weight for name, weight in found.items() if weight}


def _published_weight(place: Place) -> Weight | None:
    """Of a team in a member's place, the mean of its members'."""
    if isinstance(place, Member):
        likeness = published(place.model)
        if likeness is None:
            return None
        kind = "" if likeness.itself else "its kind: "
        return Weight(place.name, likeness.model.total, "published", f"{kind}{likeness.model.name}")
    inner = [weight for member in place.team.everybody if (weight := _published_weight(member))]
    if not inner:
        return None
    return Weight(place.name, _rounded(sum(each.value for each in inner) / len(inner)), "published", "its members")


def _rounded(value: float) -> float:
    """To what can be read in a plan: three places that say something, and never 0."""
    return max(float(f"{value:.3g}"), 1e-3)
