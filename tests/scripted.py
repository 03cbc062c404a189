"""A provider that says what a script says, for everything above providers."""

import asyncio
from collections.abc import AsyncGenerator, Callable

from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    FinishReason,
    ModelSpec,
    Prompt,
    Provider,
    Sent,
    Served,
    TextDelta,
    Usage,
)
from core.providers.calls import Caller, Persistence

Script = Callable[[ModelSpec, Prompt, int], str]
"""What to answer, from the model, the prompt and the random seed alone: a resumed session is answered the same."""


class ScriptedProvider:
    """Streams a script's answers word by word; `delay` seconds before each word."""

    def __init__(
        self, script: Script, *, delay: float = 0.0, reason: FinishReason = "stop", fail_after: int | None = None
    ) -> None:
        self.script = script
        self.delay = delay
        self.reason = reason
        self.fail_after = fail_after
        self.calls: list[Prompt] = []

    async def prepare(self, spec: ModelSpec) -> None:
        pass

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        self.calls.append(prompt)
        if self.fail_after is not None and len(self.calls) > self.fail_after:
            raise CallFailedError("server", "the server said no")
        yield Sent({"temperature": spec.temperature, "max_tokens": spec.max_tokens})
        words = self.script(spec, prompt, random_seed).split(" ")
        for place, word in enumerate(words):
            await asyncio.sleep(self.delay)
            yield TextDelta(word if place == 0 else f" {word}")
        yield Finish(self.reason, Usage(input_tokens=100, output_tokens=len(words), seconds=0.1))

    def endpoint(self, spec: Served) -> str:
        return f"the server of {spec.name}"

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        return len(text) // 4

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return 0.0

    async def close(self) -> None:
        pass


def calling(provider: Provider, tries: int = 1) -> Caller:
    """The call layer over one provider, which tries each call only once unless told otherwise."""
    return Caller(lambda _: provider, persistence=Persistence(tries=tries, first_wait=0.01))


WORDS = (
    "lattice",
    "enzyme",
    "photon",
    "glacier",
    "neuron",
    "catalyst",
    "plasma",
    "membrane",
    "comet",
    "isotope",
    "fungus",
    "magnet",
    "crystal",
    "tide",
    "vesicle",
    "quasar",
    "polymer",
    "aquifer",
    "synapse",
    "neutrino",
    "graphene",
    "mangrove",
    "soliton",
    "ribosome",
    "aerosol",
    "pulsar",
    "zeolite",
    "coral",
    "axon",
    "boson",
)


def varied(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """Ideas that share few words, the same for the same random seed."""
    first, second, third = (WORDS[(random_seed // 30**place) % 30] for place in range(3))
    return f"Couple the {first} to a {second} and read out how the {third} answers over {random_seed % 997} hours."


def same(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """One idea, again and again."""
    return "Cool the sample until the lattice rings and listen to the overtones of each defect."


class HeldProvider(ScriptedProvider):
    """Streams half of each answer, then waits until it is told to go on: time enough to do something meanwhile."""

    def __init__(self, script: Script = varied) -> None:
        super().__init__(script)
        self.halfway = asyncio.Event()
        self.go_on = asyncio.Event()

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        place = 0
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk
            place += 1
            if place == 6:
                self.halfway.set()
                await self.go_on.wait()
