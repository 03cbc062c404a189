"""One try of a call: what came back, when, and what it used."""

from core.answers import ThoughtSplitter, without_thoughts
from core.keys import StreamScrubber, hide
from core.models import Finish, Outcome, Parameter, Prompt, Usage
from core.providers.tokens import estimate_tokens

TRACE_MS = 50
"""The least time between two points of a trace."""


class Attempt:
    """What has come so far stays here however the try ends."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._finish: Finish | None = None
        self._first: float | None = None
        self._ended: float | None = None
        self.parameters: dict[str, Parameter] = {}
        self.pieces: list[str] = []
        self.thoughts: list[str] = []
        self._splitter = ThoughtSplitter()
        self._text_keys, self._thought_keys = StreamScrubber(), StreamScrubber()
        self.trace: list[tuple[int, int]] = []
        self.received = 0
        """Characters, of text and thoughts."""
        self._written = 0

    def take(self, text: str, now: float) -> tuple[str, str]:
        """Take in a piece of text. Gives what can be shown by now, of text and of thoughts."""
        self._seen(text, now)
        self.pieces.append(text)
        return self._splitter.feed(self._text_keys.feed(text))

    def think(self, thoughts: str, now: float) -> tuple[str, str]:
        """The same for a piece of thoughts."""
        self._seen(thoughts, now)
        self.thoughts.append(thoughts)
        return "", self._thought_keys.feed(thoughts)

    def rest(self) -> tuple[str, str]:
        """What was held back, to see how it goes on."""
        text, thoughts = self._splitter.feed(self._text_keys.rest())
        more_text, more_thoughts = self._splitter.rest()
        return text + more_text, thoughts + more_thoughts + self._thought_keys.rest()

    def _seen(self, piece: str, now: float) -> None:
        self.received += len(piece)
        if self._first is None:
            self._first = now

    def mark(self, characters: int, seconds: float) -> None:
        """Note how much text there is by now, at most 20 times a second and at the end."""
        self._written += characters
        now = round(seconds * 1000)
        before, written = self.trace[-1] if self.trace else (-TRACE_MS, 0)
        if written == self._written:
            return
        if now - before >= TRACE_MS:
            self.trace.append((now, self._written))
        else:
            self.trace[-1] = (before, self._written)

    def read(self) -> tuple[str, str]:
        """Text and thoughts as they stand."""
        answer = without_thoughts("".join(self.pieces))
        text = "" if answer.text is None else answer.text
        thoughts = "\n".join(filter(None, ("".join(self.thoughts), answer.thoughts)))
        return hide(self._prompt.lead + text), hide(thoughts)

    def finish(self, finish: Finish) -> Outcome:
        self._finish = finish
        if finish.reason == "refused":
            return "refused"
        text = without_thoughts("".join(self.pieces)).text
        if finish.reason == "length" or text is None:
            return "truncated"
        return "ok" if text.strip() else "empty"

    def end(self, now: float) -> None:
        """Nothing more comes, however it ended."""
        self._ended = now

    def usage(self, now: float) -> Usage:
        """By `now`, or by its end; estimated where the provider did not come to count."""
        if self._finish is not None:
            return self._finish.usage
        written = "".join(self.pieces) + "".join(self.thoughts)
        if not self.parameters and not written:
            return Usage()  # it never got as far as being worked on
        return Usage(
            input_tokens=sum(estimate_tokens(message.text) for message in self._prompt.messages),
            output_tokens=estimate_tokens(written),
            seconds=0.0 if self._first is None else (now if self._ended is None else self._ended) - self._first,
            estimated=True,
        )
