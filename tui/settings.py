"""A person's settings and keys, as every command that reaches models needs them."""

import click

from core.env_file import load_env_file
from core.offers import problems
from core.settings import Settings, read_settings
from core.text import clean_line


def settings_with_keys(config: str | None) -> Settings:
    """The settings, with the keys of `.env` files in the environment; what is odd in them is said on standard error.

    Raises `UsageError`.
    """
    settings = read_settings(config)
    for problem in problems(settings):
        click.echo(f"jagstorm: {clean_line(problem)}", err=True)
    load_env_file(settings.key_variables)
    return settings
