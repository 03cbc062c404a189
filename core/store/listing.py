"""The list of sessions: one row each, kept beside the session, so that a list of many long ones is there at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.errors import SessionUnreadableError
from core.files import read_file
from core.state import State
from core.store.beside import Stamp, keep_file, stamp_of
from core.store.library import StoredSession, load, run_now, session_folders
from core.text import clean_line, shown

SUMMARY_FILE = "summary.msgpack"

FORMAT = 1
"""Of the file: with another number all are made anew."""

Status = Literal["running", "detached", "interrupted", "finished", "damaged"]


class Summary(Struct, frozen=True, kw_only=True):
    """A session in one row of a list."""

    id: str
    folder: Path
    status: Status
    created: str = ""
    question: str = ""
    team: str = ""
    ideas: int = 0
    valid: int = 0
    reason: str = ""
    seconds: float = 0.0
    problem: str = ""


class _Kept(Struct, frozen=True):
    """The file."""

    format: int
    stamp: Stamp
    summary: Summary


_decoder = msgspec.msgpack.Decoder(_Kept, dec_hook=lambda kind, value: kind(value))


def summaries(sessions: Path) -> Iterator[Summary]:
    """One row a session, newest first; one that can't be read says why in its row."""
    for folder in session_folders(sessions):
        stamp = stamp_of(folder)
        if stamp and (kept := _kept(folder, stamp)):
            yield kept
            continue
        try:
            row = summary(load(folder))
        except SessionUnreadableError as error:
            problem = error.message.replace(f"{shown(folder)}/", "")
            yield Summary(id=shown(folder.name), folder=folder, status="damaged", problem=problem)
            continue
        if stamp:
            content = msgspec.msgpack.encode(_Kept(FORMAT, stamp, row), enc_hook=shown)
            keep_file(folder / SUMMARY_FILE, content)
        yield row


def _kept(folder: Path, stamp: Stamp) -> Summary | None:
    """The row that is kept of a session that still has this stamp; None if none is, or none that can be used."""
    try:
        found = _decoder.decode(read_file(folder / SUMMARY_FILE))
    except (OSError, UnicodeDecodeError, msgspec.DecodeError):
        return None
    if (found.format, found.stamp) != (FORMAT, stamp):
        return None
    row = found.summary
    texts = {name: clean_line(getattr(row, name)) for name in ("created", "question", "team", "reason", "problem")}
    return replace(row, id=shown(folder.name), folder=folder, **texts)


def summary(session: StoredSession) -> Summary:
    state = session.state()
    chain = state.chain
    return Summary(
        id=shown(session.folder.name),
        folder=session.folder,
        status=status(session.folder, state),
        created=session.plan.created,
        question=session.plan.questions[0].text if session.plan.questions else "",
        team=session.plan.team.name,
        ideas=sum(chain.responses for chain in state.chains.values()),
        valid=sum(chain.valid for chain in state.chains.values()),
        reason=chain.ended.reason if chain and chain.ended else "",
        seconds=state.t,
        problem="; ".join(session.record.problems),
    )


def status(folder: Path, state: State) -> Status:
    return run_now(folder) or ("interrupted" if state.resumable else "finished")


def to_json(summary: Summary) -> str:
    return msgspec.json.encode(summary, enc_hook=shown).decode()
