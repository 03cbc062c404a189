"""Several judges as one, against all earlier ideas or the nearest."""

import asyncio
from collections.abc import Sequence

import pytest

from core.config import Judging
from core.errors import ModelUnavailableError
from core.models import ModelSpec, Prompt
from core.rules import Rules, Scores, judge
from core.scoring.account import Account
from core.scoring.judge import AskModel, Judge, Reply
from core.scoring.judge_prompts import JUDGE_VERSION
from core.scoring.panel import Panel
from tests.unit.judging import DOWN, ScriptedJudge, Seen, see

QUESTION = "Propose a way to hear ice."
EARLIER = {1: "hydrophones", 2: "seals", 4: "radar"}


def panel_of(*asks: AskModel, nearest: int | None = None) -> Panel:
    judging = Judging() if nearest is None else Judging(mode="nearest", nearest=nearest)
    specs = [ModelSpec(name=name, provider="scripted") for name in "abcdefg"]
    return Panel([Judge(spec, ask) for spec, ask in zip(specs, asks, strict=False)], judging)


def saying(coherence: int | str, **likeness: int | str) -> ScriptedJudge:
    """A judge that gives every answer that coherence, and its likeness to an earlier idea by that idea's text."""

    def say(spec: ModelSpec, seen: Seen) -> int | str:
        return coherence if seen.kind == "coherence" else likeness[seen.texts[1]]

    return ScriptedJudge(say)


async def test_one_judge_gives_coherence_and_novelty_against_every_earlier_idea() -> None:
    ask, account = saying(80, hydrophones=20, seals=60, radar=40), Account()
    judged = await panel_of(ask).judge(QUESTION, "lasers", EARLIER, account)
    assert (judged.coherence, judged.judged_novelty, judged.most_similar) == (80.0, 1 - 0.6, 2)
    assert (judged.compared, judged.coherence_spread) == (3, None)
    assert sorted(ask.kinds()) == ["coherence", "similarity", "similarity", "similarity"]
    [vote] = judged.votes
    assert (vote.judge, vote.prompt_version) == ("a (scripted)", JUDGE_VERSION)
    assert (vote.coherence, vote.similarity, vote.unreadable, vote.why) == (80, 60, 0, "")
    assert account.usage.input_tokens == 400
    assert account.cost == pytest.approx(0.04)
    name = "a (scripted)"
    assert account.given == {(name, None): 80, (name, 1): 20, (name, 2): 60, (name, 4): 40}


async def test_the_first_idea_is_new_by_definition_and_nobody_is_asked_for_it() -> None:
    ask = saying(80)
    judged = await panel_of(ask).judge(QUESTION, "lasers", {}, Account())
    assert (judged.judged_novelty, judged.most_similar, judged.compared) == (1.0, None, 0)
    assert ask.kinds() == ["coherence"]


@pytest.mark.parametrize(("score", "novelty", "passes"), [(85, 0.15000000000000002, True), (86, 0.14, False)])
async def test_novelty_is_not_rounded(score: int, novelty: float, passes: bool) -> None:
    judged = await panel_of(saying(80, seals=score)).judge(QUESTION, "lasers", {1: "seals"}, Account())
    assert judged.judged_novelty == 1 - score / 100 == pytest.approx(novelty, abs=1e-15)
    verdict = judge(Scores(embedding_novelty=1.0, coherence=80, judged_novelty=judged.judged_novelty), Rules())
    assert (verdict.word == "passed") == passes


async def test_of_several_judges_the_median_counts_and_the_spread_is_kept() -> None:
    panel = panel_of(
        saying(10, hydrophones=10, seals=90, radar=0),
        saying(80, hydrophones=30, seals=20, radar=0),
        saying(90, hydrophones=50, seals=10, radar=0),
    )
    judged = await panel.judge(QUESTION, "lasers", EARLIER, Account())
    assert (judged.coherence, judged.coherence_spread) == (80.0, 80.0)
    assert (judged.judged_novelty, judged.most_similar) == (0.7, 1), "the medians are 30, 20 and 0"
    assert [vote.similarity for vote in judged.votes] == [90, 30, 50]


async def test_of_two_judges_the_middle_counts() -> None:
    judged = await panel_of(saying(10, seals=80), saying(21, seals=85)).judge(
        QUESTION, "lasers", {2: "seals"}, Account()
    )
    assert (judged.coherence, judged.judged_novelty) == (15.5, 1 - 0.825)


async def test_a_judge_that_gives_no_score_leaves_it_to_the_others() -> None:
    panel = panel_of(ScriptedJudge(lambda spec, seen: DOWN), saying(80, seals=40))  # type: ignore[arg-type,return-value]
    judged = await panel.judge(QUESTION, "lasers", {2: "seals"}, Account())
    assert (judged.coherence, judged.judged_novelty, judged.coherence_spread) == (80.0, 0.6, None)
    assert [(vote.coherence, vote.similarity, vote.why) for vote in judged.votes] == [
        (None, None, "the server is overloaded"),
        (80, 40, ""),
    ]


async def test_one_likeness_without_a_score_leaves_novelty_unscored_and_never_a_pass() -> None:
    judged = await panel_of(saying(80, hydrophones=20, seals="hm", radar=99)).judge(
        QUESTION, "lasers", EARLIER, Account()
    )
    assert (judged.coherence, judged.judged_novelty, judged.most_similar) == (80.0, None, None)
    [vote] = judged.votes
    assert (vote.similarity, vote.unreadable) == (None, 3)
    assert "hm" in vote.why
    scores = Scores(embedding_novelty=1.0, coherence=80, judged_novelty=None, judges=("a",))
    assert judge(scores, Rules()).word == "unscored"


async def test_only_the_nearest_are_compared_where_that_is_wanted() -> None:
    ask = saying(80, hydrophones=20, seals=60, radar=40)
    judged = await panel_of(ask, nearest=2).judge(QUESTION, "lasers", EARLIER, Account(), nearest=[4, 1, 2])
    assert (judged.judged_novelty, judged.most_similar, judged.compared) == (0.6, 4, 2)
    asked = [see(prompt).texts[1] for prompt in ask.prompts if see(prompt).kind == "similarity"]
    assert sorted(asked) == ["hydrophones", "radar"]


async def test_with_fewer_ideas_than_the_nearest_all_are_compared() -> None:
    ask = saying(80, hydrophones=20, seals=60, radar=40)
    judged = await panel_of(ask, nearest=3).judge(QUESTION, "lasers", EARLIER, Account())
    assert judged.compared == 3


@pytest.mark.parametrize("nearest", [[], [99], [2]])
async def test_where_embeddings_say_too_little_the_newest_fill_up(nearest: Sequence[int]) -> None:
    """An idea without a vector is near nothing; that must not make it new."""
    ask = saying(80, hydrophones=20, seals=60, radar=40)
    judged = await panel_of(ask, nearest=2).judge(QUESTION, "lasers", EARLIER, Account(), nearest)
    assert (judged.compared, judged.judged_novelty) == (2, 0.4)


def test_a_panel_says_whether_it_has_to_know_which_ideas_are_near() -> None:
    assert panel_of(saying(1)).compares_all
    assert not panel_of(saying(1), nearest=3).compares_all
    with pytest.raises(ValueError, match="needs a judge"):
        panel_of()


async def test_progress_counts_every_judgement() -> None:
    told: list[tuple[int, int]] = []
    panel = panel_of(saying(80, hydrophones=20, seals=60, radar=40), saying(80, hydrophones=20, seals=60, radar=40))
    await panel.judge(QUESTION, "lasers", EARLIER, Account(lambda done, total: told.append((done, total))))
    assert told == [(done, 8) for done in range(1, 9)]


class Counting:
    """Answers nobody until `wanted` calls are under way at once, or never."""

    def __init__(self, wanted: int, *, answers: bool = True) -> None:
        self.wanted = wanted
        self.answers = answers
        self.under_way = 0
        self.cancelled = 0
        self.all_here = asyncio.Event()

    async def prepare(self, spec: ModelSpec) -> None:
        pass

    async def __call__(self, spec: ModelSpec, prompt: Prompt, account: Account) -> Reply:
        self.under_way += 1
        if self.under_way == self.wanted:
            self.all_here.set()
        try:
            await (self.all_here if self.answers else asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Reply("ok", "50")


async def test_all_judges_are_asked_everything_at_once() -> None:
    ask = Counting(2 * 501)
    earlier = {number: f"idea {number}" for number in range(500)}
    async with asyncio.timeout(5):
        judged = await panel_of(ask, ask).judge(QUESTION, "lasers", earlier, Account())
    assert judged.judged_novelty == 0.5


async def test_cancelling_cancels_every_call() -> None:
    ask = Counting(4, answers=False)
    task = asyncio.create_task(panel_of(ask).judge(QUESTION, "lasers", EARLIER, Account()))
    await ask.all_here.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ask.cancelled == 4


async def test_a_judge_that_cannot_be_used_is_one_plain_fault() -> None:
    unavailable = ScriptedJudge(lambda spec, seen: ModelUnavailableError("set HAIKU_KEY"))  # type: ignore[arg-type,return-value]
    with pytest.raises(ModelUnavailableError, match="HAIKU_KEY"):
        await panel_of(unavailable).judge(QUESTION, "lasers", EARLIER, Account())


async def test_what_was_given_before_the_scoring_was_cut_short_is_not_asked_for_again() -> None:
    ask = saying(80, hydrophones=20, seals=60, radar=40)
    panel, account = panel_of(ask), Account()
    name = panel.judges[0].id
    account.given = {(name, None): 70, (name, 2): 90, ("somebody else", 1): 1, (name, 99): 1}
    panel.recall(QUESTION, "lasers", EARLIER, account)
    judged = await panel.judge(QUESTION, "lasers", EARLIER, account)
    assert (judged.coherence, judged.most_similar) == (70, 2)
    assert sorted(see(prompt).texts[1] for prompt in ask.prompts) == ["hydrophones", "radar"]
    assert account.usage.input_tokens == 200
