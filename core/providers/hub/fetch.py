"""GGUF files from a model hub: fetched into the cache, resumed when cut, checked when whole."""

import errno
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import ModelUnavailableError
from core.keys import remember
from core.providers.addresses import host_of
from core.providers.faults import quoted
from core.providers.hub import download
from core.providers.hub.download import Download, OnProgress
from core.providers.hub.files import Origin, models_folder, places
from core.providers.hub.names import HubFile, Wanted, choose, read_name
from core.providers.progress import Progress, size_words
from core.text import clean_line, shown

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

HUB = "https://huggingface.co"

SPARE = 50 * 10**6
"""Bytes of the disk that are left free."""


def fetch(name: str, on_progress: OnProgress) -> Path:
    """Fetch the model that `name` means, unless it is there already; of one in several parts the first is given.

    Blocks. What had come when it was interrupted stays, and the next try goes on from there.
    Raises `UsageError` for a name that is none, `ModelUnavailableError` with what to do about anything else.
    """
    wanted = read_name(name)
    hub = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUB
    on_progress(Progress(f"looking for {wanted.repository}"))
    with _explained(hub, wanted):
        info = _look_up(hub, wanted.repository)
        model = choose([_described(sibling) for sibling in info.siblings or ()], wanted)
        if not all(file.size for file in model):
            raise ModelUnavailableError(f"{hub} does not say how large {clean_line(model[0].path, 100)} is")
        targets = places(hub, wanted.repository, model)
        models_folder().mkdir(parents=True, exist_ok=True)
        parts = [
            Download(target, _origin(hub, wanted.repository, info.sha or "main", file))
            for target, file in zip(targets, model, strict=True)
        ]
        _check_room(sum(part.missing for part in parts))
        total = sum(file.size for file in model)
        before = 0
        for part in parts:
            part.run(on_progress, before, total)
            before += part.origin.size
    return targets[0]


def _origin(hub: str, repository: str, revision: str, file: HubFile) -> Origin:
    return Origin(hub=hub, repository=repository, revision=revision, file=file.path, size=file.size, sha256=file.sha256)


def _look_up(hub: str, repository: str) -> "ModelInfo":
    from huggingface_hub import HfApi, constants
    from huggingface_hub.utils import logging

    # Nobody is told who asks, and a hub's warnings are not printed as they come.
    constants.HF_HUB_DISABLE_TELEMETRY = True
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    remember(download.headers().get("authorization", "").removeprefix("Bearer "))
    api = HfApi(endpoint=hub, library_name="jagstorm")
    return api.model_info(repository, files_metadata=True, timeout=download.PATIENCE)


def _described(sibling: "RepoSibling") -> HubFile:
    """From what the hub says of a file. Raises `ModelUnavailableError`."""
    lfs = sibling.lfs
    return HubFile(sibling.rfilename, (lfs.size if lfs else sibling.size) or 0, lfs.sha256 if lfs else "")


def _check_room(missing: int) -> None:
    folder = models_folder()
    free = shutil.disk_usage(folder).free
    if missing + SPARE > free:
        raise ModelUnavailableError(
            f"{size_words(missing)} more are needed in {shown(folder)}, and {size_words(free)} are free: make room"
        )


@contextmanager
def _explained(hub: str, wanted: Wanted) -> Generator[None, None, None]:
    """What goes wrong inside becomes a `ModelUnavailableError`. What has come stays, and the words say so."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    host = host_of(hub) or clean_line(hub, 100)
    try:
        yield
    except HfHubHTTPError as error:
        raise _refused(error, hub, host, wanted) from None
    except OfflineModeIsEnabled:
        raise ModelUnavailableError("HF_HUB_OFFLINE is set, so nothing is fetched from a hub: unset it") from None
    except httpx2.TransportError as error:
        reason = quoted(error) or "no answer"
        raise ModelUnavailableError(
            f"{host} can't be reached ({reason}): check the network, or name a mirror with HF_ENDPOINT; the next try "
            "goes on from here"
        ) from None
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        todo = "make room; the next try goes on from here" if full else "check that it can be written to"
        reason = error.strerror or quoted(error)
        raise ModelUnavailableError(f"{shown(models_folder())} can't be written ({reason}): {todo}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, TypeError, KeyError) as error:
        reason = quoted(error) or type(error).__name__
        raise ModelUnavailableError(
            f"{host} does not answer as a model hub does ({reason}): check HF_ENDPOINT"
        ) from None


def _refused(error: "HfHubHTTPError", hub: str, host: str, wanted: Wanted) -> ModelUnavailableError:
    """What an error status of a hub means."""
    status, code = error.response.status_code, error.response.headers.get("x-error-code", "")
    repository = wanted.repository
    if code == "GatedRepo" or status == 403:
        return ModelUnavailableError(
            f"{repository} is given only to those who agreed to its terms: do so at {hub}/{repository}, and put a "
            "token of yours into the variable HF_TOKEN"
        )
    if status == 401 or code == "RepoNotFound":
        return ModelUnavailableError(
            f"{host} has no model {repository}, or it is private: check the name, or put a token into HF_TOKEN"
        )
    if status == 404:
        return ModelUnavailableError(f"{host} has no {repository}{f'/{wanted.file}' if wanted.file else ''}")
    said = quoted(error.server_message or "")
    return ModelUnavailableError(f"{host} failed (status {status}{f': {said}' if said else ''}): try again later")
