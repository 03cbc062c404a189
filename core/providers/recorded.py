"""Members that speak from records: ideas that were written before, for the same question but for another chain."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from time import monotonic

from msgspec.structs import replace

from core.errors import ModelUnavailableError, UsageError
from core.exchange.stored import EVERYBODY, Shelf, StoredIdea, read_shelf
from core.keys import scrub
from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    ModelSpec,
    Prompt,
    Sent,
    Served,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.prompts import read_idea
from core.providers.tokens import estimate_tokens
from core.questions import question_key
from core.text import clean_line, shown

ABOUT = "recorded: these ideas were not written for this chain"

BEATS = 20
"""Pieces a second in which an idea arrives."""

LONGEST_GAP = 60.0
"""Seconds between two pieces, at most: the call layer takes a longer silence for a fault."""

LONGEST_IDEA = 20_000
"""Characters of an idea that a chain keeps."""

LONGEST_TOLD = 40_000
"""Characters of an answer and its thoughts that are told: of more, the call layer believes that it would not end."""


class RecordedProvider:
    """`model` is a public result file or a session's folder, with `#` and the name of a model or member behind it
    where several wrote there. Each file is read once."""

    def __init__(self) -> None:
        self._shelves: dict[Path, asyncio.Task[Shelf]] = {}

    async def prepare(self, spec: ModelSpec) -> None:
        await self._written(spec)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        if not prompt.question:
            raise CallFailedError("request", f"{spec.name} is recorded: it tells ideas and can do nothing else")
        try:
            written = await self._written(spec)
        except ModelUnavailableError as error:
            raise CallFailedError("missing", error.message) from None
        idea = _next(written.get(question_key(prompt.question), ()), prompt)
        if idea is None:
            raise CallFailedError("missing", f"{spec.name} has no more recorded ideas for this question")
        idea = _bounded(idea)
        yield Sent({"recorded": ABOUT})
        if idea.thoughts:
            yield ThoughtDelta(idea.thoughts)
        began = monotonic()
        for seconds, piece in _arrival(idea, spec.pace):
            if seconds:
                await asyncio.sleep(seconds)
            if piece:
                yield TextDelta(piece)
        yield Finish("stop", _usage(prompt, idea, monotonic() - began))

    def endpoint(self, spec: Served) -> str:
        return f"the records in {shown(_place(spec.model)[0].name)}"

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return 0.0

    async def close(self) -> None:
        for reading in self._shelves.values():
            reading.cancel()
        self._shelves.clear()

    async def _written(self, spec: ModelSpec) -> dict[str, tuple[StoredIdea, ...]]:
        """All ideas of `spec`, by `question_key`. Raises `ModelUnavailableError`."""
        path, who = _place(spec.model)
        reading = self._shelves.get(path)
        if reading is None:
            reading = self._shelves[path] = asyncio.create_task(asyncio.to_thread(read_shelf, path))
        try:
            shelf = await asyncio.shield(reading)
        except UsageError as error:
            self._shelves.pop(path, None)  # it may be there the next time
            raise ModelUnavailableError(error.message) from None
        if who in shelf:
            return shelf[who]
        if who == EVERYBODY and len(shelf) == 1:
            return next(iter(shelf.values()))
        there = clean_line(", ".join(filter(None, shelf)), 300) or "none"
        missing = f"holds nothing by {clean_line(who, 80)!r}" if who else "holds ideas of several"
        raise ModelUnavailableError(f"{shown(path)} {missing}: name one of these behind a #: {there}")


def _place(model: str) -> tuple[Path, str]:
    """The file or folder that `model` names, and who of those in it."""
    path = Path(model).expanduser()
    if "#" not in model or path.exists():
        return path, EVERYBODY
    before, _, who = model.rpartition("#")
    return Path(before).expanduser(), who


def _next(written: tuple[StoredIdea, ...], prompt: Prompt) -> StoredIdea | None:
    """The first idea that the chain does not hold; for a further draft, the second, and so on.

    One in which no idea can be read is passed over: nobody could tell whether it has been told.
    """
    held = set(prompt.held)
    untold = (
        idea
        for idea in written
        if (read := _as_read(idea.text[:LONGEST_TOLD], prompt.tag, prompt.lead)) and read not in held
    )
    return next(islice(untold, prompt.draft, None), None)


def _bounded(idea: StoredIdea) -> StoredIdea:
    """What is told of an idea that has no end, as some of the public ones."""
    text = idea.text[:LONGEST_TOLD]
    return replace(idea, text=text, thoughts=idea.thoughts[: LONGEST_TOLD - len(text)])


@lru_cache(maxsize=1 << 17)
def _as_read(text: str, tag: str, lead: str) -> str:
    """What a chain holds once this has been told."""
    return read_idea(Prompt(messages=(), tag=tag, lead=lead), scrub(text))[:LONGEST_IDEA]


def _arrival(idea: StoredIdea, pace: float | None) -> Iterator[tuple[float, str]]:
    """Seconds to wait and then what to say, again and again: in `pace` seconds, or as it once arrived; else at once."""
    trace = idea.trace
    if pace is not None:
        beats = max(1, round(pace * BEATS))
        trace = tuple(
            (round(1000 * pace * beat / beats), len(idea.text) * beat // beats) for beat in range(1, beats + 1)
        )
    then = told = 0
    for milliseconds, characters in trace:
        yield min(max(0.0, (milliseconds - then) / 1000), LONGEST_GAP), idea.text[told:characters]
        then, told = max(then, milliseconds), max(told, characters)
    yield 0.0, idea.text[told:]


def _usage(prompt: Prompt, idea: StoredIdea, seconds: float) -> Usage:
    thoughts = estimate_tokens(idea.thoughts)
    return Usage(
        input_tokens=sum(estimate_tokens(message.text) for message in prompt.messages),
        output_tokens=estimate_tokens(idea.text) + thoughts,
        reasoning_tokens=thoughts,
        seconds=seconds,
        estimated=True,
    )
