"""One judge model: what it says of one answer, or of two. A score, or the reason why there is none."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from core.models import CallFailedError, ModelSpec, Outcome, Prompt
from core.scoring.account import Account, Trouble
from core.scoring.judge_prompts import coherence_prompt, similarity_prompt
from core.scoring.reading import read_score
from core.text import clean_line

TRIES = 3
"""Replies that a judge may give, until one can be read."""


class Reply(Struct, frozen=True):
    """What a call brought. `text` is without thoughts."""

    outcome: Outcome
    text: str


class AskModel(Protocol):
    """One call to a model, retries and limits included."""

    async def prepare(self, spec: ModelSpec) -> None:
        """Raises `ModelUnavailableError` with what to do."""

    async def __call__(self, spec: ModelSpec, prompt: Prompt, account: Account) -> Reply:
        """Charges `account` with what it took, however it ends. Raises `CallFailedError` when it failed for good."""


class Judgement(Struct, frozen=True, kw_only=True):
    """One score. One that was there already took no reply."""

    score: int | None
    """0 to 100; None: unscored."""
    replies: int = 0
    unreadable: int = 0
    """How many of the replies could not be read, refusals and empty ones among them."""
    why: str = ""
    """Why it is unscored, in a line."""


def judge_id(spec: ModelSpec) -> str:
    """What a judge is called in scores: its name, and what its provider calls it."""
    return clean_line(f"{spec.name} ({spec.provider}{':' if spec.model else ''}{spec.model})", 200)


_Key = tuple[str, str | None, str]
"""A question, the earlier answer where likeness is asked for, and the answer."""


class Judge:
    """Remembers its scores by their texts for as long as it lives; equal requests at one moment share one call."""

    def __init__(self, spec: ModelSpec, ask: AskModel) -> None:
        self.spec = spec
        self.id = judge_id(spec)
        self._ask = ask
        self._scores: dict[_Key, int] = {}
        self._under_way: dict[_Key, asyncio.Future[Judgement]] = {}

    async def prepare(self) -> None:
        """Make its model ready. Raises `ModelUnavailableError` with what to do."""
        await self._ask.prepare(self.spec)

    async def coherence(self, question: str, answer: str, account: Account) -> Judgement:
        """How coherent `answer` is as an answer to `question`. A call that fails leaves it unscored."""
        return await self._once(
            _key(question, answer), lambda fence: coherence_prompt(question, answer, fence), account
        )

    async def similarity(self, question: str, earlier: str, answer: str, account: Account) -> Judgement:
        """How far two answers to `question` are the same idea. A call that fails leaves it unscored."""
        return await self._once(
            _key(question, answer, earlier),
            lambda fence: similarity_prompt(question, earlier, answer, fence),
            account,
        )

    def remember(self, question: str, earlier: str | None, answer: str, score: int) -> None:
        """Take in a score from before: of likeness to `earlier`, or of coherence, so that it is not asked for again."""
        self._scores[_key(question, answer, earlier)] = score

    async def _once(self, key: _Key, prompt: Callable[[str], Prompt], account: Account) -> Judgement:
        while True:
            if (score := self._scores.get(key)) is not None:
                return Judgement(score=score)
            if (other := self._under_way.get(key)) is None:
                return await self._first(key, prompt, account)
            await asyncio.wait([other])
            if not other.cancelled():
                return Judgement(score=other.result().score, why=other.result().why)

    async def _first(self, key: _Key, prompt: Callable[[str], Prompt], account: Account) -> Judgement:
        result = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            judgement = await self._judge(prompt, account)
            if judgement.score is not None:
                self._scores[key] = judgement.score
            result.set_result(judgement)
            return judgement
        finally:
            del self._under_way[key]
            result.cancel()  # without a result: whoever waits for it asks anew

    async def _judge(self, prompt: Callable[[str], Prompt], account: Account) -> Judgement:
        judgement = Judgement(score=None)
        while judgement.score is None and judgement.replies < TRIES:
            try:
                reply = await self._ask(self.spec, prompt(secrets.token_hex(8)), account)
            except CallFailedError as error:
                why = clean_line(str(error), 400)
                account.troubles.append(Trouble(self.spec.name, error.kind, why))
                return replace(judgement, why=why)
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
    )


def _key(question: str, answer: str, earlier: str | None = None) -> _Key:
    return question, earlier, answer
