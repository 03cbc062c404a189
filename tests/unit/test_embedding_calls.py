"""Requests for vectors go through the layer that every call goes through."""

import asyncio

import pytest

from core.models import (
    CallFailedError,
    EmbedderSpec,
    Usage,
    Vectors,
)
from core.providers.calls import Caller, Persistence
from tests.clocks import HeldClock
from tests.scripted import ScriptedProvider, varied
from tests.unit.played import USAGE, failure

EMBEDDER = EmbedderSpec(name="e", provider="scripted", model="e-1", dims=2)


class Embedding(ScriptedProvider):
    """Answers as told, one answer a request; `hang` never."""

    def __init__(self, *answers: Vectors | CallFailedError | str) -> None:
        super().__init__(varied)
        self.answers = list(answers)
        self.specs: list[EmbedderSpec] = []

    async def embed(self, spec: EmbedderSpec, texts: list[str]) -> Vectors:
        self.specs.append(spec)
        answer = self.answers.pop(0)
        if isinstance(answer, CallFailedError):
            raise answer
        if isinstance(answer, str):
            await asyncio.Event().wait()
        assert isinstance(answer, Vectors)
        return answer


class Embeddings:
    """One request for vectors with everything that it tells."""

    def __init__(self, *answers: Vectors | CallFailedError | str, **persistence: float) -> None:
        self.provider = Embedding(*answers)
        self.clock = HeldClock()
        self.caller = Caller(lambda _: self.provider, self.clock, Persistence(**persistence))  # type: ignore[arg-type]
        self.retries: list[tuple[str, float]] = []
        self.used: list[Usage] = []

    async def ask(self) -> Vectors:
        return await self.caller.embed(
            EMBEDDER,
            ["ice " * 70],
            on_retry=lambda *retry: self.retries.append(retry),
            on_used=self.used.append,
        )


GIVEN = Vectors([[1.0, 0.0]], USAGE)


async def test_embeddings_go_through_the_same_layer() -> None:
    asked = Embeddings(failure("limited", retry_after=7.0), GIVEN, failure("denied"))
    asking = asyncio.create_task(asked.ask())
    await asked.clock.asleep(1)
    assert asked.retries == [("the server says limited", 7.0)]
    await asked.clock.advance(7)
    assert (await asking).rows == [[1.0, 0.0]]
    with pytest.raises(CallFailedError, match="denied"):
        await asked.ask()
    assert asked.used == [USAGE]


async def test_a_parameter_that_an_embedder_does_not_take_is_left_out_too() -> None:
    asked = Embeddings(failure("parameter", parameter="dimensions"), GIVEN)
    await asked.ask()
    assert [spec.refuses for spec in asked.provider.specs] == [(), ("dimensions",)]


@pytest.mark.parametrize("end", ["cancelled", "too slow"])
async def test_what_a_request_for_vectors_took_counts_however_it_ends(end: str) -> None:
    asked = Embeddings("hang", tries=1, first_token=0.02)
    asking = asyncio.create_task(asked.ask())
    await asyncio.sleep(0.001)
    if end == "cancelled":
        asking.cancel()
    with pytest.raises((asyncio.CancelledError, CallFailedError)):
        await asking
    [used] = asked.used
    assert used.estimated
    assert used.input_tokens >= 70


async def test_a_request_that_was_turned_down_took_nothing() -> None:
    asked = Embeddings(failure("server"), tries=1)
    with pytest.raises(CallFailedError):
        await asked.ask()
    assert asked.used == []
