"""The sessions in a folder: made, listed, and found by what a person calls them."""

import stat
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Origin, Plan
from core.errors import SessionBusyError, SessionUnreadableError, StoreError, UsageError
from core.opening import resume
from core.providers.catalog import Providers
from core.store import library, listing
from core.store.log import EventLog
from core.store.runner import announce
from tests.conftest import Open, make_plan, texts
from tests.scripted import ScriptedProvider, same, varied


def make(sessions: Path, name: str, plan: Plan | None = None) -> Path:
    """A session of that name that has not begun."""
    log = library.create(sessions, replace(plan or make_plan(), id=name))
    log.close()
    return log.folder


@pytest.fixture
def three(sessions: Path) -> Path:
    """Three sessions: two of one day, one of the next."""
    for name in ("20260301-100000-ice-aaaa", "20260301-110000-fire-bbbb", "20260302-100000-ice-cccc"):
        make(sessions, name)
    return sessions


# ── making one ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_session_is_its_owners_alone(sessions: Path) -> None:
    plan = make_plan()
    log = library.create(sessions, plan)
    log.close()
    assert log.folder == sessions / plan.id
    assert stat.S_IMODE(log.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in log.folder.iterdir()} == {0o600}
    assert library.load(log.folder).plan == plan


def test_its_name_says_when_and_what_and_is_its_own() -> None:
    plans = [make_plan() for _ in range(50)]
    assert len({plan.id for plan in plans}) == 50
    date, time, *slug, digits = plans[0].id.split("-")
    assert (len(date), len(time), len(digits)) == (8, 6, 4)
    assert slug == ["vortex", "in", "a", "film"]


def test_a_question_of_another_script_makes_a_plain_name() -> None:
    question = replace(make_plan().questions[0], id="../../氷-の..音\x1b")
    assert make_plan(question=question).id.split("-")[2:-1] == ["question"]


@pytest.mark.parametrize("place", ["sessions", "sessions/deep"])
def test_a_file_where_the_folder_should_be(sessions: Path, place: str) -> None:
    sessions.touch()
    target = sessions.parent / place
    with pytest.raises(StoreError) as caught:
        library.create(target, make_plan())
    assert caught.value.message.startswith(f"{target} can't be written (")
    assert caught.value.message.endswith("): choose another folder with --sessions DIR")
    assert caught.value.exit_code == 5


def test_a_session_is_never_made_over_another(sessions: Path) -> None:
    plan = make_plan()
    log = library.create(sessions, plan)
    other = library.create(sessions, plan)
    assert other.folder != log.folder
    for each in (log, other):
        each.close()
    assert library.load(sessions / plan.id).plan == plan


# ── finding one ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("20260301-110000-fire-bbbb", "20260301-110000-fire-bbbb"),
        ("20260301-11", "20260301-110000-fire-bbbb"),
        ("20260302", "20260302-100000-ice-cccc"),
        ("last", "20260302-100000-ice-cccc"),
    ],
)
def test_found_by(three: Path, reference: str, name: str) -> None:
    assert library.find(three, reference) == three / name


def test_a_prefix_of_several_names_them(three: Path) -> None:
    with pytest.raises(UsageError) as caught:
        library.find(three, "20260301")
    assert caught.value.message == (
        "2 sessions begin with '20260301': 20260301-110000-fire-bbbb, 20260301-100000-ice-aaaa"
    )


def test_a_whole_name_wins_over_a_longer_one(three: Path) -> None:
    make(three, "20260302-100000-ice-cccc2")
    assert library.find(three, "20260302-100000-ice-cccc").name == "20260302-100000-ice-cccc"


def test_found_by_path(three: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = three / "20260302-100000-ice-cccc"
    elsewhere = tmp_path / "none"
    assert library.find(elsewhere, str(folder)) == folder
    assert library.find(elsewhere, f"{folder}/") == folder
    assert library.find(elsewhere, str(folder / "session.toml")) == folder
    assert library.find(elsewhere, str(folder / "events.jsonl")) == folder
    monkeypatch.chdir(folder)
    assert library.find(elsewhere, ".").resolve() == folder.resolve()
    monkeypatch.chdir(three)
    assert library.find(elsewhere, folder.name).resolve() == folder.resolve()


@pytest.mark.parametrize("reference", ["nothing", "", "\x1b[2J", "sessions"])
def test_what_is_not_there(three: Path, reference: str) -> None:
    with pytest.raises(UsageError) as caught:
        library.find(three, reference)
    assert caught.value.message.startswith("No session ")
    assert "`jagstorm sessions` lists them" in caught.value.message
    assert "\x1b" not in caught.value.message


def test_the_last_of_none(sessions: Path) -> None:
    with pytest.raises(UsageError, match=r"There are no sessions in .* yet: begin one with `jagstorm run`"):
        library.find(sessions, "last")


def test_the_last_is_the_last_that_was_run_here_unless_all_were_imported(three: Path) -> None:
    origin = Origin(file="model_m.json", digest="0" * 64, layout="sciaidanbench", model="m", temperature="0.7")
    make(three, "20260303-100000-imported-dddd", replace(make_plan(), origin=origin))
    assert library.find(three, "last").name == "20260302-100000-ice-cccc"
    only = three.with_name("only-imported")
    for number in (1, 2):
        make(only, f"20260303-10000{number}-imported-dddd", replace(make_plan(), origin=origin))
    assert library.find(only, "last").name == "20260303-100002-imported-dddd"


def test_the_example_is_the_recorded_one_and_never_the_last_of_ones_own(three: Path) -> None:
    assert library.find(three, "example") == library.example_folder()
    assert library.example_folder().parts[-1] == "example"
    make(three, "example")
    assert library.find(three, "example") == three / "example"
    assert library.find(three, "last").name == "20260302-100000-ice-cccc"


# ── listing them ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_newest_first_and_only_sessions(three: Path) -> None:
    (three / "notes").mkdir()
    (three / "readme.txt").touch()
    assert [row.id[:11] for row in listing.summaries(three)] == ["20260302-10", "20260301-11", "20260301-10"]
    assert list(listing.summaries(three / "none")) == []
    assert list(listing.summaries(three / "readme.txt")) == []


def test_damaged_ones_say_why_among_the_good(three: Path) -> None:
    names = sorted((path.name for path in three.iterdir()), reverse=True)
    (three / names[0] / "session.toml").write_text("patience =")
    (three / names[1] / "events.jsonl").unlink()
    rows = list(listing.summaries(three))
    assert [row.status for row in rows] == ["damaged", "damaged", "interrupted"]
    assert "session.toml is damaged, it is not TOML" in rows[0].problem
    assert "events.jsonl can't be read: No such file" in rows[1].problem
    assert rows[2].problem == ""


async def test_what_a_row_says_of_a_finished_one(open_session: Open, sessions: Path) -> None:
    session = open_session(make_plan(patience=1), ScriptedProvider(same))
    await session.run()
    with (session.folder / "events.jsonl").open("ab") as file:
        file.write(b"rubbish\n")
    [row] = listing.summaries(sessions)
    assert (row.status, row.ideas, row.valid, row.reason, row.team) == ("finished", 2, 1, "mechanical", "scripted")
    assert row.question == session.plan.questions[0].text
    assert row.seconds == session.state.t
    assert "line 15 is damaged" in row.problem
    assert '"status":"finished"' in listing.to_json(row)


async def test_running_interrupted_and_finished(open_session: Open, sessions: Path) -> None:
    seen: list[str] = []
    session = open_session(make_plan(max_ideas=2))

    def look(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaAdded):
            seen.extend(row.status for row in listing.summaries(sessions))
            session.send(cmd.Stop())

    session.subscribe(look)
    await session.run()
    assert seen == ["running"]
    [row] = listing.summaries(sessions)
    assert (row.status, row.reason) == ("interrupted", "person")


async def test_a_session_without_a_terminal_is_detached_for_as_long_as_it_runs(
    open_session: Open, sessions: Path
) -> None:
    session = open_session(make_plan(max_ideas=1))
    announce(session.folder, detached=True)
    assert [row.status for row in listing.summaries(sessions)] == ["detached"]
    await session.run()
    assert [row.status for row in listing.summaries(sessions)] == ["finished"]


# ── taking one up again ───────────────────────────────────────────────────────────────────────────────────────────────


class Scripted(Providers):
    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__()
        self._made["scripted"] = provider


PROVIDERS = Scripted(ScriptedProvider(varied))


async def test_a_capped_one_goes_on_with_a_higher_cap(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=2))
    await first.run()
    for cap in (None, 1, 2):
        with pytest.raises(UsageError, match="reached its cap of 2 ideas: resume it with a --max-ideas above that"):
            resume(first.folder, PROVIDERS, cap)
    again = resume(first.folder, PROVIDERS, 4)
    await again.run()
    assert len(texts(again.state)) == 4
    assert texts(again.state)[:2] == texts(first.state)


async def test_one_that_its_ideas_ended_is_finished(open_session: Open) -> None:
    first = open_session(make_plan(patience=1), ScriptedProvider(same))
    await first.run()
    with pytest.raises(UsageError, match=r"This chain is finished \(mechanical\)"):
        resume(first.folder, PROVIDERS)
    with pytest.raises(UsageError):
        resume(first.folder, PROVIDERS)  # and nothing still holds it


async def test_what_was_damaged_is_told_when_it_goes_on(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=2))
    await first.run()
    path = first.folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"rubbish\n", *lines[3:-4], b'{"type":"not']))
    again = resume(first.folder, PROVIDERS)
    await again.run()
    [notice] = again.state.notices
    assert notice.startswith("events.jsonl, line 4 is damaged and skipped")
    assert notice.endswith("(and 1 more like it)")
    assert len(texts(again.state)) == 2


async def test_one_that_is_being_written_is_left_alone(sessions: Path) -> None:
    log = library.create(sessions, make_plan())
    with pytest.raises(SessionBusyError):
        resume(log.folder, PROVIDERS)
    log.close()


def test_one_whose_log_is_gone(three: Path) -> None:
    folder = library.find(three, "last")
    (folder / "events.jsonl").unlink()
    with pytest.raises(SessionUnreadableError):
        resume(folder, PROVIDERS)
    with pytest.raises(SessionUnreadableError):
        EventLog.reopen(folder)


def test_many_sessions_that_begin_in_one_second_each_have_a_folder(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["aaaa", "aaaa", "aaaa", "bbbb", "aaaa", "bbbb", "cccc"])
    monkeypatch.setattr(library, "_four_hex", lambda: next(names))
    plan = make_plan()
    folders = {library.create(sessions, plan).folder.name for _ in range(3)}
    assert {name[-4:] for name in folders} == {"aaaa", "bbbb", "cccc"}
    for name in folders:
        assert library.load(sessions / name).plan.id == name


# ── rows that are kept ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_row_is_read_once_and_again_when_the_session_has_changed(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = library.create(sessions, make_plan())
    log.append(ev.SessionStarted(version="1"))
    log.close()
    reads: list[Path] = []

    def load(folder: Path) -> library.StoredSession:
        reads.append(folder)
        return library.load(folder)

    monkeypatch.setattr(listing, "load", load)
    [first] = listing.summaries(sessions)
    assert [first] == list(listing.summaries(sessions))
    assert len(reads) == 1
    with (log.folder / "events.jsonl").open("ab") as file:
        file.write(b"no event\n")
    [row] = listing.summaries(sessions)
    assert len(reads) == 2
    assert "damaged" in row.problem


def test_a_folder_that_was_moved_stands_under_its_new_name(sessions: Path, tmp_path: Path) -> None:
    log = library.create(sessions, make_plan())
    log.close()
    list(listing.summaries(sessions))
    moved = log.folder.rename(sessions / "20200101-000000-moved-0000")
    [row] = listing.summaries(sessions)
    assert (row.id, row.folder) == (moved.name, moved)


@pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"\xc1garbage", msgspec.msgpack.encode([1, [0, 0, 0, 0], {}])])
def test_a_row_that_is_kept_damaged_is_made_anew(sessions: Path, content: bytes) -> None:
    library.create(sessions, make_plan()).close()
    [row] = listing.summaries(sessions)
    (row.folder / listing.SUMMARY_FILE).write_bytes(content)
    assert [row] == list(listing.summaries(sessions))
    assert (row.folder / listing.SUMMARY_FILE).read_bytes() != content


def test_what_a_kept_row_says_is_text(sessions: Path) -> None:
    library.create(sessions, make_plan()).close()
    [row] = listing.summaries(sessions)
    path = row.folder / listing.SUMMARY_FILE
    name = row.team.encode()
    path.write_bytes(path.read_bytes().replace(name, b"\x1b" + name[1:]))
    [read] = listing.summaries(sessions)
    assert "\x1b" not in read.team
    assert read.team != row.team


def test_no_row_of_a_running_session_is_kept(sessions: Path) -> None:
    log = library.create(sessions, make_plan())
    [row] = listing.summaries(sessions)
    assert row.status == "running"
    assert not (row.folder / listing.SUMMARY_FILE).exists()
    log.close()
