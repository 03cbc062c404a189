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
    """Whoever reads a stream adds what comes, and sets `reason`, and `tokens` and `generating`, once they are known."""

    def __init__(self, prompt: Prompt) -> None:
        self.reason: FinishReason | None = None
        self.tokens: Tokens | None = None
        self.generating: float | None = None
        """Seconds, where the server tells."""
        self._prompt = prompt
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._asked = monotonic()
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

    @property
    def asked(self) -> int:
        """The prompt's tokens, estimated: rather more than fewer."""
        return sum(estimate_tokens(message.text) for message in self._prompt.messages)

    def _usage(self) -> Usage:
        """As the server counted; estimated where it did not. A request that was refused outright used nothing."""
        thoughts = estimate_tokens("".join(self._thoughts))
        if self.tokens is not None:
            reasoning = thoughts if self.tokens.reasoning is None else self.tokens.reasoning
            reasoning = min(reasoning, self.tokens.output)
            return Usage(
                input_tokens=self.tokens.input,
                output_tokens=self.tokens.output,
                reasoning_tokens=reasoning,
                cached_tokens=self.tokens.cached,
                seconds=self._seconds(unseen=reasoning > 0 and not self._thoughts),
            )
        if self.reason == "refused" and self._first is None:
            return Usage()
        return Usage(
            input_tokens=self.asked,
            output_tokens=estimate_tokens("".join(self._text)) + thoughts,
            reasoning_tokens=thoughts,
            seconds=self._seconds(unseen=False),
            estimated=True,
        )

    def _seconds(self, *, unseen: bool) -> float:
        """Generation lasts from the first token on; with thoughts that nobody was shown, from the request on."""
        if self.generating is not None:
            return self.generating
        began = self._asked if unseen else self._first
        return 0.0 if began is None else monotonic() - began
