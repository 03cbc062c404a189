"""The call layer: what is tried again, when, and what it all used. On a clock that stands still."""

import asyncio
import gc
from collections.abc import AsyncGenerator

import pytest
from msgspec.structs import replace

from core.models import (
    CallFailedError,
    Chunk,
    FailureKind,
    Finish,
    ModelSpec,
    Prompt,
    Sent,
    TextDelta,
)
from core.providers.calls import RETRIED, Call, Caller
from tests.clocks import HeldClock
from tests.unit.played import PROMPT, SPEC, USAGE, Playing, Step, Watched, failure, said

# ── what is tried again ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", sorted(filter(None, RETRIED)))
async def test_what_may_be_gone_is_tried_four_times_and_no_more(kind: FailureKind) -> None:
    provider = Playing([failure(kind)])
    watched = Watched(provider)
    assert await watched.run() == "failed"
    assert (watched.call.kind, watched.call.message) == (kind, f"the server says {kind}")
    assert len(provider.specs) == watched.call.tries == 4
    assert len(watched.retries) == 3


@pytest.mark.parametrize("kind", ["quota", "denied", "missing", "address", "context", "request"])
async def test_what_stays_until_somebody_does_something_is_tried_once(kind: FailureKind) -> None:
    provider = Playing([failure(kind)], said("never asked"))
    watched = Watched(provider)
    assert await watched.run() == "failed"
    assert watched.call.kind == kind
    assert len(provider.specs) == 1
    assert watched.retries == []


async def test_waits_double_with_jitter() -> None:
    watched = Watched(Playing([failure("server")]), first_wait=2.0)
    await watched.run()
    waits = [wait for _, wait in watched.retries]
    for wait, plain in zip(waits, (2, 4, 8), strict=True):
        assert 0.75 * plain <= wait <= 1.25 * plain
    assert len(set(waits)) == 3


async def test_no_wait_goes_beyond_the_deadline() -> None:
    watched = Watched(Playing([failure("server")]), first_wait=10.0, deadline=25.0)
    assert await watched.run() == "failed"
    assert 1 <= len(watched.retries) <= 2
    assert sum(wait for _, wait in watched.retries) <= 25


async def test_retry_after_is_kept_to_and_told() -> None:
    clock = HeldClock()
    watched = Watched(Playing([failure("limited", retry_after=7.0)], said("Listen.")), clock)
    running = asyncio.create_task(watched.call.run())
    await clock.asleep(1)
    assert watched.retries == [("the server says limited", 7.0)]
    await clock.advance(6.9)
    assert not running.done()
    await clock.advance(0.2)
    assert running.result() == "ok"
    assert watched.call.text == "Listen."


async def test_a_wait_beyond_the_deadline_is_said_and_not_waited_for() -> None:
    provider = Playing([failure("limited", retry_after=3600.0)], said("Listen."))
    watched = Watched(provider)
    assert await asyncio.wait_for(watched.call.run(), 1) == "failed"
    assert watched.call.tries == 1
    assert (watched.call.kind, watched.call.message) == ("limited", "the server says limited (not before 01:00)")

    await watched.clock.advance(1800)
    later = watched.another()
    assert await asyncio.wait_for(later.run(), 1) == "failed", "nor is it asked, or waited for, before its time"
    assert later.tries == 0
    assert later.message == "the server of anna is asked too often (not before 00:30)"
    assert len(provider.specs) == 1

    await watched.clock.advance(1801)
    assert await watched.another().run() == "ok"


async def test_a_day_is_named_where_it_is_another_one() -> None:
    watched = Watched(Playing([failure("limited", retry_after=86_400 * 1.5)]))
    assert await watched.run() == "failed"
    assert watched.call.message == "the server says limited (not before 12:00 on 2026-01-02)"


async def test_a_call_that_is_held_because_of_another_is_told_for_how_long() -> None:
    watched = Watched(Playing([failure("limited", retry_after=7.0)], said("Listen.")))
    first = asyncio.create_task(watched.call.run())
    await watched.clock.asleep(1)
    watched.retries.clear()
    second = asyncio.create_task(watched.another().run())
    await watched.clock.asleep(2)
    assert watched.retries == [("the server of anna is asked too often", 7.0)]
    await watched.clock.advance(7)
    assert {await first, await second} == {"ok"}


async def test_the_deadline_counts_from_the_first_try_and_not_from_the_queue() -> None:
    clock = HeldClock()

    class Slow(Playing):
        async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
            if not self.specs:
                self.specs.append(spec)
                await clock.sleep(310)
            async for chunk in super().stream(spec, prompt, random_seed):
                yield chunk

    watched = Watched(Slow([], said("Listen."), [failure("server")], said("Listen.")), clock, first_token=1000.0)
    narrow = replace(SPEC, concurrency=1)
    first, second = (asyncio.create_task(watched.another(narrow).run()) for _ in range(2))
    while not second.done():
        await clock.advance(1)
    assert (first.result(), second.result()) == ("ok", "ok")


async def test_refusals_are_answers_and_end_the_call() -> None:
    watched = Watched(Playing(said("", "refused")))
    assert await watched.run() == "refused"
    assert watched.call.tries == 1


# ── what a failed try leaves ──────────────────────────────────────────────────────────────────────────────────────────


async def test_the_text_of_a_try_that_broke_off_is_gone_and_its_tokens_count() -> None:
    half: list[Step] = [Sent({}), TextDelta("Half of it " * 20), failure("unreadable")]
    watched = Watched(Playing(half, said("All of it.")))
    assert await watched.run() == "ok"
    assert watched.call.text == "All of it."
    usage = watched.call.usage
    assert usage.estimated
    assert usage.output_tokens > USAGE.output_tokens + 40
    assert usage.input_tokens > USAGE.input_tokens
    assert watched.call.cost == pytest.approx((usage.input_tokens + 2 * usage.output_tokens) / 1000)


async def test_the_time_between_two_tries_is_no_time_of_generation() -> None:
    half: list[Step] = [Sent({}), TextDelta("Half of it"), failure("server", retry_after=60.0)]
    watched = Watched(Playing(half, said("All of it.")))
    assert await watched.run() == "ok"
    assert watched.call.usage.seconds == USAGE.seconds


async def test_a_try_that_never_began_costs_nothing() -> None:
    watched = Watched(Playing([failure("connection")], said("All of it.")))
    assert await watched.run() == "ok"
    assert watched.call.usage == USAGE


async def test_a_cancelled_call_is_accounted_for() -> None:
    watched = Watched(Playing([Sent({}), TextDelta("Half of it " * 20), "hang"]))
    running = asyncio.create_task(watched.call.run())
    while not watched.deltas:  # noqa: ASYNC110
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert watched.call.message == "cancelled"
    assert watched.call.text == "Half of it " * 20
    assert watched.call.usage.output_tokens > 40
    assert watched.call.usage.estimated


async def test_a_key_in_an_answer_or_a_fault_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.keys import read_key

    monkeypatch.setenv("SOME_API_KEY", "k-3141592653589793")
    key = read_key("SOME_API_KEY")
    watched = Watched(Playing([CallFailedError("denied", f"no such key: {key}")]))
    await watched.run()
    assert key not in watched.call.message
    watched = Watched(Playing(said(f"Your key is {key}.")))
    await watched.run()
    assert watched.call.text == "Your key is •••."


# ── silence ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("before", [[], [Sent({})], [Sent({}), TextDelta("Half")]], ids=["all", "first", "next"])
async def test_a_silent_server_is_given_up(before: list[Step]) -> None:
    provider = Playing([*before, "hang"], said("Here I am."))
    watched = Watched(provider, first_token=0.05, next_token=0.05)
    running = asyncio.create_task(watched.call.run())
    await watched.clock.asleep(1)
    assert watched.retries[0][0] == "the server of anna did not answer in time"
    await watched.clock.advance(2)
    assert running.result() == "ok"
    assert watched.call.text == "Here I am."


async def test_a_stream_that_ends_too_early_broke_off() -> None:
    watched = Watched(Playing([Sent({}), TextDelta("Half"), "end"]))
    assert await watched.run() == "failed"
    assert watched.call.kind == "unreadable"


async def test_an_answer_that_never_ends_is_cut_off() -> None:
    watched = Watched(Playing([Sent({}), *[TextDelta("x" * 100_000)] * 50, Finish("stop", USAGE)]))
    assert await watched.run() == "failed"
    assert "would not end" in watched.call.message


# ── limits ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_of_all_who_call_one_server_the_most_careful_sets_its_limits() -> None:
    caller = Caller(lambda _: Playing(said("Listen.")), HeldClock())
    endpoint = caller.endpoint(SPEC)
    assert endpoint.limit == 16
    caller.endpoint(replace(SPEC, model="anna-2", concurrency=2))
    assert endpoint.limit == 2
    caller.endpoint(SPEC)
    assert endpoint.limit == 2


# ── what the layer costs ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_thousand_calls_leave_no_task_and_no_memory_behind() -> None:
    caller = Caller(lambda _: Playing(said("Listen to the ice.")), HeldClock())
    spec = ModelSpec(name="anna", provider="scripted", concurrency=100)

    async def thousand() -> None:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(Call(caller, spec, PROMPT).run()) for _ in range(1000)]
        assert {call.result() for call in calls} == {"ok"}

    await thousand()
    gc.collect()
    objects = len(gc.get_objects())
    await thousand()
    gc.collect()
    assert len(asyncio.all_tasks()) == 1
    assert len(gc.get_objects()) - objects < 500
