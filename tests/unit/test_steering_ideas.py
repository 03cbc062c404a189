"""What a person does to ideas: what is shown, scored again, merged, and marked after the end; and writing first."""

import asyncio

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.errors import UsageError
from core.events.course import OWN_FIRST
from core.levers import OwnFirst
from core.session import Session
from core.state import fold
from core.store.log import read_log
from tests.conftest import Open, make_plan, scripted_team
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import Follower, chain_of
from tests.unit.looped import OWN, after, answering, idea_of, plain_plan, said

# ── ideas ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_edited_idea_is_scored_anew_shown_as_it_is_now_and_its_original_is_kept(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(plain_plan(4), provider)
    follower = Follower(session)
    after(session, 2, cmd.EditIdea(idea=1, text=OWN))
    await session.run()
    first = idea_of(session, 1)
    assert (first.text, first.author) == (OWN, "anna")
    assert first.original in said(provider.calls[1])
    assert first.original not in said(provider.calls[3])
    assert OWN in said(provider.calls[3])
    assert [scored.idea for scored in follower.of(ev.IdeaScored)].count(1) == 2
    assert first.score


async def test_the_prompt_of_an_earlier_idea_can_still_be_told_after_all_that_came_later(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(plain_plan(6), provider)
    after(session, 2, cmd.EditIdea(idea=1, text=OWN))
    after(session, 3, cmd.RemoveIdea(idea=2))
    after(session, 4, cmd.RestoreIdea(idea=2))
    await session.run()
    chain = chain_of(session)
    for idea, prompt in zip(chain.ideas, provider.calls, strict=True):
        assert idea.prompt
        shown = [other.text for other in chain.shown_by(idea.prompt)]
        everything = {text for other in chain.ideas for text in (other.text, other.original) if text}
        assert {text for text in everything if text in said(prompt)} == set(shown)


async def test_a_removed_idea_is_in_no_prompt_and_does_not_count_until_it_is_brought_back(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(plain_plan(6), provider)
    after(session, 2, cmd.RemoveIdea(idea=1))
    after(session, 4, cmd.RestoreIdea(idea=1))
    valid: list[int] = []
    session.subscribe(lambda event: valid.append(chain_of(session).valid) if isinstance(event, ev.IdeaScored) else None)
    await session.run()
    first = idea_of(session, 1).text
    assert [first in said(prompt) for prompt in provider.calls] == [False, True, False, False, True, True]
    assert valid[2] == 2
    assert chain_of(session).valid == 6


async def test_a_pinned_idea_is_shown_although_it_failed_or_there_is_little_room(open_session: Open) -> None:
    provider = ScriptedProvider(varied)
    plan = replace(make_plan(max_ideas=16, team=scripted_team("anna", context=500)), pipelining=False)
    session = open_session(plan, provider)
    after(session, 2, cmd.PinIdea(idea=2))
    await session.run()
    pinned = idea_of(session, 2).text
    assert all(pinned in said(prompt) for prompt in provider.calls[2:])


async def test_ratings_and_comments_say_what_they_replace(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    follower = Follower(session)
    after(session, 1, cmd.RateIdea(idea=1, stars=4), cmd.RateIdea(idea=1, stars=5), cmd.CommentIdea(idea=1, text="try"))
    await session.run()
    assert [(rated.old, rated.new) for rated in follower.of(ev.IdeaRated)] == [(0, 4), (4, 5)]
    assert (idea_of(session, 1).rating, idea_of(session, 1).comment) == (5, "try")


async def test_a_merged_idea_is_scored_like_any_other_and_says_what_it_was_made_of(open_session: Open) -> None:
    provider = answering("<idea>Let the seals and the ice ring together at one frequency.</idea>")
    session = open_session(plain_plan(5), provider)
    after(session, 2, cmd.MergeIdeas(ideas=(1, 2)))
    await session.run()
    [merged] = [idea for idea in chain_of(session).ideas if idea.parents]
    assert merged.text == "Let the seals and the ice ring together at one frequency."
    assert (merged.parents, merged.author) == ((1, 2), "anna")
    assert merged.score
    [asked] = [prompt for prompt in provider.calls if "Make one idea" in said(prompt)]
    assert idea_of(session, 1).text in said(asked)
    assert idea_of(session, 2).text in said(asked)


async def test_a_development_stands_beside_its_idea_and_not_in_the_chain(open_session: Open) -> None:
    provider = answering("Mechanism: it rings.\n\nFirst experiment: strike it.")
    session = open_session(plain_plan(3), provider)
    after(session, 2, cmd.DevelopIdea(idea=2))
    await session.run()
    [developed] = idea_of(session, 2).developments
    assert developed.text == "Mechanism: it rings.\n\nFirst experiment: strike it."
    assert chain_of(session).responses == 3
    assert all("it rings" not in said(prompt) for prompt in provider.calls)


# ── after the end ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_ideas_can_still_be_marked_when_the_session_has_ended_and_the_log_holds_it(open_session: Open) -> None:
    session = open_session(plain_plan(2))
    await session.run()
    session.send(cmd.PinIdea(idea=2))
    session.send(cmd.RateIdea(idea=1, stars=5))
    session.send(cmd.RateIdea(idea=1, stars=1))
    session.send(cmd.Undo())
    record = read_log(session.folder)
    assert record.problems == ()
    again = fold(record.events)
    assert again.chains == session.state.chains
    assert [(idea.pinned, idea.rating) for idea in again.chains[session.plan.questions[0].id].ideas] == [
        (False, 5),
        (True, 0),
    ]
    assert again.ended
    with pytest.raises(UsageError, match="no idea 9"):
        session.send(cmd.PinIdea(idea=9))


# ── own ideas first ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shown", [True, False])
async def test_a_person_writes_first_and_the_team_sees_it_or_not(open_session: Open, shown: bool) -> None:
    provider = ScriptedProvider(varied)
    session = open_session(replace(plain_plan(4), own_first=OwnFirst(shown=shown)), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    held = await follower.next(ev.Paused)
    assert held.by == OWN_FIRST
    session.send(cmd.AddIdea(text=OWN))
    await follower.next(ev.IdeaScored)
    assert provider.calls == []
    session.send(cmd.Resume())
    await running
    assert [OWN in said(prompt) for prompt in provider.calls] == [shown] * 3
    assert [idea.by_person for idea in chain_of(session).ideas] == [True, False, False, False]
    assert idea_of(session, 1).score


async def test_own_ideas_are_there_after_a_kill_and_the_person_goes_on_writing(open_session: Open) -> None:
    from core.store.log import EventLog
    from tests.scripted import calling

    session = open_session(replace(plain_plan(4), own_first=OwnFirst()))
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await follower.next(ev.Paused)
    session.send(cmd.AddIdea(text=OWN))
    running.cancel()
    await asyncio.wait([running])
    log, record = EventLog.reopen(session.folder)
    again = Session(session.plan, log, calling(ScriptedProvider(varied)), session._scorer, history=fold(record.events))
    follower = Follower(again)
    running = asyncio.create_task(again.run())
    assert (await follower.next(ev.Paused)).by == OWN_FIRST
    assert [idea.text for idea in chain_of(again).ideas] == [OWN]
    again.send(cmd.Resume())
    await running
    assert len(follower.of(ev.OwnIdeasFirst)) == 0
    assert chain_of(again).responses == 4
