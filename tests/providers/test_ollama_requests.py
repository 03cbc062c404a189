"""What is sent to Ollama, and that a prompt which the server cut never counts."""

import json

import pytest

from core.models import (
    Prompt,
    Sent,
)
from core.providers.ollama import OllamaProvider
from tests.faults.ollama_wire import MODEL, loaded
from tests.faults.server import FaultServer, status
from tests.providers.ollama_calls import LONG, PROMPT, WIRE, asked, chunks_of, failure_of, provider, server, text_of

__all__ = ["provider", "server"]


async def test_every_setting_goes_where_ollama_reads_it(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("blue"))
    spec = WIRE.spec(
        server, temperature=0.7, top_p=0.9, repeat_penalty=1.1, max_tokens=300, context=4096, keep_alive="5m"
    )
    prompt = Prompt(messages=PROMPT.messages, stop=("\n", "END"), json_schema='{"type": "object"}')
    chunks = await chunks_of(provider, spec, prompt)
    assert asked(server) == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Name a colour."}],
        "stream": True,
        "truncate": False,
        "shift": False,
        "keep_alive": "5m",
        "format": {"type": "object"},
        "options": {
            "num_ctx": 4096,
            "num_predict": 300,
            "temperature": 0.7,
            "top_p": 0.9,
            "repeat_penalty": 1.1,
            "seed": 7,
            "stop": ["\n", "END"],
        },
    }
    assert isinstance(chunks[0], Sent)
    sent = chunks[0].parameters
    assert "messages" not in sent
    assert sent["num_ctx"] == 4096
    assert sent["truncate"] is False
    assert sent["stop"] == '["\\n", "END"]'
    assert sent["format"] == "json_schema"


@pytest.mark.parametrize(("written", "sent"), [("", "30m"), ("90s", "90s"), ("-1", -1)])
async def test_how_long_a_model_stays_loaded(
    server: FaultServer, provider: OllamaProvider, written: str, sent: str | int
) -> None:
    server.say(WIRE.answer("blue"))
    await chunks_of(provider, WIRE.spec(server, keep_alive=written))
    assert asked(server)["keep_alive"] == sent


async def test_the_context_is_the_same_in_every_call_however_long_the_prompt(
    server: FaultServer, provider: OllamaProvider
) -> None:
    server.say(WIRE.answer("one"), WIRE.answer("two", prompt_tokens=1500))
    spec = WIRE.spec(server, max_tokens=100)
    await chunks_of(provider, spec)
    await chunks_of(provider, spec, LONG)
    assert [request.json["options"]["num_ctx"] for request in server.sent_to("/api/chat")] == [8192, 8192]


@pytest.mark.parametrize(
    ("settings", "think"),
    [
        ({}, "left out"),
        ({"effort": "none"}, False),
        ({"effort": "minimal"}, "low"),
        ({"effort": "medium"}, "medium"),
        ({"effort": "max"}, "high"),
        ({"thinking_tokens": 500}, True),
        ({"effort": "high", "refuses": ("think",)}, "left out"),
        ({"effort": "high", "refuses": ("reasoning_effort",)}, "left out"),
    ],
)
async def test_thinking_is_asked_for_in_ollamas_words(
    server: FaultServer, provider: OllamaProvider, settings: dict[str, object], think: object
) -> None:
    server.say(WIRE.answer("blue"))
    await chunks_of(provider, WIRE.spec(server, **settings))
    assert asked(server).get("think", "left out") == think


async def test_what_a_model_refuses_is_left_out(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("blue"))
    spec = WIRE.spec(server, temperature=0.7, refuses=("temperature", "seed", "stop", "system", "shift"))
    await chunks_of(provider, spec, Prompt(messages=PROMPT.messages, stop=("\n",)))
    request = asked(server)
    assert request["options"] == {"num_ctx": 8192, "num_predict": 2048}
    assert request["messages"] == [{"role": "user", "content": "Be brief.\n\nName a colour."}]
    assert "shift" not in request
    assert request["truncate"] is False


async def test_a_prompt_that_fits_what_is_served_counts(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("blue", prompt_tokens=1700, output_tokens=300))
    assert text_of(await chunks_of(provider, WIRE.spec(server, context=2048), LONG)) == "blue"
    assert server.sent_to("/api/ps")


async def test_the_served_context_is_asked_for_once(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("one"), WIRE.answer("two"))
    spec = WIRE.spec(server)
    await chunks_of(provider, spec)
    await chunks_of(provider, spec)
    assert len(server.sent_to("/api/ps")) == 1


async def test_it_is_asked_for_again_when_the_model_was_loaded_anew(
    server: FaultServer, provider: OllamaProvider
) -> None:
    """Somebody else's call took the memory, or the model was idle for too long."""
    spec = WIRE.spec(server)
    server.say(WIRE.answer("one", load_seconds=4.2), WIRE.answer("two", prompt_tokens=1020, load_seconds=4.2))
    await chunks_of(provider, spec)
    server.route("/api/ps", loaded(1024))
    error = await failure_of(provider, spec, LONG)
    assert (error.kind, "context to 1024" in str(error)) == ("context", True)


async def test_it_is_asked_for_again_when_far_fewer_tokens_were_read_than_were_sent(
    server: FaultServer, provider: OllamaProvider
) -> None:
    spec = WIRE.spec(server)
    server.say(WIRE.answer("one"), WIRE.answer("two", prompt_tokens=512))
    await chunks_of(provider, spec)
    server.route("/api/ps", loaded(512))
    assert (await failure_of(provider, spec, LONG)).kind == "context"


async def test_what_was_served_earlier_condemns_no_answer(server: FaultServer, provider: OllamaProvider) -> None:
    spec = WIRE.spec(server)
    server.route("/api/ps", loaded(1024))
    server.say(WIRE.answer("one"), WIRE.answer("two", prompt_tokens=1700))
    await chunks_of(provider, spec)
    server.route("/api/ps", loaded(8192))
    assert text_of(await chunks_of(provider, spec, LONG)) == "two"


async def test_a_context_that_was_not_told_is_asked_for_again(server: FaultServer, provider: OllamaProvider) -> None:
    spec = WIRE.spec(server)
    server.route("/api/ps", status(200, {"models": []}))
    server.say(WIRE.answer("one"), WIRE.answer("two", prompt_tokens=1020))
    await chunks_of(provider, spec)
    server.route("/api/ps", loaded(1024))
    assert (await failure_of(provider, spec, LONG)).kind == "context"


@pytest.mark.parametrize(
    ("what", "prompt_tokens", "output_tokens"),
    [
        ("an old version cuts the prompt to the context", 1024, 11),
        ("the answer pushed the beginning of the prompt out", 1000, 60),
        ("far fewer tokens were read than were sent", 500, 11),
    ],
)
async def test_an_answer_to_a_cut_prompt_is_a_failure_of_kind_context(
    server: FaultServer, provider: OllamaProvider, what: str, prompt_tokens: int, output_tokens: int
) -> None:
    server.say(WIRE.answer("blue", prompt_tokens=prompt_tokens, output_tokens=output_tokens))
    error = await failure_of(provider, WIRE.spec(server, context=1024), LONG)
    assert error.kind == "context"
    assert "cut the prompt" in str(error)
    assert "larger context than 1024" in str(error)


async def test_less_context_than_was_asked_for_is_found_out(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("blue", prompt_tokens=1020, output_tokens=11))
    spec = WIRE.spec(server)
    server.route("/api/ps", loaded(1024))
    error = await failure_of(provider, spec, LONG)
    assert error.kind == "context"
    assert "context to 1024" in str(error)
    assert "OLLAMA_CONTEXT_LENGTH" in str(error)


@pytest.mark.parametrize("version", ["0.12.5", "", "unknown"])
async def test_a_version_that_may_cut_is_not_believed_when_the_prompt_may_be_too_long(
    server: FaultServer, provider: OllamaProvider, version: str
) -> None:
    spec = WIRE.spec(server, context=1900)
    server.route("/api/version", status(200, {"version": version}))
    server.say(WIRE.answer("blue", prompt_tokens=1500), WIRE.answer("blue"))
    assert (await failure_of(provider, spec, LONG)).kind == "context"
    assert text_of(await chunks_of(provider, spec)) == "blue"


async def test_a_version_that_refuses_to_cut_is_believed(server: FaultServer, provider: OllamaProvider) -> None:
    server.say(WIRE.answer("blue", prompt_tokens=1500))
    assert text_of(await chunks_of(provider, WIRE.spec(server, context=1900), LONG)) == "blue"


async def test_a_server_that_does_not_say_what_it_serves_is_no_trouble_for_a_prompt_that_fits(
    server: FaultServer, provider: OllamaProvider
) -> None:
    spec = WIRE.spec(server)
    server.route("/api/ps", status(404, "404 page not found"))
    server.say(WIRE.answer("blue"))
    assert text_of(await chunks_of(provider, spec)) == "blue"


LLAMA = json.dumps({"error": {"message": "request (2622 tokens) exceeds the available context size (512 tokens)"}})
"""llama.cpp's words, which come as JSON inside Ollama's JSON."""


@pytest.mark.parametrize("said", ["the input length exceeds the context length", LLAMA])
async def test_a_prompt_that_the_server_refuses_as_too_long(
    server: FaultServer, provider: OllamaProvider, said: str
) -> None:
    server.say(WIRE.error(400, said))
    error = await failure_of(provider, WIRE.spec(server))
    assert error.kind == "context"
    assert "exceeds the" in str(error)
    assert "{" not in str(error)
