"""A conversation as Ollama's API has it: the request, and the answer that comes back line by line."""

import json
import re
from typing import Any

from msgspec import Struct

from core.models import Chunk, Finish, FinishReason, ModelSpec, Parameter, Prompt
from core.providers import faults
from core.providers.wire.answer import Answer, Tokens
from core.providers.wire.parameters import Json, flat
from core.text import clean

KEEP_ALIVE = "30m"
"""Longer than a person thinks about an idea: loading the weights anew takes longest of all."""

PLAINLY = 3
"""No text has so many times fewer tokens than we estimate, unless most of it is not Latin script."""

LOADED_ANEW = 0.5
"""Seconds: a model that is there already is there sooner."""

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
    """What a request asks for, as it is recorded: its options beside the rest."""
    form = {"format": {"type": "json_schema"}} if "format" in request else {}
    return flat({**request, "options": {}, **form}) | flat(request["options"])


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
    load_duration: int | None = None
    """In nanoseconds too: how long it took until the model was there."""
    error: Any = None
    status: int | None = None


class ChatAnswer(Answer):
    """An answer of `/api/chat`."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__(prompt)
        self.last: Part | None = None

    def take(self, part: Part) -> list[Chunk]:
        self.last = part
        message = part.message or _Message()
        return self.add(message.content, message.thinking)

    @property
    def loaded_anew(self) -> bool:
        """Whether the model had to be loaded for this answer, and so may be served in another way than before."""
        return self.last is not None and (self.last.load_duration or 0) >= LOADED_ANEW * 1e9

    @property
    def is_counted_oddly(self) -> bool:
        """Whether the prompt has far fewer tokens, as the server counted, than it can have."""
        counted = None if self.last is None else self.last.prompt_eval_count
        return counted is not None and PLAINLY * counted < self.asked

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
        return not refuses_to_cut or self.is_counted_oddly

    def end(self, server: str) -> Finish:
        """Raises `CallFailedError` if this is not the end of an answer."""
        last = self.last
        if last is None or not last.done:
            raise faults.broke_off(server)
        if last.done_reason in ("load", "unload"):
            raise faults.broke_off(server, f"it only did a {last.done_reason} of the model")
        self.reason = _REASONS.get(last.done_reason or "stop", "stop")
        if last.eval_duration:
            self.generating = last.eval_duration / 1e9
        if last.prompt_eval_count is not None and last.eval_count is not None:
            # Thoughts are counted together with the text: shared out by length.
            thoughts, text = (sum(map(len, pieces)) for pieces in (self._thoughts, self._text))
            share = thoughts / (thoughts + text) if thoughts else 0.0
            self.tokens = Tokens(last.prompt_eval_count, last.eval_count, reasoning=round(last.eval_count * share))
        return self.finish()
