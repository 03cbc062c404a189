"""Members that speak from records: in order, each idea once, at a pace of one's own, and then no more."""

import json
from pathlib import Path
from time import monotonic

import pytest

from core import commands as cmd
from core import events as ev
from core.errors import ModelUnavailableError
from core.feed import Listener
from core.models import (
    CallFailedError,
    Finish,
    Member,
    Message,
    ModelSpec,
    Prompt,
    Sent,
    TeamSpec,
    TextDelta,
    ThoughtDelta,
)
from core.providers.catalog import Providers
from core.providers.recorded import ABOUT, RecordedProvider
from core.session import Session
from tests.conftest import QUESTION, Open, make_plan, texts
from tests.unit.following import Follower, chain_of

IDEAS = (
    "Ring the film like a bell and listen to the vortex.",
    "Let a cold atom cloud hover above it and map its fields.",
    "Freeze nickel dust onto the surface and photograph the pattern.",
)


def record(path: Path, /, *ideas: str, question: str = QUESTION.text, model: str = "ada", thoughts: str = "") -> Path:
    """A public result file; another model is added to what is there."""
    content = json.loads(path.read_text()) if path.exists() else {"models": {}}
    answers = [
        {"answer_num": place, "answer": text} | ({"thoughts": thoughts} if thoughts else {})
        for place, text in enumerate(ideas, 1)
    ]
    content["models"].setdefault(model, {"0.7": {}})["0.7"][question] = answers
    path.write_text(json.dumps(content))
    return path


def recorded(path: Path | str, **more: object) -> ModelSpec:
    return ModelSpec(name="ada", provider="recorded", model=str(path), **more)  # type: ignore[arg-type]


def prompt(*held: str, question: str = QUESTION.text, draft: int = 0) -> Prompt:
    messages = (Message("user", "one more idea, please"),)
    return Prompt(messages=messages, tag="idea", question=question, held=held, draft=draft)


async def told(spec: ModelSpec, asked: Prompt, provider: RecordedProvider | None = None) -> str:
    chunks = [chunk async for chunk in (provider or RecordedProvider()).stream(spec, asked, 1)]
    assert isinstance(chunks[0], Sent)
    assert isinstance(chunks[-1], Finish)
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


def solo(spec: ModelSpec) -> TeamSpec:
    return TeamSpec(name="alone", strategy="solo", members=(Member(name="ada", model=spec, style="tagged"),))


# ── what is told ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_ideas_come_in_order_and_none_that_the_chain_holds(tmp_path: Path) -> None:
    spec = recorded(record(tmp_path / "r.json", *IDEAS))
    assert await told(spec, prompt()) == IDEAS[0]
    assert await told(spec, prompt("Somebody else's.", IDEAS[0])) == IDEAS[1]
    assert await told(spec, prompt(IDEAS[1])) == IDEAS[0]
    assert await told(spec, prompt(IDEAS[1], IDEAS[0])) == IDEAS[2]


async def test_a_further_draft_is_a_further_idea(tmp_path: Path) -> None:
    spec = recorded(record(tmp_path / "r.json", *IDEAS))
    assert [await told(spec, prompt(IDEAS[0], draft=draft)) for draft in (0, 1)] == list(IDEAS[1:])
    with pytest.raises(CallFailedError):
        await told(spec, prompt(IDEAS[0], draft=2))


async def test_the_same_question_is_the_same_however_it_is_broken_into_lines(tmp_path: Path) -> None:
    spec = recorded(record(tmp_path / "r.json", *IDEAS, question="How  to\nhear ice?"))
    assert await told(spec, prompt(question="How to hear ice?")) == IDEAS[0]


async def test_no_more_ideas_and_no_such_question_are_lasting_failures(tmp_path: Path) -> None:
    spec = recorded(record(tmp_path / "r.json", *IDEAS))
    for asked in (prompt(*IDEAS), prompt(question="Why?")):
        with pytest.raises(CallFailedError, match="ada has no more recorded ideas for this question") as caught:
            await told(spec, asked)
        assert caught.value.kind == "missing"


async def test_it_can_neither_judge_nor_choose(tmp_path: Path) -> None:
    spec = recorded(record(tmp_path / "r.json", *IDEAS))
    with pytest.raises(CallFailedError, match="can do nothing else") as caught:
        await told(spec, Prompt(messages=(Message("user", "Grade this."),)))
    assert caught.value.kind == "request"


async def test_it_says_what_it_is_and_what_it_would_have_used(tmp_path: Path) -> None:
    spec = recorded(record(tmp_path / "r.json", *IDEAS, thoughts="Something that rings."))
    provider = RecordedProvider()
    first, thought, *_, last = [chunk async for chunk in provider.stream(spec, prompt(), 1)]
    assert first == Sent({"recorded": ABOUT})
    assert thought == ThoughtDelta("Something that rings.")
    assert isinstance(last, Finish)
    usage = last.usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens, usage.estimated) == (6, 21, 6, True)
    assert provider.cost(spec, usage) == 0.0


async def test_of_several_models_one_is_named_behind_a_hash(tmp_path: Path) -> None:
    path = record(tmp_path / "r.json", *IDEAS)
    record(path, IDEAS[2], model="b/bob:7b")
    assert await told(recorded(f"{path}#b/bob:7b"), prompt()) == IDEAS[2]
    for model, said in ((path, "holds ideas of several"), (f"{path}#carl", "holds nothing by 'carl'")):
        with pytest.raises(ModelUnavailableError, match=f"{said}: name one of these behind a #: ada, b/bob:7b"):
            await RecordedProvider().prepare(recorded(model))


async def test_a_hash_in_a_path_is_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "run #2").mkdir()
    path = record(tmp_path / "run #2" / "r.json", *IDEAS)
    assert await told(recorded(path), prompt()) == IDEAS[0]
    assert await told(recorded(f"{path}#ada"), prompt()) == IDEAS[0]


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file"), ("{", "is broken"), ("[]", "holds no results"), ("/", "no session")]
)
async def test_a_file_that_can_not_be_used_is_a_model_that_can_not(
    tmp_path: Path, content: str | None, said: str
) -> None:
    path = tmp_path / "r.json"
    if content == "/":
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    provider = RecordedProvider()
    with pytest.raises(ModelUnavailableError, match=said):
        await provider.prepare(recorded(path))
    if content != "/":
        path.unlink(missing_ok=True)
        record(path, *IDEAS)
        assert await told(recorded(path), prompt(), provider) == IDEAS[0], "it may be there the next time"


async def test_a_file_is_read_once(tmp_path: Path) -> None:
    path = record(tmp_path / "r.json", *IDEAS)
    provider = RecordedProvider()
    await provider.prepare(recorded(path))
    path.unlink()
    assert await told(recorded(path), prompt(), provider) == IDEAS[0]


# ── at what pace ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_without_a_trace_an_idea_comes_at_once_and_else_in_its_time(tmp_path: Path) -> None:
    path = record(tmp_path / "r.json", *IDEAS)
    for pace, pieces in ((None, 1), (0.0, 1), (0.2, 4)):
        began = monotonic()
        chunks = [chunk async for chunk in RecordedProvider().stream(recorded(path, pace=pace), prompt(), 1)]
        taken = monotonic() - began
        assert [isinstance(chunk, TextDelta) for chunk in chunks].count(True) == pieces
        assert "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta)) == IDEAS[0]
        assert (pace or 0.0) <= taken < (pace or 0.0) + 0.15


# ── in a chain ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_chain_tells_the_whole_record_and_then_says_that_there_is_no_more(
    tmp_path: Path, open_session: Open
) -> None:
    odd = (f"<answer>{IDEAS[0]}</answer>", "", "<think>And then", "A" * 30_000 + " b", *IDEAS[1:])
    session = open_session(make_plan(team=solo(recorded(record(tmp_path / "r.json", *odd)))), RecordedProvider())
    session.subscribe(_stop_when_paused(session))
    follower = Follower(session)
    await session.run()
    long = "A" * 20_000
    assert texts(session.state) == [IDEAS[0], long, *IDEAS[1:]], "read as they would be, blanks passed over"
    [paused] = follower.of(ev.Paused)
    assert "no more recorded ideas" in paused.why
    ended = chain_of(session).ended
    assert ended
    assert ended.censored


@pytest.mark.parametrize("endless", ["text", "thoughts"])
async def test_an_answer_without_an_end_is_told_at_once_as_far_as_a_chain_keeps_it(
    tmp_path: Path, open_session: Open, endless: str
) -> None:
    text, thoughts = ("A" * 200_000, "") if endless == "text" else (IDEAS[0], "hm " * 50_000)
    path = record(tmp_path / "r.json", text, IDEAS[1], thoughts=thoughts)
    session = open_session(make_plan(team=solo(recorded(path))), RecordedProvider())
    session.subscribe(_stop_when_paused(session))
    follower = Follower(session)
    await session.run()
    first, second = texts(session.state)
    assert (len(first), second) == (min(len(text), 20_000), IDEAS[1])
    assert [event.tries for event in follower.of(ev.ProposalFinished)] == [1, 1]


async def test_who_has_no_more_is_passed_over_and_the_others_go_on(tmp_path: Path, open_session: Open) -> None:
    path = record(tmp_path / "r.json", IDEAS[0])
    record(path, *IDEAS[1:], model="bob")
    members = tuple(
        Member(name=name, model=recorded(f"{path}#{name}"), style="tagged", weight=weight)
        for name, weight in (("ada", 1e6), ("bob", 1e-3))
    )
    session = open_session(make_plan(team=TeamSpec(name="t", strategy="sample", members=members)), RecordedProvider())
    session.subscribe(_stop_when_paused(session))
    await session.run()
    assert texts(session.state) == list(IDEAS)


def _stop_when_paused(session: Session) -> Listener:
    def stop(event: ev.Event) -> None:
        if isinstance(event, ev.Paused):
            session.send(cmd.Stop(by="test"))

    return stop


async def test_a_member_of_an_earlier_session_speaks_again_as_it_did_then(open_session: Open) -> None:
    first = open_session(make_plan(max_ideas=4))
    await first.run()
    authors = [idea.author for idea in chain_of(first).ideas]
    own = [idea.text for idea in chain_of(first).ideas if idea.author == authors[0]]
    provider = RecordedProvider()
    for who, expected in (("", texts(first.state)), (f"#{authors[0]}", own)):
        spec = recorded(f"{first.folder}{who}")
        held: list[str] = []
        for _ in expected:
            held.append(await told(spec, prompt(*held), provider))
        assert held == expected


async def test_the_catalogue_has_it() -> None:
    providers = Providers()
    assert isinstance(providers.get("recorded"), RecordedProvider)
    await providers.close()
