"""What every wire format must be able to say, so that all providers are held to one table of faults."""

from typing import Protocol

from core.models import ModelSpec, Provider
from tests.faults.server import FaultServer, Handler


class Wire(Protocol):
    """One provider's wire format. Every method but the first two gives a handler for one request."""

    name: str

    def provider(self) -> Provider:
        """A new provider, as the catalog makes it."""

    def spec(self, server: FaultServer, **settings: object) -> ModelSpec:
        """A model of this provider at `server`; `settings` are fields of `ModelSpec`."""

    def answer(
        self, text: str, *, thoughts: str = "", reason: str = "stop", usage: bool = True, pieces: int = 4
    ) -> Handler:
        """A whole streamed answer; `reason` is `stop`, `length` or `refused`, in this format's own word.

        With `usage`: 11 input, 7 output tokens.
        """

    def broken(self, text: str, then: str) -> Handler:
        """An answer that begins with `text`; `then` it may `end` early, be `cut`, `stall`, or go on as `garbage`."""

    def split_inside_a_character(self, text: str) -> Handler:
        """A whole answer whose bytes are cut in two within a multi-byte UTF-8 character."""

    def error(self, status: int, message: str, *, code: str = "", headers: dict[str, str] | None = None) -> Handler:
        """An error response in this format's own shape."""

    def filtered(self) -> Handler:
        """The request is refused by a content filter, with status 400."""

    def unsupported(self, parameter: str) -> Handler:
        """A 400 that says that the model does not take `parameter` (a wire name), in this server's own words."""
