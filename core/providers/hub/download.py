"""A file of a hub on its way into the cache: resumed when cut, checked when whole. Knows the hub's own library."""

import hashlib
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from core.errors import ModelUnavailableError
from core.providers.hub.files import Origin, is_there, note_origin
from core.providers.progress import Progress
from core.text import clean_line

TRIES = 5
"""Connections in a row that may break without having brought a byte."""

PAUSE = 1.0
"""Seconds between them."""

PATIENCE = 30.0
"""Seconds without a byte after which a connection is given up."""

OnProgress = Callable[[Progress], None]


def headers() -> dict[str, str]:
    """With the person's own token for the hub, if there is one."""
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    return build_hf_headers(library_name="jagstorm", headers={"accept-encoding": "identity"})


class Download:
    """One file on its way: it grows beside its place, and is moved there when it is whole and right."""

    def __init__(self, target: Path, origin: Origin) -> None:
        self.origin = origin
        self._target = target
        # Another version is another file. What the hub says is never part of a name as it comes.
        version = hashlib.sha256((origin.sha256 or origin.revision).encode()).hexdigest()[:12]
        self._part = target.with_name(f"{target.name}.{version}.part")

    @property
    def missing(self) -> int:
        """Bytes that are still to come."""
        if is_there(self._target, self.origin):
            return 0
        try:
            return max(0, self.origin.size - self._part.stat().st_size)
        except OSError:
            return self.origin.size

    def run(self, on_progress: OnProgress, before: int, total: int) -> None:
        """`before` and `total` are bytes of the whole model. Raises OSError, and the HTTP library's errors."""
        if is_there(self._target, self.origin):
            return

        def tell(size: int) -> None:
            on_progress(Progress(f"fetching {self._target.name}", before + size, total))

        with self._alone():
            with open(os.open(self._part, os.O_RDWR | os.O_CREAT, 0o644), "r+b") as file:
                grown = _Growing(file, self.origin.size)
                tell(grown.size)
                _fill(grown, self.origin, tell)
                os.fsync(file.fileno())
                self._check(grown)
            # The record first: a file without one would be taken for somebody else's.
            note_origin(self._target, self.origin)
            self._part.replace(self._target)

    def _check(self, grown: "_Growing") -> None:
        wrong = grown.size != self.origin.size or self.origin.sha256 not in ("", grown.digest)
        if wrong or not grown.is_gguf:
            self._part.unlink()
            why = "is not what the hub says (its checksum differs)" if wrong else "is not a GGUF file"
            raise ModelUnavailableError(f"What came of {clean_line(self.origin.file)} {why}: it was removed; try again")

    @contextmanager
    def _alone(self) -> Generator[None, None, None]:
        from filelock import FileLock, Timeout

        path = self._part.with_name(f"{self._part.name}.lock")
        try:
            with FileLock(path, timeout=0):
                yield
                path.unlink(missing_ok=True)
        except Timeout:
            raise ModelUnavailableError(f"{self._target.name} is being fetched already, by another Jagstorm") from None


class _Growing:
    """The file as far as it has come, and the checksum of that."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0
        while piece := file.read(1 << 20):
            self._hash.update(piece)
            self.size += len(piece)
        if self.size > most:
            self.begin_anew()

    def add(self, piece: bytes) -> None:
        self._file.write(piece)
        self._hash.update(piece)
        self.size += len(piece)

    def begin_anew(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size = 0

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    @property
    def is_gguf(self) -> bool:
        self._file.seek(0)
        return self._file.read(4) == b"GGUF"


def _fill(grown: _Growing, origin: Origin, tell: Callable[[int], None]) -> None:
    """Receive what is missing, over as many connections as that takes."""
    import httpx2

    failures = 0
    while grown.size < origin.size:
        before = grown.size
        failure: httpx2.TransportError | None = None
        try:
            _receive(grown, origin, tell)
        except httpx2.TransportError as error:
            failure = error
        failures = failures + 1 if grown.size <= before else 0
        if failures >= TRIES:
            raise failure or httpx2.ReadError("nothing more comes")
        if grown.size < origin.size:
            time.sleep(PAUSE)


def _receive(grown: _Growing, origin: Origin, tell: Callable[[int], None]) -> None:
    from huggingface_hub import get_session, hf_hub_url
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

    url = hf_hub_url(origin.repository, origin.file, revision=origin.revision, endpoint=origin.hub)
    sent = headers()
    if grown.size:
        sent["range"] = f"bytes={grown.size}-"
    with get_session().stream("GET", url, headers=sent, timeout=PATIENCE) as response:
        hf_raise_for_status(response)
        if grown.size and not response.headers.get("content-range", "").startswith(f"bytes {grown.size}-"):
            grown.begin_anew()
        for piece in response.iter_bytes():
            grown.add(piece)
            tell(grown.size)
            if grown.size > origin.size:
                return
