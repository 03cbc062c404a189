"""Result files that are broken, hostile or cut short: all of a file becomes sessions, or none of it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.config import PLAN_FILE
from core.errors import StoreError, UsageError
from core.exchange import importing
from core.exchange.importing import import_results
from core.lines import EVENTS_FILE
from core.models import YOU
from core.store import library
from core.store.library import StoredSession
from tests.unit.exchanged import answer, chemistry, models, write


@pytest.fixture
def imported(tmp_path: Path, sessions: Path) -> Callable[..., StoredSession]:
    """The session that comes of a file that holds one model."""

    def make(content: Any) -> StoredSession:
        [made] = import_results(write(tmp_path / "results.json", content), sessions).sessions
        return library.load(sessions / made.id)

    return make


Make = Callable[[Any], StoredSession]


# ── whole or not at all ───────────────────────────────────────────────────────────────────────────────────────────────


def faulty() -> Iterator[Any]:
    good = {"Q?": [answer(1)]}
    yield {"models": {"one": {"0.7": good}, "two": {"0.7": {"Q?": [answer(1), answer(2, answer=7)]}}}}
    yield {"models": {"one": {"0.7": good}, "two": {"0.7": {" ": [answer(1)]}}}}
    yield {"models": {"one": {"0.7": good}, "two": {"0.7": {"Q?": [answer(1, processing_time=1e300)]}}}}
    yield {"models": {"one": {"0.7": good}, "two": {"0.7": {"Q?": [answer(10**30)]}}}}
    yield {"models": {"one": {"0.7": good}, "two": {"0.7": {"Q?": [answer(1, reasoning_tokens=-1)]}}}}


@pytest.mark.parametrize("content", faulty())
def test_a_file_that_is_broken_anywhere_leaves_nothing(tmp_path: Path, sessions: Path, content: Any) -> None:
    path = write(tmp_path / "results.json", content)
    with pytest.raises(UsageError, match=r"results\.json: two, 0\.7"):
        import_results(path, sessions)
    assert not sessions.exists()
    import_results(write(tmp_path / "good.json", chemistry(answer(1))), sessions)
    before = sorted(sessions.iterdir())
    with pytest.raises(UsageError):
        import_results(path, sessions)
    assert sorted(sessions.iterdir()) == before


@pytest.mark.parametrize("twice", ['"Q?": []', '"Q?": [%s]'])
def test_a_name_that_hides_answers_of_the_same_name_is_a_fault(tmp_path: Path, sessions: Path, twice: str) -> None:
    one = json.dumps(answer(1))
    path = tmp_path / "results.json"
    path.write_text(f'{{"models": {{"m": {{"0.7": {{"Q?": [{one}], {twice.replace("%s", one)}}}}}}}}}')
    with pytest.raises(UsageError, match=r"results\.json: Q\?: stands twice in the same table"):
        import_results(path, sessions)
    assert not sessions.exists()


def test_a_key_within_an_answer_hides_nothing(imported: Make) -> None:
    assert imported(chemistry(answer(1, more={"answer_num": 7}))).state().chains


@pytest.mark.parametrize("moment", ["encode", "write_plan", "_move"])
def test_an_import_that_is_interrupted_leaves_nothing(
    tmp_path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    path = write(tmp_path / "results.json", chemistry(answer(1)))
    with monkeypatch.context() as patched:
        patched.setattr(importing, moment, interrupt)
        with pytest.raises(KeyboardInterrupt):
            import_results(path, sessions)
    assert not sessions.exists()
    assert import_results(path, sessions).sessions


def test_all_of_a_file_is_there_or_none(tmp_path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"models": {name: {"0.7": {"Q?": [answer(1)]}} for name in ("one", "two", "three")}}
    path = write(tmp_path / "merged.json", content)
    moved: list[Path] = []
    rename = Path.rename

    def fail_at_the_third(folder: Path, target: Path) -> Path:
        moved.append(folder)
        if len(moved) == 3:
            raise KeyboardInterrupt
        return rename(folder, target)

    monkeypatch.setattr(Path, "rename", fail_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        import_results(path, sessions)
    assert not sessions.exists()


def test_what_a_killed_import_has_left_is_cleared_away(tmp_path: Path, sessions: Path) -> None:
    left = sessions / importing.STAGE / "20260101-000000-half-0000"
    left.mkdir(parents=True)
    (left / "events.jsonl").write_text("{")
    import_results(write(tmp_path / "results.json", chemistry(answer(1))), sessions)
    assert not (sessions / importing.STAGE).exists()
    assert len(library.session_folders(sessions)) == 1


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, sessions: Path) -> None:
    sessions.write_text("a file")
    with pytest.raises((StoreError, UsageError), match="sessions"):
        import_results(write(tmp_path / "results.json", chemistry(answer(1))), sessions)


# ── hostile ───────────────────────────────────────────────────────────────────────────────────────────────────────────

NAMES = [
    "../../etc/passwd",
    "/root",
    "a:b/c\\d",
    "..",
    ".",
    "",
    YOU,
    "x" * 5000,
    "\x1b[2J\u202eevil\x07",
    "\n",
    "CON",
    "模型",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_gets_out_of_the_folder_or_to_the_terminal(tmp_path: Path, sessions: Path, name: str) -> None:
    content = {"domains": {name: {name: models(answer(1), model=name, question=f"{name}?")}}}
    path = write(tmp_path / "in" / "results.json", content)
    [made] = import_results(path, sessions).sessions
    assert {entry.name for entry in tmp_path.iterdir()} <= {"in", "sessions"}
    session = library.load(sessions / made.id)
    assert session.state().chains
    told = "".join((session.folder / name).read_text("utf-8") for name in (PLAN_FILE, EVENTS_FILE))
    assert not {"\x1b", "\x07", "\u202e"} & set(told + made.model + made.id)


@pytest.mark.parametrize("depth", [2_000, 200_000])
def test_a_file_that_is_nested_for_ever_is_refused(tmp_path: Path, sessions: Path, depth: int) -> None:
    path = tmp_path / "results.json"
    path.write_text(f'{{"models": {{"m": {{"0.7": {{"Q?": {"[" * depth}{"]" * depth}}}}}}}}}')
    with pytest.raises(UsageError, match=r"nested too deeply|expected `object`"):
        import_results(path, sessions)
    assert not sessions.exists()


def test_two_imports_into_one_folder_wait_for_each_other(tmp_path: Path, sessions: Path) -> None:
    path = write(tmp_path / "results.json", chemistry(answer(1)))
    with importing._stage(sessions), pytest.raises(UsageError, match=r"Another import into .* is under way"):
        import_results(path, sessions)
    assert import_results(path, sessions).sessions
