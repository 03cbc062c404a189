"""What a person has set here: their settings, and the keys of their `.env` files in the environment."""

from msgspec import Struct

from core.env_file import EnvFiles, load_env_file
from core.settings import Settings, read_settings


class Surroundings(Struct, frozen=True):
    settings: Settings
    env: EnvFiles
    """What became of the variables in `.env` files."""


def surroundings(config: str | None = None) -> Surroundings:
    """Read all of it; whoever reaches models does this first. Raises `UsageError` as `read_settings` does.

    Keys come before the settings, in which much depends on what keys there are; those that only the settings name
    come after.
    """
    usual = load_env_file()
    settings = read_settings(config)
    return Surroundings(settings, usual.then(load_env_file(settings.key_variables)))
