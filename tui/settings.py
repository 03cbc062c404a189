"""A person's settings and keys, as every command that reaches models needs them."""

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from core.offers import problems
from core.settings import Settings
from core.surroundings import surroundings
from core.text import clean_line

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel


def settings_with_keys(config: str | None, odd: Callable[[Settings], Iterable[str]] = problems) -> Settings:
    """The settings, with the keys of `.env` files in the environment; what is `odd` in them is said on standard error.

    Raises `UsageError`.
    """
    around = surroundings(config)
    settings = around.settings
    for problem in [*odd(settings), *around.env.warnings]:
        click.echo(f"jagstorm: {clean_line(problem)}", err=True)
    return settings


def models_here(settings: Settings) -> "list[FoundModel]":
    """What can be used here and now, looked for before anything else begins; keys are in the environment by then."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_models(settings))
    finally:
        loop.close()  # and nobody waits for threads of it that may hang


async def _models(settings: Settings) -> "list[FoundModel]":
    from core.providers.catalog import Providers
    from core.providers.discovery.found import find_models

    providers = Providers()
    try:
        return await find_models(settings, providers)
    finally:
        await providers.close()
