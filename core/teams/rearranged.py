"""A team with other members, other weights or another strategy, as a person wants it amid a session."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from core.errors import UsageError
from core.models import Group, Member, Place, TeamSpec


def rearranged(team: TeamSpec, places: Sequence[tuple[Place, float]], **changes: Any) -> TeamSpec:
    """`team` with these places, each at its weight and those of weight 0 left out, and `changes` to its other fields.

    A lead or a specialist who is left out leads no more. Raises `UsageError` where that makes no team.
    """
    kept = [replace(place, weight=weight) for place, weight in places if weight > 0]
    names = {place.name for place in kept}
    changed = {
        "members": tuple(place for place in kept if isinstance(place, Member)),
        "groups": tuple(place for place in kept if isinstance(place, Group)),
        "lead": team.lead if team.lead in names else "",
        "routes": {leaf: name for leaf, name in team.routes.items() if name in names},
    } | changes
    try:
        found = replace(team, **changed)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if found.strategy == "router" and not found.routes:
        raise UsageError(
            "No specialist is named for any domain: write [teams.NAME.routes] in config.toml, and choose that team"
        )
    return found
