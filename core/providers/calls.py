"""The one layer that every call to a model goes through: retries, limits, timeouts, and what it all used."""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import aclosing

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
)
from core.providers import faults
from core.providers.attempt import Attempt, add
from core.providers.endpoint import Endpoint

LONGEST_ANSWER = 4_000_000
"""Characters of one answer, thoughts included: more is no answer but a flood."""

LARGER = 4
"""How much longer an answer may be on the one more try after thoughts took all of it."""

OnDelta = Callable[[str, str], None]
"""Told each piece of text and of thoughts; one of the two is empty."""

OnRetry = Callable[[str, float], None]
"""Told why a call is tried again, and in how many seconds."""


class Persistence(Struct, frozen=True, kw_only=True):
    """How long a call is worth trying. Times in seconds."""

    tries: int = 4
    deadline: float = 300.0
    """From the first try on: no wait goes beyond it."""
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
        name = self.provider_for(spec.provider).endpoint(spec)
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(self.clock, spec.concurrency, spec.requests_per_minute)
        return self._endpoints[name]

    def effective(self, spec: ModelSpec) -> ModelSpec:
        """`spec` without the parameters that its model turned out not to take."""
        learned = self._refused.get(self._place(spec), ())
        return replace(spec, refuses=(*spec.refuses, *learned)) if learned else spec

    def learn(self, spec: ModelSpec, parameter: str) -> bool:
        """Remember that `spec`'s model does not take `parameter`. False if that was known, and changed nothing."""
        if not parameter or parameter in self.effective(spec).refuses:
            return False
        place = self._place(spec)
        self._refused[place] = (*self._refused.get(place, ()), parameter)
        return True

    def _place(self, spec: Served) -> tuple[str, str]:
        return self.provider_for(spec.provider).endpoint(spec), spec.model

    def wait_before(self, error: CallFailedError, tries: int, began: float) -> float | None:
        """Seconds to wait before the next try, after `tries` that failed; None if there is no use in one."""
        persistence = self.persistence
        if error.kind not in RETRIED or tries >= persistence.tries:
            return None
        jitter = random.uniform(0.75, 1.25)  # noqa: S311
        wait = min(persistence.first_wait * 2 ** (tries - 1), persistence.longest_wait) * jitter
        wait = max(wait, error.retry_after or 0.0)
        return wait if self.clock.monotonic() + wait <= began + persistence.deadline else None

    def closing(self, error: CallFailedError, wait: float | None) -> float:
        """Seconds for which an endpoint is left alone after it said that it is asked too often."""
        return min(error.retry_after or wait or 0.0, self.persistence.deadline)

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
        """Vectors of `texts` in one request. Raises `CallFailedError` when it failed for good."""
        provider: EmbeddingProvider = self.provider_for(spec.provider)  # type: ignore[assignment]
        endpoint = self.endpoint(spec)
        began = self.clock.monotonic()
        tries = 0
        while True:
            tries += 1
            async with endpoint.slot() as began_at:
                try:
                    async with asyncio.timeout(self.persistence.first_token):
                        vectors = await provider.embed(spec, texts)
                except TimeoutError:
                    failure = faults.too_slow(self.provider_for(spec.provider).endpoint(spec))
                except CallFailedError as error:
                    failure = error
                else:
                    endpoint.succeeded()
                    return vectors
            wait = self.wait_before(failure, tries, began)
            if failure.kind == "limited":
                endpoint.throttled(began_at, self.closing(failure, wait))
            if wait is None:
                raise failure
            await self.clock.sleep(wait)


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
        return add(self._earlier, self._attempt.usage(self._caller.clock.monotonic()))

    @property
    def cost(self) -> float | None:
        """Of all tries, in US dollars; None where the price is unknown."""
        newest = self._provider.cost(self._spec, self._attempt.usage(self._caller.clock.monotonic()))
        return None if newest is None or self._earlier_cost is None else self._earlier_cost + newest

    async def run(self) -> Outcome:
        """Make the call. Never raises for a call that fails; raises CancelledError when cancelled."""
        try:
            return await self._try_until_done()
        except CallFailedError as error:
            self.kind, self.message = error.kind, scrub(str(error))
            return "failed"
        except asyncio.CancelledError:
            self.message = "cancelled"
            raise
        finally:
            self.text, self.thoughts = self._attempt.read()
            self.trace = tuple(self._attempt.trace)

    async def _try_until_done(self) -> Outcome:
        endpoint = self._caller.endpoint(self._spec)
        spec = self._caller.effective(self._spec)
        enlarged = False
        while True:
            self.tries += 1
            async with endpoint.slot() as began:
                try:
                    outcome = await self._once(spec)
                except CallFailedError as error:
                    failure = error
                else:
                    endpoint.succeeded()
                    if outcome != "truncated" or enlarged or self._attempt.read()[0].strip() != self._prompt.lead:
                        return outcome
                    enlarged = True
                    longest = max(spec.context // 2, spec.max_tokens)
                    spec = replace(spec, max_tokens=min(LARGER * spec.max_tokens, longest))
                    self._on_retry("Thoughts took all the room for the answer: asked again with more of it", 0.0)
                    self._start_anew()
                    continue
            if failure.kind == "parameter" and self._caller.learn(spec, failure.parameter):
                spec = replace(spec, refuses=(*spec.refuses, failure.parameter))
                self._on_retry(f"{scrub(str(failure))}: asked again without", 0.0)
                self._start_anew()
                continue
            wait = self._caller.wait_before(failure, self.tries, self._began)
            if failure.kind == "limited":
                endpoint.throttled(began, self._caller.closing(failure, wait))
            if wait is None:
                raise failure
            self._start_anew()
            self._on_retry(scrub(str(failure)), wait)
            await self._caller.clock.sleep(wait)

    def _start_anew(self) -> None:
        """Forget the text of a try that failed, but not what it used."""
        used = self._attempt.usage(self._caller.clock.monotonic())
        cost = self._provider.cost(self._spec, used)
        self._earlier = add(self._earlier, used)
        self._earlier_cost = None if cost is None or self._earlier_cost is None else self._earlier_cost + cost
        self._attempt = Attempt(self._prompt)

    async def _once(self, spec: ModelSpec) -> Outcome:
        self._attempt = attempt = Attempt(self._prompt)
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
                if attempt.received > LONGEST_ANSWER:
                    raise faults.broke_off(server, "it would not end")
                if patience is not None and not isinstance(chunk, Sent):
                    patience = self._caller.persistence.next_token

    def _note(self, text: str, thoughts: str) -> None:
        """Tell whoever watches, and mark how much text there is by now."""
        self._attempt.mark(len(text), self._caller.clock.monotonic() - self._began)
        if text or thoughts:
            self._on_delta(text, thoughts)
