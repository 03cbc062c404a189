"""The teams that need no set-up: members on the built-in weights, chosen by `tests/benchmarks/prompt_styles.py`."""

from pathlib import Path

from msgspec.structs import replace

from core.errors import UsageError
from core.models import Member, ModelSpec, TeamSpec
from core.text import clean_line


def _built_in(temperature: float) -> ModelSpec:
    return ModelSpec(
        name="SmolLM2-135M-Instruct", temperature=temperature, top_p=0.95, repeat_penalty=1.07, max_tokens=96
    )


# Personas are for larger models: on this one they only led away from the question.
CAREFUL = Member(name="careful", model=_built_in(0.65), style="list")
BOLD = Member(name="bold", model=_built_in(0.9), style="list")
ANALOGIST = Member(name="analogist", model=_built_in(0.65), style="concept")

EMBEDDED_TEAM = TeamSpec(
    name="embedded",
    strategy="sample",
    members=(CAREFUL, BOLD, ANALOGIST),
    about="Three ways to ask one small model that runs on this machine: no key, no network.",
)

EMBEDDED_SOLO = TeamSpec(
    name="embedded-solo",
    strategy="solo",
    members=(BOLD,),
    about="One small model that runs on this machine: no key, no network.",
)


def presets() -> dict[str, TeamSpec]:
    """By name, the default first."""
    return {team.name: team for team in (EMBEDDED_TEAM, EMBEDDED_SOLO)}


def on_model(team: TeamSpec, path: Path | None) -> TeamSpec:
    """The team with all its members on another GGUF file; as it is for None.

    Raises `ModelUnavailableError` for a file that can't be one.
    """
    if path is None:
        return team
    from core.providers.embedded import weights_path

    weights_path(str(path))
    members = tuple(
        replace(member, model=replace(member.model, model=str(path.absolute()), name=clean_line(path.stem, 60)))
        for member in team.members
    )
    return replace(team, members=members)


def default_team() -> TeamSpec:
    return EMBEDDED_TEAM


def named_team(name: str) -> TeamSpec:
    """Raises `UsageError`, saying which teams there are."""
    teams = presets()
    if name not in teams:
        raise UsageError(f"There is no team {clean_line(name, 60)!r}; there are: {', '.join(teams)}")
    return teams[name]
