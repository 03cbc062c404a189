"""Files of others made our own: result files become sessions, question lists the user's questions, totals are kept."""

import itertools
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from core.config import PLAN_FILE, Origin, checked, read_plan, write_plan
from core.errors import SessionUnreadableError, StoreError, UsageError
from core.exchange.known_chains import NewChains, keep_digests
from core.exchange.naming import slug
from core.exchange.oddities import Oddities
from core.exchange.public import Entry, NoResultsError, PublicChain, PublicFile, open_public
from core.exchange.question_list import QuestionsKept, keep_questions, read_known_questions, read_question_list
from core.exchange.retelling import Retelling
from core.exchange.totals_table import TotalsKept, keep_totals
from core.lines import EVENTS_FILE, encode
from core.questions import Question
from core.store.library import TRIES, session_folders
from core.store.log import LOCK_FILE, LOCK_SECONDS
from core.text import shown

if TYPE_CHECKING:
    from core.analysis.table import ChainRow

STAGE = ".importing"
"""Where sessions are while they are written: a folder beside those that are whole."""

KINDS = (".json", ".csv")
"""What is looked at in a folder."""

Progress = Callable[[int], None]
"""Told of so many bytes more that are done."""


class ImportedSession(Struct, frozen=True, kw_only=True):
    """What one model's chains came to."""

    id: str
    model: str
    temperature: str
    questions: int
    responses: int
    valid: int
    stops: dict[str, int]
    """Why chains stop, as the file says it: of how many each."""


class ResultsImported(Struct, frozen=True, kw_only=True):
    """What came of a result file."""

    file: str
    sessions: tuple[ImportedSession, ...]
    there: tuple[str, ...]
    """Sessions that had been made of the same file before."""
    left_out: int
    """Chains that another session has already, of another file."""
    oddities: Oddities
    """What is odd in the file, as far as it was imported now."""


Imported = ResultsImported | QuestionsKept | TotalsKept


def files_under(path: Path) -> list[Path]:
    """The files that a person means by `path`: itself, or all in a folder that may be meant to be imported."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix.lower() in KINDS and file.is_file())


def import_file(path: Path, sessions: Path, progress: Progress = lambda done: None) -> Imported:
    """Import one file that a person named, whatever it holds; sessions go under `sessions`.

    Raises `NoResultsError` for a file that holds nothing of the kind, `UsageError` with the place for a broken one,
    which is refused whole, `StoreError` if it can't be kept.
    """
    return _imported(path, sessions, progress, read_question_list)


def import_found(path: Path, sessions: Path, progress: Progress = lambda done: None) -> Imported:
    """Import one file of a folder that a person named: of lists of questions only those of domains that are known.

    Raises as `import_file`.
    """
    return _imported(path, sessions, progress, read_known_questions)


def _imported(
    path: Path, sessions: Path, progress: Progress, questions: Callable[[Path], Sequence[Question]]
) -> Imported:
    if path.suffix.lower() == ".csv":
        return keep_totals(path)
    try:
        return import_results(path, sessions, progress)
    except NoResultsError:
        return keep_questions(path, questions(path))


def import_results(path: Path, sessions: Path, progress: Progress = lambda done: None) -> ResultsImported:
    """Make a session of each model in a result file, but for those that were made of the same file before.

    Chains that are in a session already, of whatever file it was made, are left out.

    Raises as `import_file`.
    """
    file = open_public(path)
    sources: dict[Origin, list[Entry]] = {}
    for entry in file.entries:
        sources.setdefault(_origin(file, entry), []).append(entry)
    made: list[ImportedSession] = []
    odd = Oddities()
    with _stage(sessions) as stage:
        there = _made_before(file, sessions)
        new = NewChains(sessions)
        for origin, entries in sources.items():
            if origin in there:
                continue
            chains = new.of(_chains(file, entries, progress))
            if first := next(chains, None):
                retelling = Retelling(origin, datetime.now().astimezone().isoformat(timespec="milliseconds"))
                retelling.oddities.without_questions = sum(each.model == origin.model for each in file.unasked)
                made.append(_write(retelling, itertools.chain([first], chains), stage, sessions))
                odd.include(retelling.oddities)
        if not there:
            file.check_complete(new.answers)
        _move(stage, sessions)
    if made or not sources:
        odd = replace(odd, not_numbers=file.not_numbers, without_questions=len(file.unasked))
    return ResultsImported(
        file=shown(path.name),
        sessions=tuple(made),
        there=tuple(there[origin] for origin in sources if origin in there),
        left_out=new.left_out,
        oddities=odd,
    )


def _origin(file: PublicFile, entry: Entry) -> Origin:
    return Origin(
        file=shown(file.path.name),
        digest=file.digest,
        layout=entry.layout,
        model=entry.model,
        temperature=entry.temperature,
    )


def _made_before(file: PublicFile, sessions: Path) -> dict[Origin, str]:
    """The sessions that were made of this very file, whatever it was called then, and their ids."""
    found: dict[Origin, str] = {}
    for folder in session_folders(sessions):
        try:
            if file.digest.encode() not in (folder / PLAN_FILE).read_bytes():
                continue
            origin = read_plan(folder).origin
        except (OSError, SessionUnreadableError):
            continue  # whoever lists the sessions is told
        if origin and origin.digest == file.digest:
            found[replace(origin, file=shown(file.path.name))] = shown(folder.name)
    return found


def _chains(file: PublicFile, entries: Iterable[Entry], progress: Progress) -> Iterator[PublicChain]:
    """The chains of some entries, each reported as done when the next is asked for."""
    for entry, chain in zip(entries, file.chains(entries), strict=True):
        yield chain
        progress(memoryview(entry.answers).nbytes)


def _write(
    retelling: Retelling, chains: Iterable[tuple[PublicChain, str]], stage: Path, sessions: Path
) -> ImportedSession:
    """One session in a folder of its own under `stage`, whole, with the columns that its profile is computed from.

    `chains` come with their digests.

    Raises OSError, `UsageError`.
    """
    from core.store.tables import keep_public, public_row  # with numpy, which is not there before it is wanted

    origin = retelling.origin
    folder = stage / _free_id(origin, stage, sessions)
    folder.mkdir(mode=0o700)
    rows: list[ChainRow] = []
    digests: list[str] = []

    def noted() -> Iterator[PublicChain]:
        for chain, digest in chains:
            rows.append(public_row(chain, place=len(rows)))
            digests.append(digest)
            yield chain

    with open(os.open(folder / EVENTS_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as log:
        for event in retelling.events(noted()):
            log.write(encode(event) + b"\n")
        log.flush()
        os.fsync(log.fileno())
    questions = tuple(retelling.questions.values())
    write_plan(folder, checked(retelling.plan(folder.name)))
    keep_digests(folder, digests)
    keep_public(folder, [replace(row, question=question) for row, question in zip(rows, questions, strict=True)])
    return ImportedSession(
        id=folder.name,
        model=origin.model,
        temperature=origin.temperature,
        questions=len(questions),
        responses=retelling.responses,
        valid=retelling.valid,
        stops=dict(retelling.stops),
    )


def _free_id(origin: Origin, stage: Path, sessions: Path) -> str:
    """As other sessions are called, with the model in the place of the question."""
    begin = f"{datetime.now():%Y%m%d-%H%M%S}-{slug(origin.model) or 'model'}"
    ids = (f"{begin}-{secrets.token_hex(2)}" for _ in range(TRIES))
    return next(each for each in ids if not (sessions / each).exists() and not (stage / each).exists())


@contextmanager
def _stage(sessions: Path) -> Iterator[Path]:
    """A folder for sessions that are not whole yet; it is gone afterwards, with all that is still in it.

    Raises `StoreError` where nothing can be written, `UsageError` if another import is under way there.
    """
    stage = sessions / STAGE
    before = sessions.exists()
    try:
        stage.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _only_one(stage):
            try:
                yield stage
            finally:
                shutil.rmtree(stage, ignore_errors=True)
    except OSError as error:
        raise StoreError(
            f"{shown(sessions)} can't be written ({error.strerror or error}): choose another folder with --sessions DIR"
        ) from None
    finally:
        if not before:
            with suppress(OSError):
                sessions.rmdir()  # which works only if nothing was imported


@contextmanager
def _only_one(stage: Path) -> Iterator[None]:
    """Hold the stage's lock, and clear away what an import that was killed has left."""
    from filelock import FileLock, Timeout

    lock = FileLock(stage / LOCK_FILE, mode=0o600)
    try:
        lock.acquire(timeout=LOCK_SECONDS, poll_interval=0.01)
    except Timeout:
        raise UsageError(f"Another import into {shown(stage.parent)} is under way: wait until it is done") from None
    try:
        stage.mkdir(mode=0o700, exist_ok=True)  # whoever held the lock took it away
        for left in stage.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
        yield
    finally:
        lock.release()


def _move(stage: Path, sessions: Path) -> None:
    """All sessions that are whole among the others; none of them if that fails. Raises OSError."""
    moved: list[Path] = []
    try:
        for folder in sorted(path for path in stage.iterdir() if path.is_dir()):
            moved.append(sessions / folder.name)
            folder.rename(moved[-1])
    except BaseException:
        for folder in moved:
            shutil.rmtree(folder, ignore_errors=True)
        raise
