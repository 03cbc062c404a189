"""What a call costs, from genai-prices' tables, which never go online by themselves. Unknown is None, never 0."""

import functools
from decimal import Decimal
from typing import TYPE_CHECKING

from core.models import Usage
from core.providers.addresses import host_of, is_local

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

_TABLES = {"openai": "openai", "azure": "azure", "anthropic": "anthropic", "bedrock": "aws"}
"""Our providers by what the tables call them."""


def cost_of(provider: str, model: str, usage: Usage, base_url: str = "") -> float | None:
    """What `usage` costs in US dollars; None where that is not known.

    `model` is the model that is paid for: behind an Azure deployment, its `base_model`. `base_url` is the server's
    address, where that is not the provider's own. What runs on machines of one's own costs nothing.
    """
    if _is_free(provider, model, base_url):
        return 0.0
    priced = _priced(provider, model, base_url)
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


def price_words(provider: str, model: str, base_url: str = "") -> str:
    """For a person: `$3 / $15 per million` (tokens in, tokens out), `free`, or `unknown`."""
    if _is_free(provider, model, base_url):
        return "free"
    priced = _priced(provider, model, base_url)
    if priced is None:
        return "unknown"
    price = _price_now(priced[0])
    sums = [_dollars(value) for value in (price.input_mtok, price.output_mtok) if value is not None]
    return f"{' / '.join(sums)} per million"


def _is_free(provider: str, model: str, base_url: str) -> bool:
    if provider == "ollama":
        # Ollama passes some names on to its own paid servers.
        return not (model.endswith("cloud") or host_of(base_url).endswith("ollama.com"))
    if provider in ("openai", "anthropic") and base_url:
        return is_local(base_url) or model.endswith(":free")
    return provider == "embedded"


@functools.lru_cache(maxsize=1024)
def _priced(provider: str, model: str, base_url: str) -> "tuple[ModelInfo, Provider] | None":
    """The row of the tables for a model, and its table."""
    from genai_prices.data_snapshot import get_snapshot

    table = _TABLES.get(provider)
    if not table or not model:
        return None
    # Whoever speaks OpenAI's API is looked up by address, and failing that by the model's name alone.
    compatible = provider == "openai" and base_url
    for name, url in [(None, base_url), (None, None)] if compatible else [(table, None)]:
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
