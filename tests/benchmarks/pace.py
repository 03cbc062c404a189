"""How long an idea takes where calls take simulated times, on the real engine: generation alone is the bound.

Generation 100 ms, one judge call 40 ms, embedding 20 ms, selection 50 ms; judged against every earlier idea.
"""

import asyncio
import hashlib
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Literal

import numpy as np

from core.config import Judging
from core.models import Chunk, Finish, Member, ModelSpec, Prompt, Sent, TeamSpec, TextDelta, Usage
from core.opening import scorer_for
from core.providers.catalog import Providers
from core.questions import Question
from core.rules import Rules
from core.scoring import embeddings
from core.scoring.account import Account
from core.scoring.embeddings import Embedding
from core.session import Session
from core.store import library
from tests.benchmarks.figures import ms, show, title
from tests.scripted import ScriptedProvider, varied

GENERATION, JUDGEMENT, EMBEDDING, SELECTION = 0.1, 0.04, 0.02, 0.05

QUESTION = Question("pace", "Propose a way to hear a crack in ice before it opens.", "Physics", None)


class Simulated(ScriptedProvider):
    """Takes as long as real ones would, and says something new each time."""

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        yield Sent({"temperature": 0.5})
        if prompt.tag == "score":
            await asyncio.sleep(JUDGEMENT)
            text = "<score>60</score>"
        elif prompt.tag == "pick":
            await asyncio.sleep(SELECTION)
            text = "<pick>1</pick>"
        else:
            await asyncio.sleep(GENERATION)
            text = f"Idea {random_seed} listens to {hashlib.sha256(str(random_seed).encode()).hexdigest()}."
        yield TextDelta(text)
        yield Finish("stop", Usage(input_tokens=400, output_tokens=40, seconds=0.1))


class SimulatedEmbedder:
    """Random directions, after a while."""

    name = "simulated"

    async def prepare(self) -> None:
        pass

    async def embed(self, texts: Sequence[str], account: Account | None = None) -> list[Embedding]:
        await asyncio.sleep(EMBEDDING)
        return [Embedding(_direction(text)) for text in texts]


def _direction(text: str) -> embeddings.Vectors:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(256).astype(np.float32)
    return vector / np.linalg.norm(vector)


def _spec(name: str, concurrency: int = 64) -> ModelSpec:
    return ModelSpec(name=name, provider="simulated", concurrency=concurrency, context=10_000_000)


def _team(members: int, selector: ModelSpec | Literal["novel"]) -> TeamSpec:
    names = [f"m{number}" for number in range(members)]
    return TeamSpec(
        name="simulated",
        strategy="solo" if members == 1 else "parallel",
        members=tuple(Member(name=name, model=_spec(name, 1000), style="tagged") for name in names),
        selector=selector,
    )


class Chains:
    """Sessions of so many ideas, run to their ends in a temporary folder."""

    def __init__(self, folder: str, team: TeamSpec, ideas: int, judging: Judging) -> None:
        self._folder = Path(folder)
        self._team = team
        self._ideas = ideas
        self._judging = judging
        self._providers = Providers({"simulated": Simulated(varied)})

    def open(self) -> Session:
        rules = Rules(embedding_novelty=0.0, mechanical=False, max_ideas=self._ideas)
        plan = library.new_plan((QUESTION,), self._team, rules, 7, judging=self._judging)
        scorer = scorer_for(plan, self._providers, SimulatedEmbedder())
        return Session(plan, library.create(self._folder, plan), self._providers.caller, scorer)

    async def seconds(self, count: int = 1) -> tuple[float, float]:
        """What `count` of them take at once: by the clock, and of the processor."""
        sessions = [self.open() for _ in range(count)]
        wall, cpu = perf_counter(), process_time()
        await asyncio.gather(*(session.run() for session in sessions))
        assert all(session.state.chain and session.state.chain.responses == self._ideas for session in sessions)
        return perf_counter() - wall, process_time() - cpu


EVERY = Judging(judges=(_spec("judge"),))
NEAREST = Judging(judges=(_spec("judge"),), mode="nearest", nearest=8)


def main() -> None:
    title("Pace")
    with TemporaryDirectory() as folder:
        asyncio.run(_measure(folder))


async def _measure(folder: str) -> None:
    wall, _ = await Chains(folder, _team(1, "novel"), 60, EVERY).seconds()
    show("solo, 60 ideas, judged against every one: an idea", ms(wall / 60), "ms", 108)
    wall, _ = await Chains(folder, _team(5, _spec("selector")), 60, EVERY).seconds()
    show("parallel of five with a selector: an idea", ms(wall / 60), "ms", 162)
    # Eight at once: a process that mostly sleeps is charged for waking up.
    _, cpu = await Chains(folder, _team(1, "novel"), 60, NEAREST).seconds(8)
    show("solo, judged against the nearest 8: processor time an idea", ms(cpu / 8 / 60), "ms", 3)
    alone, _ = await Chains(folder, _team(1, "novel"), 20, Judging()).seconds()
    many, _ = await Chains(folder, _team(1, "novel"), 20, Judging()).seconds(200)
    show("200 chains at once, of the time of one", many / alone, "×", 1.15)
    if "--long" in sys.argv:
        wall, _ = await Chains(folder, _team(1, "novel"), 300, EVERY).seconds()
        show("300 ideas (45,000 judge calls): an idea", ms(wall / 300), "ms")
