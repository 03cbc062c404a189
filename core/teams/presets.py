"""Teams that need no set-up."""

from core.errors import UsageError
from core.models import Member, ModelSpec, TeamSpec
from core.text import clean_line

EMBEDDED_TEAM = TeamSpec(
    name="embedded",
    strategy="sample",
    about="SmolLM2-135M on this machine",
    members=(
        Member(name="careful", model=ModelSpec(name="SmolLM2-135M", temperature=0.7)),
        Member(name="bold", model=ModelSpec(name="SmolLM2-135M", temperature=1.0)),
    ),
)
EMBEDDED_SOLO = TeamSpec(
    name="embedded-solo",
    strategy="solo",
    about="SmolLM2-135M on this machine",
    members=(Member(name="careful", model=ModelSpec(name="SmolLM2-135M", temperature=0.7)),),
)


def presets() -> dict[str, TeamSpec]:
    """By name, the default first."""
    return {team.name: team for team in (EMBEDDED_TEAM, EMBEDDED_SOLO)}


def default_team() -> TeamSpec:
    return EMBEDDED_TEAM


def named_team(name: str) -> TeamSpec:
    """Raises `UsageError`, saying which teams there are."""
    teams = presets()
    if name not in teams:
        raise UsageError(f"There is no team {clean_line(name, 60)!r}; there are: {', '.join(teams)}")
    return teams[name]
