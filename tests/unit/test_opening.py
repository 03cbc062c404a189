"""A session made ready to run: begun, or taken up again, with nothing held when that fails."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from core import events as ev
from core.config import write_plan
from core.errors import ModelUnavailableError, UsageError
from core.models import EmbedderSpec
from core.opening import begin, resume
from core.providers.catalog import Providers
from core.state import State, fold
from core.store.library import check_unfinished
from core.store.log import is_locked, read_log
from tests.conftest import QUESTION, Open, make_plan, texts
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import Follower

PROVIDERS = Providers({"scripted": ScriptedProvider(varied)})


async def test_what_was_damaged_is_told_to_whoever_follows(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=2))
    await first.run()
    path = first.folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"rubbish\n", *lines[3:-4]]))
    again = resume(first.folder, PROVIDERS)
    follower = Follower(again)
    await again.run()
    [notice] = follower.of(ev.Notice)
    assert notice.text.startswith("events.jsonl, line 4 is damaged and skipped")
    assert follower.names()[:2] == ["resumed", "notice"]


@pytest.mark.parametrize("kept", [0, 1, 20])
async def test_a_session_whose_first_line_was_torn_starts_with_session_started(open_session: Open, kept: int) -> None:
    first = open_session(make_plan(max_ideas=2))
    await first.run()
    path = first.folder / "events.jsonl"
    path.write_bytes(path.read_bytes()[:kept])
    again = resume(first.folder, PROVIDERS)
    await again.run()
    events = read_log(first.folder).events
    assert isinstance(events[0], ev.SessionStarted)
    assert events[0].version
    assert [event.seq for event in events] == list(range(len(events)))
    assert texts(again.state) == texts(first.state)


async def test_one_whose_first_line_is_damaged_gets_another_and_goes_on(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=2))
    await first.run()
    path = first.folder / "events.jsonl"
    path.write_bytes(b"rubbish\n" + b"".join(path.read_bytes().splitlines(keepends=True)[1:-4]))
    for cap in (None, 3):
        await resume(first.folder, PROVIDERS, cap).run()
    names = [type(event) for event in read_log(first.folder).events]
    assert names.count(ev.SessionStarted) == 1
    assert names.count(ev.Resumed) == 2


# ── what can't be opened ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_embedder_whose_provider_this_version_does_not_have(open_session: Open, sessions: Path) -> None:
    odd = EmbedderSpec(name="vectors", provider="telepathy\x1b[2J")
    plan = replace(make_plan(), embedder=odd)
    with pytest.raises(ModelUnavailableError) as caught:
        begin(sessions, plan, PROVIDERS)
    assert caught.value.message.startswith("This version has no provider 'telepathy[2J'; it has: embedded, openai")
    assert not sessions.exists(), "nothing is left of it"
    session = open_session(make_plan(max_ideas=1))
    session._log.close()
    write_plan(session.folder, replace(session.plan, embedder=odd))
    with pytest.raises(ModelUnavailableError):
        resume(session.folder, PROVIDERS)


@pytest.mark.parametrize("fault", [RuntimeError("a fault of ours"), KeyboardInterrupt()], ids=["fault", "Ctrl+C"])
async def test_whatever_goes_wrong_nothing_is_held(
    open_session: Open, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    session = open_session(make_plan(max_ideas=1))
    session._log.close()

    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("core.opening.Session", fail)
    with pytest.raises(type(fault)):
        resume(session.folder, PROVIDERS)
    assert not is_locked(session.folder)


@pytest.mark.parametrize("cap", [0, -1, 100_001, 10**23])
async def test_a_cap_that_could_not_be_recorded_is_refused(open_session: Open, cap: int) -> None:
    session = open_session(make_plan())
    session._log.close()
    with pytest.raises(UsageError, match=r"ideas can't be the cap: Expected|ideas can't be the cap: Integer"):
        resume(session.folder, PROVIDERS, cap)
    assert not is_locked(session.folder)


# ── what there is to go on with ───────────────────────────────────────────────────────────────────────────────────────


def ended(*reasons: ev.EndReason | None) -> State:
    """A session whose questions came to these ends, two ideas each."""
    history: list[ev.Event] = [ev.SessionStarted(version="0")]
    for place, reason in enumerate(reasons):
        name = f"q{place}"
        history.append(ev.QuestionStarted(question=name, text="Propose a test.", domain="Own"))
        history += [ev.IdeaAdded(question=name, idea=n, step=n, text="x", author="anna") for n in (1, 2)]
        if reason:
            history.append(ev.QuestionEnded(question=name, reason=reason, censored=True, responses=2, valid=2))
    return fold(history)


FINISHED = "This chain is finished"
CAPPED = "reached its cap of 2 ideas"


@pytest.mark.parametrize(
    ("reasons", "cap", "why"),
    [
        ([], None, None),
        ([None], None, None),
        (["person"], None, None),
        (["error"], None, None),
        (["mechanical"], None, FINISHED),
        (["refused"], 9, FINISHED),
        (["cap"], None, CAPPED),
        (["cap"], 2, CAPPED),
        (["cap"], 3, None),
        # Of several, one that can go on is enough, whichever it is.
        (["person", "mechanical"], None, None),
        (["cap", "mechanical"], 3, None),
        (["cap", "mechanical"], None, CAPPED),
        (["mechanical", "coherence"], 9, r"finished \(mechanical, coherence\)"),
    ],
)
def test_what_can_be_gone_on_with(reasons: list[ev.EndReason | None], cap: int | None, why: str | None) -> None:
    questions = tuple(replace(QUESTION, id=f"q{place}") for place in range(max(len(reasons), 1)))
    plan = replace(make_plan(), questions=questions)
    if why is None:
        check_unfinished(plan, ended(*reasons), cap)
    else:
        with pytest.raises(UsageError, match=why):
            check_unfinished(plan, ended(*reasons), cap)


def test_a_question_that_never_started_can_be_gone_on_with() -> None:
    plan = replace(make_plan(), questions=(QUESTION, replace(QUESTION, id="other")))
    check_unfinished(plan, ended("mechanical"), None)
