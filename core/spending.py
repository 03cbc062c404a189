"""Whom a session asks, who of them sends a bill, and whether anybody can say how high."""

from collections.abc import Iterable, Sequence
from typing import Literal

from core.config import Judging, Plan
from core.models import Budget, EmbedderSpec, Served, TeamSpec, Usage
from core.providers.catalog import Providers
from core.providers.prices import is_free
from core.rules import dollars
from core.text import clean_line

COST = 1.0
"""US dollars: the budget that is proposed where somebody sends a bill."""

TOKENS = 200_000
"""The same where nobody knows the price: about as much, of one of the better models."""


def asked(team: TeamSpec, judging: Judging, embedder: Literal["wordllama"] | EmbedderSpec) -> list[Served]:
    """Everybody: members, whoever chooses among proposals, judges, and the embedder."""
    specs: list[Served] = [member.model for member in team.everybody]
    specs += [*team.selectors, *judging.judges]
    return specs if embedder == "wordllama" else [*specs, embedder]


def billed(specs: Iterable[Served]) -> list[Served]:
    """Those that may send a bill."""
    return [spec for spec in specs if not is_free(spec)]


def unpriced(specs: Iterable[Served], providers: Providers) -> list[Served]:
    """Those whose price nobody knows. Blocks while prices are loaded."""
    token = Usage(input_tokens=1, output_tokens=1)
    return [spec for spec in specs if providers.get(spec.provider).cost(spec, token) is None]


def proposal(specs: Sequence[Served], providers: Providers) -> tuple[Budget, str]:
    """The budget that is proposed for asking `specs`, and what to know about it, in words."""
    unknown = unpriced(bills := billed(specs), providers)
    budget = Budget(
        max_cost=COST if len(unknown) < len(bills) else None,
        max_tokens=TOKENS if unknown else None,
    )
    return budget, f"The price of {_names(unknown)} is unknown: only a number of tokens limits it." if unknown else ""


def budget_notices(plan: Plan, budget: Budget, providers: Providers) -> list[str]:
    """What to tell about a budget when a session begins."""
    if budget.max_cost is None:
        return []
    unknown = unpriced(asked(plan.team, plan.judging, plan.embedder), providers)
    limit = dollars(budget.max_cost)
    words = f"The price of {_names(unknown)} is unknown: {limit} does not limit it, a number of tokens would"
    return [words] if unknown else []


def _names(specs: Sequence[Served]) -> str:
    return clean_line(", ".join(dict.fromkeys(spec.name for spec in specs)), 200)
