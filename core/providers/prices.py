"""What a call costs, from genai-prices' tables, which never go online by themselves. Unknown is None, never 0."""

import functools
from decimal import Decimal
from typing import TYPE_CHECKING

from core.models import CallFailedError, Served, Usage
from core.providers.access import access_to
from core.providers.addresses import host_of, is_local
from core.providers.known import name_paid_for

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

_TABLES = {"openai": "openai", "azure": "azure", "anthropic": "anthropic", "bedrock": "aws"}
"""Our providers by what the tables call them."""


def cost_of(spec: Served, usage: Usage) -> float | None:
    """What `usage` of the model costs in US dollars; None where that is not known, 0.0 where nobody sends a bill."""
    if is_free(spec):
        return 0.0
    priced = _row_of(spec)
    if priced is None:
        return None
    from genai_prices import Usage as Tokens

    row, table = priced
    try:
        tokens = Tokens(
            input_tokens=usage.input_tokens,
            cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
            output_tokens=usage.output_tokens,
        )
        return float(row.calc_price(tokens, table).total_price)
    except ValueError:  # a negative count, from a server that miscounts
        return None


def price_words(spec: Served) -> str:
    """For a person: `$3 / $15 per million` (tokens in, tokens out), `free`, or `unknown`."""
    if is_free(spec):
        return "free"
    priced = _row_of(spec)
    if priced is None:
        return "unknown"
    price = _price_now(priced[0])
    sums = [_dollars(value) for value in (price.input_mtok, price.output_mtok) if value is not None]
    return f"{' / '.join(sums)} per million"


def is_free(spec: Served) -> bool:
    """Whether nobody sends a bill: what runs on machines of one's own, and what is given away."""
    match spec.provider:
        case "embedded" | "recorded":
            return True
        case "ollama":
            # Ollama passes some names on to its own paid servers.
            return not (spec.model.endswith("cloud") or host_of(_elsewhere(spec)).endswith("ollama.com"))
        case "openai" | "anthropic":
            url = _elsewhere(spec)
            return bool(url) and (is_local(url) or spec.model.endswith(":free"))
    return False


def load() -> None:
    """Have the tables at hand. Blocks for half a second, the first time."""
    from genai_prices.data_snapshot import get_snapshot

    get_snapshot()


def _elsewhere(spec: Served) -> str:
    """The address of the server, where it is not the provider's own."""
    try:
        access = access_to(spec)
    except CallFailedError:
        return spec.base_url
    return "" if access.own and spec.provider != "ollama" else access.url


def _row_of(spec: Served) -> "tuple[ModelInfo, Provider] | None":
    """The row of the tables for a model, and its table. A deployment's name is not the model: it may be anything."""
    model = spec.base_model if spec.provider == "azure" else name_paid_for(spec)
    table = _TABLES.get(spec.provider)
    if not table or not model:
        return None
    return _row(table, model, _elsewhere(spec) if spec.provider == "openai" else "")


@functools.lru_cache(maxsize=1024)
def _row(table: str, model: str, address: str) -> "tuple[ModelInfo, Provider] | None":
    from genai_prices.data_snapshot import get_snapshot

    # Whoever speaks OpenAI's API is looked up by address, and failing that by the model's name alone.
    for name, url in [(None, address), (None, None)] if address else [(table, None)]:
        try:
            found, row = get_snapshot().find_provider_model(model, None, name, url)
        except LookupError:
            continue
        # A row without a price says nothing, and would be counted as nothing.
        return (row, found) if _price_now(row).input_mtok is not None else None
    return None


def _price_now(row: "ModelInfo") -> "ModelPrice":
    from datetime import UTC, datetime

    return row.get_prices(datetime.now(tz=UTC))


def _dollars(value: "Decimal | TieredPrices") -> str:
    """A price that rises with the prompt's length is marked with a `+`."""
    base = value if isinstance(value, Decimal) else value.base
    cents = f"{base:.2f}" if base == round(base, 2) else f"{base.normalize():f}"
    return f"${cents.removesuffix('.00')}{'' if base is value else '+'}"
