"""One judge model: what it says of one answer, or of two. A score, or the reason why there is none."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from core.models import CallFailedError, ModelSpec, Outcome, Prompt, Usage
from core.providers.attempt import add
from core.scoring.judge_prompts import coherence_prompt, similarity_prompt
from core.scoring.reading import read_score
from core.text import clean_line

TRIES = 3
"""Replies that a judge may give, until one can be read."""


class Reply(Struct, frozen=True):
    """What a call brought. `text` is without thoughts; `cost` in US dollars, None where the price is unknown."""

    outcome: Outcome
    text: str
    usage: Usage
    cost: float | None


class AskModel(Protocol):
    """One call to a model, retries and limits included."""

    async def __call__(self, spec: ModelSpec, prompt: Prompt) -> Reply:
        """Raises `CallFailedError` when the call failed for good."""


class Judgement(Struct, frozen=True, kw_only=True):
    """One score with what it took. A judgement that was there already took nothing."""

    score: int | None
    """0 to 100; None: unscored."""
    replies: int = 0
    unreadable: int = 0
    """How many of the replies could not be read, refusals and empty ones among them."""
    why: str = ""
    """Why it is unscored, in a line."""
    usage: Usage = Usage()
    cost: float | None = 0.0


def judge_id(spec: ModelSpec) -> str:
    """What a judge is called in scores: its name, and what its provider calls it."""
    return clean_line(f"{spec.name} ({spec.provider}{':' if spec.model else ''}{spec.model})", 200)


class Judge:
    """Remembers its scores by their texts for as long as it lives; equal requests at one moment share one call."""

    def __init__(self, spec: ModelSpec, ask: AskModel) -> None:
        self.spec = spec
        self.id = judge_id(spec)
        self._ask = ask
        self._scores: dict[tuple[str, ...], int] = {}
        self._under_way: dict[tuple[str, ...], asyncio.Future[Judgement]] = {}

    async def coherence(self, question: str, answer: str) -> Judgement:
        """How coherent `answer` is as an answer to `question`. A call that fails leaves it unscored."""
        return await self._once(
            ("coherence", question, answer), lambda fence: coherence_prompt(question, answer, fence)
        )

    async def similarity(self, question: str, earlier: str, answer: str) -> Judgement:
        """How far two answers to `question` are the same idea. A call that fails leaves it unscored."""
        return await self._once(
            ("similarity", question, earlier, answer),
            lambda fence: similarity_prompt(question, earlier, answer, fence),
        )

    async def _once(self, key: tuple[str, ...], prompt: Callable[[str], Prompt]) -> Judgement:
        while True:
            if (score := self._scores.get(key)) is not None:
                return Judgement(score=score)
            if (other := self._under_way.get(key)) is None:
                return await self._first(key, prompt)
            await asyncio.wait([other])
            if not other.cancelled():
                return Judgement(score=other.result().score, why=other.result().why)

    async def _first(self, key: tuple[str, ...], prompt: Callable[[str], Prompt]) -> Judgement:
        result = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await self._judge(prompt)
            if judgement.score is not None:
                self._scores[key] = judgement.score
            result.set_result(judgement)
            return judgement
        finally:
            del self._under_way[key]
            result.cancel()  # without a result: whoever waits for it asks anew

    async def _judge(self, prompt: Callable[[str], Prompt]) -> Judgement:
        judgement = Judgement(score=None)
        while judgement.score is None and judgement.replies < TRIES:
            try:
                reply = await self._ask(self.spec, prompt(secrets.token_hex(8)))
            except CallFailedError as error:
                return replace(judgement, why=clean_line(str(error), 400))
            judgement = _with_reply(judgement, reply)
        return judgement


def _with_reply(before: Judgement, reply: Reply) -> Judgement:
    score = read_score(reply.text) if reply.outcome == "ok" else None
    said = f"said {clean_line(reply.text, 80)!r}" if reply.outcome == "ok" else f"was {reply.outcome}"
    return Judgement(
        score=score,
        replies=before.replies + 1,
        unreadable=before.unreadable + (score is None),
        why="" if score is not None else f"no score in {before.replies + 1} replies; the last {said}",
        usage=add(before.usage, reply.usage),
        cost=None if before.cost is None or reply.cost is None else before.cost + reply.cost,
    )
