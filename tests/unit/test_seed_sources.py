"""Where seeds come from beside the bank: files, earlier ideas, questions, a line, other levers."""

from pathlib import Path

import pytest

from core.errors import UsageError
from core.levers import Seed
from core.questions import LEAVES, load_bank
from core.seeds.sources import (
    banked,
    field_named,
    levers,
    of_bank,
    stock_of_bank,
    stock_of_ideas,
    stock_of_questions,
    typed,
)
from core.store import library
from tests.app.told import IDEAS, Recorder, steered
from tests.conftest import QUESTION, make_plan


def store(sessions: Path, recorder: Recorder) -> str:
    """A stored session. Returns its id."""
    plan = make_plan()
    log = library.create(sessions, plan)
    for event in recorder.events:
        log.append(event)
    log.close()
    return log.folder.name


def test_the_bank_and_a_persons_own_files_are_one_stock(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "jagstorm" / "seeds"
    folder.mkdir(parents=True)
    (folder / "own.toml").write_text('[[seeds]]\nname = "Drip clock"\ntext = "Each drop leaves a film."\n')
    (folder / "bad.toml").write_text("[[seeds]\n")
    stock = stock_of_bank()
    assert Seed(name="Drip clock", text="Each drop leaves a film.", source="file", field="Own") in stock.seeds
    assert {seed.field for seed in stock.seeds} == {*LEAVES, "Own"}
    [problem] = stock.problems
    assert "bad.toml: not TOML" in problem
    assert len(of_bank(banked().seeds)) == len(stock.seeds)


def test_questions_of_other_domains_are_seeds_those_of_its_own_are_not() -> None:
    stock = stock_of_questions(QUESTION, [])
    others = [question for question in load_bank().questions if question.domain != "Physics"]
    assert [seed.name for seed in stock.seeds] == [question.text for question in others]
    assert {seed.source for seed in stock.seeds} == {"question"}


def test_ideas_that_stand_are_seeds_and_it_is_known_which_a_person_marked(sessions: Path) -> None:
    store(sessions, steered())
    stock = stock_of_ideas(sessions)
    names = {seed.name for seed in stock.seeds}
    assert IDEAS[0] in names
    assert IDEAS[2] not in names, "it failed"
    assert IDEAS[4] not in names, "it was taken out"
    assert stock.marked == {IDEAS[0], IDEAS[3]}, "pinned, and rated"
    assert {seed.field for seed in stock.seeds} == {QUESTION.leaf}


def test_the_session_itself_what_cannot_be_read_and_what_comes_after_a_stop_are_left_out(sessions: Path) -> None:
    own = store(sessions, steered())
    broken = sessions / "20000101-000000-broken-0000"
    broken.mkdir()
    (broken / "session.toml").write_text("[")
    assert stock_of_ideas(sessions, besides=own).seeds == ()
    assert stock_of_ideas(sessions, stopped=lambda: True).seeds == ()
    assert stock_of_ideas(sessions).seeds


def test_the_same_idea_of_two_sessions_is_one_seed(sessions: Path) -> None:
    store(sessions, steered())
    once = stock_of_ideas(sessions).seeds
    store(sessions, steered())
    assert stock_of_ideas(sessions).seeds == once


@pytest.mark.parametrize(
    ("line", "seed"),
    [
        ("Whale song", Seed(name="Whale song")),
        ("  Whale song:  low notes \x1b carry  far ", Seed(name="Whale song", text="low notes carry far")),
        ("Whale song:", Seed(name="Whale song:")),
        ("12:30 trains", Seed(name="12:30 trains")),
        ("w" * 81 + ": text", Seed(name="w" * 81 + ": text")),
        ("w" * 501, Seed(name="w" * 499 + "…", text="w" * 501)),
    ],
)
def test_a_typed_line_is_a_name_or_a_name_and_a_mechanism(line: str, seed: Seed) -> None:
    assert typed(line) == seed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" \t", "A seed needs some words"),
        (": low notes", "A seed needs some words before the colon"),
        ("w" * 20_001, "can have 20,000 characters, not 20,001"),
    ],
)
def test_a_line_that_is_no_seed_says_why(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        typed(line)


def test_levers_are_languages_and_personas() -> None:
    kinds = [seed.lever for seed in levers()]
    assert set(kinds) == {"language", "persona"}
    assert min(kinds.count("language"), kinds.count("persona")) >= 10
    assert len({seed.name for seed in levers()}) == len(kinds)


@pytest.mark.parametrize(
    ("name", "leaf"),
    [("chemistry", "Chemistry"), ("physics / astrophysics", LEAVES[1]), ("Condensed matter", LEAVES[2])],
)
def test_a_field_is_named_in_full_or_by_its_last_part(name: str, leaf: str) -> None:
    assert field_named(name, LEAVES) == leaf


def test_a_field_that_there_is_not_says_which_there_are() -> None:
    with pytest.raises(UsageError, match=r"no field 'alchemy': there are Physics / Fundamental, .*Neuroscience"):
        field_named("alchemy", LEAVES)
