"""What `watch --json`, `send`, `stop` and `fork` do."""

import os
from pathlib import Path
from time import monotonic, sleep

import click
import msgspec
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.annotating import annotate
from core.attached import LOOK_EVERY, is_run
from core.config import sessions_folder
from core.errors import JagstormError, StoreError, UsageError
from core.lines import encode
from core.speaking import Answer, Follow, UnreachableError, read_line, tell
from core.state import State, apply
from core.store import library
from core.store.library import StoredSession
from core.store.log import is_locked
from core.store.runner import login_name
from core.store.tail import LogTail
from core.text import clean_line, shown
from tui.deeds import sentence
from tui.hints import resume_command


def check_run(session: StoredSession) -> None:
    """Raises `UsageError` for a session that nobody runs, and says what can be done with it."""
    if is_locked(session.folder):
        return
    name, state = shown(session.folder.name), session.state()
    if not state.resumable:
        raise UsageError(f"{name} has ended: look at it with `jagstorm watch`, `show` or `replay`")
    how = "was stopped" if state.ended else "was interrupted"
    raise UsageError(f"{name} {how}, and nobody runs it now. Go on with: {resume_command(session.folder)}")


def watch_as_json(sessions: str | None, session: str) -> int:
    """Print what the log holds, and what comes to it for as long as the session is run. Returns the exit code."""
    folder = library.find(sessions_folder(sessions), session)
    tail = LogTail(folder, 0)
    while True:
        run = is_run(folder)
        for event in tail.read():
            click.echo(encode(event))
        if not run:
            return 0
        sleep(LOOK_EVERY)


def send(sessions: str | None, session: str, command: cmd.AnyCommand, *, quiet: bool = False) -> int:
    """Have whoever runs a session obey; where nobody does, its ideas can be marked.

    Says what came of it, unless `quiet`. Returns the exit code. Raises `StoreError` if it is obeyed and not written.
    """
    folder = library.find(sessions_folder(sessions), session)
    before = None if quiet else library.load(folder)
    answer = _obeyed(folder, replace(command, by=login_name(os.getuid())))
    if answer.unsaved:
        raise StoreError(f"Taken, but not saved: {answer.unsaved}")
    for line in _came_of(command, before) if before else ():
        click.echo(line)
    return 0


def _obeyed(folder: Path, command: cmd.AnyCommand) -> Answer:
    if is_locked(folder):
        return tell(folder, command)
    annotate(folder, command)
    return Answer(ok=True)


def _came_of(command: cmd.AnyCommand, before: StoredSession) -> list[str]:
    """A line for each thing that the log says to have come of a command that has just been obeyed."""
    state, who, lines = before.state(), login_name(os.getuid()), []
    for event in LogTail(before.folder, before.record.size).read():
        apply(state, event)
        lines.append(_line(event, state, who))
    return [line for line in lines if line] or [_to_come(command)]


def _line(event: ev.Event, state: State, who: str) -> str:
    """What an event says that came of a person's command; "" for one that did not, as far as its `by` says."""
    match event:
        case ev.Notice():
            return event.text
        case ev.StepDropped():
            return f"Step {event.step} is asked anew: {clean_line(event.why)}"
        case ev.ProposalChosen() if event.chooser == who:
            return sentence(event, state)
        case ev.TeamWanted(by=by) if by == who:
            return f"Team {clean_line(event.team.name, 80)} goes on from the next step"
        case ev.Paused(by=by) if by == who:
            return "Paused"
        case ev.Resumed(by=by) if by == who:
            return "Goes on"
        case ev.Deed(by=by) | ev.TaskGiven(by=by) | ev.PipeliningSet(by=by) if by == who:
            return sentence(event, state)
    return ""


def _to_come(command: cmd.AnyCommand) -> str:
    """What is said of a command of which the log says nothing."""
    match command:
        case cmd.DrawSeed():
            return "A seed is being drawn"
        case cmd.Stop():
            return "The session is told to stop"
        case cmd.SaveElsewhere(folder=folder):
            return f"The session goes on in a copy under {shown(folder)}"
    return "Nothing changed: it was so already"


def command_in(line: str) -> cmd.AnyCommand:
    """The command that a line of JSON is. Raises `UsageError`."""
    command = read_line(line.encode("utf-8", "replace"))
    if isinstance(command, Follow):
        raise UsageError("This is no command: `jagstorm watch --json` follows a session")
    return command


def stop(sessions: str | None, session: str, seconds: float) -> int:
    """Stop a session, and come back when all of it is written. Returns the exit code.

    Raises `JagstormError` if that takes longer than `seconds`.
    """
    stored = library.load(library.find(sessions_folder(sessions), session))
    folder = stored.folder
    if is_locked(folder):
        _stop(folder, seconds)
        stored = library.load(folder)
    state = stored.state()
    how = "has ended" if state.ended else "was interrupted"
    go_on = f" Go on with: {resume_command(folder)}" if state.resumable else ""
    click.echo(f"{shown(folder.name)} {how}.{go_on}")
    return 0


def _stop(folder: Path, seconds: float) -> None:
    try:
        tell(folder, cmd.Stop())
    except UnreachableError:
        if is_locked(folder):  # else it has just ended by itself
            raise
    deadline = monotonic() + seconds
    while is_locked(folder):
        if monotonic() > deadline:
            raise JagstormError(f"{shown(folder.name)} was told to stop and is still ending after {seconds:g} seconds")
        sleep(0.05)


def fork(sessions: str | None, session: str, idea: int, question: str, as_json: bool) -> int:
    """Make a session that shares the past of another, and say how to go on with it. Returns the exit code."""
    from core.store.forking import fork as forked_at

    under = sessions_folder(sessions)
    forked = forked_at(library.find(under, session), idea, under, question)
    if as_json:
        click.echo(msgspec.json.encode({"id": forked.name, "folder": shown(forked.resolve())}))
    else:
        click.echo(f"{forked.name} shares the past up to idea {idea}. Go on with: {resume_command(forked)}")
    return 0
