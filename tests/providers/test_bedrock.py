"""The bedrock provider: the real boto3 against a server that answers as it is told."""

import asyncio
import threading
from contextlib import aclosing

import pytest
from aiohttp import web
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.models import (
    Chunk,
    Message,
    ModelSpec,
    Prompt,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers.bedrock import BedrockProvider
from tests.faults.bedrock_wire import answering, block, event, metadata
from tests.faults.server import FaultServer, Watched
from tests.providers.bedrock_calls import PROMPT, SCHEMA, WIRE, _aws, ask, fail, finish_of, provider, sent, spec

__all__ = ["_aws", "provider", "spec"]

CALMLY = {"type": "adaptive", "display": "summarized"}


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def call_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "Bedrock call"]


async def test_an_answer_streams_after_its_parameters_and_before_its_usage(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Blue, mostly.", thoughts="Which one?"))
    chunks = await ask(
        provider, replace(spec, temperature=0.7, top_p=0.9, max_tokens=99), replace(PROMPT, stop=("\n", "END"))
    )
    assert sent(chunks) == {"maxTokens": 99, "temperature": 0.7, "topP": 0.9, "stopSequences": '["END"]'}
    assert text_of(chunks) == "Blue, mostly."
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, ThoughtDelta)) == "Which one?"
    assert sum(isinstance(chunk, TextDelta) for chunk in chunks) > 1
    finish = finish_of(chunks)
    assert finish.reason == "stop"
    assert (finish.usage.input_tokens, finish.usage.output_tokens) == (11, 7)
    assert 0 < finish.usage.reasoning_tokens <= 7
    assert not finish.usage.estimated
    assert server.requests[0].json == {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "Name a colour."}]}],
        "inferenceConfig": {"maxTokens": 99, "temperature": 0.7, "topP": 0.9, "stopSequences": ["END"]},
    }


@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-test-v1:0",
        "us.anthropic.claude-test-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-test-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3",
    ],
)
async def test_a_models_name_goes_through_untouched(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, model: str
) -> None:
    server.say(WIRE.answer("Red"))
    await ask(provider, replace(spec, model=model))
    assert server.requests[0].path == f"/model/{model}/converse-stream"


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "refused"),
        ("content_filtered", "refused"),
    ],
)
async def test_each_way_to_stop_is_known(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, stop_reason: str, reason: str
) -> None:
    server.say(answering([*block(0, "Red", 1), event("messageStop", stopReason=stop_reason), metadata()]))
    assert finish_of(await ask(provider, spec)).reason == reason


async def test_tokens_from_and_into_the_cache_are_input_tokens_too(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    end = metadata(cacheReadInputTokens=100, cacheWriteInputTokens=20)
    server.say(answering([*block(0, "Red", 1), event("messageStop", stopReason="end_turn"), end]))
    usage = finish_of(await ask(provider, spec)).usage
    assert usage == Usage(input_tokens=131, cached_tokens=100, output_tokens=7, seconds=usage.seconds)


async def test_without_counts_usage_is_estimated(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red and blue and green.", usage=False))
    usage = finish_of(await ask(provider, spec)).usage
    assert usage.estimated
    assert usage.input_tokens > 3
    assert usage.output_tokens > 3


async def test_encrypted_thoughts_and_unknown_events_are_passed_over(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    hidden = event("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"redactedContent": "Zm9v"}})
    events = [hidden, event("somethingNew", text=5), *block(1, "Red", 1), event("messageStop", stopReason="end_turn")]
    server.say(answering(events))
    assert text_of(await ask(provider, spec)) == "Red"


@pytest.mark.parametrize("budget", [1, 1023, 4096])
async def test_a_thinking_budget_that_breaks_the_rule_is_refused_before_any_request(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec, budget: int
) -> None:
    wrong = replace(spec, thinking_tokens=budget, max_tokens=4096)
    error = await fail(provider, wrong)
    assert error.kind == "request"
    assert "at least 1,024 and less than max_tokens, which is 4,096" in str(error)
    with pytest.raises(ModelUnavailableError, match="at least 1,024"):
        await provider.prepare(wrong)
    assert server.requests == []


async def test_claude_thinks_with_a_budget_and_without_temperature(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.answer("Red"))
    chunks = await ask(provider, replace(spec, thinking_tokens=1024, max_tokens=4096, temperature=0.5, top_p=0.9))
    body = server.requests[0].json
    assert body["additionalModelRequestFields"]["thinking"]["budget_tokens"] == 1024
    assert body["inferenceConfig"] == {"maxTokens": 4096}
    assert sent(chunks)["thinking.budget_tokens"] == 1024


async def test_effort_and_a_schema_are_sent(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    server.say(WIRE.answer("{}"))
    chunks = await ask(provider, replace(spec, effort="high"), replace(PROMPT, json_schema=SCHEMA))
    form = server.requests[0].json["outputConfig"]
    assert form["effort"] == "high"
    assert '"additionalProperties":false' in form["textFormat"]["structure"]["jsonSchema"]["schema"]
    assert sent(chunks)["outputConfig.textFormat"] == "json_schema"
    assert not any("additionalProperties" in str(value) for value in sent(chunks).values())


@pytest.mark.parametrize(
    ("model", "base_model", "own", "form"),
    [
        ("us.anthropic.claude-test-v1:0", "", {"thinking": CALMLY}, {"effort": "low"}),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/a1", "claude-test", {"thinking": CALMLY}, {"effort": "low"}),
        ("us.amazon.nova-test-v1:0", "", None, {"effort": "low"}),
        ("openai.gpt-oss-120b-1:0", "", {"reasoning_effort": "low"}, None),
    ],
)
async def test_each_maker_is_told_the_effort_in_its_own_way(
    server: FaultServer, provider: BedrockProvider, model: str, base_model: str, own: object, form: object
) -> None:
    server.say(WIRE.answer("Red"))
    await ask(provider, WIRE.spec(server, model=model, base_model=base_model, effort="low"))
    body = server.requests[0].json
    assert body.get("additionalModelRequestFields") == own
    assert body.get("outputConfig") == form


async def test_what_a_model_refuses_is_left_out(server: FaultServer, provider: BedrockProvider) -> None:
    server.say(WIRE.answer("Red"))
    refuses = ("temperature", "topP", "stopSequences", "outputConfig", "system", "thinking", "maxTokens")
    spec = WIRE.spec(server, temperature=0.5, top_p=0.5, effort="low", refuses=refuses)
    await ask(provider, spec, replace(PROMPT, stop=("END",), json_schema=SCHEMA))
    assert server.requests[0].json == {
        "messages": [{"role": "user", "content": [{"text": "Be brief.\n\nName a colour."}]}],
        "inferenceConfig": {},
    }


async def test_turns_of_one_speaker_become_one(server: FaultServer, provider: BedrockProvider, spec: ModelSpec) -> None:
    server.say(WIRE.answer("Red"))
    turns = (Message("user", "One."), Message("user", "Two."), Message("assistant", "Three"))
    await ask(provider, spec, Prompt(messages=turns))
    assert server.requests[0].json["messages"] == [
        {"role": "user", "content": [{"text": "One."}, {"text": "Two."}]},
        {"role": "assistant", "content": [{"text": "Three"}]},
    ]


async def test_a_character_in_two_chunks_arrives_whole(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.split_inside_a_character("Größe 漢字"))
    assert text_of(await ask(provider, spec)) == "Größe 漢字"


async def test_closing_an_answer_hangs_up_and_ends_its_thread(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    stalled = Watched(WIRE.broken("Red and blue", "stall"))
    server.say(stalled, WIRE.answer("Green"))
    async with aclosing(provider.stream(spec, PROMPT, 1)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break
    await asyncio.wait_for(stalled.ended.wait(), 5)
    for thread in call_threads():
        thread.join(5)
    assert call_threads() == []
    assert text_of(await ask(provider, spec)) == "Green"


async def test_cancelling_before_the_first_word_does_not_wait_for_it(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    let_go = asyncio.Event()
    answer = WIRE.broken("Red and blue", "stall")

    async def slow(request: web.Request) -> web.StreamResponse:
        await let_go.wait()
        return await answer(request)

    stalled = Watched(slow)
    server.say(stalled)
    call = asyncio.create_task(ask(provider, spec))
    await asyncio.wait_for(stalled.began.wait(), 5)
    call.cancel()
    await asyncio.wait({call}, timeout=1)
    assert call.cancelled()
    let_go.set()
    # The answer that comes at last is hung up on.
    await asyncio.wait_for(stalled.ended.wait(), 5)


async def test_many_answers_stream_at_once_and_leave_no_threads(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.otherwise = WIRE.answer("Red and blue and green")
    answers = await asyncio.gather(*(ask(provider, spec) for _ in range(50)))
    assert {text_of(answer) for answer in answers} == {"Red and blue and green"}
    for thread in call_threads():
        thread.join(5)
    assert call_threads() == []


async def test_closing_the_provider_ends_what_runs(
    server: FaultServer, provider: BedrockProvider, spec: ModelSpec
) -> None:
    server.say(WIRE.broken("Red and blue", "stall"), WIRE.answer("Green"))
    running = asyncio.create_task(fail(provider, spec))
    while not server.under_way:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    await provider.close()
    assert (await running).kind == "unreadable"
    assert text_of(await ask(provider, spec)) == "Green"
