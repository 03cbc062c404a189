"""How what persons do is said: what it was, from which step on it counts, and by whom."""

from typing import Any

import pytest
from msgspec.structs import replace

from core import events as ev
from core.chain import Idea
from core.levers import POLICY, Each, Every, Hand, Off, Plateau, Seed
from core.models import Member, ModelSpec, TeamSpec
from core.state import State, fold
from tui.deeds import doer, mark_words, policy_words, said, standing, task_lines

Q: dict[str, Any] = {"question": "q"}
TIDES = Seed(name="tides")
TEAM = TeamSpec(name="two", members=(Member(name="anna", model=ModelSpec(name="m", provider="scripted")),))

IDEA = (
    ev.QuestionStarted(question="q", text="Propose a test.", domain="Own"),
    ev.StepStarted(**Q, step=1, members=("anna",), seq=1),
    ev.ProposalStarted(**Q, step=1, member="anna", whole=True, seq=2),
    ev.IdeaAdded(**Q, idea=1, step=1, text="Use ice.", author="anna", seq=3),
)
SCORED = (*IDEA, ev.IdeaScored(**Q, idea=1, embedding_novelty=1.0, verdict="passed", seq=4))
UNDER_WAY = (
    ev.StepStarted(**Q, step=2, members=("anna",), seeds=("s1",), seq=5),
    ev.ProposalStarted(**Q, step=2, member="anna", whole=True, seq=6),
)
SEEDED = ev.SeedInjected(**Q, id="s1", seed=TIDES, steps=2, step=2, seq=4)


def after(*events: ev.Event) -> State:
    return fold(events)


def words(event: ev.Event, *before: ev.Event) -> str:
    """What is said of `event` when it comes after `before`."""
    return said(event, after(*before, event))


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ev.IdeaRemoved(**Q, idea=1), "Idea 1 is taken out, from step 2 on"),
        (ev.IdeaRestored(**Q, idea=1), "Idea 1 is back, from step 2 on"),
        (
            ev.IdeaEdited(**Q, idea=1, old="Use ice.", new="Use fire."),
            "Idea 1 is edited and scored anew, from step 2 on",
        ),
        (ev.IdeaPinned(**Q, idea=1, old=False, new=True), "Idea 1 is pinned, from step 2 on"),
        (ev.IdeaPinned(**Q, idea=1, old=True, new=False), "Idea 1 is no longer pinned, from step 2 on"),
        (ev.SteerAdded(**Q, id="g1", text="Dare more."), "Instruction in force, from step 2 on"),
        (SEEDED, "Seed “tides” from step 2 on, for 2 ideas"),
        (ev.SeedInjected(**Q, id="s1", seed=TIDES, steps=None, step=2), "Seed “tides” from step 2 on"),
        (ev.SeedPolicySet(**Q, old=Hand(), new=Off()), "Seeds: off"),
        (ev.TaskGiven(**Q, id="t1", task="develop", ideas=(1,)), "Working out idea 1"),
        (ev.TaskGiven(**Q, id="t1", task="merge", ideas=(1, 2, 3)), "Merging ideas 1, 2 and 3"),
        (ev.TeamChanged(team=TEAM, by="you"), "Team two goes on, from step 2 on"),
        (ev.PipeliningSet(on=True, by="you"), "The next idea is asked for while scores come"),
        (ev.PipeliningSet(on=False, by="ada"), "ada: Each idea waits for the last one's scores"),
    ],
)
def test_a_deed_between_two_steps_counts_from_the_next_on(event: ev.Event, expected: str) -> None:
    assert words(event, *SCORED) == expected


def test_what_the_prompt_under_way_shows_wrongly_counts_from_that_step_on_and_all_else_from_the_next() -> None:
    under_way = (*SCORED, SEEDED, *UNDER_WAY)
    assert words(ev.IdeaRemoved(**Q, idea=1, seq=7), *under_way).endswith("from step 2 on")
    assert words(ev.SeedWithdrawn(**Q, id="s1", seq=7), *under_way) == "Seed “tides” is withdrawn, from step 2 on"
    assert words(ev.SteerAdded(**Q, id="g1", text="Dare.", seq=7), *under_way).endswith("from step 3 on")


def test_a_step_that_was_asked_ahead_of_scores_is_asked_anew_for_whatever_is_said() -> None:
    assert words(ev.SteerAdded(**Q, id="g1", text="Dare.", seq=7), *IDEA, *UNDER_WAY).endswith("from step 2 on")


def test_when_the_chain_has_ended_nothing_is_promised() -> None:
    end = ev.QuestionEnded(**Q, reason="cap", censored=True, responses=1, valid=1)
    assert words(ev.IdeaPinned(**Q, idea=1, old=False, new=True), *SCORED, end) == "Idea 1 is pinned"


def test_undoing_says_what_was_undone() -> None:
    assert words(ev.IdeaRated(**Q, idea=1, old=4, new=0, undoes=4), *SCORED) == "Undone: idea 1 has no rating"
    removed = ev.IdeaRemoved(**Q, idea=1, undoes=3)
    assert words(removed, *SCORED) == "Undone: idea 1 is taken out, from step 2 on"


def test_what_others_do_is_said_by_name() -> None:
    rated = ev.IdeaRated(**Q, idea=1, old=0, new=4, by="ada")
    assert words(rated, *SCORED) == "ada: Idea 1 has 4 of 5"
    added = ev.IdeaAdded(**Q, idea=2, step=1, text="Use fire.", author="you", by="ada")
    assert words(added, *SCORED) == "ada: Idea 2 is added"


@pytest.mark.parametrize(
    "event",
    [
        ev.IdeaRated(**Q, idea=1, old=0, new=4),
        ev.IdeaCommented(**Q, idea=1, old="", new="Good."),
        ev.IdeaAdded(**Q, idea=2, step=1, text="Use fire.", author="you"),
        ev.IdeaAdded(**Q, idea=2, step=1, text="Use fire.", author="anna"),
        ev.SeedInjected(**Q, id="s1", seed=TIDES, by=POLICY),
        ev.TaskFailed(**Q, id="t1", member="anna", outcome="cancelled"),
        ev.Paused(by="you"),
    ],
)
def test_what_the_screen_shows_by_itself_is_not_said_too(event: ev.Event) -> None:
    assert words(event, *SCORED) == ""


def test_a_task_that_failed_says_why() -> None:
    failed = ev.TaskFailed(**Q, id="t1", member="anna", outcome="failed", message="the server said no")
    assert words(failed, *SCORED) == "The team could not do what was asked: the server said no"


def test_what_stands_is_listed_with_how_long_it_still_does() -> None:
    state = after(
        *SCORED,
        SEEDED,
        ev.SeedInjected(**Q, id="s2", seed=Seed(name="Latin", lever="language"), steps=None),
        ev.SteerAdded(**Q, id="g1", text="Dare more."),
        ev.SteerAdded(**Q, id="g2", text="Be brief."),
        ev.SteerWithdrawn(**Q, id="g2"),
        ev.TaskGiven(**Q, id="t1", task="deny", ideas=(1,)),
    )
    assert [row.line for row in standing(state)] == [
        "seed tides (2 ideas left)",
        "language Latin",
        "instruction “Dare more.”",
    ]
    assert task_lines(state) == ["naming the mechanism of idea 1"]


def test_a_seed_that_came_by_itself_stands_for_its_own_question_only() -> None:
    brought = ev.SeedInjected(**Q, id="s1", seed=TIDES, steps=50, by=POLICY)
    before = (*SCORED, brought, ev.SeedInjected(**Q, id="s2", seed=Seed(name="kites"), steps=None))
    assert [row.line for row in standing(after(*before))] == ["seed tides (50 ideas left)", "seed kites"]
    state = after(*before, ev.QuestionStarted(question="other", text="Propose another.", domain="Own"))
    assert [row.line for row in standing(state)] == ["seed kites"]
    assert [seed.name for seed in state.in_force.seeds] == ["kites"]


def idea_after(*events: ev.Event) -> Idea:
    """The first idea, when that was done to it."""
    chain = after(*IDEA, *(replace(event, seq=10 + n) for n, event in enumerate(events))).chain
    assert chain
    return chain.ideas[0]


def test_a_mark_names_who_made_it_where_that_was_not_you() -> None:
    pin: dict[str, Any] = {**Q, "idea": 1, "old": False, "new": True}
    assert mark_words(idea_after(ev.IdeaPinned(**pin))) == ["pinned"]
    assert mark_words(idea_after(ev.IdeaPinned(**pin, by="ada"))) == ["pinned by ada"]
    assert mark_words(idea_after(ev.IdeaRemoved(**Q, idea=1, by="bob"))) == ["taken out by bob"]
    edited = ev.IdeaEdited(**Q, idea=1, old="Use ice.", new="Use fire.", by="ada")
    assert mark_words(idea_after(edited)) == ["edited by ada"]


def test_a_comment_is_theirs_who_made_it_also_when_another_ones_was_undone() -> None:
    first = ev.IdeaCommented(**Q, idea=1, old="", new="Dear.", by="ada")
    second = ev.IdeaCommented(**Q, idea=1, old="Dear.", new="Cheap.", by="bob")
    undone = ev.IdeaCommented(**Q, idea=1, old="Cheap.", new="Dear.", by="bob", undoes=11)
    assert doer(idea_after(first, second), ev.IdeaCommented) == "bob"
    back = idea_after(first, second, undone)
    assert (back.comment, doer(back, ev.IdeaCommented)) == ("Dear.", "ada")


@pytest.mark.parametrize(
    ("picked", "expected"),
    [
        ({"pick": "bert"}, "ada: Proposal 2 of step 1 is taken"),
        ({"pick": "bert", "also": ("anna",)}, "ada: Proposals 2 and 1 of step 1 are taken"),
        ({"pick": ""}, "ada: No proposal of step 1 is taken"),
    ],
)
def test_what_another_person_picks_is_said_by_place(picked: dict[str, Any], expected: str) -> None:
    chosen: dict[str, Any] = {**Q, "step": 1, "order": ("anna", "bert"), **picked}
    assert words(ev.ProposalChosen(**chosen, by="person", chooser="ada"), *IDEA) == expected
    assert words(ev.ProposalChosen(**chosen, by="person", chooser="you"), *IDEA) == ""
    assert words(ev.ProposalChosen(**chosen, by="selector", chooser="gpt"), *IDEA) == ""


def test_the_marks_of_an_idea_in_words() -> None:
    idea = Idea(number=3, step=1, text="Now.", author="anna", original="Then.", pinned=True, rating=2, parents=(1, 2))
    assert mark_words(idea) == ["pinned", "rated 2 of 5", "edited", "merged of ideas 1 and 2"]


def test_when_seeds_come_in_words() -> None:
    assert policy_words(Off()) == "off"
    assert policy_words(Hand()) == "by hand"
    assert policy_words(Every(steps=4)) == "far, every 4 steps"
    assert policy_words(Plateau(distance="near")) == "near, at a plateau"
    assert policy_words(Each()) == "far, a fresh one in every step"
    assert policy_words(Each(seed="tides")) == "“tides” in every step"
