"""The one layer that every call to a model goes through: retries, limits, timeouts, and what it all used."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from core.clock import Clock, SystemClock
from core.events import Trace
from core.keys import scrub
from core.models import (
    CallFailedError,
    EmbedderSpec,
    EmbeddingProvider,
    FailureKind,
    Finish,
    ModelSpec,
    Outcome,
    Parameter,
    Prompt,
    Provider,
    Sent,
    Served,
    TextDelta,
    ThoughtDelta,
    Usage,
    Vectors,
    added,
)
from core.providers import faults
from core.providers.attempt import Attempt
from core.providers.endpoint import Endpoint
from core.providers.tokens import estimate_tokens

PER_TOKEN = 16
"""Characters that an answer may have for each token that it may have: more is no answer but a flood."""

LARGER = 4
"""How much longer an answer may be on the one more try after thoughts took all of it."""

SPARE = 64
"""Tokens of the context left free when an answer gets more room: a prompt may take more than was estimated."""

OnDelta = Callable[[str, str], None]
"""Told each piece of text and of thoughts; one of the two is empty."""

OnRetry = Callable[[str, float], None]
"""Told why a call waits or is tried again, and in how many seconds."""

OnUsed = Callable[[Usage], None]

Spec = TypeVar("Spec", ModelSpec, EmbedderSpec)
T = TypeVar("T")


class Persistence(Struct, frozen=True, kw_only=True):
    """How long a call is worth trying. Times in seconds."""

    tries: int = 4
    deadline: float = 300.0
    """From the first try's start on: no wait goes beyond it."""
    first_wait: float = 1.0
    """Before the second try; twice as long before each further one, with jitter."""
    longest_wait: float = 60.0
    first_token: float = 600.0
    """Reasoning models may think for minutes without a word."""
    next_token: float = 120.0


PERSISTENCE = Persistence()


class Caller:
    """Makes calls. One for the life of the process, so that all calls to an endpoint share its limits."""

    def __init__(
        self,
        provider_for: Callable[[str], Provider],
        clock: Clock | None = None,
        persistence: Persistence | None = None,
    ) -> None:
        self.provider_for = provider_for
        self.clock = clock or SystemClock()
        self.persistence = persistence or PERSISTENCE
        self._endpoints: dict[str, Endpoint] = {}
        self._refused: dict[tuple[str, str], tuple[str, ...]] = {}
        """Parameters that a model turned out not to take, by endpoint and model."""

    def endpoint(self, spec: ModelSpec | EmbedderSpec) -> Endpoint:
        """The limits of the server of `spec`: the least that any spec seen there has set."""
        name = self._server(spec)
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(self.clock, spec.concurrency, spec.requests_per_minute)
        self._endpoints[name].tighten(spec.concurrency, spec.requests_per_minute)
        return self._endpoints[name]

    def effective(self, spec: Spec) -> Spec:
        """`spec` without the parameters that its model turned out not to take."""
        refuses = dict.fromkeys((*spec.refuses, *self._refused.get((self._server(spec), spec.model), ())))
        return replace(spec, refuses=tuple(refuses))

    async def tried(self, spec: Spec, once: Callable[[Spec], Awaitable[T]], on_retry: OnRetry) -> T:
        """What `once` brings for `spec`, tried again for as long as that may help.

        Raises `CallFailedError` when it failed for good.
        """
        endpoint = self.endpoint(spec)
        began: float | None = None
        tries = 0

        def held(seconds: float) -> None:
            now = self.clock.monotonic()
            why = f"{self._server(spec)} is asked too often"
            if now + seconds > (now if began is None else began) + self.persistence.deadline:
                raise self._too_long(CallFailedError("limited", why, retry_after=seconds))
            on_retry(why, seconds)

        while True:
            async with endpoint.slot(held) as now:
                began = now if began is None else began
                sent = self.effective(spec)
                try:
                    result = await once(sent)
                except CallFailedError as error:
                    failure = error
                else:
                    endpoint.succeeded()
                    return result
            if self._learn(sent, failure):
                on_retry(f"it does not take {failure.parameter}: asked again without", 0.0)
                continue
            tries += 1
            wait = self._wait_before(failure, tries, began)
            if failure.kind == "limited":
                endpoint.throttled(now, failure.retry_after or wait or 0.0)
            if wait is None:
                raise self._too_long(failure)
            on_retry(scrub(str(failure)), wait)
            await self.clock.sleep(wait)

    async def embed(
        self,
        spec: EmbedderSpec,
        texts: Sequence[str],
        *,
        on_retry: OnRetry = lambda why, seconds: None,
        on_used: OnUsed = lambda usage: None,
    ) -> Vectors:
        """Vectors of `texts` in one request. `on_used` is told what every try of it took, however it ended.

        Raises `CallFailedError` when it failed for good.
        """
        provider: EmbeddingProvider = self.provider_for(spec.provider)  # type: ignore[assignment]

        async def once(spec: EmbedderSpec) -> Vectors:
            # A server that went to work on it may count it, whether its answer is waited for or not.
            used = Usage(input_tokens=sum(map(estimate_tokens, texts)), estimated=True)
            try:
                async with asyncio.timeout(self.persistence.first_token):
                    vectors = await provider.embed(spec, texts)
                used = vectors.usage
                return vectors
            except TimeoutError:
                raise faults.too_slow(self._server(spec)) from None
            except CallFailedError as error:
                used = used if error.kind in ("timeout", "unreadable") else Usage()
                raise
            finally:
                if used != Usage():
                    on_used(used)

        return await self.tried(spec, once, on_retry)

    def _server(self, spec: Served) -> str:
        return self.provider_for(spec.provider).endpoint(spec)

    def _learn(self, sent: ModelSpec | EmbedderSpec, failure: CallFailedError) -> bool:
        """Remember a parameter that the model does not take. Whether leaving it out may help: if it was not already."""
        if failure.kind != "parameter" or not failure.parameter or failure.parameter in sent.refuses:
            return False
        place = (self._server(sent), sent.model)
        self._refused[place] = tuple(dict.fromkeys((*self._refused.get(place, ()), failure.parameter)))
        return True

    def _wait_before(self, error: CallFailedError, tries: int, began: float) -> float | None:
        """Seconds to wait before the next try, after `tries` that failed; None if there is no use in one."""
        persistence = self.persistence
        if error.kind not in RETRIED or tries >= persistence.tries:
            return None
        jitter = random.uniform(0.75, 1.25)  # noqa: S311
        wait = min(persistence.first_wait * 2 ** (tries - 1), persistence.longest_wait) * jitter
        wait = max(wait, error.retry_after or 0.0)
        return wait if self.clock.monotonic() + wait <= began + persistence.deadline else None

    def _too_long(self, failure: CallFailedError) -> CallFailedError:
        """`failure`, which says when to try again if its server does."""
        if not failure.retry_after:
            return failure
        now = datetime.fromisoformat(self.clock.now())
        then = now + timedelta(seconds=failure.retry_after)
        when = f"{then:%H:%M}" if then.date() == now.date() else f"{then:%H:%M on %Y-%m-%d}"
        return CallFailedError(failure.kind, f"{failure} (not before {when})", retry_after=failure.retry_after)


RETRIED: frozenset[FailureKind | None] = frozenset({"connection", "timeout", "limited", "server", "unreadable"})
"""Failures that may be gone at the next try; all others stay until somebody does something."""


class Call:
    """One call, with all its tries. What has come back so far stays here however it ends, so that it is recorded."""

    def __init__(
        self,
        caller: Caller,
        spec: ModelSpec,
        prompt: Prompt,
        random_seed: int = 0,
        *,
        on_delta: OnDelta = lambda text, thoughts: None,
        on_retry: OnRetry = lambda why, seconds: None,
    ) -> None:
        self._caller = caller
        self._provider = caller.provider_for(spec.provider)
        self._spec = spec
        self._prompt = prompt
        self._random_seed = random_seed
        self._on_delta = on_delta
        self._on_retry = on_retry
        self._began = caller.clock.monotonic()
        """From where the trace counts."""
        self._earlier = Usage()
        """Of tries before the newest."""
        self._earlier_cost: float | None = 0.0
        self._attempt = Attempt(prompt)
        self.tries = 0
        self.trace: Trace = ()
        self.text = ""
        """The prompt's lead and what the model added, without its thoughts."""
        self.thoughts = ""
        self.kind: FailureKind | None = None
        self.message = ""

    @property
    def answer(self) -> str:
        """What the model added to the prompt's lead."""
        return self.text[len(self._prompt.lead) :]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """As they were sent the last time."""
        return self._attempt.parameters

    @property
    def usage(self) -> Usage:
        """Of all tries; estimated where one ended before the provider could count."""
        return self._earlier + self._attempt.usage(self._caller.clock.monotonic())

    @property
    def cost(self) -> float | None:
        """Of all tries, in US dollars; None where the price is unknown."""
        newest = self._provider.cost(self._spec, self._attempt.usage(self._caller.clock.monotonic()))
        return added(self._earlier_cost, newest)

    async def run(self) -> Outcome:
        """Make the call. Never raises for a call that fails; raises CancelledError when cancelled."""
        try:
            return await self._answered()
        except CallFailedError as error:
            self.kind, self.message = error.kind, scrub(str(error))
            return "failed"
        except asyncio.CancelledError:
            self.message = "cancelled"
            raise
        finally:
            self.text, self.thoughts = self._attempt.read()
            self.trace = tuple(self._attempt.trace)

    async def _answered(self) -> Outcome:
        """How the answer ended; one that its thoughts left no room for is asked for once more, with more room."""
        outcome = await self._caller.tried(self._spec, self._once, self._on_retry)
        larger = self._larger()
        if outcome != "truncated" or larger is None or self._attempt.read()[0].strip() != self._prompt.lead:
            return outcome
        self._on_retry("its thoughts took all the room for the answer: asked again with more of it", 0.0)
        try:
            return await self._caller.tried(larger, self._once, self._on_retry)
        except CallFailedError as error:
            if error.kind != "context":
                raise
            return outcome

    def _larger(self) -> ModelSpec | None:
        """The spec with as much more room for the answer as the context has; None if it has no more."""
        prompt = sum(estimate_tokens(message.text) for message in self._prompt.messages)
        longest = min(LARGER * self._spec.max_tokens, self._spec.context - prompt - SPARE)
        return replace(self._spec, max_tokens=longest) if longest > self._spec.max_tokens else None

    async def _once(self, spec: ModelSpec) -> Outcome:
        """One try. Forgets the text of the one before, but not what it used."""
        if self.tries:
            self._earlier, self._earlier_cost = self.usage, self.cost
        self.tries += 1
        self._attempt = attempt = Attempt(self._prompt)
        try:
            return await self._stream(spec, attempt)
        finally:
            attempt.end(self._caller.clock.monotonic())

    async def _stream(self, spec: ModelSpec, attempt: Attempt) -> Outcome:
        self._note(self._prompt.lead, "")
        server = self._provider.endpoint(spec)
        # In this process a prompt is worked on for as long as it takes; nobody can hang up.
        patience = None if spec.provider == "embedded" else self._caller.persistence.first_token
        async with aclosing(self._provider.stream(spec, self._prompt, self._random_seed)) as stream:
            while True:
                try:
                    async with asyncio.timeout(patience):
                        chunk = await anext(stream)
                except TimeoutError:
                    raise faults.too_slow(server) from None
                except StopAsyncIteration:
                    raise faults.broke_off(server) from None
                match chunk:
                    case Sent(parameters):
                        attempt.parameters = parameters
                    case TextDelta(text):
                        self._note(*attempt.take(text, self._caller.clock.monotonic()))
                    case ThoughtDelta(text):
                        self._note(*attempt.think(text, self._caller.clock.monotonic()))
                    case Finish():
                        self._note(*attempt.rest())
                        return attempt.finish(chunk)
                if attempt.received > 10_000 + PER_TOKEN * spec.max_tokens:
                    raise faults.broke_off(server, "it would not end")
                if patience is not None and not isinstance(chunk, Sent):
                    patience = self._caller.persistence.next_token

    def _note(self, text: str, thoughts: str) -> None:
        """Tell whoever watches, and mark how much text there is by now."""
        self._attempt.mark(len(text), self._caller.clock.monotonic() - self._began)
        if text or thoughts:
            self._on_delta(text, thoughts)
