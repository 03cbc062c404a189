"""Calls whose streams are played from a list, and everything that they tell."""

import asyncio
from collections.abc import AsyncGenerator, Iterable

from core.models import (
    CallFailedError,
    Chunk,
    FailureKind,
    Finish,
    Message,
    ModelSpec,
    Prompt,
    Sent,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers.calls import Call, Caller, Persistence
from tests.clocks import HeldClock
from tests.scripted import ScriptedProvider, varied

SPEC = ModelSpec(name="anna", provider="scripted", model="anna-1", temperature=0.7, max_tokens=100, context=8000)
PROMPT = Prompt(messages=(Message("user", "Propose a way to hear a crack in ice before it opens."),))
USAGE = Usage(input_tokens=20, output_tokens=5, seconds=0.5)

Step = Chunk | CallFailedError | str
"""A string is held on to: `hang` waits for ever, `end` ends the stream without a word."""


class Playing(ScriptedProvider):
    """Plays one list of steps a call, the last one again and again."""

    def __init__(self, *calls: Iterable[Step]) -> None:
        super().__init__(varied)
        self.plays = [list(call) for call in calls]
        self.specs: list[ModelSpec] = []

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        steps = self.plays[min(len(self.specs), len(self.plays) - 1)]
        self.specs.append(spec)
        for step in steps:
            if isinstance(step, CallFailedError):
                raise step
            if step == "hang":
                await asyncio.Event().wait()
            elif step == "end":
                return
            else:
                assert not isinstance(step, str)
                yield step

    def cost(self, spec: object, usage: Usage) -> float | None:
        return (usage.input_tokens + 2 * usage.output_tokens) / 1000


def said(text: str, reason: str = "stop", thoughts: str = "") -> list[Step]:
    return [Sent({"temperature": 0.7}), ThoughtDelta(thoughts), TextDelta(text), Finish(reason, USAGE)]  # type: ignore[arg-type]


def failure(kind: FailureKind, retry_after: float | None = None, parameter: str = "") -> CallFailedError:
    return CallFailedError(kind, f"the server says {kind}", retry_after=retry_after, parameter=parameter)


class Watched:
    """One call with everything that it tells."""

    def __init__(self, provider: ScriptedProvider, clock: HeldClock | None = None, **persistence: float) -> None:
        self.clock = clock or HeldClock()
        self.caller = Caller(lambda _: provider, self.clock, Persistence(**persistence))  # type: ignore[arg-type]
        self.deltas: list[tuple[str, str]] = []
        self.retries: list[tuple[str, float]] = []
        self.call = self.another()

    def another(self, spec: ModelSpec = SPEC) -> Call:
        return Call(
            self.caller,
            spec,
            PROMPT,
            on_delta=lambda *delta: self.deltas.append(delta),
            on_retry=lambda *retry: self.retries.append(retry),
        )

    async def run(self) -> str:
        """To its end, however long it waits."""
        running = asyncio.create_task(self.call.run())
        while not running.done():
            await self.clock.advance(1)
        return running.result()
