"""OpenAI's chat completions, as it and everybody who followed it speak them."""

from msgspec import Struct, convert

from core.models import Chunk, FinishReason, ModelSpec, Prompt
from core.providers.wire import openai_answer
from core.providers.wire.answer import Tokens
from core.providers.wire.openai_answer import Details, Events, ServerSaidError, Timings, refuses_any
from core.providers.wire.parameters import Json

_SEEDS = 2**31
"""Seeds that every server takes: some hold them in 32 bits, with a sign."""

_LENGTH = {"length", "max_tokens", "model_length"}
_REFUSED = ("content_filter", "refusal", "safety")
_FAILED = {"error", "abort", "insufficient_system_resource"}


def request(spec: ModelSpec, prompt: Prompt, random_seed: int, *, own: bool) -> Json:
    """What is posted to `/chat/completions`; `own` is OpenAI itself or Azure, as against servers that followed it."""
    refuses = spec.refuses
    schema = openai_answer.schema_of(prompt, refuses_any(refuses, "response_format", "json_schema"))
    optional: Json = {
        "stream_options": {"include_usage": True},
        "temperature": spec.temperature,
        "top_p": spec.top_p,
        "stop": list(prompt.stop) or None,
        "seed": random_seed % _SEEDS,
        "reasoning_effort": None if refuses_any(refuses, "effort") else spec.effort or None,
        "response_format": schema and {"type": "json_schema", "json_schema": schema},
    }
    # The newer name is the only one that OpenAI's reasoning models take, and one that many other servers don't.
    caps = ("max_completion_tokens", "max_tokens") if own else ("max_tokens", "max_completion_tokens")
    taken = [name for name in caps if name not in refuses]
    return {
        "model": spec.model,
        "messages": openai_answer.messages(prompt, refuses),
        "stream": True,
        **dict.fromkeys(taken[:1], spec.max_tokens),
        **{name: value for name, value in optional.items() if value is not None and not _refused(name, value, refuses)},
    }


def _refused(name: str, value: object, refuses: tuple[str, ...]) -> bool:
    inner = (f"{name}.{key}" for key in value) if isinstance(value, dict) else ()
    return refuses_any(refuses, name, *inner)


class _Piece(Struct):
    """Of Mistral's reasoning models."""

    text: str = ""
    thinking: "list[_Piece] | None" = None


class _Delta(Struct):
    content: str | list[_Piece] | None = None
    refusal: str | None = None
    # DeepSeek and llama.cpp say the one, OpenRouter and vLLM the other, some both.
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Part(Struct):
    choices: list[_Choice] | None = None
    usage: object = None
    timings: object = None


class _Usage(Struct):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int | None = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None


class ChatAnswer(Events):
    _refusal = False

    def read(self, event: object) -> list[Chunk]:
        part = convert(event, _Part)
        if usage := openai_answer.convert(part.usage, _Usage):
            self.tokens = _tokens(usage)
        if timings := openai_answer.convert(part.timings, Timings):
            self.generating = timings.predicted_ms / 1000
        chunks: list[Chunk] = []
        for choice in (part.choices or [])[:1]:
            if delta := choice.delta:
                self._refusal = self._refusal or bool(delta.refusal)
                chunks += self.add(thought=delta.reasoning_content or delta.reasoning)
                chunks += self._content(delta.content) + self.add(delta.refusal)
            if choice.finish_reason:
                self.reason = "refused" if self._refusal else _reason(choice.finish_reason)
        return chunks

    def _content(self, content: str | list[_Piece] | None) -> list[Chunk]:
        if not isinstance(content, list):
            return self.add(content)
        chunks: list[Chunk] = []
        for piece in content:
            chunks += self.add(piece.text, "".join(thought.text for thought in piece.thinking or ()))
        return chunks


def _reason(word: str) -> FinishReason:
    if word in _FAILED:
        raise ServerSaidError(f"the answer ended with {word}")
    if word in _LENGTH:
        return "length"
    return "refused" if word.startswith(_REFUSED) else "stop"


def _tokens(usage: _Usage) -> Tokens:
    """Some servers (xAI's, Gemini's) leave the thoughts out of the output, but not out of the total."""
    cached = (usage.prompt_tokens_details or Details()).cached_tokens or 0
    reasoning = (usage.completion_tokens_details or Details()).reasoning_tokens
    output = max(usage.completion_tokens, (usage.total_tokens or 0) - usage.prompt_tokens)
    return Tokens(usage.prompt_tokens, output, cached, reasoning)
