"""Parameters that a model does not take, as each house says it."""

from typing import Any

import pytest

from core.models import CallFailedError, Prompt
from core.providers.openai import OpenAIProvider
from tests.faults.server import FaultServer, status
from tests.providers.openai_calls import CHAT, PROMPT, RESPONSES, SCHEMA, all_set, collect, failure

EXTRA = "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]"
LITERAL = "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low' or 'high'\"}]"
DETAIL = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
RAW = '{"error":{"message":"Unsupported parameter: \'top_p\' is not supported with this model."}}'
UNSUPPORTED: list[tuple[int, Any, str]] = [
    (
        400,
        {
            "error": {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "type": "invalid_request_error",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            }
        },
        "max_tokens",
    ),
    (
        400,
        {"error": {"message": "Unsupported value: 'temperature' does not support 0.9 with this model"}},
        "temperature",
    ),
    (400, {"error": {"message": "Unrecognized request argument supplied: reasoning_effort"}}, "reasoning_effort"),
    (
        400,
        {
            "error": {
                "message": "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                "param": "messages[0].role",
                "code": "unsupported_value",
            }
        },
        "system",
    ),
    # vLLM, older and newer
    (
        400,
        {"object": "error", "message": EXTRA, "type": "BadRequestError", "code": 400},
        "stream_options.include_usage",
    ),
    (400, {"error": {"message": LITERAL, "type": "Bad Request", "code": 400}}, "reasoning_effort"),
    (400, {"object": "error", "message": "System role not supported", "code": 400}, "system"),
    # llama.cpp
    (400, {"error": {"code": 400, "message": "Unsupported param: stop", "type": "invalid_request_error"}}, "stop"),
    # FastAPI and Mistral
    (422, {"detail": DETAIL}, "seed"),
    # Gemini
    (
        400,
        [{"error": {"code": 400, "message": 'Invalid JSON payload: Unknown name "seed": Cannot find field.'}}],
        "seed",
    ),
    # xAI, DeepSeek
    (400, {"error": "Model grok-4 does not support parameter reasoningEffort."}, "reasoning_effort"),
    (400, {"error": {"message": "This response_format type is unavailable now"}}, "response_format"),
    # OpenRouter, for the server behind it
    (400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": RAW}}}, "top_p"),
]


@pytest.mark.parametrize(("code", "body", "parameter"), UNSUPPORTED, ids=lambda value: str(value)[-30:])
async def test_a_refused_parameter_is_named(
    code: int, body: Any, parameter: str, server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(status(code, body))
    spec = CHAT.spec(server, **all_set())
    with pytest.raises(CallFailedError) as failed:
        await collect(openai, spec, Prompt(messages=PROMPT.messages, stop=("\n",), json_schema=SCHEMA))
    assert (failed.value.kind, failed.value.parameter) == ("parameter", parameter)
    assert parameter in str(failed.value)


async def test_the_summary_alone_is_refused_to_an_unverified_organization(
    server: FaultServer, openai: OpenAIProvider
) -> None:
    message = "Your organization must be verified to generate reasoning summaries."
    error = {"message": message, "param": "reasoning.summary", "code": "unsupported_value"}
    server.say(status(400, {"error": error}))
    failed = await failure(openai, RESPONSES.spec(server, effort="high"))
    assert (failed.kind, failed.parameter) == ("parameter", "reasoning.summary")


NOT_PARAMETERS = [
    ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens", "request"),
    ("temperature must be between 0 and 1; other values are not supported", "request"),
    ("Unsupported content in message", "request"),
    ("This model's maximum context length is 8192 tokens; 9000 are not supported", "context"),
    ("request (5031 tokens) exceeds the available context size (1024 tokens), try increasing it", "context"),
    ("Unknown user", "request"),
    ("A schema in 'response_format' needs a name", "request"),
]


@pytest.mark.parametrize(("message", "kind"), NOT_PARAMETERS)
async def test_other_faults_of_a_request_are_not_blamed_on_a_parameter(
    message: str, kind: str, server: FaultServer, openai: OpenAIProvider
) -> None:
    server.say(CHAT.error(400, message))
    assert (await failure(openai, CHAT.spec(server, **all_set()))).kind == kind
