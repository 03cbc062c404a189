"""What a person's name for a model on a hub means, and which of a repository's files it is."""

import re

from msgspec import Struct

from core.errors import ModelUnavailableError, UsageError
from core.text import clean_line

# A part of a model that comes in several files.
PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)

_WANTED_KIND = "Q4_K_M"

_LEAST_BITS = 4

_KIND = re.compile(r"(?<![A-Z0-9])(?:I?Q\d(?:_[A-Z0-9]+)*|BF16|F16|F32|MXFP4)(?![A-Z0-9])", re.IGNORECASE)
_HUB = re.compile(r"^(?:hf:(?://)?|(?:https?://)?(?:www\.)?(?:hf\.co|huggingface\.co)/)", re.IGNORECASE)
_REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


class Wanted(Struct, frozen=True):
    """A repository, and in it a file or a kind of quantisation, or whatever is best."""

    repository: str
    file: str = ""
    kind: str = ""


class HubFile(Struct, frozen=True):
    """A file as the hub describes it. `path` is a path there, and never used as one here."""

    path: str
    size: int
    sha256: str = ""
    """"" for a small file, of which the hub doesn't say it."""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def kind(self) -> str:
        """The kind of quantisation that the name tells, such as `Q4_K_M`; "" if it tells none."""
        found = _KIND.findall(self.name)
        return found[-1].upper() if found else ""

    @property
    def bits(self) -> int:
        """A weight's, about; 0 if the name doesn't tell."""
        digits = re.search(r"\d+", self.kind)
        return int(digits[0]) if digits else 0


Model = list[HubFile]
"""One file, or all parts in order."""


def read_name(name: str) -> Wanted:
    """`OWNER/REPO`, `OWNER/REPO:Q4_K_M` or `OWNER/REPO/file.gguf`, after `hf:`, `hf.co/`, a whole address, or nothing.

    Raises `UsageError`.
    """
    text = _HUB.sub("", name.strip()).partition("?")[0].strip("/")
    owner, _, rest = text.partition("/")
    repository, _, file = rest.partition("/")
    repository, _, kind = repository.partition(":")
    file = re.sub(r"^(?:(?:blob|resolve|raw)/[^/]+/|tree/[^/]+$)", "", file)
    wanted = Wanted(f"{owner}/{repository}", file, kind)
    if (
        not _REPOSITORY.fullmatch(wanted.repository)
        or ".." in text
        or (file and not file.lower().endswith(".gguf"))
        or (":" in rest and not re.fullmatch(r"[\w.-]{1,40}", kind))
    ):
        raise UsageError(
            f"{clean_line(name, 200) or 'Nothing'} is no model on a hub: write OWNER/REPO, OWNER/REPO:{_WANTED_KIND} "
            "or OWNER/REPO/file.gguf (or ollama/NAME for Ollama)"
        )
    return wanted


def choose(files: list[HubFile], wanted: Wanted) -> Model:
    """The model that is wanted. Raises `ModelUnavailableError` that lists what there is.

    Without a wish it is Q4_K_M; failing that the smallest with at least four bits; failing that the largest.
    """
    models = _models(files)
    if not models:
        raise ModelUnavailableError(f"{wanted.repository} has no GGUF files: look for a repository ending in -GGUF")
    if wanted.file:
        found = [model for model in models if wanted.file in (file.path for file in model)]
    else:
        kind = (wanted.kind or _WANTED_KIND).upper()
        found = [model for model in models if model[0].kind == kind]
        if not found and not wanted.kind:
            found = _next_best(models)
    if not found:
        listed = clean_line(", ".join(sorted(model[0].kind or model[0].path for model in models)), 400)
        what = f"no {clean_line(wanted.file or wanted.kind, 100)}" if wanted.file or wanted.kind else "several models"
        raise ModelUnavailableError(f"{wanted.repository} has {what}: choose of {listed}")
    model = min(found, key=_size)
    part = PART.search(model[0].path)
    if part and len(model) != int(part[2]):
        raise ModelUnavailableError(f"{wanted.repository} lacks parts of {clean_line(model[0].path, 100)}")
    return model


def _models(files: list[HubFile]) -> list[Model]:
    models: dict[str, Model] = {}
    for file in sorted(files, key=lambda file: file.path):
        name = file.name.lower()
        # Projectors for pictures and importance matrices are no models by themselves.
        if name.endswith(".gguf") and not name.startswith(("mmproj", "imatrix")) and ".." not in file.path.split("/"):
            models.setdefault(PART.sub("", file.path), []).append(file)
    return list(models.values())


def _next_best(models: list[Model]) -> list[Model]:
    enough = [model for model in models if model[0].bits >= _LEAST_BITS]
    if enough or len(models) == 1:
        return enough or models
    known = [model for model in models if model[0].bits]
    return [max(known, key=_size)] if known else []


def _size(model: Model) -> int:
    return sum(file.size for file in model)
