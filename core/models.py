"""What a model is asked, and what comes back."""

from collections.abc import AsyncGenerator
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct

YOU = "you"
"""The author of a person's own ideas: no member is called so."""

Cap = Annotated[int, Meta(ge=1, le=100_000)]
"""The most ideas of a chain."""

Style = Literal["list", "chat", "turns", "concept"]
"""How a prompt shows the chain; the texts are in `core.prompts`."""

FinishReason = Literal["stop", "length", "refused"]

FailureKind = Literal["connection", "timeout", "context", "missing", "server", "unreadable"]

Outcome = Literal["ok", "refused", "truncated", "empty", "failed", "cancelled"]
"""How a call ended: exactly one of these. Only `ok` is ever scored."""


class ModelSpec(Struct, frozen=True, kw_only=True):
    """One language model with the settings it is called with. Never holds a key."""

    name: str
    provider: str = "embedded"
    model: str = ""
    """The provider's own name for it; for `embedded` a path to a GGUF file, or "" for the built-in weights."""
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.9
    top_p: Annotated[float, Meta(ge=0, le=1)] = 0.95
    repeat_penalty: Annotated[float, Meta(gt=0, le=10)] = 1.1
    max_tokens: Annotated[int, Meta(ge=1, le=1_000_000)] = 96
    """The longest answer, in tokens."""
    context: Annotated[int, Meta(ge=1, le=10_000_000)] = 8192
    """Prompt and answer together, in tokens."""


class Message(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    text: str


class Prompt(Struct, frozen=True, kw_only=True):
    """What is sent: a conversation, or for `completion` one user message whose text the model continues."""

    messages: tuple[Message, ...]
    completion: bool = False
    stop: tuple[str, ...] = ()
    lead: str = ""
    """Words that the prompt ends in and the idea begins with: the answer is `lead` and what the model adds."""


class Usage(Struct, frozen=True, kw_only=True):
    """What a call used, in tokens; `seconds` is the time of generation alone."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    estimated: bool = False

    @property
    def tokens_per_second(self) -> float:
        return self.output_tokens / self.seconds if self.seconds > 0 else 0.0


class TextDelta(Struct, frozen=True):
    text: str


class ThoughtDelta(Struct, frozen=True):
    text: str


class Finish(Struct, frozen=True):
    """The last thing a stream gives."""

    reason: FinishReason
    usage: Usage


Chunk = TextDelta | ThoughtDelta | Finish


class CallFailedError(Exception):
    """A call that ended without a usable answer; `kind` says what to do about it, the text says it to a person.

    An answer that is no idea (refused, truncated, empty) has no kind.
    """

    def __init__(self, kind: FailureKind | None, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Provider(Protocol):
    """One way to reach models. Knows nothing of sessions."""

    async def prepare(self, spec: ModelSpec) -> None:
        """Make `spec` ready to be called (load weights, find a server).

        Raises `ModelUnavailableError` with what to do.
        """

    def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Text as it comes, then one `Finish`. Closing the iterator stops the generation.

        Raises `CallFailedError`.
        """

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        """How many tokens `text` is to `spec`."""

    def cost(self, spec: ModelSpec, usage: Usage) -> float | None:
        """In US dollars; None where the price is unknown."""

    async def close(self) -> None:
        """Let go of weights, sockets and threads."""


class Member(Struct, frozen=True, kw_only=True):
    """A model's place in a team. Its name is never in a prompt."""

    name: Annotated[str, Meta(min_length=1)]
    model: ModelSpec
    weight: Annotated[float, Meta(gt=0, le=1e6)] = 1.0
    style: Style = "list"
    persona: str = ""


class TeamSpec(Struct, frozen=True, kw_only=True):
    """Members and the strategy that produces the next idea."""

    name: str
    strategy: Literal["solo", "sample"] = "solo"
    members: Annotated[tuple[Member, ...], Meta(min_length=1)]
    about: str = ""

    def __post_init__(self) -> None:
        names = [member.name for member in self.members]
        if not names:
            raise ValueError("A team needs a member")
        if YOU in names:
            raise ValueError(f"No member can be called {YOU!r}: that is the person")
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"Two members are called {twice[0]!r}")

    def member(self, name: str) -> Member:
        return next(member for member in self.members if member.name == name)
