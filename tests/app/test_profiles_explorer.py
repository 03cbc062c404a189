"""Going through profiles without a screen: what is chosen, how far down, and what the charts are then about."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from core.analysis.profiles import Chains, Map, Ribbons
from core.analysis.table import Table, table_of
from core.store.tables import read_tables
from tests.app.made_up import results
from tests.unit.tables import row
from tui import idea_vectors
from tui.charts.catalog import NAMES
from tui.charts.look import COLORLESS
from tui.charts.numbers import NothingToDrawError
from tui.explorer import Explorer
from tui.idea_vectors import IdeaVectors, laid_out
from tui.selection import Inside, Row

TOTALS = {"anna:7b": 30.0, "bert": 20.0, "cleo/large": 10.0}


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return read_tables([results(tmp_path)]).table


@pytest.fixture
def explorer(table: Table) -> Explorer:
    found = Explorer(table, TOTALS, "other")
    found.row = found.rows()[0]
    return found


def named(explorer: Explorer, name: str) -> Row:
    return next(row for row in explorer.rows() if row.name == name)


def go_to_chain(explorer: Explorer) -> None:
    for name in ("bert", "Neuroscience", "What would you ask sleep?"):
        assert explorer.enter(named(explorer, name))


def vectors(explorer: Explorer) -> IdeaVectors:
    return laid_out(np.random.default_rng(1).normal(size=(len(explorer.table.ideas.chain), 8)).astype(np.float32))


def test_models_come_by_how_many_ideas_they_have(explorer: Explorer) -> None:
    assert [(row.name, row.said) for row in explorer.rows()] == [
        ("anna:7b", "7.5"),
        ("bert", "6.3"),
        ("cleo/large", "2.7"),
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("who", "seeds")])
def test_there_is_every_chart_of_models_alone(explorer: Explorer, name: str) -> None:
    explorer.vectors = vectors(explorer)
    explorer.name = name  # type: ignore[assignment]
    assert explorer.chart().sheet().rows
    assert explorer.title()


@pytest.mark.parametrize("name", ["who", "seeds", "map"])
def test_a_chart_that_has_no_numbers_says_what_it_takes(explorer: Explorer, name: str) -> None:
    explorer.name = name  # type: ignore[assignment]
    with pytest.raises(NothingToDrawError) as found:
        explorer.chart()
    assert len(found.value.message) > 20


def test_what_is_left_out_stays_in_the_list_and_leaves_the_chart(explorer: Explorer) -> None:
    explorer.toggle(named(explorer, "bert"))
    assert [row.included for row in explorer.rows()] == [True, False, True]
    assert [row[0] for row in explorer.chart().sheet().rows] == ["anna:7b", "cleo/large"]
    explorer.toggle(named(explorer, "bert"))
    assert len(explorer.chart().sheet().rows) == 3


def test_all_can_be_left_out_and_included_again(explorer: Explorer) -> None:
    explorer.toggle_all()
    with pytest.raises(NothingToDrawError, match="Nothing is chosen"):
        explorer.chart()
    explorer.toggle_all()
    assert len(explorer.chart().sheet().rows) == 3


def test_sessions_can_be_left_out_as_models_can(explorer: Explorer) -> None:
    explorer.listing = "sessions"
    [session] = explorer.rows()
    assert session.text == "results.json"
    explorer.toggle(session)
    with pytest.raises(NothingToDrawError):
        explorer.chart()


@pytest.mark.parametrize(
    ("words", "domain", "questions"),
    [
        ("", "", 6),
        ("ICE", "", 1),
        ("ask s", "", 6),
        ("", "Biology", 2),
        ("yeast", "Biology", 1),
        ("", "Neuroscience", 2),
        ("", "neuroscience ", 2),
        ("neuroscience", "", 2),
    ],
)
def test_filters_leave_the_questions_that_fit(explorer: Explorer, words: str, domain: str, questions: int) -> None:
    explorer.selection = replace(explorer.selection, words=words, domain=domain)
    [first, *_] = explorer.chart().sheet().rows
    assert first[7] == questions


def test_domains_to_choose_from_are_those_that_there_are(explorer: Explorer) -> None:
    assert explorer.domains() == ["Chemistry", "Biology", "Neuroscience"]


def test_stricter_rules_make_chains_shorter_at_once(explorer: Explorer) -> None:
    def total() -> object:
        return [row[1] for row in explorer.chart().sheet().rows]

    stored = total()
    explorer.change("embedding_novelty", 0.5)
    assert [int(mean) for mean in total()] == [4, 3, 2]  # type: ignore[attr-defined]
    explorer.change("embedding_novelty", None)
    assert total() == stored


def test_rules_that_sessions_have_in_common_are_shown_as_their_own() -> None:
    same = Explorer(table_of([row("a", "q", 3), row("b", "q", 4)]), {})
    assert (same.own("coherence"), same.own("patience"), same.own("max_ideas")) == (15.0, 1.0, None)
    other = Explorer(table_of([row("a", "q", 3), row("b", "q", 4, patience=3, max_ideas=9)]), {})
    assert (other.own("patience"), other.own("max_ideas")) == (None, None)


# ── down and up ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_goes_from_a_model_to_its_leaf_its_question_and_its_chain(explorer: Explorer) -> None:
    assert explorer.enter(named(explorer, "bert"))
    assert [row.name for row in explorer.rows()] == ["Chemistry", "Biology", "Neuroscience"]
    assert explorer.enter(named(explorer, "Biology"))
    assert [row.said for row in explorer.rows()] == ["11", "9"]
    assert explorer.enter(named(explorer, "What would you ask yeast?"))
    assert explorer.selection.inside.level == "idea"  # its only chain
    assert explorer.name == "chains"
    assert len(explorer.rows()) == 11
    assert explorer.rows()[-1].text.startswith("×")
    assert not explorer.enter(explorer.rows()[0])


def test_one_comes_back_the_same_way(explorer: Explorer) -> None:
    go_to_chain(explorer)
    assert [explorer.up() for _ in range(4)] == ["What would you ask sleep?", "Neuroscience", "bert", None]
    assert explorer.selection.inside == Inside()
    assert explorer.name == "ribbons"


def test_of_several_chains_on_a_question_one_is_chosen() -> None:
    explorer = Explorer(
        table_of([row("a", "q", 3, session="one"), row("a", "q", 5, session="two"), row("b", "q", 4)]), {}
    )
    for _ in range(3):
        explorer.enter(explorer.rows()[0])
    assert [row.chain for row in explorer.rows()] == [("one", 0), ("two", 0)]
    explorer.enter(explorer.rows()[1])
    assert len(explorer.rows()) == 5
    assert explorer.idea_of(explorer.rows()[2]).session == "two"
    assert explorer.up() == "How about q?"
    assert len(explorer.rows()) == 2


def test_the_only_chain_that_is_left_is_a_step_neither_down_nor_up() -> None:
    explorer = Explorer(table_of([row("a", "q", 3, session="one"), row("a", "q", 5, session="two")]), {})
    explorer.listing = "sessions"
    explorer.toggle(named(explorer, "two"))
    explorer.listing = "models"
    for _ in range(3):
        explorer.enter(explorer.rows()[0])
    assert explorer.selection.inside.chain == ("one", 0)
    assert explorer.up() == "How about q?"
    assert explorer.selection.inside.level == "question"


def test_a_model_that_is_left_out_can_be_gone_through_all_the_same(explorer: Explorer) -> None:
    explorer.toggle(named(explorer, "bert"))
    go_to_chain(explorer)
    assert explorer.selection.inside.chain is not None
    assert explorer.up() == "What would you ask sleep?"
    assert explorer.selection.inside.level == "question"


def test_ribbons_are_about_what_there_is_to_choose_from(explorer: Explorer) -> None:
    explorer.enter(named(explorer, "anna:7b"))
    assert [row[0] for row in explorer.chart().sheet().rows] == ["Chemistry", "Neuroscience", "Biology"]
    explorer.enter(named(explorer, "Chemistry"))
    assert [row[0] for row in explorer.chart().sheet().rows] == ["What would you ask ice?", "What would you ask salt?"]


def test_the_chains_of_others_on_the_question_are_drawn_beside_the_models_own(explorer: Explorer) -> None:
    go_to_chain(explorer)
    explorer.chart()
    assert isinstance(explorer._numbers, Chains)
    assert [series.model for series in explorer._numbers.series] == ["bert", "anna:7b", "cleo/large"]
    assert {series.question for series in explorer._numbers.series} == {"What would you ask sleep?"}


def test_an_idea_is_told_by_its_session_chain_and_number(explorer: Explorer) -> None:
    go_to_chain(explorer)
    idea = explorer.idea_of(explorer.rows()[1])
    assert (Path(idea.session).name, idea.number, idea.title) == ("results.json", 2, "bert, idea 2")
    scores, question = idea.about.splitlines()
    assert scores.startswith("passed · novelty 0.")
    assert question == "What would you ask sleep?"


def test_texts_that_have_been_read_stand_in_the_rows(explorer: Explorer) -> None:
    go_to_chain(explorer)
    explorer.texts[explorer.selection.inside.chain] = {1: "A first\nidea", 2: "A second"}
    assert [row.text for row in explorer.rows()][:3] == ["   1 A first idea", "   2 A second", "×  3 "]


# ── two selections ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_two_selections_are_set_against_each_other_question_by_question(explorer: Explorer) -> None:
    explorer.toggle_all()
    explorer.toggle(named(explorer, "anna:7b"))
    explorer.keep()
    explorer.toggle(named(explorer, "anna:7b"))
    explorer.toggle(named(explorer, "bert"))
    rows = {row[0]: row for row in explorer.differences().sheet().rows}
    assert set(rows) == {"all", "Chemistry", "Biology", "Neuroscience"}
    _, questions, one, other, difference, low, high = rows["all"]
    assert (questions, one, round(float(other or 0), 2)) == (6, 7.5, 6.33)
    assert float(low or 0) < float(difference or 0) < float(high or 0)
    assert [len(chart.sheet().rows) for chart in explorer.pair()] == [1, 1]


def test_the_same_selection_under_other_rules_can_be_set_against_itself(explorer: Explorer) -> None:
    explorer.keep()
    explorer.change("max_ideas", 3)
    row = explorer.differences().sheet().rows[0]
    assert float(row[2] or 0) > float(row[3] or 0)


def test_the_kept_selection_has_a_map_of_its_own(explorer: Explorer) -> None:
    explorer.vectors = vectors(explorer)
    explorer.name = "map"
    explorer.keep()
    explorer.select(domain="Biology")
    explorer.chart()
    explorer.place = 0
    kept, now = (chart.sheet().rows for chart in explorer.pair())
    assert len(kept) == len(explorer.table.ideas.chain)
    assert len(now) < len(kept)
    assert isinstance(explorer._numbers, Map)
    assert len(explorer._numbers.places) == len(now), "the mouse is on the present one"


def test_vectors_are_wanted_for_both_sides_of_the_map(explorer: Explorer) -> None:
    explorer.select(domain="Biology")
    explorer.keep()
    explorer.select(domain="Chemistry")
    explorer.name = "map"
    assert explorer.wants_vectors
    with pytest.raises(NothingToDrawError, match="needs a vector"):
        explorer.pair()
    mapped = {explorer.table.questions[place].leaf for place in explorer.table.chains.question[explorer.mapped]}
    assert mapped == {"Biology", "Chemistry"}
    explorer.vectors = vectors(explorer)
    assert not explorer.wants_vectors
    explorer.pair()


def test_inside_a_model_charts_of_models_compare_all_with_all(explorer: Explorer) -> None:
    explorer.enter(named(explorer, "bert"))
    explorer.name = "winners"
    explorer.keep()
    kept, now = explorer.pair()
    assert kept.sheet() == now.sheet()
    explorer.change("max_ideas", 2)
    kept, now = explorer.pair()
    assert kept.sheet() != now.sheet()


def test_a_kept_selection_keeps_its_rules_and_their_lines(explorer: Explorer) -> None:
    explorer.name = "chains"
    explorer.keep()
    before = explorer.chart().draw(80, 24, COLORLESS)
    explorer.change("embedding_novelty", 0.5)
    kept, now = explorer.pair()
    assert kept.draw(80, 24, COLORLESS) == before
    assert now.draw(80, 24, COLORLESS) != before


def test_selections_without_a_common_question_have_no_difference(explorer: Explorer) -> None:
    explorer.selection = replace(explorer.selection, domain="Biology")
    explorer.keep()
    explorer.selection = replace(explorer.selection, domain="Chemistry")
    with pytest.raises(NothingToDrawError, match="no question in common"):
        explorer.differences()


# ── on the chart ──────────────────────────────────────────────────────────────────────────────────────────────────────


def chains(explorer: Explorer) -> None:
    explorer.name = "chains"
    explorer.chart()


def test_a_threshold_follows_the_hand_that_took_it(explorer: Explorer) -> None:
    chains(explorer)
    lines = "\n".join("".join(segment.text for segment in line) for line in explorer.chart().draw(80, 24, COLORLESS))
    line = next(row for row, text in enumerate(lines.splitlines()) if "══" in text)
    assert explorer.point(30, line, 80, 24, begun=True)
    assert explorer.point(30, line - 6, 80, 24, begun=False)
    higher = explorer.threshold("embedding_novelty")
    assert higher is not None
    assert higher > 0.2
    assert explorer.point(30, line + 50, 80, 24, begun=False)
    assert explorer.threshold("embedding_novelty") == 0


def test_a_hand_beside_the_line_moves_nothing(explorer: Explorer) -> None:
    chains(explorer)
    explorer.point(30, 6, 80, 24, begun=True)
    assert not explorer.point(30, 15, 80, 24, begun=False)
    assert explorer.threshold("embedding_novelty") == 0.15


def test_keys_move_the_threshold_by_what_the_slider_does(explorer: Explorer) -> None:
    chains(explorer)
    assert explorer.nudge(0, 1)
    assert explorer.threshold("embedding_novelty") == 0.155
    explorer.measure = "coherence"
    assert explorer.nudge(0, -1)
    assert explorer.threshold("coherence") == 14


def test_on_other_charts_there_is_nothing_to_move(explorer: Explorer) -> None:
    explorer.chart()
    assert isinstance(explorer._numbers, Ribbons)
    assert not explorer.nudge(0, 1)
    assert not explorer.point(3, 3, 80, 24, begun=True)


def test_on_the_map_an_idea_is_chosen_and_can_be_opened(explorer: Explorer) -> None:
    explorer.vectors = vectors(explorer)
    explorer.name = "map"
    explorer.chart()
    assert explorer.chosen_idea() is None
    assert explorer.point(40, 12, 80, 24, begun=True)
    first = explorer.chosen_idea()
    assert first is not None
    for _ in range(60):
        explorer.nudge(1, 0)
    assert explorer.chosen_idea() != first


def test_a_part_of_very_many_ideas_is_a_part_of_their_map(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer.vectors = vectors(explorer)
    explorer.name = "map"
    own = explorer.chart()
    assert isinstance(explorer._numbers, Map)
    explained = explorer._numbers.explained
    monkeypatch.setattr(idea_vectors, "MANY", 10)
    assert [row[:2] for row in explorer.chart().sheet().rows] == [row[:2] for row in own.sheet().rows]
    assert explorer._numbers.explained == pytest.approx(explained, abs=0.01)


def test_another_way_to_look_goes_round(explorer: Explorer) -> None:
    ways = []
    for _ in range(5):
        explorer.chart()
        ways.append(explorer.by)
        explorer.another_way()
    assert ways == ["model", "leaf", "domain", "question", "model"]
    explorer.name = "effort"
    explorer.chart()
    explorer.another_way()
    assert explorer.spent == "seconds"


def test_charts_go_round(explorer: Explorer) -> None:
    seen = []
    for _ in NAMES:
        seen.append(explorer.name)
        explorer.step_chart(1)
    assert tuple(seen) == NAMES
    assert explorer.name == "ribbons"
