"""A conversation as Ollama's API has it: the request, and the answer that comes back line by line."""

import json
import re
from time import monotonic
from typing import Any

from msgspec import Struct

from core.models import (
    Chunk,
    Finish,
    FinishReason,
    ModelSpec,
    Parameter,
    Prompt,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from core.providers import faults
from core.providers.tokens import estimate_tokens
from core.text import clean

KEEP_ALIVE = "30m"
"""Longer than a person thinks about an idea: loading the weights anew takes longest of all."""

PLAINLY = 3
"""No text has so many times fewer tokens than we estimate, unless most of it is not Latin script."""

_LEVELS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
"""Our efforts in the words of `think` that every model with levels knows."""

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    # Not Ollama's own, but of what stands in front of other models and speaks as Ollama does.
    "content_filter": "refused",
    "refusal": "refused",
    "refused": "refused",
}

Json = dict[str, Any]


def build_request(spec: ModelSpec, prompt: Prompt, random_seed: int) -> Json:
    """The body of a request to `/api/chat`, without what the model refuses."""
    options: Json = {
        # The same in every call, for another one loads the model anew.
        "num_ctx": spec.context,
        "num_predict": spec.max_tokens,
        "temperature": spec.temperature,
        "top_p": spec.top_p,
        "repeat_penalty": spec.repeat_penalty,
        "seed": random_seed % 0x7FFFFFFF,
        "stop": list(prompt.stop) or None,
    }
    request: Json = {
        "model": spec.model,
        "messages": _messages(prompt, fold="system" in spec.refuses),
        "stream": True,
        # A prompt that doesn't fit is an error, and the beginning of one is not given up for a longer answer.
        "truncate": False,
        "shift": False,
        "keep_alive": _keep_alive(spec.keep_alive or KEEP_ALIVE),
        "think": None if "reasoning_effort" in spec.refuses else _think(spec),
        "format": json.loads(prompt.json_schema)
        if prompt.json_schema and "response_format" not in spec.refuses
        else None,
    }
    request = {name: value for name, value in request.items() if value is not None and name not in spec.refuses}
    request["options"] = {
        name: value for name, value in options.items() if value is not None and name not in spec.refuses
    }
    return request


def _keep_alive(written: str) -> str | int:
    """A bare number is of seconds, and -1 for ever; Ollama takes these as numbers only."""
    return int(written) if re.fullmatch(r"-?\d+", written) else written


def _think(spec: ModelSpec) -> str | bool | None:
    if spec.effort == "none":
        return False
    return _LEVELS.get(spec.effort) or (True if spec.thinking_tokens else None)


def _messages(prompt: Prompt, *, fold: bool) -> list[Json]:
    """As they are; with `fold`, what the system says stands before the first user message."""
    messages = [{"role": message.role, "content": clean(message.text)} for message in prompt.messages]
    if not fold:
        return messages
    said = [message["content"] for message in messages if message["role"] == "system"]
    rest = [message for message in messages if message["role"] != "system"]
    first = next((message for message in rest if message["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(said)}, *rest]
    first["content"] = "\n\n".join([*said, first["content"]])
    return rest


def parameters(request: Json) -> dict[str, Parameter]:
    """What a request asks for, as it is recorded."""
    sent: dict[str, Parameter] = {
        name: value for name, value in request.items() if name not in ("messages", "options", "format")
    }
    if "format" in request:
        sent["format"] = "json_schema"
    for name, value in request["options"].items():
        sent[name] = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
    return sent


class _Message(Struct):
    content: str | None = None
    thinking: str | None = None


class Part(Struct):
    """One line of an answer."""

    message: _Message | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    eval_duration: int | None = None
    """In nanoseconds."""
    error: Any = None
    status: int | None = None


class Answer:
    """What has come of an answer."""

    def __init__(self, prompt: Prompt) -> None:
        self.asked = sum(estimate_tokens(message.text) for message in prompt.messages)
        """The prompt's tokens, estimated: rather more than fewer."""
        self.last: Part | None = None
        self._text = self._thoughts = 0
        self._first = monotonic()

    def take(self, part: Part) -> list[Chunk]:
        chunks: list[Chunk] = []
        message = part.message or _Message()
        if message.thinking:
            chunks.append(ThoughtDelta(clean(message.thinking)))
            self._thoughts += len(message.thinking)
        if message.content:
            chunks.append(TextDelta(clean(message.content)))
            self._text += len(message.content)
        if self.last is None:
            self._first = monotonic()
        self.last = part
        return chunks

    def may_be_to_a_cut_prompt(self, window: int, *, refuses_to_cut: bool) -> bool:
        """Whether the model may have seen less than the whole prompt while it wrote this answer, which is complete.

        `window` is what it is served with for prompt and answer, in tokens.
        """
        assert self.last is not None
        counted, written = self.last.prompt_eval_count, self.last.eval_count or 0
        # What fills the context was cut to it; where more was written than there was room for, the prompt's
        # beginning was shifted out meanwhile.
        if counted is not None and (counted >= window or counted + written > window + 1):
            return True
        if self.asked <= window:
            return False
        # It may well fit, for it is estimated generously. Versions that count a cached prompt as shorter than it is
        # refuse to cut one.
        return not refuses_to_cut or (counted is not None and PLAINLY * counted < self.asked)

    def finish(self, server: str) -> Finish:
        """Raises `CallFailedError` if this is not the end of an answer."""
        last = self.last
        if last is None or not last.done:
            raise faults.broke_off(server)
        if last.done_reason in ("load", "unload"):
            raise faults.broke_off(server, f"it only did a {last.done_reason} of the model")
        written = self._text + self._thoughts
        output = last.eval_count if last.eval_count is not None else written // 4
        usage = Usage(
            input_tokens=self.asked if last.prompt_eval_count is None else last.prompt_eval_count,
            output_tokens=output,
            # Counted together with the text: shared out by length.
            reasoning_tokens=round(output * self._thoughts / written) if written else 0,
            seconds=last.eval_duration / 1e9 if last.eval_duration else monotonic() - self._first,
            estimated=last.prompt_eval_count is None or last.eval_count is None,
        )
        return Finish(_REASONS.get(last.done_reason or "stop", "stop"), usage)
