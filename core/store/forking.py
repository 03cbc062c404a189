"""Another session that shares the past of one, up to an idea."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core import events as ev
from core.clock import Clock, SystemClock
from core.errors import StoreError, UsageError
from core.state import State, fold
from core.store import library
from core.text import clean_line

OF_A_STEP = (
    ev.StepStarted,
    ev.ProposalStarted,
    ev.ProposalFinished,
    ev.ProposalFailed,
    ev.ChoiceOffered,
    ev.ProposalChosen,
    ev.DirectionsNamed,
    ev.AsideFailed,
    ev.StepDropped,
    ev.ContextTrimmed,
    ev.RetryScheduled,
)


def fork(folder: Path, idea: int, sessions: Path, question: str = "", clock: Clock | None = None) -> Path:
    """Make a session under `sessions` that shares what the one in `folder` was up to `idea`, ready to be resumed.

    The idea is one of the question with that id; "" is the question under way. Both sessions draw alike from there on,
    so that they differ by what persons do. Returns the new session's folder. Raises `UsageError` if there is no such
    question or idea, or nobody to go on with it, `SessionUnreadableError`, `StoreError`.
    """
    clock = clock or SystemClock()
    stored = library.load(folder)
    if stored.plan.origin:
        raise UsageError(f"This session was imported from {stored.plan.origin.file}: there is nobody to go on with it")
    asked = _begun(stored.state(), question)
    past = list(_renumbered(shared_past(stored.record.events, asked, idea)))
    assert asked is not None
    name = stored.plan.id
    forked = ev.Forked(seq=len(past), t=past[-1].t, at=clock.now(), session=name, question=asked, idea=idea)
    log = library.create(sessions, library.as_of_now(stored.plan))
    try:
        for event in (*past, forked):
            log.append(event)
        log.close()
    except StoreError:
        shutil.rmtree(log.folder, ignore_errors=True)
        raise
    return log.folder


def _begun(state: State, question: str) -> str | None:
    """The id of the question that is meant; None where none has begun. Raises `UsageError` for one that has not."""
    if question and question not in state.chains:
        known = ", ".join(clean_line(name, 80) for name in state.chains)
        begun = f": there are {known}" if known else ": none has begun yet"
        raise UsageError(f"There is no question {clean_line(question, 80)!r} in this session{begun}")
    return question or state.current


def shared_past(events: Sequence[ev.Event], question: str | None, idea: int) -> list[ev.Event]:
    """Of the events of a session those that a fork at that idea of that question shares.

    That is all that came before the idea, but for a step that was under way beside it; and the scores of the ideas up
    to it, whenever they came. Raises `UsageError` if there is no such idea.
    """
    place = next((place for place, event in enumerate(events) if _adds(event, question, idea)), None)
    if place is None:
        raise UsageError(f"There is no idea {idea} to fork at: `jagstorm show` lists them")
    before = events[: place + 1]
    chain = fold(before).chains.get(question or "")
    beside = chain.step if chain and chain.step_open else None
    past = [event for event in before if not _is_of_step(event, question, beside)]
    return past + list(_about(events[place + 1 :], question, idea, fold(past).tasks))


def _adds(event: ev.Event, question: str | None, idea: int) -> bool:
    return isinstance(event, ev.IdeaAdded) and (event.question, event.idea) == (question, idea)


def _is_of_step(event: ev.Event, question: str | None, step: int | None) -> bool:
    return isinstance(event, OF_A_STEP) and (event.question, event.step) == (question, step)


def _about(
    later: Iterable[ev.Event], question: str | None, last: int, tasks: Mapping[str, ev.TaskGiven]
) -> Iterator[ev.Event]:
    """What came later for the ideas up to `last` as they were then: their scores, and how they were worked out."""
    edited: set[int] = set()
    for event in later:
        match event:
            case ev.IdeaEdited() if event.question == question:
                edited.add(event.idea)
            case ev.IdeaScored() | ev.JudgingPaid() if event.question == question:
                if event.idea is not None and event.idea <= last and event.idea not in edited:
                    yield event
            case ev.TaskDone() | ev.TaskFailed() if (task := tasks.get(event.id)) and task.task == "develop":
                if not edited.intersection(task.ideas):
                    yield event


def _renumbered(events: Iterable[ev.Event]) -> Iterator[ev.Event]:
    """The same from 0 without gaps; what takes another back names it by its new number."""
    numbers: dict[int, int] = {}
    for number, event in enumerate(events):
        numbers[event.seq] = number
        changed: dict[str, Any] = {"seq": number}
        if isinstance(event, ev.Deed) and event.undoes is not None:
            changed["undoes"] = numbers.get(event.undoes)
        if isinstance(event, ev.Unknown):
            changed["raw"] = msgspec.json.encode(msgspec.json.decode(event.raw) | {"seq": number})
        yield replace(event, **changed)
