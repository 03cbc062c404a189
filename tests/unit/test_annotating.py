"""Marks on a session that nobody runs."""

from pathlib import Path

import pytest

from core import commands as cmd
from core import events as ev
from core.annotating import annotate
from core.errors import SessionBusyError, SessionUnreadableError, UsageError
from core.lines import EVENTS_FILE
from core.state import fold
from core.store.log import is_locked, read_log
from tests.conftest import Open, make_plan


async def ended(open_session: Open, max_ideas: int = 2) -> Path:
    """The folder of a session that has ended."""
    session = open_session(make_plan(max_ideas=max_ideas))
    await session.run()
    return session.folder


async def test_marks_are_added_to_the_log_as_by_a_running_session(open_session: Open) -> None:
    folder = await ended(open_session)
    before = read_log(folder).events
    for command in (
        cmd.PinIdea(idea=1, by="ada"),
        cmd.RateIdea(idea=2, stars=5, by="ada"),
        cmd.CommentIdea(idea=2, text="See \x1b[31mbelow\x1b[0m", by="ada"),
        cmd.EditIdea(idea=2, text="Weigh it from below.", by="ada"),
        cmd.RemoveIdea(idea=1, by="ada"),
        cmd.RestoreIdea(idea=1, by="ada"),
        cmd.Undo(by="ada"),
    ):
        assert annotate(folder, command) == list(read_log(folder).events)
    events = read_log(folder).events
    assert [event.seq for event in events] == list(range(len(events)))
    new = events[len(before) :]
    assert [type(event) for event in new] == [
        ev.IdeaPinned,
        ev.IdeaRated,
        ev.IdeaCommented,
        ev.IdeaEdited,
        ev.IdeaRemoved,
        ev.IdeaRestored,
        ev.IdeaRemoved,
    ]
    assert {event.t for event in new} == {before[-1].t}
    assert all(event.at > before[0].at for event in new)
    first, second = fold(events).chains[new[0].question].ideas  # type: ignore[attr-defined]
    assert (first.pinned, first.removed) == (True, True)
    assert (second.text, second.rating, second.comment) == ("Weigh it from below.", 5, "See [31mbelow[0m")


async def test_what_changes_nothing_writes_nothing(open_session: Open) -> None:
    folder = await ended(open_session)
    annotate(folder, cmd.PinIdea(idea=1))
    before = (folder / EVENTS_FILE).read_bytes()
    annotate(folder, cmd.PinIdea(idea=1))
    assert (folder / EVENTS_FILE).read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [cmd.AddIdea(text="One more"), cmd.Stop(), cmd.Resume(), cmd.DevelopIdea(idea=1), cmd.AddSteer(text="Cheap")],
    ids=lambda command: type(command).__name__,
)
async def test_what_needs_a_running_session_is_refused(open_session: Open, command: cmd.AnyCommand) -> None:
    folder = await ended(open_session)
    before = (folder / EVENTS_FILE).read_bytes()
    with pytest.raises(UsageError, match="resume it first"):
        annotate(folder, command)
    assert (folder / EVENTS_FILE).read_bytes() == before
    assert not is_locked(folder)


async def test_an_idea_that_is_not_there(open_session: Open) -> None:
    with pytest.raises(UsageError, match="There is no idea 3: the last is 2"):
        annotate(await ended(open_session), cmd.PinIdea(idea=3))


async def test_a_session_that_is_run_after_all(open_session: Open) -> None:
    session = open_session(make_plan())
    with pytest.raises(SessionBusyError):
        annotate(session.folder, cmd.PinIdea(idea=1))
    session._log.close()


def test_no_session(tmp_path: Path) -> None:
    with pytest.raises(SessionUnreadableError):
        annotate(tmp_path, cmd.PinIdea(idea=1))
