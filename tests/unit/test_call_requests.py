"""The call layer asks otherwise: with more room after thoughts took all of it, without what a model does not take."""

import asyncio
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    ModelSpec,
    Prompt,
    Sent,
    TextDelta,
)
from tests.unit.played import PROMPT, SPEC, USAGE, Playing, Step, Watched, failure, said

# ── thoughts and room ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_thoughts_that_took_all_the_room_get_one_more_try_with_more() -> None:
    provider = Playing(said("", "length", thoughts="hm " * 50), said("Listen."))
    watched = Watched(provider)
    assert await watched.run() == "ok"
    assert [spec.max_tokens for spec in provider.specs] == [100, 400]
    assert watched.call.usage.output_tokens == 2 * USAGE.output_tokens


async def test_and_if_that_is_not_enough_it_is_truncated() -> None:
    provider = Playing(said("", "length"))
    watched = Watched(provider)
    assert await watched.run() == "truncated"
    assert len(provider.specs) == 2


async def test_more_room_is_no_more_than_the_context_has() -> None:
    provider = Playing(said("", "length"), said("Listen."))
    watched = Watched(provider)
    assert await watched.another(replace(SPEC, context=400)).run() == "ok"
    first, second = (spec.max_tokens for spec in provider.specs)
    assert first < second < 400 - len(PROMPT.messages[0].text) / 4


async def test_where_the_context_has_no_more_room_nobody_asks_again() -> None:
    provider = Playing(said("", "length"))
    watched = Watched(provider)
    assert await watched.another(replace(SPEC, context=170)).run() == "truncated"
    assert len(provider.specs) == 1
    assert watched.retries == []


async def test_where_the_server_finds_no_more_room_it_is_still_truncated() -> None:
    watched = Watched(Playing(said("", "length"), [failure("context")]))
    assert await watched.run() == "truncated"
    assert (watched.call.kind, watched.call.message) == (None, "")


async def test_a_text_that_is_cut_is_truncated_at_once() -> None:
    provider = Playing(said("Listen to the", "length"))
    watched = Watched(provider)
    assert await watched.run() == "truncated"
    assert len(provider.specs) == 1


async def test_thoughts_between_tags_stream_as_thoughts() -> None:
    pieces = ["<th", "ink>Shall I", " listen?</thi", "nk>\n", "Listen", "."]
    steps: list[Step] = [Sent({}), *map(TextDelta, pieces), Finish("stop", USAGE)]
    watched = Watched(Playing(steps))
    assert await watched.run() == "ok"
    assert "".join(text for text, _ in watched.deltas).strip() == "Listen."
    assert "".join(thoughts for _, thoughts in watched.deltas) == "Shall I listen?"
    assert watched.call.text.strip() == "Listen."
    assert watched.call.thoughts == "Shall I listen?"
    assert watched.call.trace[-1][1] == len("\nListen.")


async def test_thoughts_without_an_end_are_truncated() -> None:
    watched = Watched(Playing(said("<think>Shall I listen to <answer>a draft</answer>")))
    assert await watched.run() == "truncated"
    assert watched.call.text == ""


# ── parameters that a model does not take ─────────────────────────────────────────────────────────────────────────────


async def test_a_refused_parameter_is_left_out_once_and_remembered() -> None:
    provider = Playing([failure("parameter", parameter="temperature")], said("Listen."))
    watched = Watched(provider)
    assert await watched.run() == "ok"
    assert [spec.refuses for spec in provider.specs] == [(), ("temperature",)]
    assert watched.retries[0][1] == 0.0, "it is told, and not waited for"
    assert await watched.another().run() == "ok"
    assert provider.specs[-1].refuses == ("temperature",)
    assert len(provider.specs) == 3


class Refusing(Playing):
    """Takes no temperature, and no top_p either."""

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        self.specs.append(spec)
        await asyncio.sleep(0.001)
        for name in ("temperature", "top_p"):
            if name not in spec.refuses:
                raise failure("parameter", parameter=name)
        for step in said("Listen."):
            assert not isinstance(step, str | CallFailedError)
            yield step


async def test_calls_under_way_at_once_all_leave_out_what_is_refused() -> None:
    provider = Refusing()
    watched = Watched(provider, tries=1)
    calls = [watched.another() for _ in range(6)]
    assert await asyncio.gather(*(call.run() for call in calls)) == ["ok"] * 6
    assert len(provider.specs) <= 18
    assert watched.caller.effective(SPEC).refuses == ("temperature", "top_p"), "each is remembered once"
    assert await watched.another().run() == "ok"


async def test_a_parameter_that_is_refused_after_it_was_left_out_fails_the_call() -> None:
    provider = Playing([failure("parameter", parameter="temperature")])
    watched = Watched(provider)
    assert await watched.run() == "failed"
    assert len(provider.specs) == 2


async def test_what_one_model_refuses_another_at_the_same_server_is_still_given() -> None:
    provider = Playing([failure("parameter", parameter="temperature")], said("Listen."))
    watched = Watched(provider)
    await watched.run()
    await watched.another(ModelSpec(name="anna", provider="scripted", model="anna-2")).run()
    assert provider.specs[-1].refuses == ()
