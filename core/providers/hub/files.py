"""Models that were fetched: files in one folder of the cache, each with a record of where it came from."""

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from core.errors import ModelUnavailableError
from core.files import write_private
from core.providers.hub.names import PART, Model
from core.text import clean_line

# A hub's names become names of files here only if they are as plain as this.
_PLAIN = re.compile(r"\w[\w .+()-]{0,200}\.gguf", re.IGNORECASE)


class Origin(Struct, frozen=True, kw_only=True):
    """Where a file came from: the record beside it."""

    hub: str
    repository: str
    revision: str
    file: str
    size: int
    sha256: str


def models_folder() -> Path:
    """Where they are; made only when one is fetched."""
    import platformdirs

    return platformdirs.user_cache_path("jagstorm") / "models"


def local_models() -> list[Path]:
    """The models that are there, by name: of one in several parts the first, if all are there."""
    try:
        found = sorted(path for path in models_folder().iterdir() if path.suffix.lower() == ".gguf")
    except OSError:
        return []
    return [path for path in found if _is_model(path)]


def origin_of(path: Path) -> Origin | None:
    """Where a file came from; None if nobody knows."""
    try:
        return msgspec.json.decode(_record(path).read_bytes(), type=Origin)
    except (OSError, ValueError):
        return None


def note_origin(path: Path, origin: Origin) -> None:
    """Raises OSError."""
    write_private(_record(path), msgspec.json.format(msgspec.json.encode(origin)).decode() + "\n")


def is_there(path: Path, origin: Origin) -> bool:
    """Whether the file at `path` is the one from `origin`, by its record and its size."""
    known = origin_of(path)
    try:
        size = path.stat().st_size
    except OSError:
        return False
    return known is not None and (known.sha256, known.size) == (origin.sha256, origin.size) and size == origin.size


def places(hub: str, repository: str, model: Model) -> list[Path]:
    """Where a model's files belong: under their own names, or with the repository's in front where these are taken.

    Raises `ModelUnavailableError` for a name that is not plain.
    """
    for file in model:
        if not _PLAIN.fullmatch(file.name):
            raise ModelUnavailableError(
                f"{clean_line(file.name, 100)} is no name for a file here: choose another model"
            )
    folder = models_folder()

    def is_free(path: Path) -> bool:
        known = origin_of(path)
        return not path.exists() if known is None else (known.hub, known.repository) == (hub, repository)

    own = [folder / file.name for file in model]
    if all(map(is_free, own)):
        return own
    return [folder / f"{repository.replace('/', '_')}_{file.name}" for file in model]


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _is_model(path: Path) -> bool:
    part = PART.search(path.name)
    if part is None:
        return True
    stem, count = path.name[: part.start()], int(part[2])
    names = [f"{stem}-{number:05}-of-{part[2]}{path.suffix}" for number in range(1, count + 1)]
    return path.name == names[0] and all(path.with_name(name).exists() for name in names)
