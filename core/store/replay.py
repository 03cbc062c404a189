"""A recorded session as a feed: the same events, paced by a clock, as often as a person likes."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from time import monotonic
from typing import Literal

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Plan
from core.errors import UsageError
from core.feed import Listener, Listeners
from core.models import YOU
from core.state import State, apply, snapshot

Mark = Literal["failed", "person", "seed"]

SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, float("inf"))

CHECKPOINT = 1000
"""Events between two kept states: seeking folds at most so many."""


LATE_SECONDS = 0.5
"""How far a replay may fall behind and still catch up; a process that was held for longer goes on where it was."""


class Replay:
    """Recorded events with the text streaming in again as its trace tells."""

    def __init__(self, plan: Plan, recorded: Sequence[ev.Event], speed: float = 1.0) -> None:
        self.plan = plan
        self.speed = speed
        self.playing = False
        self._listeners = Listeners()
        self._events = _with_deltas(recorded)
        self._times = [event.t for event in self._events]
        self._state = State()
        self._next = 0
        self._checkpoints: list[State] = [snapshot(self._state)]
        self._woken = asyncio.Event()
        self._clock = 0.0
        """Where the replay was, in the session's seconds, when it last moved."""
        self._since: float | None = None
        """When it should have been there, on the machine's clock; None while it does not play."""
        self._index()

    def _index(self) -> None:
        """Fold once to the end, keeping a state every `CHECKPOINT` events and the place of every idea."""
        self.idea_places: list[int] = []
        state = State()
        for place, event in enumerate(self._events, start=1):
            apply(state, event)
            if isinstance(event, ev.IdeaAdded):
                self.idea_places.append(place)
            elif isinstance(event, ev.IdeaScored) and 0 < event.idea <= len(self.idea_places):
                self.idea_places[event.idea - 1] = place
            if place % CHECKPOINT == 0:
                self._checkpoints.append(snapshot(state))

    # ── a feed ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> State:
        return self._state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.subscribe(listener)

    def send(self, command: cmd.AnyCommand) -> None:
        raise UsageError("A replay only shows what was: resume the session to go on with it")

    # ── where it is ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def seconds(self) -> float:
        """Where the replay is."""
        passed = 0.0 if self._since is None else monotonic() - self._since
        return min(self._clock + passed * self.speed, self._times[self._next]) if passed > 0 else self._clock

    @property
    def length(self) -> float:
        """How long the recorded session is, in seconds."""
        return self._times[-1] if self._times else 0.0

    @property
    def at_end(self) -> bool:
        return self._next >= len(self._events)

    def marks(self) -> list[tuple[float, Mark]]:
        """What the time bar shows: at which second, and what."""
        return [(event.t, mark) for event in self._events if (mark := _mark(event))]

    # ── moving ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def play(self) -> None:
        self._hold()
        self.playing = True

    def pause(self) -> None:
        self._hold()
        self.playing = False

    def set_speed(self, speed: float) -> None:
        self._hold()
        self.speed = speed

    def seek(self, seconds: float) -> None:
        """Go to that moment; listeners are not told of the events between: the state is simply another one."""
        self._hold()
        self._clock = min(max(seconds, 0.0), self.length)
        self._go_to(bisect_right(self._times, self._clock))

    def seek_idea(self, number: int) -> None:
        """Go to where that idea had been added and scored; past the last one is the last one."""
        self._hold()
        if self.idea_places:
            place = self.idea_places[min(max(number, 1), len(self.idea_places)) - 1]
            self._clock = self._times[place - 1]
            self._go_to(place)

    def step(self) -> None:
        """One recorded event on (a stretch of text counts as one)."""
        self._hold()
        if not self.at_end:
            self._clock = self._times[self._next]
            self._advance()

    def _hold(self) -> None:
        """End the wait for the next event, if there is one, with the time that has passed."""
        self._clock = self.seconds
        self._since = None
        self._woken.set()

    def _go_to(self, place: int) -> None:
        nearest = min(place // CHECKPOINT, len(self._checkpoints) - 1)
        self._state = snapshot(self._checkpoints[nearest])
        for event in self._events[nearest * CHECKPOINT : place]:
            apply(self._state, event)
        self._next = place

    def _advance(self) -> None:
        event = self._events[self._next]
        self._next += 1
        if self.at_end:
            self._since = None
        apply(self._state, event)
        self._listeners.tell(event)

    async def run(self) -> None:
        """Play for ever, at the speed that is set; cancel to end. Pauses at the end of the recording."""
        while True:
            self._woken.clear()
            if self.at_end:
                self.playing = False
            if not self.playing:
                await self._woken.wait()
                continue
            if self._since is None:
                self._since = monotonic()
            due = self._since + (self._times[self._next] - self._clock) / self.speed
            wait = due - monotonic()
            if wait > 0:
                await self._wait(wait)
                if self._woken.is_set():
                    continue
            # The next wait counts from when this event was due: what one oversleeps, the next makes good.
            now = monotonic()
            self._since = max(min(due, now), now - LATE_SECONDS)
            self._clock = self._times[self._next]
            self._advance()
            if wait <= 0:
                await asyncio.sleep(0)

    async def _wait(self, seconds: float) -> None:
        """Sleep, or less if a person does something."""
        try:
            await asyncio.wait_for(self._woken.wait(), seconds)
        except TimeoutError:
            pass


def _mark(event: ev.Event) -> Mark | None:
    """What is worth a mark: a failed idea, a seed, and whatever a person did."""
    match event:
        case ev.IdeaScored(verdict="failed"):
            return "failed"
        case ev.SeedInjected():
            return "seed"
        case ev.IdeaAdded():
            return "person" if event.by_person else None
        case ev.Deed() | ev.TaskGiven() | ev.TeamChanged() | ev.PipeliningSet() | ev.ProposalChosen(by="person"):
            return "person"
        case ev.Paused() | ev.Resumed():
            return "person" if event.by == YOU else None
    return None


def _with_deltas(recorded: Sequence[ev.Event]) -> list[ev.Event]:
    """The recorded events in order, and among them the text arriving as the traces of finished proposals tell."""
    # In the order of the record, whatever its times say: events of other versions may have none.
    times = list(accumulate((event.t for event in recorded), max))
    placed = [(t, float(place), event) for place, (t, event) in enumerate(zip(times, recorded, strict=True))]
    started: dict[tuple[str, int, str], float] = {}
    for place, event in enumerate(recorded):
        if isinstance(event, ev.ProposalStarted):
            started[event.question, event.step, ev.slot_of(event.member, event.draft)] = times[place]
        elif isinstance(event, ev.ProposalFinished):
            slot = ev.slot_of(event.member, event.draft)
            since = started.get((event.question, event.step, slot), times[place])
            # Half a place before the end that it leads to, for those that share its moment.
            placed += [(min(since + ms / 1000, times[place]), place - 0.5, delta) for ms, delta in _deltas(event)]
    placed.sort(key=lambda entry: entry[:2])
    return [event if event.t == t else replace(event, t=t) for t, _, event in placed]


def _deltas(finished: ev.ProposalFinished) -> Iterator[tuple[int, ev.ProposalDelta]]:
    for (_, before), (ms, chars) in pairwise([(0, 0), *finished.trace]):
        yield (
            ms,
            ev.ProposalDelta(
                question=finished.question,
                step=finished.step,
                member=finished.member,
                draft=finished.draft,
                text=finished.raw[before:chars],
            ),
        )
