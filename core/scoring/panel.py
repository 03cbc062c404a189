"""Several judges as one: the median counts, the spread is kept."""

from collections.abc import Callable, Sequence
from statistics import median

from msgspec import Struct

from core.config import Judging
from core.events import Vote
from core.models import Usage
from core.providers.attempt import add
from core.scoring.judge import Judge, Judgement
from core.scoring.judge_prompts import JUDGE_VERSION
from core.scoring.together import together

OnProgress = Callable[[int, int], None]
"""Told how many judgements are there, of how many."""


class Judged(Struct, frozen=True, kw_only=True):
    """What the panel says of one idea."""

    coherence: float | None
    """0 to 100, the median."""
    judged_novelty: float | None
    """1 − the greatest similarity / 100; 1.0 for the first idea of a chain; None if any similarity got no score."""
    coherence_spread: float | None = None
    """The greatest less the least coherence given; None from fewer than two judges."""
    most_similar: int | None = None
    """The number of the earlier idea that is most like it."""
    votes: tuple[Vote, ...] = ()
    compared: int = 0
    """Earlier ideas that it was compared with."""
    partial: bool = False
    """Whether there were more of them."""
    usage: Usage = Usage()
    cost: float | None = 0.0

    @property
    def unreadable(self) -> int:
        return sum(vote.unreadable for vote in self.votes)

    @property
    def why(self) -> str:
        """Why a score is missing, as the first judge that gave none says."""
        return next((vote.why for vote in self.votes if vote.why), "")


class Panel:
    def __init__(self, judges: Sequence[Judge], judging: Judging) -> None:
        """`judges` are those that `judging` names, in its order, at least one."""
        if not judges:
            raise ValueError("A panel needs a judge")
        self.judges = tuple(judges)
        self._judging = judging

    @property
    def compares_all(self) -> bool:
        """Whether an idea is judged against every earlier one, so that nobody need know which are near."""
        return self._judging.mode == "every"

    async def judge(
        self,
        question: str,
        answer: str,
        earlier: Sequence[tuple[int, str]],
        nearest: Sequence[int] = (),
        on_progress: OnProgress = lambda done, total: None,
    ) -> Judged:
        """`answer` by itself and against the (number, text) of every earlier idea, failed ones too, all at once.

        `nearest` are the numbers of earlier ideas, the nearest first, for a panel that compares only some.
        """
        compared = self._compared(earlier, nearest)
        total = len(self.judges) * (1 + len(compared))
        done = 0

        async def counted(judge: Judge, other: str | None) -> Judgement:
            nonlocal done
            if other is None:
                judgement = await judge.coherence(question, answer)
            else:
                judgement = await judge.similarity(question, other, answer)
            done += 1
            on_progress(done, total)
            return judgement

        others = [None, *(text for _, text in compared)]
        flat = await together(counted(judge, other) for judge in self.judges for other in others)
        rows = [flat[start : start + len(others)] for start in range(0, len(flat), len(others))]
        return self._judged(rows, [number for number, _ in compared], len(earlier))

    def _compared(self, earlier: Sequence[tuple[int, str]], nearest: Sequence[int]) -> list[tuple[int, str]]:
        """In their order: all, or the nearest, filled up with the newest where too few have a place by embedding."""
        if self.compares_all or len(earlier) <= self._judging.nearest:
            return list(earlier)
        texts = dict(earlier)
        order = dict.fromkeys([*(number for number in nearest if number in texts), *reversed(texts)])
        wanted = set(list(order)[: self._judging.nearest])
        return [idea for idea in earlier if idea[0] in wanted]

    def _judged(self, rows: Sequence[Sequence[Judgement]], numbers: Sequence[int], earlier: int) -> Judged:
        """`rows`: for each judge its judgement of coherence, then of the likeness to each of `numbers`."""
        coherence = [row[0].score for row in rows if row[0].score is not None]
        likeness = [_median([row[place + 1] for row in rows]) for place in range(len(numbers))]
        novelty, most_similar = _novelty(likeness, numbers)
        every = [judgement for row in rows for judgement in row]
        usage = Usage()
        for judgement in every:
            usage = add(usage, judgement.usage)
        costs = [judgement.cost for judgement in every]
        return Judged(
            coherence=_median([row[0] for row in rows]),
            judged_novelty=novelty,
            coherence_spread=float(max(coherence) - min(coherence)) if len(coherence) > 1 else None,
            most_similar=most_similar,
            votes=tuple(_vote(judge, row) for judge, row in zip(self.judges, rows, strict=True)),
            compared=len(numbers),
            partial=len(numbers) < earlier,
            usage=usage,
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        )


def _median(judgements: Sequence[Judgement]) -> float | None:
    """Of the scores that were given; None if none was."""
    scores = [judgement.score for judgement in judgements if judgement.score is not None]
    return float(median(scores)) if scores else None


def _novelty(likeness: Sequence[float | None], numbers: Sequence[int]) -> tuple[float | None, int | None]:
    """The judged novelty, and the number of the idea that sets it. Not rounded: 1 − 0.85 has to pass 0.15."""
    if not numbers:
        return 1.0, None
    known = [score for score in likeness if score is not None]
    if len(known) < len(likeness):
        return None, None
    greatest = max(known)
    return 1 - greatest / 100, numbers[known.index(greatest)]


def _vote(judge: Judge, row: Sequence[Judgement]) -> Vote:
    likeness = [judgement.score for judgement in row[1:]]
    known = [score for score in likeness if score is not None]
    return Vote(
        judge=judge.id,
        prompt_version=JUDGE_VERSION,
        coherence=row[0].score,
        similarity=max(known) if known and len(known) == len(likeness) else None,
        unreadable=sum(judgement.unreadable for judgement in row),
        why=next((judgement.why for judgement in row if judgement.why), ""),
    )
