"""What OpenAI's two APIs have in common: how a prompt is laid out, and what is kept of an answer as it streams."""

import json
from collections.abc import Container, Iterable
from typing import TypeVar

import msgspec
from msgspec import Struct

from core.models import Chunk, Prompt
from core.providers.wire.answer import Answer
from core.providers.wire.parameters import Json
from core.text import clean

Kind = TypeVar("Kind")


class ServerSaidError(Exception):
    """The server's own report of a failure, in the midst of a stream."""

    def __init__(self, message: str, code: object = None) -> None:
        super().__init__(message)
        self.code = code


class Timings(Struct):
    """llama.cpp's own clock, in milliseconds."""

    predicted_ms: float


class Details(Struct):
    """What a count of tokens holds, of the input and of the output."""

    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Events(Answer):
    """An answer as a stream of events: `read` each, then `finish`."""

    def read(self, event: object) -> list[Chunk]:
        """What an event adds. Raises `ServerSaidError`, and ValueError for what is no event of this API."""
        raise NotImplementedError


def convert(value: object, kind: type[Kind]) -> Kind | None:
    """`value` as `kind`, or None if it is nothing of that kind: an odd count is no reason to lose an answer."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def messages(prompt: Prompt, refuses: Container[str]) -> list[dict[str, str]]:
    """The conversation; the system's words stand at the head of the first user message if `system` is refused."""
    said = [{"role": message.role, "content": clean(message.text)} for message in prompt.messages]
    if "system" not in refuses:
        return said
    system = [message["content"] for message in said if message["role"] == "system"]
    rest = [message for message in said if message["role"] != "system"]
    if not system:
        return rest
    if not rest or rest[0]["role"] != "user":
        rest.insert(0, {"role": "user", "content": ""})
    rest[0]["content"] = "\n\n".join(filter(None, (*system, rest[0]["content"])))
    return rest


def schema_of(prompt: Prompt, refused: bool) -> Json | None:
    """The schema that the answer must follow, named as both APIs want it; None if there is none."""
    if not prompt.json_schema or refused:
        return None
    return {"name": "answer", "strict": True, "schema": json.loads(prompt.json_schema)}


def refuses_any(refuses: Iterable[str], *names: str) -> bool:
    return not set(names).isdisjoint(refuses)
