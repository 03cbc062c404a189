"""The call layer: what is tried again, when, and what it all used. On a clock that stands still."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Iterable

import pytest

from core.models import (
    CallFailedError,
    Chunk,
    EmbedderSpec,
    FailureKind,
    Finish,
    Message,
    ModelSpec,
    Prompt,
    Sent,
    TextDelta,
    ThoughtDelta,
    Usage,
    Vectors,
)
from core.providers.calls import RETRIED, Call, Caller, Persistence
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
    watched = Watched(Playing([failure("limited", retry_after=3600.0)]))
    assert await watched.run() == "failed"
    assert watched.call.tries == 1


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


# ── embeddings ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_embeddings_go_through_the_same_layer() -> None:
    answers: list[Vectors | CallFailedError] = [failure("server"), Vectors([[1.0]], USAGE), failure("denied")]

    class Embedding(ScriptedProvider):
        async def embed(self, spec: EmbedderSpec, texts: list[str]) -> Vectors:
            answer = answers.pop(0)
            if isinstance(answer, CallFailedError):
                raise answer
            return answer

    clock = HeldClock()
    caller = Caller(lambda _: Embedding(varied), clock)
    asking = asyncio.create_task(caller.embed(EmbedderSpec(name="e", provider="scripted"), ["ice"]))
    await clock.asleep(1)
    await clock.advance(2)
    assert (await asking).rows == [[1.0]]
    with pytest.raises(CallFailedError, match="denied"):
        await caller.embed(EmbedderSpec(name="e", provider="scripted"), ["ice"])


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
