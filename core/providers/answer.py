"""What has come of an answer while it streams, and what it used in the end."""

from time import monotonic

from msgspec import Struct

from core.models import Chunk, Finish, FinishReason, Prompt, TextDelta, ThoughtDelta, Usage
from core.providers.tokens import estimate_tokens
from core.text import clean


class Tokens(Struct):
    """As a server counted them."""

    input: int
    """Cached ones included."""
    output: int
    """Thoughts included."""
    cached: int = 0
    reasoning: int | None = None
    """None if it did not say."""


class Answer:
    """Whoever reads a stream adds what comes, and sets `reason` and `tokens` once they are known."""

    def __init__(self, prompt: Prompt) -> None:
        self.reason: FinishReason | None = None
        self.tokens: Tokens | None = None
        self._prompt = prompt
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._first: float | None = None

    def add(self, text: str | None = None, thought: str | None = None) -> list[Chunk]:
        """New pieces, as chunks; none for what is empty."""
        chunks: list[Chunk] = []
        if thought:
            self._thoughts.append(thought)
            chunks.append(ThoughtDelta(clean(thought)))
        if text:
            self._text.append(text)
            chunks.append(TextDelta(clean(text)))
        if chunks and self._first is None:
            self._first = monotonic()
        return chunks

    def finish(self) -> Finish:
        """The end, for the reason that was set."""
        assert self.reason is not None
        return Finish(self.reason, self._usage())

    def _usage(self) -> Usage:
        """As the server counted; estimated where it did not. A request that was refused outright used nothing."""
        thoughts = estimate_tokens("".join(self._thoughts))
        seconds = 0.0 if self._first is None else monotonic() - self._first
        if self.tokens is not None:
            reasoning = thoughts if self.tokens.reasoning is None else self.tokens.reasoning
            return Usage(
                input_tokens=self.tokens.input,
                output_tokens=self.tokens.output,
                reasoning_tokens=min(reasoning, self.tokens.output),
                cached_tokens=self.tokens.cached,
                seconds=seconds,
            )
        if self.reason == "refused" and self._first is None:
            return Usage()
        return Usage(
            input_tokens=sum(estimate_tokens(message.text) for message in self._prompt.messages),
            output_tokens=estimate_tokens("".join(self._text)) + thoughts,
            reasoning_tokens=thoughts,
            seconds=seconds,
            estimated=True,
        )
