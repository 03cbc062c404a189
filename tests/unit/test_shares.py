"""Whose ideas a person pinned and rated."""

from typing import Any

from msgspec.structs import replace

from core import events as ev
from core.analysis.shares import Share, shares
from core.chain import Chain
from core.state import fold
from tui.deeds import share_lines

WHERE: dict[str, Any] = {"question": "q"}
AUTHORS = ("you", "anna", "anna")


def chain(*more: ev.Event) -> Chain:
    """Idea 1 is the person's, 2 and 3 are anna's, 4 was merged by bert."""
    added = [ev.IdeaAdded(**WHERE, idea=n, step=n, text=f"Idea {n}.", author=who) for n, who in enumerate(AUTHORS, 1)]
    added.append(ev.IdeaAdded(**WHERE, idea=4, step=3, text="Idea 4.", author="bert", parents=(2, 3)))
    begun = ev.QuestionStarted(question="q", text="Propose a test.", domain="Own")
    state = fold(replace(event, seq=number) for number, event in enumerate([begun, *added, *more]))
    assert state.chain
    return state.chain


def pinned(idea: int) -> ev.Event:
    return ev.IdeaPinned(**WHERE, idea=idea, old=False, new=True)


def rated(idea: int, stars: int) -> ev.Event:
    return ev.IdeaRated(**WHERE, idea=idea, old=0, new=stars)


def test_without_a_mark_there_is_nothing_to_share() -> None:
    assert shares([chain()]) == []
    assert share_lines([]) == []


def test_an_idea_that_is_pinned_and_rated_counts_once() -> None:
    found = shares([chain(pinned(1), rated(1, 5), rated(2, 2), rated(3, 4))])
    assert found == [
        Share(author="anna", ideas=2, marked=2, of_marked=2 / 3, mean_rating=3.0),
        Share(author="you", ideas=1, marked=1, of_marked=1 / 3, mean_rating=5.0),
        Share(author="bert", ideas=1, marked=0, of_marked=0.0, mean_rating=None),
    ]


def test_the_shares_of_several_questions_are_taken_together() -> None:
    one, two = chain(pinned(1)), chain(rated(2, 3))
    assert {share.author: share.of_marked for share in shares([one, two])} == {"you": 0.5, "anna": 0.5, "bert": 0.0}


def test_what_was_taken_out_and_what_lost_its_rating_counts_for_nobody() -> None:
    out = ev.IdeaRemoved(**WHERE, idea=1)
    assert shares([chain(pinned(1), out, rated(2, 3), rated(2, 0))]) == []


def test_a_merged_idea_is_whoever_wrote_its() -> None:
    [bert] = [share for share in shares([chain(pinned(4))]) if share.marked]
    assert (bert.author, bert.of_marked) == ("bert", 1.0)


def test_it_is_said_in_one_line() -> None:
    assert share_lines(shares([chain(pinned(1), rated(1, 5), rated(2, 2))])) == [
        "Pinned and rated: 1 yours (50%, of 1 idea, 5.0 of 5 on average); "
        "1 by anna (50%, of 2 ideas, 2.0 of 5 on average); 0 by bert (0%, of 1 idea)"
    ]
