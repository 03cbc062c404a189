"""The sessions in a folder: make one, list them, find one by what a person calls it."""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import data
from core.chain import Chain
from core.config import PLAN_FILE, Judging, Plan, path_of, read_plan, write_plan
from core.errors import SessionUnreadableError, StoreError, UsageError
from core.lines import EVENTS_FILE
from core.models import Budget, Cap, EmbedderSpec, TeamSpec
from core.questions import Question
from core.rules import Rules, Spent, extended, over_budget
from core.state import State, fold, reopens
from core.store.log import EventLog, Record, is_locked, read_log
from core.store.runner import noted_runner
from core.text import shown

TRIES = 20
"""Ids that are tried for a new session: of 200 that begin in one second, one in four would meet its like."""


class StoredSession(Struct, frozen=True):
    """A session as read from its folder."""

    folder: Path
    plan: Plan
    record: Record

    def state(self) -> State:
        return fold(self.record.events)


def new_plan(
    questions: tuple[Question, ...],
    team: TeamSpec,
    rules: Rules,
    random_seed: int | None = None,
    *,
    embedder: Literal["wordllama"] | EmbedderSpec = "wordllama",
    judging: Judging = Judging(),  # noqa: B008
    budget: Budget = Budget(),  # noqa: B008
) -> Plan:
    """A plan of now, with an id of its own and, if none is given, a random seed of its own."""
    plan = Plan(
        id="",
        created="",
        random_seed=secrets.randbits(32) if random_seed is None else random_seed,
        questions=questions,
        team=team,
        rules=rules,
        embedder=embedder,
        judging=judging,
        budget=budget,
    )
    return as_of_now(plan)


def as_of_now(plan: Plan) -> Plan:
    """`plan` for another session, which begins now and has an id of its own."""
    now = datetime.now().astimezone()
    slug = "-".join(re.findall(r"[a-z0-9]+", plan.questions[0].id.lower()))[:40].strip("-") or "question"
    created = now.isoformat(timespec="seconds")
    return replace(plan, id=f"{now:%Y%m%d-%H%M%S}-{slug}-{_four_hex()}", created=created)


def _four_hex() -> str:
    return secrets.token_hex(2)


def create(sessions: Path, plan: Plan) -> EventLog:
    """A folder for `plan` under `sessions`, with its plan written and an empty log. Raises `StoreError`.

    Where another session of this second has the same id, as among many that begin at once, the plan is written with
    another: its folder's name.
    """
    try:
        for _ in range(TRIES):
            try:
                with _new_folder(sessions / plan.id) as folder:
                    write_plan(folder, plan)
                    return EventLog.create(folder)
            except FileExistsError:
                plan = replace(plan, id=f"{plan.id.rpartition('-')[0]}-{_four_hex()}")
        raise FileExistsError(errno.EEXIST, "there are too many sessions of this second")
    except OSError as error:
        raise StoreError(
            f"{shown(sessions)} can't be written ({error.strerror or error}): choose another folder with --sessions DIR"
        ) from None


def move(log: EventLog, plan: Plan, sessions: str) -> None:
    """Let a session that could not be written go on under another folder. Raises `StoreError`, `UsageError`."""
    parent = path_of(sessions)
    try:
        with _new_folder(parent / log.folder.name) as folder:
            write_plan(folder, plan)
            log.move(folder)
    except OSError as error:
        raise StoreError(f"{shown(parent)} can't be written either: {error.strerror or error}") from None


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A new session's folder, which goes again if it can't be filled. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    except (OSError, StoreError):
        shutil.rmtree(folder, ignore_errors=True)
        raise


def load(folder: Path) -> StoredSession:
    """Raises `SessionUnreadableError`."""
    plan = read_plan(folder)
    return StoredSession(folder, plan, read_log(folder))


def session_folders(sessions: Path) -> list[Path]:
    """Newest first, the example last. Raises `UsageError` if they can't be read."""
    try:
        if not sessions.is_dir():
            return []
        found = [path for path in sessions.iterdir() if _is_session(path)]
    except OSError as error:
        raise UsageError(f"{shown(sessions)} can't be read: {error.strerror or error}") from None
    return sorted(found, key=lambda path: (path.name != "example", path.name), reverse=True)


def without_example(folders: list[Path]) -> list[Path]:
    """A person's own sessions of these; the example only where there is nothing else."""
    return [folder for folder in folders if folder.name != "example"] or folders


def _is_session(path: Path) -> bool:
    try:
        return (path / PLAN_FILE).exists() or (path / EVENTS_FILE).exists()
    except OSError:  # somebody else's folder, closed to us
        return False


def run_now(folder: Path) -> Literal["running", "detached", ""]:
    """How the session in `folder` is run, "" if nobody runs it."""
    if not is_locked(folder):
        return ""
    runner = noted_runner(folder)
    return "detached" if runner and runner.detached else "running"


def check_unfinished(plan: Plan, state: State, max_ideas: int | None, given: Budget | None = None) -> Budget | None:
    """Raises `UsageError` if a session that came to `state` has nothing to go on with.

    `max_ideas` and the limits in `given` are in place of its own from now on. Gives the whole of its new budget; None
    where no limit is given.
    """
    if plan.origin:
        raise UsageError(f"This session was imported from {plan.origin.file}: there is nobody to go on with it")
    budget = state.budget or plan.budget
    changed = None if given is None else extended(budget, given)
    if max_ideas is not None:
        try:
            msgspec.convert(max_ideas, Cap)
        except msgspec.ValidationError as error:
            raise UsageError(f"{max_ideas:,} ideas can't be the cap: {error}") from None
    if used_up := over_budget(Spent(state.cost, state.tokens, state.t), changed or budget):
        raise UsageError(
            f"This session has used up its budget ({used_up}): resume it with a larger --max-cost, --max-tokens or "
            "--max-minutes"
        )
    chains = state.chains.values()
    if state.tasks or len(chains) < len(plan.questions) or any(_goes_on(chain, max_ideas) for chain in chains):
        return changed
    for chain in chains:
        if chain.ended and chain.ended.reason == "cap":
            raise UsageError(
                f"This chain has reached its cap of {chain.responses} ideas: resume it with a --max-ideas above that"
            )
    reasons = ", ".join(chain.ended.reason for chain in chains if chain.ended)
    raise UsageError(f"This chain is finished ({reasons}): look at it with `jagstorm show` or `replay`")


def _goes_on(chain: Chain, max_ideas: int | None) -> bool:
    return chain.ended is None or reopens(chain.ended, max_ideas)


def find(sessions: Path, reference: str) -> Path:
    """The folder that `reference` means: `last`, an id, a unique prefix of one, `example`, or a path.

    `last` is the newest session that was run here; one that was imported only where none was. Raises
    `UsageError` if there is none, or more than one.
    """
    folders = session_folders(sessions)
    if reference == "last":
        if not folders:
            raise UsageError(f"There are no sessions in {shown(sessions)} yet: begin one with `jagstorm run`")
        own = without_example(folders)
        return next((folder for folder in own if not _is_imported(folder)), own[0])
    by_name = {folder.name: folder for folder in folders}
    if reference in by_name:
        return by_name[reference]
    if os.sep in reference or reference in (".", ".."):
        path = path_of(reference)
        return path.parent if path.name in (PLAN_FILE, EVENTS_FILE) else path
    matches = [folder for folder in folders if reference and folder.name.startswith(reference)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(shown(match.name) for match in matches[:4])
        raise UsageError(f"{len(matches)} sessions begin with {shown(reference)!r}: {names}")
    if reference == "example":
        return example_folder()
    if reference and _is_session(Path(reference)):
        return Path(reference)
    raise UsageError(f"No session {shown(reference)!r} in {shown(sessions)}: `jagstorm sessions` lists them")


def _is_imported(folder: Path) -> bool:
    try:
        return b"[origin]" in (folder / PLAN_FILE).read_bytes() and read_plan(folder).origin is not None
    except (OSError, SessionUnreadableError):
        return False


def example_folder() -> Path:
    """The recorded example: beside the package's data when installed, in `sessions/` of a checkout."""
    installed = Path(data.__file__).parent / "example"
    return installed if installed.is_dir() else installed.parents[1] / "sessions" / "example"
