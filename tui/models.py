"""What `models` and `models test` print."""

import asyncio
import textwrap
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from itertools import groupby
from time import monotonic
from typing import Any, cast

import click
import msgspec

from core.errors import EXIT_ENDED, ModelUnavailableError
from core.keys import scrub
from core.models import Chunk, Message, ModelSpec, Prompt, Provider, Sent
from core.naming import model_named
from core.providers.calls import Call, Caller, Persistence
from core.providers.catalog import Providers
from core.providers.discovery.found import FoundModel, find_models, with_prices
from core.settings import Settings
from core.text import clean_line
from tui.settings import settings_with_keys
from tui.words import bill_words

WIDTH = 80
NAME, CONTEXT = 44, 6
"""Columns."""

HELLO = Prompt(messages=(Message("user", "Say hello in one short sentence."),))


def list_models(*, everything: bool, as_json: bool, config: str | None) -> int:
    """Print what can be used here and now. Returns the exit code. Raises `UsageError`."""
    asyncio.run(_list(settings_with_keys(config), everything, as_json))
    return EXIT_ENDED


def try_model(*, name: str, as_json: bool, config: str | None) -> int:
    """Make one small call and print how it went. Gives the exit code. Raises `UsageError`, `ModelUnavailableError`."""
    spec = model_named(name, settings_with_keys(config))
    asyncio.run(_try(spec, as_json))
    return EXIT_ENDED


async def _list(settings: Settings, everything: bool, as_json: bool) -> None:
    providers = Providers()
    try:
        found = with_prices(await find_models(settings, providers, everything=everything))
        # Printed in here, for at the end threads are waited for that may hang.
        for line in map(_as_json, found) if as_json else model_lines(found):
            click.echo(line)
    finally:
        await providers.close()


def model_lines(found: Sequence[FoundModel]) -> Iterator[str]:
    """In lines of at most 80 columns, as far as names allow: by where each was found."""
    open_ones = [model for model in found if model.state != "needs a key" or model.where == "config.toml"]
    yield click.style(f"  {'Model':{NAME}}{'Context':>{CONTEXT + 1}}  $ per million, in / out", dim=True)
    for where, models in groupby(open_ones, key=lambda model: model.where):
        yield click.style(clean_line(where, WIDTH), bold=True)
        for model in models:
            yield from _model_lines(model)
    closed = [model for model in found if model not in open_ones]
    if closed:
        yield click.style("Needs a key", bold=True)
        for model in closed:
            yield from _wrapped(f"  {model.name.partition('/')[0]:12}", model.todo)
    yield ""
    yield from textwrap.wrap(
        "* a team is offered from these. Use a model by its name: `jagstorm models test NAME` tries it, "
        "`jagstorm models pull NAME` fetches a better small one.",
        WIDTH,
    )


def _model_lines(model: FoundModel) -> Iterator[str]:
    mark = "*" if model.recommended and model.state == "ready" else "×" if model.state != "ready" else " "
    columns = f"{_size(model.spec.context):>{CONTEXT}}  {model.price.removesuffix(' per million')}"
    name = clean_line(model.name, 200)
    if len(name) < NAME:
        yield f"{mark} {name:{NAME}} {columns}"
    else:
        yield f"{mark} {name}"
        yield f"  {'':{NAME}} {columns}"
    if model.state != "ready" or model.todo:
        words = model.todo if model.state == "ready" else f"{model.state}: {model.todo}"
        for line in _wrapped("    ", words):
            yield click.style(line, dim=True)


def _as_json(model: FoundModel) -> str:
    spec = model.spec
    row = {
        "name": model.name,
        "state": model.state,
        "todo": model.todo,
        "where": model.where,
        "provider": spec.provider,
        "model": spec.model,
        "base_url": spec.base_url,
        "context": spec.context,
        "price": model.price,
        "recommended": model.recommended,
        "judge": model.judge,
    }
    return msgspec.json.encode(row).decode()


class Timed:
    """A provider that notes when it sends a request and when the first word comes back."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._sent = self._first = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    @property
    def wait(self) -> float:
        """Seconds to the first word."""
        return max(0.0, self._first - self._sent)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        async with aclosing(self._provider.stream(spec, prompt, random_seed)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Sent):
                    self._sent = monotonic()
                else:
                    self._first = self._first or monotonic()
                yield chunk


async def _try(spec: ModelSpec, as_json: bool) -> None:
    """Raises `ModelUnavailableError` if no text came."""
    providers = Providers()
    try:
        timed = Timed(providers.get(spec.provider))
        await timed.prepare(spec)
        call = Call(
            Caller(lambda _: cast("Provider", timed), persistence=Persistence(tries=1, first_token=60, next_token=20)),
            spec,
            HELLO,
        )
        outcome = await call.run()
        if outcome != "ok":
            raise ModelUnavailableError(call.message or f"{spec.name} answers, but its answer was {outcome}")
        click.echo(_json_of(call, timed.wait) if as_json else "\n".join(_words_of(call, spec, timed)))
    finally:
        await providers.close()


def _words_of(call: Call, spec: ModelSpec, timed: Timed) -> Iterator[str]:
    usage = call.usage
    thoughts = f", {usage.reasoning_tokens:,} of them thoughts" if usage.reasoning_tokens else ""
    estimated = " (estimated)" if usage.estimated else ""
    yield click.style(clean_line(f"{spec.name}, {timed.endpoint(spec)}", WIDTH), bold=True)
    yield f"  first token  {timed.wait:.2f} s"
    yield f"  speed        {usage.tokens_per_second:.0f} tokens a second"
    yield f"  tokens       {usage.input_tokens:,} in, {usage.output_tokens:,} out{thoughts}{estimated}"
    yield f"  cost         {bill_words(call.cost)}"
    yield f"  text         {scrub(clean_line(call.text, WIDTH - 15))}"


def _json_of(call: Call, first_token: float) -> str:
    usage = call.usage
    row = {
        "first_token_seconds": first_token,
        "tokens_per_second": usage.tokens_per_second,
        "usage": usage,
        "cost": call.cost,
        "text": scrub(call.text),
    }
    return msgspec.json.encode(row).decode()


def _size(tokens: int) -> str:
    return f"{tokens / 1e6:.3g}M" if tokens >= 10**6 else f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(
        clean_line(text), WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )
