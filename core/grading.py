"""Scores and verdicts of ideas, one after the other, as events; beside some, a look at how good the judges are."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from core import events as ev
from core.chain import Chain, Idea
from core.clock import Clock
from core.config import Plan
from core.models import FailureKind, Usage
from core.randomness import generator
from core.rules import Scores, judge
from core.scoring.account import Account
from core.scoring.judge_prompts import JUDGE_VERSION
from core.scoring.scorer import Scorer
from core.stepping import OUTAGE_SECONDS, wait_before

PATIENCE: dict[FailureKind | None, float] = {
    "connection": OUTAGE_SECONDS,
    "limited": 60.0,
    "server": 60.0,
    "timeout": 60.0,
    "unreadable": 60.0,
}
"""Seconds for which a score is asked for again and again when calls fail so; not at all for other failures."""

OF_ONE_IDEA: frozenset[FailureKind | None] = frozenset({"server", "timeout", "unreadable", "context", "request"})
"""Failures that an idea may bring about itself: it stays unscored, and the next one may fare better."""


class Grader:
    def __init__(
        self,
        plan: Plan,
        scorer: Scorer,
        clock: Clock,
        emit: Callable[[ev.Event], None],
        elapsed: Callable[[], float],
        beside: Callable[[Callable[[], Coroutine[Any, Any, None]]], None],
        pause: Callable[[str], None],
    ) -> None:
        """`elapsed` gives the session's seconds, `beside` does something for which nothing waits, `pause` tells why."""
        self._plan = plan
        self._scorer = scorer
        self._clock = clock
        self._emit = emit
        self._elapsed = elapsed
        self._beside = beside
        self._pause = pause
        self._turn = asyncio.Lock()
        self._ready = asyncio.Event()
        """Set when judges and embedder are; a person's own ideas may come before."""
        self._told_until: dict[str, float] = {}
        """Until when the last wait that was told goes, in the session's seconds: a thousand calls share one event."""
        self._noticed: set[tuple[str, str]] = set()

    async def prepare(self) -> None:
        """Make judges and embedder ready. Raises `ModelUnavailableError`."""
        await self._scorer.prepare()
        self._ready.set()

    async def score_pending(self, chain: Chain) -> None:
        """Score what has no scores yet, in order: each idea is compared with those before it.

        An idea for whose scores a person must do something first keeps waiting; the session is paused then.
        """
        await self._ready.wait()
        async with self._turn:
            while (idea := chain.pending) and await self._score(chain, idea):
                self._maybe_control(chain, idea)

    async def novelties(self, chain: Chain, texts: Sequence[str]) -> list[float | None]:
        """As `Scorer.novelties`; what it takes is in the log."""
        account = self._account(chain)
        try:
            return await self._scorer.novelties(chain, texts, account)
        finally:
            self._say_paid(chain, account)

    async def most_different(self, chain: Chain) -> Iterable[int]:
        """As `Scorer.most_different`; what it takes is in the log."""
        account = self._account(chain)
        try:
            return await self._scorer.most_different(chain, account)
        finally:
            self._say_paid(chain, account)

    async def _score(self, chain: Chain, idea: Idea) -> bool:
        """Whether it has its scores now; an idea that was edited meanwhile gets them in the next round."""
        account = self._account(chain, idea)
        scores = None
        try:
            scores = await self._scores(chain, idea, account)
        finally:
            if scores is None:
                self._say_paid(chain, account, idea if _is_as_it_was(chain, idea) else None)
        if scores is None:
            return False
        if not _is_as_it_was(chain, idea):
            self._say_paid(chain, account)
            return True
        verdict = judge(scores, self._plan.rules)
        self._emit(
            ev.IdeaScored(
                question=chain.question,
                idea=idea.number,
                coherence=scores.coherence,
                embedding_novelty=scores.embedding_novelty,
                judged_novelty=scores.judged_novelty,
                nearest=scores.nearest,
                verdict=verdict.word,
                failed_rule=verdict.failed_rule,
                detail=scores.mechanical or "",
                judges=scores.judges,
                votes=scores.votes,
                coherence_spread=scores.coherence_spread,
                compared=scores.compared,
                embedder=scores.embedder,
                chunks=scores.chunks,
                why=_why_missing(scores, account),
                usage=account.usage,
                cost=account.cost,
            )
        )
        return True

    async def _scores(self, chain: Chain, idea: Idea, account: Account) -> Scores | None:
        """The scores; while a server is gone they are waited for. None if a person must do something first."""
        since: float | None = None
        looks = 0
        while True:
            account.troubles.clear()
            scores = await self._scorer.score(chain, idea, account)
            if not account.troubles:
                return scores
            trouble = min(account.troubles, key=lambda one: (one.kind in OF_ONE_IDEA, one.kind in PATIENCE))
            if not scores.missing:
                self._notice(
                    chain, trouble.who, f"{trouble.who} gives no scores for now: {trouble.why}", trouble.kind or ""
                )
                return scores
            since = self._elapsed() if since is None else since
            if self._elapsed() - since >= PATIENCE.get(trouble.kind, 0.0):
                if trouble.kind in OF_ONE_IDEA:
                    return scores
                self._pause(f"{trouble.who}: {trouble.why}")
                return None
            wait = wait_before(looks)
            looks += 1
            self._say_wait(chain, trouble.who, trouble.why, wait)
            await self._clock.sleep(wait)

    def _maybe_control(self, chain: Chain, idea: Idea) -> None:
        judging = self._plan.judging
        if not judging.judges or not judging.controls:
            return
        rng = generator(self._plan.random_seed, chain.question, idea.number, "control")
        if rng.random() >= judging.controls:
            return

        async def control() -> None:
            account = self._account(chain)
            scored: Sequence[ev.ControlScored] = ()
            try:
                scored = await self._scorer.control(chain, rng, account)
            finally:
                if not scored:
                    self._say_paid(chain, account)
            for one in scored:
                self._emit(one)

        self._beside(control)

    # ── what is told ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _account(self, chain: Chain, idea: Idea | None = None) -> Account:
        """A new account; for an idea whose scoring was cut short, with the judgements that there are."""

        def progress(done: int, total: int) -> None:
            if idea:
                self._emit(ev.ScoringProgress(question=chain.question, idea=idea.number, done=done, total=total))

        def retry(who: str, why: str, seconds: float) -> None:
            if not seconds:
                self._notice(chain, who, f"{who}: {why}", why)
            elif self._elapsed() >= self._told_until.get(who, 0.0):
                self._say_wait(chain, who, why, seconds)

        account = Account(progress, retry)
        given = chain.given.get(idea.number, ()) if idea else ()
        account.given.update(
            ((one.judge, one.against), one.score) for one in given if one.prompt_version == JUDGE_VERSION
        )
        return account

    def _say_paid(self, chain: Chain, account: Account, idea: Idea | None = None) -> None:
        """Say what was used without scores to show for it, and what judgements there are all the same."""
        given = tuple(
            ev.Given(judge=judge, prompt_version=JUDGE_VERSION, against=against, score=score)
            for (judge, against), score in account.given.items()
        )
        number = idea.number if idea else None
        if account.usage != Usage() or (number is not None and given != chain.given.get(number, ())):
            self._emit(
                ev.JudgingPaid(
                    question=chain.question, idea=number, given=given, usage=account.usage, cost=account.cost
                )
            )

    def _say_wait(self, chain: Chain, who: str, why: str, seconds: float) -> None:
        """Say that a judge's or the embedder's server is waited for."""
        self._told_until[who] = until = round(self._elapsed() + seconds, 3)
        self._emit(
            ev.RetryScheduled(question=chain.question, step=chain.step, member=who, why=why, until=until, scoring=True)
        )

    def _notice(self, chain: Chain, who: str, text: str, kind: str) -> None:
        """Say something of a judge or the embedder; of one kind once."""
        if (who, kind) not in self._noticed:
            self._noticed.add((who, kind))
            self._emit(ev.Notice(text=text, question=chain.question))


def _is_as_it_was(chain: Chain, idea: Idea) -> bool:
    """Whether nobody has edited it: scores of another text are not its scores."""
    now = chain.idea(idea.number)
    return now is not None and now.text == idea.text


def _why_missing(scores: Scores, account: Account) -> str:
    """As whoever gave none says it: a call that failed, or else a judge's reply."""
    calls = [f"{trouble.who}: {trouble.why}" for trouble in account.troubles]
    replies = [f"{vote.judge}: {vote.why}" for vote in scores.votes if vote.why]
    return next(iter([*calls, *replies]), "") if scores.missing else ""
