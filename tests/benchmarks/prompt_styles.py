"""Which prompt style suits a model: ideas that pass, by style and setting, over questions of the bank.

python -m tests.benchmarks.prompt_styles [--model PATH] [--questions N] [--steps N] [--read N]
"""

import argparse
import asyncio
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from time import perf_counter

import numpy as np
from msgspec.structs import replace

from core.models import Finish, Member, Style, TextDelta
from core.prompts import concepts, idea_prompt, read_idea
from core.providers.embedded import EmbeddedProvider
from core.rules import WORDLLAMA_THRESHOLD
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.mechanical import mechanical_fault
from core.scoring.novelty import VectorStore
from core.teams.presets import default_team

SEED = 20
FAR = 0.2
"""Less like the question than this, by cosine, and an idea is mostly about something else."""

SETTINGS: tuple[tuple[Style, tuple[float, ...]], ...] = (
    ("list", (0.5,)),
    ("concept", (0.5, 0.8)),
    ("chat", (0.65,)),
    ("turns", (0.65,)),
)


@dataclass
class Trial:
    """What one member made of all questions, a row of the table."""

    member: Member
    novelties: list[float] = field(default_factory=list)
    likeness: list[float] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    rates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def row(self) -> str:
        asked = len(self.seconds)
        failing = ", ".join(f"{rule} {count / asked:.0%}" for rule, count in self.faults.most_common()) or "none"
        fitting = _mean([15 <= count <= 40 for count in self.words])
        far = _mean([value < FAR for value in self.likeness])
        return (
            f"{self.member.name:<22} {len(self.words):>4}/{asked:<4} {_mean(self.novelties):>7.2f} "
            f"{_mean(self.likeness):>6.2f} {far:>5.0%} {_mean(self.words):>6.1f} {fitting:>6.0%} "
            f"{_mean(self.rates):>7.0f} {_mean(self.seconds):>7.2f}   {failing}"
        )


HEADING = "member                 passing  novelty  topic   far  words  15-40   tok/s  s/idea   failing, of all asked"


@dataclass
class Bench:
    provider: EmbeddedProvider
    embedder: WordLlamaEmbedder
    steps: int

    async def chain(self, trial: Trial, question: str, seed: int, show: Callable[[str], None]) -> None:
        """One chain for `question`; failing ideas stay out of it, as in the app."""
        about = await self._vector(question)
        store = VectorStore()
        ideas: list[str] = []
        rng = np.random.default_rng(seed)
        for step in range(self.steps):
            concept = str(rng.choice(concepts())) if trial.member.style == "concept" else ""
            text, cut = await self._ask(trial, question, ideas, concept, seed + step)
            fault = "truncated" if cut else mechanical_fault(text, question, ideas)
            if fault is None:
                vector = await self._vector(text)
                novelty = store.novelty(vector, len(ideas) + 1).value
                fault = "novelty" if novelty < WORDLLAMA_THRESHOLD else None
            show(f"  [{fault or 'passed'}] {text}")
            if fault is not None:
                trial.faults[fault.split(":")[0]] += 1
                continue
            store.add(len(ideas) + 1, vector)
            ideas.append(text)
            trial.novelties.append(novelty)
            trial.likeness.append(float(vector @ about))
            trial.words.append(len(text.split()))

    async def _ask(
        self, trial: Trial, question: str, ideas: Sequence[str], concept: str, seed: int
    ) -> tuple[str, bool]:
        member = trial.member
        prompt = idea_prompt(question, ideas, style=member.style, persona=member.persona, concept=concept)
        answer, cut = "", False
        began = perf_counter()
        async with aclosing(self.provider.stream(member.model, prompt, seed)) as stream:
            async for chunk in stream:
                match chunk:
                    case TextDelta(text):
                        answer += text
                    case Finish(reason, usage):
                        cut = reason == "length"
                        trial.rates.append(usage.tokens_per_second)
        trial.seconds.append(perf_counter() - began)
        return read_idea(prompt, answer), cut

    async def _vector(self, text: str) -> np.ndarray:
        vector = (await self.embedder.embed([text]))[0].vector
        return np.zeros(self.embedder.dims, dtype=np.float32) if vector is None else vector


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def members(model: str) -> list[Member]:
    """The team's members, then every style at the temperatures worth a look."""
    plain = default_team().members[0].model
    tried = list(default_team().members)
    for style, temperatures in SETTINGS:
        for temperature in temperatures:
            spec = replace(plain, temperature=temperature)
            tried.append(Member(name=f"{style} at {temperature}", model=spec, style=style))
    return [replace(member, model=replace(member.model, model=model)) for member in tried]


def questions(count: int) -> list[str]:
    """`count` questions, taken in turn from every leaf of the bank."""
    folder = files("data") / "questions"
    leaves = [tomllib.loads(leaf.read_text("utf-8"))["questions"] for leaf in sorted(folder.iterdir(), key=str)]
    longest = max(map(len, leaves))
    turns = [leaf[place]["text"] for place in range(longest) for leaf in leaves if place < len(leaf)]
    return turns[:count]


async def run(model: str, asked: Sequence[str], steps: int, read: int) -> None:
    bench = Bench(EmbeddedProvider(), WordLlamaEmbedder(), steps)
    rows: list[str] = []
    for member in members(model):
        trial = Trial(member)
        for place, question in enumerate(asked):
            show = partial(print, flush=True) if place < read else _silent
            show(f"\n{member.name}: {question}")
            await bench.chain(trial, question, SEED + 1000 * place, show)
        rows.append(trial.row())
    await bench.provider.close()
    print("", HEADING, *rows, sep="\n")


def _silent(_: str) -> None:
    pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", metavar="PATH", help="a GGUF file; default: the built-in weights")
    parser.add_argument("--questions", type=int, default=20, metavar="N")
    parser.add_argument("--steps", type=int, default=8, metavar="N")
    parser.add_argument("--read", type=int, default=0, metavar="N", help="print the ideas of the first N questions")
    options = parser.parse_args()
    asyncio.run(run(options.model, questions(options.questions), options.steps, options.read))


if __name__ == "__main__":
    main()
