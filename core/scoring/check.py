"""Trying judges on items whose right score is known."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from itertools import pairwise
from math import comb
from typing import Literal

from msgspec import Struct

from core.chain import Chain
from core.errors import ModelUnavailableError
from core.models import Usage
from core.scoring.account import Account
from core.scoring.controls import Control, ControlQuestion, control_questions, fails, pair
from core.scoring.judge import Judge, Judgement
from core.scoring.judge_prompts import JUDGE_VERSION
from core.together import together

Grade = Literal[
    "good",  # wrong at most one time in ten, either way
    "fair",  # right far more often than not
    "poor",  # better than guessing, and no more
    "chance",  # no better than guessing
    "silent",  # gave no score for most items
    "unknown",  # too few items to tell
]

CHANCE = 0.05
"""A judge guesses if one that does would be as right as it was, with this probability or a greater one."""

STRANGERS = 5
"""Questions of other fields that answers off the subject are taken from, for a question of a session."""

OnDone = Callable[[int, int], None]
"""Told how many judgements are done, of how many."""


class Rate(Struct, frozen=True):
    wrong: int
    of: int

    @property
    def share(self) -> float:
        """0 where there was nothing to get wrong."""
        return self.wrong / self.of if self.of else 0.0


class Accuracy(Struct, frozen=True, kw_only=True):
    """How often one kind of judgement was wrong, items without a score left out."""

    false_accepts: Rate
    """Passed, and should have failed: incoherent answers, or the same idea twice."""
    false_rejects: Rate
    """Failed, and should have passed."""
    grade: Grade


class JudgeReport(Struct, frozen=True, kw_only=True):
    judge: str
    prompt_version: int = JUDGE_VERSION
    coherence: Accuracy
    similarity: Accuracy
    pairs: int
    """Pairs that got a score in both orders."""
    order_difference: float | None
    """How far the two scores of such a pair lie apart, on average, in points of 100."""
    judgements: int
    unscored: int
    replies: int
    unreadable: int
    """Of the replies."""
    usage: Usage
    cost: float | None
    seconds: float
    faults: tuple[str, ...] = ()
    """Why judgements are missing, each reason once."""


class CheckReport(Struct, frozen=True, kw_only=True):
    items: int
    judges: tuple[JudgeReport, ...]
    coherence_agreement: float | None = None
    """Krippendorff's alpha of several judges, their scores taken as an interval scale; None if it is not defined."""
    similarity_agreement: float | None = None


async def check(
    judges: Sequence[Judge], items: Sequence[Control], on_done: OnDone = lambda done, of: None
) -> CheckReport:
    """Give every judge every item, pairs in both orders, all at once.

    Raises `ModelUnavailableError` if a judge does not answer at all.
    """
    trials = [trial for item in items for trial in ([item, item.turned()] if item.has_orders else [item])]
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        on_done(done, len(judges) * len(trials))

    results = await together(_try(judge, trials, count) for judge in judges)
    scores = [[judgement.score for judgement in judgements] for judgements, _, _ in results]
    return CheckReport(
        items=len(items),
        judges=tuple(
            _report(judge, trials, judgements, account, seconds)
            for judge, (judgements, account, seconds) in zip(judges, results, strict=True)
        ),
        coherence_agreement=_agreement(scores, [trial.earlier is None for trial in trials]),
        similarity_agreement=_agreement(scores, [trial.earlier is not None for trial in trials]),
    )


async def judged(judge: Judge, control: Control, account: Account) -> Judgement:
    """What a judge says of one item."""
    if control.earlier is None:
        return await judge.coherence(control.question, control.answer, account)
    return await judge.similarity(control.question, control.earlier, control.answer, account)


def session_controls(chains: Iterable[Chain]) -> list[Control]:
    """Items made from the ideas of a session: each idea twice, neighbours as pairs, and answers off the subject."""
    found: list[Control] = []
    for chain in chains:
        texts = [idea.text for idea in chain.ideas if idea.text.strip()]
        found += [pair("duplicate", chain.text, text, text) for text in texts]
        found += [pair("pair", chain.text, one, two) for one, two in pairwise(texts) if one != two]
        found += [Control(kind="off-topic", question=chain.text, answer=text) for text in _strangers(chain)]
    return found


def _strangers(chain: Chain) -> list[str]:
    """Sound answers to questions of other fields, those that share the fewest words with this chain's."""
    asked = _stems(chain.text)

    def shared(question: ControlQuestion) -> int:
        return len(asked & _stems(" ".join([question.text, *(idea.text for idea in question.ideas)])))

    others = [question for question in control_questions() if question.domain != chain.domain]
    return [idea.text for question in nsmallest(STRANGERS, others, key=shared) for idea in question.ideas]


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{5,}", text.casefold())}


async def _try(
    judge: Judge, trials: Sequence[Control], count: Callable[[], None]
) -> tuple[list[Judgement], Account, float]:
    """The judgements, what they took, and in how many seconds.

    The first is asked alone: a server that is down is seen there.
    """
    began, account = time.monotonic(), Account()

    async def ask(trial: Control) -> Judgement:
        judgement = await judged(judge, trial, account)
        count()
        return judgement

    first = [await ask(trial) for trial in trials[:1]]
    if first and first[0].score is None and not first[0].replies:
        raise ModelUnavailableError(f"{judge.id} can't be tried: {first[0].why}")
    judgements = first + await together(ask(trial) for trial in trials[1:])
    return judgements, account, time.monotonic() - began


def _report(
    judge: Judge, trials: Sequence[Control], judgements: Sequence[Judgement], account: Account, seconds: float
) -> JudgeReport:
    judged = [(trial, judgement.score) for trial, judgement in zip(trials, judgements, strict=True)]
    differences = _order_differences(trials, judgements)
    return JudgeReport(
        judge=judge.id,
        coherence=_accuracy([item for item in judged if item[0].earlier is None]),
        similarity=_accuracy([item for item in judged if item[0].earlier is not None]),
        pairs=len(differences),
        order_difference=sum(differences) / len(differences) if differences else None,
        judgements=len(judgements),
        unscored=sum(judgement.score is None for judgement in judgements),
        replies=sum(judgement.replies for judgement in judgements),
        unreadable=sum(judgement.unreadable for judgement in judgements),
        usage=account.usage,
        cost=account.cost,
        seconds=seconds,
        faults=tuple(dict.fromkeys(judgement.why for judgement in judgements if judgement.why)),
    )


def _order_differences(trials: Sequence[Control], judgements: Sequence[Judgement]) -> list[int]:
    """A pair and its turned copy stand side by side."""
    both = pairwise(zip(trials, judgements, strict=True))
    return [
        abs(one.score - two.score)
        for (trial, one), (other, two) in both
        if trial.has_orders and other == trial.turned() and one.score is not None and two.score is not None
    ]


def _accuracy(judged: Sequence[tuple[Control, int | None]]) -> Accuracy:
    scored = [(control, score) for control, score in judged if score is not None]
    should_fail = [fails(control, score) for control, score in scored if control.fails is True]
    should_pass = [fails(control, score) for control, score in scored if control.fails is False]
    accepts = Rate(should_fail.count(False), len(should_fail))
    rejects = Rate(should_pass.count(True), len(should_pass))
    silent = 2 * len(scored) < len(judged)
    return Accuracy(
        false_accepts=accepts, false_rejects=rejects, grade="silent" if silent else _grade(accepts, rejects)
    )


def _grade(accepts: Rate, rejects: Rate) -> Grade:
    if 1 / comb(accepts.of + rejects.of, accepts.of) >= CHANCE:
        return "unknown"  # not even a faultless judge would stand out
    if _luck(accepts, rejects) >= CHANCE:
        return "chance"
    if max(accepts.share, rejects.share) <= 0.1:
        return "good"
    # Youden's J: 0 for a coin, whatever its bias, 1 for a judge without fault.
    return "fair" if 1 - accepts.share - rejects.share >= 0.6 else "poor"


def _luck(accepts: Rate, rejects: Rate) -> float:
    """How likely one that fails as many items, drawn blindly, is as right as this: Fisher's exact test, one-sided."""
    caught = accepts.of - accepts.wrong
    failed = caught + rejects.wrong
    most = min(failed, accepts.of)
    ways = sum(comb(accepts.of, right) * comb(rejects.of, failed - right) for right in range(caught, most + 1))
    return ways / comb(accepts.of + rejects.of, failed)


def _agreement(scores: Sequence[Sequence[int | None]], counted: Sequence[bool]) -> float | None:
    """Krippendorff's alpha; `scores` are one row a judge, of which only the `counted` columns count."""
    if len(scores) < 2:
        return None
    import krippendorff
    import numpy as np

    rows = [[score for score, counts in zip(row, counted, strict=True) if counts] for row in scores]
    try:
        return float(krippendorff.alpha(np.array(rows, dtype=float), level_of_measurement="interval"))
    except ValueError:  # too few scores in common, or all of them the same
        return None
