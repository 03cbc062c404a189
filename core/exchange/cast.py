"""A session as an asciinema recording: its ideas as they came, as text that scrolls.

The format is version 2 of asciicast: a header, then [seconds, "o", what the terminal was sent] a line.
https://docs.asciinema.org/manual/asciicast/v2/
"""

import functools
import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from core import events as ev
from core.chain import Chain, Idea
from core.exchange.report import outcome_of, scores_of, verdict_of
from core.store.library import StoredSession
from core.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console

WIDTH, HEIGHT = 80, 24

IDLE = 2.0
"""Seconds for which nothing happens, at most."""

INDENT = "      "

BOLD, DIM, OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"

Moment = tuple[float, str]
"""Seconds since the session's start, and what is written then."""


def cast(sessions: Iterable[StoredSession]) -> Iterator[str]:
    """Line by line; several sessions one after the other, each as soon as the one before is over."""
    now = 0.0
    for number, session in enumerate(sessions):
        if not number:
            yield _line({"version": 2, "width": WIDTH, "height": HEIGHT, "title": _title(session)})
        last = 0.0
        for t, text in _moments(session):
            now += min(max(t - last, 0.0), IDLE)
            last = max(t, last)
            yield _line((round(now, 3), "o", text.replace("\n", "\r\n")))


def _line(value: object) -> str:
    return f"{json.dumps(value)}\n"


def _title(session: StoredSession) -> str:
    return clean_line(session.plan.questions[0].text, 120)


def _moments(session: StoredSession) -> Iterator[Moment]:
    """All that is written, in order: what begins later waits until what began earlier is complete."""
    chains = session.state().chains
    written = (list(_written(event, chains)) for event in session.record.events)
    for moments in sorted(filter(None, written), key=lambda moments: moments[0][0]):
        yield from moments


def _written(event: ev.Event, chains: dict[str, Chain]) -> Iterator[Moment]:
    """What one event brings."""
    match event:
        case ev.QuestionStarted():
            yield event.t, f"\n{BOLD}{_wrapped(event.text, '')}{OFF}\n\n"
        case ev.IdeaAdded() if (chain := chains.get(event.question)) and (idea := chain.idea(event.idea)):
            yield from _idea(event, idea)
        case ev.QuestionEnded() if chain := chains.get(event.question):
            yield event.t, f"\n{_wrapped(outcome_of(chain), '')}\n"
        case _ if deed := _deed(event):
            yield event.t, f"{DIM}{INDENT}{_wrapped(deed)}{OFF}\n"


def _deed(event: ev.Event) -> str:
    """What a person or a policy did, in a line; "" for anything else."""
    match event:
        case ev.SeedInjected():
            return f"{event.seed.lever}: {event.seed.name}"
        case ev.SteerAdded():
            return f"instruction: {event.text}"
        case ev.IdeaPinned():
            return f"{event.idea} is pinned" if event.new else f"{event.idea} is pinned no more"
        case ev.IdeaRated():
            return f"{event.idea} is rated {'★' * event.new or 'no more'}"
        case ev.IdeaCommented() if event.new:
            return f"of {event.idea}: {event.new}"
        case ev.IdeaEdited():
            return f"{event.idea} is now: {event.new}"
        case ev.IdeaRemoved():
            return f"{event.idea} is taken out"
        case ev.IdeaRestored():
            return f"{event.idea} is back"
        case ev.Paused():
            return f"paused: {event.why}" if event.why else "paused"
    return ""


def _idea(added: ev.IdeaAdded, idea: Idea) -> Iterator[Moment]:
    """Its text as it arrived, then its first scores."""
    began = idea.prompt.t if idea.prompt else added.t
    yield began, f"{BOLD}{idea.number:4}  {idea.author}{OFF}\n{INDENT}"
    text = _wrapped(added.text)
    trace = idea.call.trace if idea.call else ()
    whole = trace[-1][1] if trace else 0
    for (_, before), (ms, chars) in pairwise([(0, 0), *trace] if whole else []):
        yield began + ms / 1000, text[len(text) * before // whole : len(text) * chars // whole]
    yield added.t, f"{'' if whole else text}\n"
    scores = next((change for change in idea.history if isinstance(change, ev.IdeaScored)), None)
    if scores:
        then = idea.as_of(scores.seq + 1)
        mark = "×" if then.failed else " "
        said = "; ".join(filter(None, (", ".join(scores_of(then)), verdict_of(then))))
        yield scores.t, f"{DIM}{mark:>4}  {_wrapped(said)}{OFF}\n"


def _wrapped(text: str, indent: str = INDENT) -> str:
    """`text` in the lines of the terminal, all but the first behind `indent`; each character by the cells it takes."""
    from rich.text import Text  # 30 ms that other exports need not wait for

    lines = Text(text.strip()).wrap(_console(), WIDTH - len(indent))
    return f"\n{indent}".join(line.plain.rstrip() for line in lines)


@functools.cache
def _console() -> "Console":
    from rich.console import Console

    return Console(width=WIDTH)
