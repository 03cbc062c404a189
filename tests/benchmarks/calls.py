"""What the call layer adds to a call, with a hundred of them under way: through it and past it, by turns."""

import asyncio
from collections.abc import AsyncGenerator
from time import process_time

from core.models import Chunk, Finish, Message, ModelSpec, Prompt, Sent, TextDelta, Usage
from core.providers.calls import Call, Caller
from tests.benchmarks.figures import interleaved, median, ms, show, title
from tests.scripted import ScriptedProvider, varied

AT_ONCE, PIECES = 100, 100

SPEC = ModelSpec(name="quick", provider="scripted", concurrency=AT_ONCE)
PROMPT = Prompt(messages=(Message("user", "How would one hear ice crack?"),))


class Quick(ScriptedProvider):
    """A hundred pieces a call, one a turn of the loop."""

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        yield Sent({"temperature": 0.5})
        for _ in range(PIECES):
            await asyncio.sleep(0)
            yield TextDelta("word ")
        yield Finish("stop", Usage(input_tokens=10, output_tokens=PIECES))


PROVIDER = Quick(varied)
CALLER = Caller(lambda _: PROVIDER)


async def _past() -> None:
    async def read() -> str:
        pieces = [chunk.text async for chunk in PROVIDER.stream(SPEC, PROMPT, 1) if isinstance(chunk, TextDelta)]
        return "".join(pieces)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(read())


async def _through() -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(Call(CALLER, SPEC, PROMPT, on_delta=lambda text, thoughts: None).run())


def _seconds(work: object) -> float:
    began = process_time()
    asyncio.run(work())  # type: ignore[operator]
    return process_time() - began


def main() -> None:
    title("Calls")
    past, through = interleaved(15, lambda: _seconds(_past), lambda: _seconds(_through))
    added = median([more - less for less, more in zip(past, through, strict=True)]) / AT_ONCE
    show(f"what the layer adds to one of {AT_ONCE} calls at once, {PIECES} pieces each", ms(added), "ms", 2)
    show("through the layer, of what it takes without", median(through) / median(past), "×")
