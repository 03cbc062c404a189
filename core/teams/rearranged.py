"""A team with other members, other weights or another strategy, as a person wants it amid a session."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from core.errors import UsageError
from core.models import Group, Member, Place, TeamSpec


def rearranged(team: TeamSpec, weights: Mapping[Place, float], **changes: Any) -> TeamSpec:
    """`team` with these places at these weights, those of weight 0 left out, and with `changes` to its other fields.

    A lead or a specialist who is left out leads no more. Raises `UsageError` where that makes no team.
    """
    places = [replace(place, weight=weight) for place, weight in weights.items() if weight > 0]
    names = {place.name for place in places}
    changed = {
        "members": tuple(place for place in places if isinstance(place, Member)),
        "groups": tuple(place for place in places if isinstance(place, Group)),
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
