"""One call to a model: the text as it comes, how it arrived, and how the call ended."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from time import monotonic

from core.events import Trace
from core.models import (
    CallFailedError,
    FailureKind,
    Finish,
    FinishReason,
    ModelSpec,
    Outcome,
    Prompt,
    Provider,
    TextDelta,
    ThoughtDelta,
    Usage,
)

TRACE_MS = 50
"""The least time between two points of a trace."""

OnDelta = Callable[[str, str], None]
"""Told each piece of text and of thoughts; one of the two is empty."""


class Call:
    """What has come back so far stays here however the call ends, so that it can be recorded."""

    def __init__(
        self, provider: Provider, spec: ModelSpec, prompt: Prompt, random_seed: int, on_delta: OnDelta
    ) -> None:
        self._provider = provider
        self._spec = spec
        self._prompt = prompt
        self._random_seed = random_seed
        self._on_delta = on_delta
        self._began = monotonic()
        self._trace: list[tuple[int, int]] = []
        self._pieces: list[str] = []
        self._thoughts: list[str] = []
        self._written = len(prompt.lead)
        self._usage: Usage | None = None
        self.kind: FailureKind | None = None
        self.message = ""

    @property
    def answer(self) -> str:
        """What the model added to the prompt's lead."""
        return "".join(self._pieces)

    @property
    def text(self) -> str:
        return self._prompt.lead + self.answer

    @property
    def thoughts(self) -> str:
        return "".join(self._thoughts)

    @property
    def trace(self) -> Trace:
        return tuple(self._trace)

    @property
    def usage(self) -> Usage:
        """As the provider counted; estimated at four characters a token where the call ended before it could."""
        if self._usage is not None:
            return self._usage
        return Usage(
            output_tokens=(self._written + sum(map(len, self._thoughts))) // 4,
            seconds=monotonic() - self._began,
            estimated=True,
        )

    async def run(self) -> Outcome:
        """Make the call. Never raises for a call that fails; raises CancelledError when cancelled."""
        if self._prompt.lead:
            self._mark()
            self._on_delta(self._prompt.lead, "")
        try:
            return await self._receive()
        except CallFailedError as error:
            self.kind, self.message = error.kind, str(error)
            return "failed"
        except asyncio.CancelledError:
            self.message = "cancelled"
            raise
        finally:
            self._mark(last=True)

    async def _receive(self) -> Outcome:
        async with aclosing(self._provider.stream(self._spec, self._prompt, self._random_seed)) as stream:
            async for chunk in stream:
                match chunk:
                    case TextDelta(text):
                        self._pieces.append(text)
                        self._written += len(text)
                        self._mark()
                        self._on_delta(text, "")
                    case ThoughtDelta(text):
                        self._thoughts.append(text)
                        self._on_delta("", text)
                    case Finish(reason, usage):
                        self._usage = usage
                        return _outcome(reason, self.answer)
        raise CallFailedError("server", "The answer broke off before its end")

    def _mark(self, last: bool = False) -> None:
        """Note how much text there is by now, at most 20 times a second and at the end."""
        now = round((monotonic() - self._began) * 1000)
        before, written = self._trace[-1] if self._trace else (-TRACE_MS, 0)
        if written < self._written and (last or now - before >= TRACE_MS):
            self._trace.append((now, self._written))


def _outcome(reason: FinishReason, answer: str) -> Outcome:
    if reason == "refused":
        return "refused"
    if reason == "length":
        return "truncated"
    return "ok" if answer.strip() else "empty"
