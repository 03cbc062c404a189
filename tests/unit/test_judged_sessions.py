"""Whole sessions with judges and embedding models: what they say, and what it costs."""

import asyncio

import pytest

from core import commands as cmd
from core import events as ev
from core.config import Judging
from core.models import (
    Budget,
    ModelSpec,
)
from core.opening import resume
from core.providers.catalog import Providers
from core.rules import Rules
from core.state import fold
from core.store.log import read_log
from tests.conftest import scripted_team
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import Follower, chain_of
from tests.unit.judged import EMBEDDER, JUDGE, PER_CALL, PER_TEXT, SECOND, House, Make, fair
from tests.unit.judging import Seen

# ── what judges say ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_every_idea_is_judged_by_itself_and_against_all_before_it(situation: Make) -> None:
    one = situation(max_ideas=4)
    assert (await one.run()).how == "finished"
    assert [(idea.coherence, idea.compared, idea.verdict) for idea in one.scored] == [
        (80.0, 0, "passed"),
        (80.0, 1, "passed"),
        (80.0, 2, "passed"),
        (80.0, 3, "passed"),
    ]
    assert [idea.judged_novelty for idea in one.scored] == [1.0, 0.9, 0.9, 0.9]
    assert {idea.judges for idea in one.scored} == {("judge (scripted:j)",)}
    assert one.house.asked == 4 + 6
    assert [idea.cost for idea in one.scored] == [PER_CALL * calls for calls in (1, 2, 3, 4)]
    state = one.session.state
    assert state.judging_cost == state.cost == PER_CALL * 10
    assert state.judging_tokens == 10 * 1005


async def test_an_idea_that_a_judge_fails_ends_the_chain_by_the_rule(situation: Make) -> None:
    house = House(lambda spec, seen: 15 if seen.kind == "coherence" else 10)
    one = situation(house, rules=Rules(embedding_novelty=0.185, patience=2))
    await one.run()
    end = chain_of(one.session).ended
    assert end
    assert (end.reason, end.responses, end.valid) == ("coherence", 2, 0)


async def test_only_the_nearest_are_compared_where_the_plan_says_so(situation: Make) -> None:
    one = situation(judging=Judging(judges=(JUDGE,), mode="nearest", nearest=1), max_ideas=5)
    await one.run()
    assert [idea.compared for idea in one.scored] == [0, 1, 1, 1, 1]
    assert one.house.asked == 5 + 4


async def test_a_panel_counts_by_its_median(situation: Make) -> None:
    def say(spec: ModelSpec, seen: Seen) -> int:
        return {"judge": 60, "judge too": 90}[spec.name] if seen.kind == "coherence" else 10

    one = situation(House(say), judging=Judging(judges=(JUDGE, SECOND)), max_ideas=2)
    await one.run()
    assert [(idea.coherence, idea.coherence_spread) for idea in one.scored] == [(75.0, 30.0)] * 2
    assert [[vote.coherence for vote in idea.votes] for idea in one.scored] == [[60, 90]] * 2


async def test_a_person_s_own_idea_is_judged_too(situation: Make) -> None:
    one = situation(max_ideas=3)
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.IdeaScored)
    one.session.send(cmd.AddIdea(text="Weigh the ice before and after it sings."))
    await one.clock.advance(1)
    one.folded(await running)
    assert [idea.coherence for idea in one.scored] == [80.0] * 3
    assert [idea.author for idea in chain_of(one.session).ideas].count("you") == 1


# ── what they cost ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_controls_are_counted_once_and_their_result_runs_along(situation: Make) -> None:
    one = situation(judging=Judging(judges=(JUDGE, SECOND), controls=1.0))
    await one.run()
    controls = one.follower.of(ev.ControlScored)
    assert len(controls) == 4 * 2
    assert {control.cost for control in controls} == {PER_CALL}
    state = one.session.state
    assert (state.controls, state.controls_passed) == (8, sum(control.passed for control in controls))
    assert (
        state.judging_cost
        == PER_CALL * one.house.asked
        == sum([*(idea.cost or 0 for idea in one.scored), *(control.cost or 0 for control in controls)])
    )
    assert one.follower.of(ev.JudgingPaid) == []


async def test_a_budget_is_used_up_by_judges_too(situation: Make) -> None:
    one = situation(budget=Budget(max_cost=PER_CALL * 5), max_ideas=9)
    await one.run()
    end = chain_of(one.session).ended
    assert end
    assert (end.reason, end.censored) == ("budget", True)
    assert end.responses == 3, "one, three and six calls"


async def test_stopped_amid_scoring_all_is_paid_for_and_nothing_is_paid_for_twice(situation: Make) -> None:
    """Of the third idea's judgements one hangs; the others are there."""
    hangs = True
    first = ""

    def say(spec: ModelSpec, seen: Seen) -> object:
        nonlocal first
        first = first or seen.texts[1]
        third = seen.kind == "similarity" and len(house.judged) >= 3
        return "hang" if hangs and third and seen.texts[1] == first else fair(spec, seen)

    house = House(say)
    one = situation(house, max_ideas=4)
    running = asyncio.create_task(one.session.run())
    await one.follower.next(ev.ScoringProgress, lambda told: told.idea == 3 and told.done == 2)
    await one.stop(running)
    assert house.asked == 1 + 2 + 3
    [paid] = one.follower.of(ev.JudgingPaid)
    assert (paid.idea, len(paid.given), paid.cost) == (3, 2, 3 * PER_CALL)
    assert paid.usage.estimated
    assert one.session.state.cost == 6 * PER_CALL
    used = [*(idea.usage for idea in one.scored), paid.usage]
    assert one.session.state.judging_tokens == sum(usage.input_tokens + usage.output_tokens for usage in used)

    hangs = False
    again = resume(one.session.folder, Providers({"scripted": house}))
    await again.run()
    assert chain_of(again).responses == 4
    assert house.asked == 6 + 1 + 4
    assert len(set(house.judged)) == len(house.judged) == 10, "each judgement came once"
    assert again.state.cost == house.asked * PER_CALL
    assert chain_of(again).given == {}
    assert fold(read_log(again.folder).events) == again.state


async def test_a_control_that_is_cut_short_is_paid_for(situation: Make) -> None:
    house = House(lambda spec, seen: fair(spec, seen) if house.asked == 1 else "hang")
    one = situation(house, judging=Judging(judges=(JUDGE,), controls=1.0), max_ideas=1)
    running = asyncio.create_task(one.session.run())
    await one.clock.advance(1)
    await one.stop(running)
    assert house.asked == 2
    [paid] = one.follower.of(ev.JudgingPaid)
    assert (paid.idea, paid.cost) == (None, PER_CALL)
    assert one.session.state.cost == 2 * PER_CALL


async def test_replies_that_cannot_be_read_and_calls_that_fail_are_paid_for(situation: Make) -> None:
    one = situation(House(lambda spec, seen: "fifty"), max_ideas=1)
    await one.run()
    assert one.house.asked == 3
    assert one.session.state.cost == 3 * PER_CALL


# ── before anything is spent ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["judge", "vectors"])
async def test_whoever_is_not_ready_ends_it_before_anything_is_spent(situation: Make, name: str) -> None:
    house = House()
    house.unready.add(name)
    one = situation(house, embedder=EMBEDDER)
    ended = await one.run()
    assert (ended.how, ended.message) == ("error", f"{name} has no key: set {name.upper()}_KEY")
    assert house.calls == []
    assert house.asked == 0


async def test_a_provider_without_embeddings_is_no_embedder(situation: Make) -> None:
    class Mute(ScriptedProvider):
        """Only writes."""

    one = situation(Mute(varied), embedder=EMBEDDER, judging=Judging())
    ended = await one.run()
    assert (ended.how, ended.message) == ("error", "vectors can't embed: scripted serves no embedding models")


# ── embedding models ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_vectors_are_paid_for_those_that_a_resume_needs_again_too(situation: Make) -> None:
    house = House()
    one = situation(house, embedder=EMBEDDER, judging=Judging(), max_ideas=3)
    await one.run()
    assert [idea.cost for idea in one.scored] == [pytest.approx(PER_TEXT)] * 3
    assert len(house.embedded) == 3
    again = resume(one.session.folder, Providers({"scripted": house}), max_ideas=4)
    await again.run()
    assert len(house.embedded) == 3 + 4
    assert again.state.cost == pytest.approx(7 * PER_TEXT)
    assert again.state.judging_tokens == 700
    assert fold(read_log(again.folder).events) == again.state


async def test_vectors_for_choosing_what_a_prompt_shows_are_paid_for(situation: Make) -> None:
    house = House()
    narrow = scripted_team("anna", context=400)
    one = situation(house, embedder=EMBEDDER, judging=Judging(), max_ideas=9)
    one.session._stepper.team = narrow
    await one.run()
    assert one.follower.of(ev.ContextTrimmed)
    again = resume(one.session.folder, Providers({"scripted": house}), max_ideas=10)
    again._stepper.team = narrow
    follower = Follower(again)
    await again.run()
    [paid] = follower.of(ev.JudgingPaid)
    assert paid.idea is None
    assert paid.cost == pytest.approx(9 * PER_TEXT)
    assert again.state.cost == pytest.approx(PER_TEXT * len(house.embedded))
