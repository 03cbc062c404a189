"""Whole runs: propose, score, judge, again and again, until a rule or a cap ends it."""

import re
from collections.abc import Callable
from itertools import cycle

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.errors import ModelUnavailableError
from core.models import ModelSpec, Prompt
from core.questions import Question
from core.store.log import read_log
from tests.conftest import QUESTION, Open, make_plan, scripted_team, texts
from tests.scripted import ScriptedProvider, same, varied
from tests.unit.following import Follower, chain_of

IDEA = ["step_started", "proposal_started", "proposal_finished", "idea_added", "idea_scored"]


def prompt_text(prompt: Prompt) -> str:
    return "\n".join(message.text for message in prompt.messages)


def half_new(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """Something new for every other seed, else the one idea again."""
    return varied(spec, prompt, random_seed) if random_seed % 2 else same(spec, prompt, random_seed)


async def test_a_run_tells_its_story_in_order(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=3))
    follower = Follower(session)
    ended = await session.run()
    assert follower.names() == ["session_started", "question_started", *IDEA * 3, "question_ended", "session_ended"]
    assert ended.how == "finished"
    assert (ended, session.state.ended) == (follower.events[-1], ended)


async def test_events_are_numbered_without_gaps_and_stored_as_shown(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=4))
    follower = Follower(session)
    await session.run()
    shown = [event for event in follower.events if not isinstance(event, ev.ProposalDelta)]
    assert [event.seq for event in shown] == list(range(len(shown)))
    assert read_log(session.folder).events == tuple(shown)
    assert [event.t for event in shown] == sorted(event.t for event in shown)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", event.at) for event in shown)


async def test_what_a_person_sees_is_on_disk(open_session: Open) -> None:
    session = open_session()
    unsaved: list[ev.Event] = []

    def look(event: ev.Event) -> None:
        if not isinstance(event, ev.ProposalDelta) and read_log(session.folder).events[-1:] != (event,):
            unsaved.append(event)

    session.subscribe(look)
    await session.run()
    assert unsaved == []


async def test_text_streams_in_and_adds_up_to_the_idea(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    follower = Follower(session)
    await session.run()
    [finished] = follower.of(ev.ProposalFinished)
    deltas = follower.of(ev.ProposalDelta)
    assert len(deltas) > 5
    assert "".join(delta.text for delta in deltas) == finished.raw
    assert finished.trace[-1][1] == len(finished.raw)
    assert follower.of(ev.IdeaAdded)[0].text == finished.text


async def test_a_cap_ends_the_chain_and_leaves_it_open_to_more(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=5))
    await session.run()
    ended = chain_of(session).ended
    assert ended
    assert (ended.reason, ended.censored, ended.responses) == ("cap", True, 5)


@pytest.mark.parametrize("patience", [1, 3])
async def test_patience_is_how_many_failing_ideas_in_a_row_end_it(open_session: Open, patience: int) -> None:
    session = open_session(make_plan(patience=patience), ScriptedProvider(same))
    await session.run()
    ended = chain_of(session).ended
    assert ended
    assert (ended.reason, ended.censored) == ("mechanical", False)
    assert (ended.responses, ended.valid) == (1 + patience, 1)
    assert [idea.failed for idea in chain_of(session).ideas] == [False] + [True] * patience


async def test_the_rule_that_failed_is_the_reason(open_session: Open) -> None:
    plan = make_plan(patience=1)
    session = open_session(replace(plan, rules=replace(plan.rules, mechanical=False)), ScriptedProvider(same))
    await session.run()
    chain = chain_of(session)
    score = chain.ideas[-1].score
    assert chain.ended
    assert score
    assert (chain.ended.reason, score.failed_rule, score.nearest) == ("embedding_novelty", "embedding_novelty", 1)


async def test_a_passing_idea_between_failing_ones_begins_the_count_anew(open_session: Open) -> None:
    writers = cycle([same, varied, same])

    def every_third_new(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        return next(writers)(spec, prompt, random_seed)

    session = open_session(make_plan(max_ideas=9, patience=3), ScriptedProvider(every_third_new))
    await session.run()
    verdicts = "".join("f" if idea.failed else "p" for idea in chain_of(session).ideas)
    assert verdicts == "ppffpffpf"


async def test_a_failing_idea_is_kept_but_no_prompt_shows_it(open_session: Open) -> None:
    provider = ScriptedProvider(half_new)
    session = open_session(make_plan(max_ideas=10, patience=9), provider)
    follower = Follower(session)
    await session.run()
    ideas = chain_of(session).ideas
    assert 1 < sum(idea.failed for idea in ideas) < 9
    for place, started in enumerate(follower.of(ev.ProposalStarted)):
        shown = [idea.number for idea in chain_of(session).shown_by(started)]
        assert shown == [idea.number for idea in ideas[:place] if not idea.failed]
        said = prompt_text(provider.calls[place])
        assert [idea.number for idea in ideas[:place] if idea.text in said and not idea.failed] == shown


async def test_an_idea_that_failed_is_not_in_the_next_prompt(open_session: Open) -> None:
    provider = ScriptedProvider(same)
    session = open_session(make_plan(patience=2), provider)
    await session.run()
    only = texts(session.state)[0]
    assert [prompt_text(call).count(only) for call in provider.calls] == [0, 1, 1]


async def test_no_prompt_names_a_member_a_model_or_an_author(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    team = scripted_team("anna", "bert", "cleo")
    session = open_session(make_plan(max_ideas=8, team=team), provider)
    await session.run()
    assert len({idea.author for idea in chain_of(session).ideas}) > 1
    names = [name for member in team.members for name in (member.name, member.model.name, "scripted")]
    said = "\n".join(prompt_text(call) for call in provider.calls).lower()
    assert [name for name in names if re.search(rf"\b{re.escape(name)}\b", said)] == []
    assert QUESTION.text.lower() in said


async def test_the_same_seed_makes_the_same_session(open_session: Open) -> None:
    plan = make_plan(max_ideas=6)
    sessions = [open_session(replace(plan, id=name)) for name in ("one", "two")]
    for session in sessions:
        await session.run()
    chains = [[(idea.author, idea.text) for idea in chain_of(session).ideas] for session in sessions]
    assert chains[0] == chains[1]
    other = open_session(replace(plan, id="three", random_seed=8))
    await other.run()
    assert [(idea.author, idea.text) for idea in chain_of(other).ideas] != chains[0]


async def test_solo_writes_every_idea_by_its_first_member(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=5, team=scripted_team("anna", "bert", strategy="solo")))
    await session.run()
    assert {idea.author for idea in chain_of(session).ideas} == {"anna"}


async def test_several_questions_are_worked_through_in_turn(open_session: Open) -> None:
    second = Question("hear-ice", "Propose a way to hear ice melt.", "Environmental Science")
    plan = replace(make_plan(max_ideas=2), questions=(QUESTION, second))
    session = open_session(plan)
    follower = Follower(session)
    await session.run()
    story = ["question_started", *IDEA * 2, "question_ended"]
    assert follower.names() == ["session_started", *story, *story, "session_ended"]
    assert [chain.responses for chain in session.state.chains.values()] == [2, 2]
    assert [event.question for event in follower.of(ev.QuestionEnded)] == [QUESTION.id, second.id]


# ── when not all fits ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_chain_too_long_for_the_context_says_so_and_shows_the_newest_and_most_different(
    open_session: Open,
) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(make_plan(max_ideas=16, team=scripted_team("anna", context=500)), provider)
    follower = Follower(session)
    await session.run()
    trimmed = follower.of(ev.ContextTrimmed)
    assert trimmed
    assert all(0 < event.shown < event.ideas for event in trimmed)
    assert follower.names().index("context_trimmed") < follower.names().index("question_ended")
    started = follower.of(ev.ProposalStarted)[-1]
    passing = [idea for idea in chain_of(session).ideas[:-1] if not idea.failed]
    assert started.shown[-1] == passing[-1].number, "the newest is always shown"
    assert len(started.shown) == trimmed[-1].shown
    gaps = [number for number in started.shown if number + 1 not in started.shown]
    assert len(gaps) > 1, "older ones are picked for being different, not for being next"
    said = prompt_text(provider.calls[-1])
    assert [idea.number for idea in passing if idea.text in said] == list(started.shown)
    assert len(said) // 4 <= 500 - 96


async def test_a_question_that_alone_is_too_long_ends_with_one_clear_line(open_session: Open) -> None:
    question = Question("long", "Propose " + "a very long way " * 1000)
    provider = ScriptedProvider(varied)
    session = open_session(make_plan(question=question, team=scripted_team("anna", context=2048)), provider)
    ended = await session.run()
    assert ended.how == "error"
    assert re.fullmatch(
        r"The question takes [\d,]+ tokens and model-anna has room for 2,048: shorten it", ended.message
    )
    assert provider.calls == []
    chain = chain_of(session)
    assert chain.ended
    assert (chain.ended.reason, chain.ended.censored, chain.ended.message) == ("error", True, ended.message)


# ── a model that can't be used ────────────────────────────────────────────────────────────────────────────────────────


class Unready(ScriptedProvider):
    async def prepare(self, spec: ModelSpec) -> None:
        if spec.name == "model-bert":
            raise ModelUnavailableError("weights.gguf is missing: download it\x1b[2J first")


async def test_a_model_that_can_not_be_made_ready_ends_the_session_with_what_to_do(open_session: Open) -> None:
    provider = Unready(varied)
    session = open_session(make_plan(team=scripted_team("anna", "bert")), provider)
    follower = Follower(session)
    ended = await session.run()
    assert (ended.how, ended.message) == ("error", "weights.gguf is missing: download it[2J first")
    assert follower.names() == ["session_started", "question_started", "question_ended", "session_ended"]
    assert provider.calls == []
    assert read_log(session.folder).events == tuple(follower.events)


async def test_the_question_is_shown_before_models_are_made_ready(open_session: Open) -> None:
    """Loading weights takes its time; what is being asked is known at once."""
    known: list[bool] = []

    class Slow(ScriptedProvider):
        async def prepare(self, spec: ModelSpec) -> None:
            known.append(session.state.chain is not None)

    session = open_session(make_plan(max_ideas=1), Slow(varied))
    await session.run()
    assert known == [True] * 3


# ── those who follow ──────────────────────────────────────────────────────────────────────────────────────────────────


def following(order: list[tuple[str, int]], name: str) -> Callable[[ev.Event], None]:
    return lambda event: order.append((name, event.seq)) if event.seq >= 0 else None


async def test_every_follower_hears_every_event_in_order_whatever_another_one_does(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=2))
    order: list[tuple[str, int]] = []

    def meddle(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaScored) and event.idea == 1:
            session.send(cmd.AddIdea(text="Ask the seals what they hear below the floe."))
        if isinstance(event, ev.Paused):
            session.send(cmd.Resume())
        if isinstance(event, ev.StepStarted):
            session.send(cmd.Pause())

    session.subscribe(following(order, "first"))
    session.subscribe(meddle)
    session.subscribe(following(order, "last"))
    await session.run()
    for name in ("first", "last"):
        seqs = [seq for who, seq in order if who == name]
        assert seqs == list(range(session.state.seq + 1))


async def test_a_follower_at_fault_keeps_nothing_from_the_others_or_from_the_file(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=2))

    def broken(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaAdded):
            raise ValueError("a bug in a screen")

    session.subscribe(broken)
    follower = Follower(session)
    with pytest.raises(ExceptionGroup) as caught:
        await session.run()
    assert isinstance(caught.value.exceptions[0], ValueError), "a bug is never hidden"
    shown = tuple(event for event in follower.events if not isinstance(event, ev.ProposalDelta))
    assert isinstance(shown[-1], ev.IdeaAdded)
    assert read_log(session.folder).events == shown


async def test_who_has_gone_hears_no_more(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1))
    heard: list[ev.Event] = []
    leave = session.subscribe(heard.append)
    leave()
    leave()
    await session.run()
    assert heard == []
