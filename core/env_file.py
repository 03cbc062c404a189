"""Keys from a `.env` file, in the current folder or the config folder.

The current folder may be somebody else's: a file in it must not be able to send a person's own key, or what they
write, to another server. So only variables that we know are taken, and an address only with the key that goes there.
"""

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from core.config import config_folder
from core.files import read_file
from core.keys import scrub
from core.providers.access import ANTHROPIC_KEY, AZURE_ENDPOINT, AZURE_KEY, AZURE_TOKEN, OPENAI_KEY
from core.providers.addresses import is_local
from core.providers.discovery.aws import aws_settings
from core.providers.known import catalogue
from core.text import clean_line

ENV_FILE = ".env"

_OTHER_KEYS = ("AWS_BEARER_TOKEN_BEDROCK", "OLLAMA_API_KEY", "HF_TOKEN")

_PLACES = ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION")
"""What chooses among a person's own accounts, and sends nothing elsewhere."""

_AWS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_AZURE = (AZURE_KEY, AZURE_TOKEN)
_TOGETHER = (_AWS, _AZURE)
"""What signs in to one account: all from one file, or none. So no address from a file gets a key from elsewhere."""

_GOES_WITH = {
    "OPENAI_BASE_URL": (OPENAI_KEY,),
    "OPENAI_ORG_ID": (OPENAI_KEY,),
    "OPENAI_PROJECT_ID": (OPENAI_KEY,),
    "ANTHROPIC_BASE_URL": (ANTHROPIC_KEY,),
    AZURE_ENDPOINT: _AZURE,
    "OPENAI_API_VERSION": _AZURE,
}
"""Where a key is sent, and as whose: taken only if the key itself was taken from the same file."""


_ADDRESSES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", AZURE_ENDPOINT, "OLLAMA_HOST")


class EnvFiles(Struct, frozen=True):
    """What became of the variables in the files, by name: the file that each was taken from, or left in."""

    taken: dict[str, Path]
    left: dict[str, Path]

    @property
    def warnings(self) -> list[str]:
        """What a person should know of: addresses that stand in a file of the current folder, a line each."""
        return [
            f"{name} is taken from {ENV_FILE} in this folder: {scrub(clean_line(os.environ.get(name, ''), 100))}"
            for name, path in self.taken.items()
            if path == Path(ENV_FILE) and name in _ADDRESSES
        ]

    def then(self, later: "EnvFiles") -> "EnvFiles":
        """What became of them after the files were read again."""
        taken = self.taken | later.taken
        return EnvFiles(taken, {name: path for name, path in later.left.items() if name not in taken})


def load_env_file(more: Iterable[str] = ()) -> EnvFiles:
    """Put the keys of both files into the environment, a person's own first; what is set stays.

    `more` are further variables that hold keys, as the config file names them. A file that can't be read counts as
    none.
    """
    taken: dict[str, Path] = {}
    left: dict[str, Path] = {}
    own = config_folder() / ENV_FILE
    for path in (own, Path(ENV_FILE)):
        if not (found := _variables(path)):
            continue
        chosen = _chosen(found, _keys(more), trusted=path is own)
        os.environ.update(chosen)
        taken |= dict.fromkeys(chosen, path)
        left |= dict.fromkeys(found.keys() - taken.keys() - left.keys(), path)
    return EnvFiles(taken, left)


def _keys(more: Iterable[str]) -> set[str]:
    return {*(name for host in catalogue().hosts for name in host.keys), *_OTHER_KEYS, *more}


def _chosen(found: Mapping[str, str], keys: Iterable[str], *, trusted: bool) -> dict[str, str]:
    """Those of the variables that may be set, and aren't."""
    fresh = {name: value for name, value in found.items() if name not in os.environ}
    grouped = {name for group in _TOGETHER for name in group}
    names = [name for name in (*keys, *_PLACES) if name not in grouped]
    names += [name for group in _TOGETHER if os.environ.keys().isdisjoint(group) for name in group]
    if not trusted and not fresh.keys().isdisjoint(_AWS) and aws_settings():
        names = [name for name in names if name not in _AWS]  # nobody is to work in a stranger's account unawares
    chosen = {name: fresh[name] for name in names if name in fresh}
    together = {name for name, group in _GOES_WITH.items() if not chosen.keys().isdisjoint(group)}
    chosen |= {name: fresh[name] for name in together if name in fresh}
    if "OLLAMA_HOST" in fresh and (trusted or is_local(fresh["OLLAMA_HOST"])):
        chosen["OLLAMA_HOST"] = fresh["OLLAMA_HOST"]
    return chosen


def _variables(path: Path) -> dict[str, str]:
    """As they stand in the file: nothing in them is replaced or run."""
    try:
        text = read_file(path).decode("utf-8-sig", errors="replace")
    except OSError:
        return {}
    from dotenv.parser import parse_stream

    values = {
        binding.key: binding.value.strip()
        for binding in parse_stream(io.StringIO(text))
        if binding.key and binding.value and not binding.error
    }
    return {name: value for name, value in values.items() if value and "\0" not in value}
