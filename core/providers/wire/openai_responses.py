"""OpenAI's Responses API, without its storage."""

from msgspec import Struct, convert

from core.models import Chunk, ModelSpec, Prompt
from core.providers.wire import openai_answer
from core.providers.wire.answer import Tokens
from core.providers.wire.openai_answer import Details, Events, ServerSaidError, Timings, refuses_any
from core.providers.wire.parameters import Json


def request(spec: ModelSpec, prompt: Prompt) -> Json:
    """What is posted to `/responses`. This API has neither seeds nor stop words."""
    refuses = spec.refuses
    schema = openai_answer.schema_of(
        prompt, refuses_any(refuses, "text", "text.format", "response_format", "json_schema")
    )
    optional: Json = {
        "max_output_tokens": spec.max_tokens,
        "temperature": spec.temperature,
        "top_p": spec.top_p,
        "store": False,
        "reasoning": _reasoning(spec),
        "text": schema and {"format": {"type": "json_schema", **schema}},
    }
    return {
        "model": spec.model,
        "input": openai_answer.messages(prompt, refuses),
        "stream": True,
        **{name: value for name, value in optional.items() if value is not None and name not in refuses},
    }


def _reasoning(spec: ModelSpec) -> Json | None:
    if not spec.effort or refuses_any(spec.refuses, "effort", "reasoning_effort", "reasoning.effort"):
        return None
    if spec.effort == "none" or refuses_any(spec.refuses, "summary", "reasoning.summary"):
        return {"effort": spec.effort}
    return {"effort": spec.effort, "summary": "auto"}


class _Usage(Struct):
    input_tokens: int
    output_tokens: int
    input_tokens_details: Details | None = None
    output_tokens_details: Details | None = None


class _Error(Struct):
    code: str | int | None = None
    message: str | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    usage: object = None
    error: _Error | None = None
    incomplete_details: _Incomplete | None = None


class _Event(Struct):
    type: str
    delta: object = None
    response: _Response | None = None
    timings: object = None
    code: str | int | None = None
    message: str | None = None


class ResponsesAnswer(Events):
    _refusal = False

    def __init__(self, prompt: Prompt, most: int) -> None:
        """`most` is the cap in tokens."""
        super().__init__(prompt)
        self._most = most

    def read(self, event: object) -> list[Chunk]:
        said = convert(event, _Event)
        delta = said.delta if isinstance(said.delta, str) else None
        match said.type:
            case "response.output_text.delta":
                return self.add(delta)
            case "response.refusal.delta":
                self._refusal = True
                return self.add(delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self.add(thought=delta)
            case "response.reasoning_summary_part.added" if self._thoughts:
                return self.add(thought="\n\n")
            case "response.completed" | "response.incomplete":
                self._end(said, said.response or _Response())
            case "response.failed":
                error = (said.response and said.response.error) or _Error()
                raise ServerSaidError(error.message or "the response failed", error.code)
            case "error":
                raise ServerSaidError(said.message or "an error came in the stream", said.code)
        return []

    def _end(self, said: _Event, response: _Response) -> None:
        if usage := openai_answer.convert(response.usage, _Usage):
            cached = (usage.input_tokens_details or Details()).cached_tokens or 0
            reasoning = (usage.output_tokens_details or Details()).reasoning_tokens
            self.tokens = Tokens(usage.input_tokens, usage.output_tokens, cached, reasoning)
        if timings := openai_answer.convert(said.timings, Timings):
            self.generating = timings.predicted_ms / 1000
        why = response.incomplete_details and response.incomplete_details.reason
        if self._refusal or why == "content_filter":
            self.reason = "refused"
        # llama.cpp calls an answer complete that its cap has cut.
        elif said.type == "response.incomplete" or (self.tokens and self.tokens.output >= self._most):
            self.reason = "length"
        else:
            self.reason = "stop"
