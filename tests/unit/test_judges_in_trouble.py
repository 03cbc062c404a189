"""Judges and embedding models that fail: what is waited for, what pauses, and what is told of it."""

import asyncio

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Judging
from core.models import (
    CallFailedError,
    FailureKind,
    ModelSpec,
    Prompt,
)
from core.opening import resume
from core.providers.catalog import Providers
from core.rules import Rules
from core.stepping import OUTAGE_SECONDS
from tests.scripted import same, varied
from tests.unit.following import chain_of
from tests.unit.judged import EMBEDDER, JUDGE, SECOND, House, Make, fair
from tests.unit.judging import Seen

# ── what a person must mend ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["denied", "quota", "missing", "address"])
async def test_a_failure_that_stays_pauses_at_once_and_no_idea_goes_unscored(
    situation: Make, kind: FailureKind
) -> None:
    fault: list[object] = [CallFailedError(kind, f"the judge's server: {kind}")]
    one = situation(House(lambda spec, seen: fault[0] if fault else fair(spec, seen)))
    running = asyncio.create_task(one.session.run())
    paused = await one.until_paused(running)
    assert (paused.by, paused.why) == ("trouble", f"judge: the judge's server: {kind}")
    await one.clock.advance(60)
    assert chain_of(one.session).responses <= 2, "the second was asked ahead"
    assert one.scored == []
    assert len(one.follower.of(ev.Paused)) == 1

    one.session.send(cmd.Resume())
    await one.until_paused(running)
    fault.clear()
    one.session.send(cmd.Resume())
    await one.clock.advance(5)
    one.folded(await running)
    assert [idea.verdict for idea in one.scored] == ["passed"] * 4


async def test_the_person_may_also_go_on_another_day(situation: Make) -> None:
    fault: list[object] = [CallFailedError("denied", "no such key")]
    house = House(lambda spec, seen: fault[0] if fault else fair(spec, seen))
    one = situation(house)
    running = asyncio.create_task(one.session.run())
    await one.until_paused(running)
    await one.stop(running)
    fault.clear()
    again = resume(one.session.folder, Providers({"scripted": house}))
    await again.run()
    assert [idea.score is not None and idea.score.verdict for idea in chain_of(again).ideas] == ["passed"] * 4


async def test_a_panel_goes_on_without_one_of_its_judges_and_says_so_once(situation: Make) -> None:
    def say(spec: ModelSpec, seen: Seen) -> object:
        return CallFailedError("denied", "no such key") if spec == SECOND else fair(spec, seen)

    one = situation(House(say), judging=Judging(judges=(JUDGE, SECOND)))
    await one.run()
    assert [idea.verdict for idea in one.scored] == ["passed"] * 4
    assert [vote.why for vote in one.scored[-1].votes] == ["", "no such key"]
    [notice] = one.follower.of(ev.Notice)
    assert notice.text == "judge too gives no scores for now: no such key"


# ── judges that say nothing of use ────────────────────────────────────────────────────────────────────────────────────


async def test_five_ideas_without_a_judge_s_score_pause_and_say_what_it_said(situation: Make) -> None:
    one = situation(House(lambda spec, seen: "fifty"), max_ideas=20)
    running = asyncio.create_task(one.session.run())
    paused = await one.until_paused(running)
    assert paused.why == (
        "5 ideas in a row could not be scored (judge (scripted:j): no score in 3 replies; the last said "
        "'<score>fifty</score>')"
    )
    assert [idea.verdict for idea in one.scored] == ["unscored"] * 5
    one.session.send(cmd.Resume())
    await one.until_paused(running)
    assert len(one.scored) == 10
    await one.stop(running)


async def test_ideas_that_fail_by_other_rules_do_not_hide_a_judge_that_says_nothing(situation: Make) -> None:
    """Every idea fails, by its novelty or as an echo; none that a judge was asked about has its score."""

    def script(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        return (varied if random_seed % 2 else same)(spec, prompt, random_seed)

    one = situation(
        House(lambda spec, seen: "fifty", script), rules=Rules(embedding_novelty=1.0, patience=100), max_ideas=100
    )
    running = asyncio.create_task(one.session.run())
    await one.until_paused(running)
    asked = [idea for idea in one.scored if idea.judges]
    assert len(asked) == 5
    assert [idea.verdict for idea in asked[1:]] == ["failed"] * 4
    assert len(one.scored) > 5, "echoes are shown to nobody, and do not count"
    await one.stop(running)


# ── servers that are gone ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_judge_s_server_that_is_gone_is_waited_for_and_no_idea_goes_unscored(situation: Make) -> None:
    gone = False
    house = House(lambda spec, seen: CallFailedError("connection", "nobody there") if gone else fair(spec, seen))
    one = situation(house)
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.IdeaScored, lambda scored: scored.idea == 2)
    gone = True
    await one.clock.advance(300)
    assert not running.done()
    assert one.follower.of(ev.Paused) == []
    retry = one.session.state.retry
    assert retry is not None
    assert (retry.member, retry.why, retry.scoring) == ("judge", "nobody there", True)
    assert 0 <= retry.until - one.session.elapsed() <= 30
    gone = False
    while not running.done():
        await one.clock.advance(5)
    one.folded(running.result())
    assert [idea.verdict for idea in one.scored] == ["passed"] * 4
    assert len(set(house.judged)) == len(house.judged) == 10
    assert one.session.state.retry is None


async def test_after_a_quarter_of_an_hour_a_person_must_say_how_it_goes_on(situation: Make) -> None:
    gone = True
    house = House(lambda spec, seen: CallFailedError("connection", "nobody there") if gone else fair(spec, seen))
    one = situation(house)
    running = asyncio.create_task(one.session.run())
    paused = await one.until_paused(running)
    assert paused.why == "judge: nobody there"
    assert OUTAGE_SECONDS <= one.session.elapsed() <= OUTAGE_SECONDS + 120
    gone = False
    one.session.send(cmd.Resume())
    await one.clock.advance(5)
    one.folded(await running)
    assert [idea.verdict for idea in one.scored] == ["passed"] * 4


async def test_only_what_is_missing_is_asked_for_again(situation: Make) -> None:
    """Each idea's coherence can't be had at first, not even by the retries of a call."""
    asked: list[tuple[str, ...]] = []

    def say(spec: ModelSpec, seen: Seen) -> object:
        if seen.kind == "coherence" and sum(texts == tuple(seen.texts) for texts in asked) < 5:
            asked.append(tuple(seen.texts))
            return CallFailedError("server", "overloaded")
        return fair(spec, seen)

    house = House(say)
    one = situation(house, max_ideas=2)
    await one.run()
    assert [idea.verdict for idea in one.scored] == ["passed"] * 2
    assert len(house.judged) == 3
    assert len(asked) == 2 * 5


async def test_an_idea_that_breaks_the_judge_s_server_each_time_stays_unscored_and_the_next_is_scored(
    situation: Make,
) -> None:
    poison: list[str] = []

    def say(spec: ModelSpec, seen: Seen) -> object:
        poison.append(seen.texts[-1])
        return CallFailedError("server", "error 500") if seen.texts[-1] == poison[0] else fair(spec, seen)

    one = situation(House(say), max_ideas=3)
    await one.run()
    assert [idea.verdict for idea in one.scored] == ["unscored", "passed", "passed"]
    assert one.scored[0].votes[0].why == "error 500"
    assert one.scored[0].why == "judge: error 500"
    assert one.follower.of(ev.Paused) == []
    assert one.session.elapsed() < 180


async def test_a_prompt_that_is_too_long_for_the_judge_leaves_that_idea_unscored_at_once(situation: Make) -> None:
    house = House(lambda spec, seen: CallFailedError("context", "too long") if house.asked == 1 else fair(spec, seen))
    one = situation(house, max_ideas=2)
    await one.run()
    assert [idea.verdict for idea in one.scored] == ["unscored", "passed"]
    assert one.follower.of(ev.RetryScheduled) == []


async def test_a_limit_that_lasts_pauses_and_says_until_when(situation: Make) -> None:
    limits = [CallFailedError("limited", "asked too often", retry_after=3600.0)]
    one = situation(House(lambda spec, seen: limits.pop() if limits else fair(spec, seen)))
    running = asyncio.create_task(one.session.run())
    paused = await one.until_paused(running)
    assert "(not before 0" in paused.why
    assert one.session.elapsed() < 180
    assert one.scored == []
    assert one.house.asked == 1, "nobody asks before its time"
    await one.clock.advance(3600)
    one.session.send(cmd.Resume())
    await one.clock.advance(5)
    one.folded(await running)
    assert [idea.verdict for idea in one.scored] == ["passed"] * 4


# ── what is told ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_many_calls_that_wait_are_one_event_a_wait(situation: Make) -> None:
    """Twenty ideas are there; the next is compared with all of them, and the server has a bad moment."""
    until = 0.0

    def say(spec: ModelSpec, seen: Seen) -> object:
        if one.clock.time < until:
            return CallFailedError("limited", "slow down", retry_after=7.0)
        return fair(spec, seen)

    house = House(say)
    one = situation(house, max_ideas=22, rules=Rules(patience=100))
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.IdeaScored, lambda scored: scored.idea == 20)
    until = one.clock.time + 1
    while not running.done():
        await one.clock.advance(1)
    one.folded(running.result())
    assert house.asked == len(house.judged) + 21 == 22 * 23 / 2 + 21
    [told] = one.follower.of(ev.RetryScheduled)
    assert (told.member, told.why, told.until - told.t) == ("judge", "slow down", 7.0)
    assert [idea.verdict for idea in one.scored if idea.judges and idea.coherence is None] == []


async def test_a_parameter_that_a_judge_does_not_take_is_told_once_and_left_out(situation: Make) -> None:
    house = House()
    plain = house.say

    def say(spec: ModelSpec, seen: Seen) -> object:
        if "temperature" not in spec.refuses:
            return CallFailedError("parameter", "no temperature", parameter="temperature")
        return plain(spec, seen)

    house.say = say
    one = situation(house, judging=Judging(judges=(replace(JUDGE, temperature=0.0),)), max_ideas=6)
    await one.run()
    assert [idea.verdict for idea in one.scored] == ["passed"] * 6
    [notice] = one.follower.of(ev.Notice)
    assert notice.text == "judge: it does not take temperature: asked again without"
    assert house.asked == 1 + len(house.judged)


# ── embedding models ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_embedder_s_server_that_is_gone_is_waited_for_too(situation: Make) -> None:
    house = House()
    house.gone = "connection"
    one = situation(house, embedder=EMBEDDER)
    running = asyncio.create_task(one.session.run())
    await one.clock.advance(120)
    assert one.scored == []
    assert one.session.state.retry
    assert one.session.state.retry.member == "vectors"
    house.gone = None
    while not running.done():
        await one.clock.advance(5)
    one.folded(running.result())
    assert [idea.verdict for idea in one.scored] == ["passed"] * 4
    assert None not in [idea.embedding_novelty for idea in one.scored]
    assert house.asked == 10


async def test_five_ideas_without_a_vector_pause_and_say_what_the_server_said(situation: Make) -> None:
    house = House()
    house.gone = "server"
    one = situation(house, embedder=EMBEDDER, judging=Judging(), max_ideas=9)
    running = asyncio.create_task(one.session.run())
    assert (await one.until_paused(running)).why == "5 ideas in a row could not be scored (vectors: vectors: server)"
    await one.stop(running)


async def test_an_embedder_without_a_right_to_embed_pauses_at_once(situation: Make) -> None:
    house = House()
    house.gone = "denied"
    one = situation(house, embedder=EMBEDDER, judging=Judging())
    running = asyncio.create_task(one.session.run())
    assert (await one.until_paused(running)).why == "vectors: vectors: denied"
    await one.stop(running)
