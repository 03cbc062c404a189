"""A router's table, computed: the specialist of each leaf, by how much it leads, and how sure that is."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from core.models import Member, Place
from core.questions import LEAVES
from core.teams.profiles import Estimate, Profile, Spread, chances, in_leaf, levels, spread_of
from core.teams.published import published
from core.teams.results import Results
from core.teams.router import OTHERWISE
from core.teams.weights import own_profile


class Route(Struct, frozen=True):
    """Who is asked in one leaf, and why."""

    leaf: str
    """A leaf's name, or `*` for all that are not named."""
    member: str
    expected: float
    """Ideas up to the first that fails, after shrinkage."""
    margin: float
    """How many more than the next best."""
    sure: float
    """0 to 1: how likely this member really is the best there."""
    runs: float
    """Of the member in the leaf: what the pick rests on."""


class Table(Struct, frozen=True):
    """The routes of a team, and whose figures they rest on."""

    routes: tuple[Route, ...] = ()
    source: Literal["own", "published", "none"] = "none"

    @property
    def as_spec(self) -> dict[str, str]:
        """As in `TeamSpec.routes`: by subdomain, or domain, or `*`."""
        return {key_of(route.leaf): route.member for route in self.routes}


def route_table(places: Sequence[Place], results: Callable[[], Results]) -> Table:
    """Who of `places` is best in each leaf, and over all.

    From earlier sessions if at least as many of them have results there as have published figures; else from those. A
    winner picked on a handful of questions is mostly luck, so each mean is pulled toward the member's mean over all
    leaves (`core.teams.profiles.in_leaf`) before they are compared. A member of whom nothing is known counts as
    average.
    """
    source, profiles = leaf_profiles(places, results())
    if source == "none":
        return Table()
    return Table(routes_from([place.name for place in places], profiles), source)


def routes_from(names: Sequence[str], profiles: Sequence[Profile]) -> tuple[Route, ...]:
    """Who of `names` is best in each leaf of the bank and of the profiles, and, as the last, over all."""
    spread = spread_of(profiles)
    level = levels(profiles, spread)
    own_leaves = dict.fromkeys(leaf for profile in profiles for leaf in profile.leaves)
    leaves = [*LEAVES, *(leaf for leaf in own_leaves if leaf not in LEAVES)]
    routes = [_route(leaf, names, _estimates(profiles, level, leaf, spread)) for leaf in leaves]
    return (*routes, _route(OTHERWISE, names, level))


def leaf_profiles(
    places: Sequence[Place], results: Results
) -> tuple[Literal["own", "published", "none"], list[Profile]]:
    """The members' profiles, and whose figures they are."""
    own = [own_profile(place, results) for place in places]
    public = [_published_profile(place) for place in places]
    known = [sum(bool(profile.total.ideas) for profile in profiles) for profiles in (own, public)]
    if not any(known):
        return "none", own
    return ("own", own) if known[0] >= known[1] else ("published", public)


def key_of(leaf: str) -> str:
    """What `TeamSpec.routes` calls a leaf: the subdomain of `Physics / Synchrotron`, else the domain."""
    return leaf.rpartition(" / ")[2]


def _published_profile(place: Place) -> Profile:
    """Only figures of the very model: what another of its kind is good at, it need not be."""
    if not isinstance(place, Member):
        return Profile()
    likeness = published(place.model)
    return likeness.model.profile if likeness and likeness.itself else Profile()


def _estimates(profiles: Sequence[Profile], level: Sequence[Estimate], leaf: str, spread: Spread) -> list[Estimate]:
    return [in_leaf(profile, each, leaf, spread) for profile, each in zip(profiles, level, strict=True)]


def _route(leaf: str, names: Sequence[str], estimates: Sequence[Estimate]) -> Route:
    order = sorted(range(len(names)), key=lambda place: -estimates[place].mean)
    best = order[0]
    second = estimates[order[1]].mean if len(order) > 1 else 0.0
    sure = chances(estimates)[best]
    picked = estimates[best]
    return Route(leaf, names[best], picked.mean, picked.mean - second, sure, picked.runs)
