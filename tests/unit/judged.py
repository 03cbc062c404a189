"""Sessions in a house that serves members, judges and an embedding model, on a clock that stands still."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Judging, Plan
from core.errors import ModelUnavailableError
from core.models import (
    CallFailedError,
    Chunk,
    EmbedderSpec,
    FailureKind,
    Finish,
    ModelSpec,
    Prompt,
    Sent,
    Served,
    TextDelta,
    Usage,
    Vectors,
)
from core.opening import scorer_for
from core.providers.calls import Caller, Persistence
from core.providers.catalog import Providers
from core.rules import Rules
from core.scoring.embeddings import WordLlamaEmbedder
from core.session import Session
from core.state import fold
from core.store import library
from core.store.log import read_log
from tests.clocks import HeldClock
from tests.conftest import make_plan, scripted_team
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import Follower
from tests.unit.judging import Seen, see

JUDGE = ModelSpec(name="judge", provider="scripted", model="j", concurrency=1000)
SECOND = ModelSpec(name="judge too", provider="scripted", model="k", concurrency=1000)
EMBEDDER = EmbedderSpec(name="vectors", provider="scripted", model="v")

PER_CALL, PER_TEXT = 0.25, 0.01
"""US dollars that a judge's reply costs, and a text's vector. Members write for nothing."""

Say = Callable[[ModelSpec, Seen], object]
"""What a judge replies, what its call fails with, or `hang`."""


def fair(spec: ModelSpec, seen: Seen) -> int:
    return 80 if seen.kind == "coherence" else 10


class House(ScriptedProvider):
    """Serves members, judges and an embedding model, and remembers what each was asked."""

    def __init__(self, say: Say = fair, script: Callable[[ModelSpec, Prompt, int], str] = varied) -> None:
        super().__init__(script)
        self.say = say
        self.judged: list[tuple[str, ...]] = []
        """The texts that judges replied about."""
        self.asked = 0
        """Calls to judges."""
        self.embedded: list[str] = []
        self.unready: set[str] = set()
        self.gone: FailureKind | None = None
        """How calls for vectors fail."""

    async def prepare(self, spec: Served) -> None:
        if spec.name in self.unready:
            raise ModelUnavailableError(f"{spec.name} has no key: set {spec.name.upper()}_KEY")

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        if not spec.name.startswith("judge"):
            async for chunk in super().stream(spec, prompt, random_seed):
                yield chunk
            return
        self.asked += 1
        seen = see(prompt)
        reply = self.say(spec, seen)
        await asyncio.sleep(0)
        if isinstance(reply, Exception):
            raise reply
        yield Sent({"temperature": 0.0})
        if reply == "hang":
            yield TextDelta("Let me see. " * 20)
            await asyncio.Event().wait()
        self.judged.append((spec.name, *seen.texts))
        yield TextDelta(f"<score>{reply}</score>")
        yield Finish("stop", Usage(input_tokens=1000, output_tokens=5, seconds=0.1))

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        if self.gone:
            raise CallFailedError(self.gone, f"vectors: {self.gone}")
        self.embedded += texts
        drawn = [random.Random(text) for text in texts]
        return Vectors([[draw.gauss(0, 1) for _ in range(64)] for draw in drawn], Usage(input_tokens=100 * len(texts)))

    def cost(self, spec: Served, usage: Usage) -> float | None:
        if isinstance(spec, EmbedderSpec):
            return PER_TEXT * usage.input_tokens / 100
        return PER_CALL if spec.name.startswith("judge") else 0.0


class Situation:
    """A session in a house, on a clock that stands still."""

    def __init__(
        self,
        sessions: Path,
        house: House,
        words: WordLlamaEmbedder,
        *,
        max_ideas: int = 4,
        rules: Rules | None = None,
        **plan: object,
    ) -> None:
        made = make_plan(team=scripted_team("anna"))
        rules = replace(rules or made.rules, max_ideas=max_ideas)
        self.plan: Plan = replace(made, **{"judging": Judging(judges=(JUDGE,)), "rules": rules, **plan})
        self.house = house
        self.clock = HeldClock()
        self.providers = Providers({"scripted": house})
        self.providers.caller = Caller(self.providers.get, self.clock, Persistence())
        scorer = scorer_for(self.plan, self.providers, words if self.plan.embedder == "wordllama" else None)
        log = library.create(sessions, self.plan)
        self.session = Session(self.plan, log, self.providers.caller, scorer, clock=self.clock)
        self.follower = Follower(self.session)

    async def run(self) -> ev.SessionEnded:
        """To the end, whatever it waits for."""
        running = asyncio.create_task(self.session.run())
        while not running.done():
            await self.clock.advance(1)
        return self.folded(running.result())

    def folded(self, ended: ev.SessionEnded) -> ev.SessionEnded:
        """`ended`, once it is sure that the log tells the same as the session's own state."""
        assert fold(read_log(self.session.folder).events) == self.session.state
        return ended

    async def until_paused(self, running: "asyncio.Task[ev.SessionEnded]") -> ev.Paused:
        seen = len(self.follower.of(ev.Paused))
        for _ in range(3000):
            await self.clock.advance(1)
            assert not running.done()
            if len(self.follower.of(ev.Paused)) > seen:
                return self.follower.of(ev.Paused)[-1]
        raise AssertionError("it does not pause")

    async def stop(self, running: "asyncio.Task[ev.SessionEnded]") -> None:
        self.session.send(cmd.Stop())
        self.folded(await running)

    @property
    def scored(self) -> list[ev.IdeaScored]:
        return self.follower.of(ev.IdeaScored)


Make = Callable[..., Situation]
"""From a house, and what the plan is to say."""
