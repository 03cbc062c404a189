"""Several judges as one: the median counts, the spread is kept."""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from core.config import Judging
from core.events import Vote
from core.scoring.account import Account
from core.scoring.judge import Judge, Judgement
from core.scoring.judge_prompts import JUDGE_VERSION
from core.together import together


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
        earlier: Mapping[int, str],
        account: Account,
        nearest: Sequence[int] = (),
    ) -> Judged:
        """`answer` by itself and against every earlier idea, by number, failed ones too, all at once.

        `nearest` are the numbers of earlier ideas, the nearest first, for a panel that compares only some.
        """
        compared = self._compared(earlier, nearest)
        total = len(self.judges) * (1 + len(compared))
        done = 0

        async def counted(judge: Judge, other: int | None) -> Judgement:
            nonlocal done
            if other is None:
                judgement = await judge.coherence(question, answer, account)
            else:
                judgement = await judge.similarity(question, earlier[other], answer, account)
            if judgement.score is not None:
                account.given[judge.id, other] = judgement.score
            done += 1
            account.on_progress(done, total)
            return judgement

        others = [None, *compared]
        flat = await together(counted(judge, other) for judge in self.judges for other in others)
        rows = [flat[start : start + len(others)] for start in range(0, len(flat), len(others))]
        return self._judged(rows, compared)

    def recall(self, question: str, answer: str, earlier: Mapping[int, str], account: Account) -> None:
        """Let the judges know again what they gave before the scoring of `answer` was cut short."""
        judges = {judge.id: judge for judge in self.judges}
        for (name, number), score in account.given.items():
            if name in judges and (number is None or number in earlier):
                judges[name].remember(question, None if number is None else earlier[number], answer, score)

    def _compared(self, earlier: Mapping[int, str], nearest: Sequence[int]) -> list[int]:
        """In their order: all, or the nearest, filled up with the newest where too few have a place by embedding."""
        if self.compares_all or len(earlier) <= self._judging.nearest:
            return list(earlier)
        order = dict.fromkeys([*(number for number in nearest if number in earlier), *reversed(list(earlier))])
        wanted = set(list(order)[: self._judging.nearest])
        return [number for number in earlier if number in wanted]

    def _judged(self, rows: Sequence[Sequence[Judgement]], numbers: Sequence[int]) -> Judged:
        """`rows`: for each judge its judgement of coherence, then of the likeness to each of `numbers`."""
        coherence = [row[0].score for row in rows if row[0].score is not None]
        likeness = [_median([row[place + 1] for row in rows]) for place in range(len(numbers))]
        novelty, most_similar = _novelty(likeness, numbers)
        return Judged(
            coherence=_median([row[0] for row in rows]),
            judged_novelty=novelty,
            coherence_spread=float(max(coherence) - min(coherence)) if len(coherence) > 1 else None,
            most_similar=most_similar,
            votes=tuple(_vote(judge, row) for judge, row in zip(self.judges, rows, strict=True)),
            compared=len(numbers),
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
