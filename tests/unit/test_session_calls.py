"""How a call can end, and what becomes of each end: only `ok` is ever scored."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from core import commands as cmd
from core import events as ev
from core import stepping
from core.lengthening import MAX_FAILURES
from core.models import CallFailedError, Chunk, Finish, FinishReason, ModelSpec, Place, Prompt, Sent, TextDelta, Usage
from core.rules import Scores
from core.store.log import read_log
from core.teams.sample import Sample
from core.teams.strategy import Proposal, Step
from tests.conftest import Open, make_plan, scripted_team, texts
from tests.scripted import HeldProvider, ScriptedProvider, varied
from tests.unit.following import Follower, chain_of


class Endings(ScriptedProvider):
    """Ends its calls one after the other as told, then well."""

    def __init__(self, *ends: FinishReason | CallFailedError | str) -> None:
        super().__init__(varied)
        self.ends = ends

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        end = self.ends[len(self.calls)] if len(self.calls) < len(self.ends) else "stop"
        self.calls.append(prompt)
        yield Sent({"temperature": 0.5})
        if end == "silence":
            yield Finish("stop", Usage(input_tokens=10, output_tokens=0, seconds=0.1))
            return
        yield TextDelta(f"{varied(spec, prompt, random_seed)[:30]} ")
        if isinstance(end, CallFailedError):
            raise end
        if end == "breaks off":
            return
        yield TextDelta(varied(spec, prompt, random_seed)[30:])
        yield Finish(end, Usage(input_tokens=10, output_tokens=5, seconds=0.1))  # type: ignore[arg-type]


async def test_a_refused_first_idea_ends_the_chain_after_one_call(open_session: Open) -> None:
    provider = Endings("refused")
    session = open_session(make_plan(max_ideas=5), provider)
    follower = Follower(session)
    ended = await session.run()
    chain = chain_of(session)
    assert chain.ended
    assert ended.how == "finished"
    assert len(provider.calls) == 1
    assert (chain.ended.reason, chain.ended.censored, chain.ended.responses) == ("refused", True, 0)
    assert [failed.outcome for failed in follower.of(ev.ProposalFailed)] == ["refused"]


async def test_a_later_refusal_is_one_lost_step(open_session: Open) -> None:
    provider = Endings("stop", "refused", "refused")
    session = open_session(make_plan(max_ideas=3), provider)
    await session.run()
    chain = chain_of(session)
    assert chain.ended
    assert (chain.ended.reason, chain.ended.responses) == ("cap", 3)
    assert [idea.step for idea in chain.ideas] == [1, 4, 5]


@pytest.mark.parametrize(
    ("end", "outcome", "kind", "message"),
    [
        ("length", "truncated", "", ""),
        ("silence", "empty", "", ""),
        ("breaks off", "failed", "unreadable", "the server of model-bert broke off its answer"),
        (
            CallFailedError("timeout", "no answer in 60 s\x1b[2J\ud800"),
            "failed",
            "timeout",
            "no answer in 60 s[2J\ufffd",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
async def test_a_call_without_an_idea_is_recorded_never_scored_and_the_next_step_goes_on(
    open_session: Open, end: FinishReason | CallFailedError | str, outcome: str, kind: str, message: str
) -> None:
    session = open_session(make_plan(max_ideas=2), Endings(end))
    follower = Follower(session)
    await session.run()
    [failed] = follower.of(ev.ProposalFailed)
    assert (failed.outcome, failed.kind, failed.message) == (outcome, kind, message)
    assert failed.step == 1
    assert bool(failed.text) == (outcome != "empty")
    assert [idea.step for idea in chain_of(session).ideas] == [2, 3]
    assert [scored.idea for scored in follower.of(ev.IdeaScored)] == [1, 2]


async def test_what_is_no_idea_once_its_marks_are_gone_is_empty(open_session: Open) -> None:
    answers = iter(["1.", "<think>nothing comes to mind</think>", '""', "Listen to the ice."])
    session = open_session(make_plan(max_ideas=1), ScriptedProvider(lambda *_: next(answers)))
    follower = Follower(session)
    await session.run()
    assert [failed.outcome for failed in follower.of(ev.ProposalFailed)] == ["empty"] * len(
        follower.of(ev.ProposalStarted)[:-1]
    )
    assert texts(session.state) == ["Listen to the ice."]


async def test_tokens_of_every_call_count_however_it_ended(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=2), Endings("stop", "length", "breaks off"))
    await session.run()
    calls = [e for e in read_log(session.folder).events if isinstance(e, ev.ProposalFinished | ev.ProposalFailed)]
    assert [call.usage.estimated for call in calls] == [False, False, True, False]
    assert calls[2].usage.input_tokens > 0
    assert calls[2].usage.output_tokens > 0
    assert session.state.input_tokens == 30 + calls[2].usage.input_tokens
    assert session.state.output_tokens == sum(call.usage.output_tokens for call in calls)


async def test_foreign_text_is_clean_before_anyone_sees_it(open_session: Open) -> None:
    nasty = "Listen \x1b]52;c;cm0=\x07to\u202e the\x9b2J ice \ud800now."
    session = open_session(make_plan(max_ideas=1), ScriptedProvider(lambda *_: nasty))
    follower = Follower(session)
    await session.run()
    told = [event.text for event in follower.events if isinstance(event, ev.ProposalDelta | ev.ProposalFinished)]
    told += [event.raw for event in follower.of(ev.ProposalFinished)] + texts(session.state)
    assert [text for text in told if set(text) & set("\x1b\x07\u202e\x9b\ud800")] == []
    assert texts(session.state) == ["Listen ]52;c;cm0=to the2J ice \ufffdnow."]


@pytest.mark.parametrize(
    ("end", "kind"),
    [(CallFailedError("timeout", "no answer"), "timeout"), ("breaks off", "unreadable"), ("length", None)],
)
async def test_a_strategy_is_told_what_kind_of_failure_it_was(
    open_session: Open,
    monkeypatch: pytest.MonkeyPatch,
    end: FinishReason | CallFailedError | str,
    kind: str | None,
) -> None:
    session = open_session(make_plan(max_ideas=1), Endings(end))
    caught: list[CallFailedError] = []

    class Listening(Sample):
        async def propose(self, asked: Sequence[Place], step: Step) -> Proposal:
            try:
                return await super().propose(asked, step)
            except CallFailedError as error:
                caught.append(error)
                raise

    monkeypatch.setattr(stepping, "strategy_for", lambda team: Listening())
    await session.run()
    assert [error.kind for error in caught] == [kind]


async def test_the_tokens_of_each_idea_are_counted_once(open_session: Open) -> None:
    counted: list[str] = []

    class Counting(ScriptedProvider):
        async def count_tokens(self, spec: ModelSpec, text: str) -> int:
            counted.append(text)
            return await super().count_tokens(spec, text)

    session = open_session(make_plan(max_ideas=6, team=scripted_team("anna")), Counting(varied))
    await session.run()
    assert [counted.count(text) for text in texts(session.state)] == [1] * 5 + [0]


async def test_a_stop_at_the_very_moment_of_a_failure_is_not_lost(open_session: Open) -> None:
    provider = ScriptedProvider(varied, fail_after=2)
    session = open_session(make_plan(max_ideas=30), provider)
    session.subscribe(lambda event: session.send(cmd.Stop()) if isinstance(event, ev.ProposalFailed) else None)
    ended = await asyncio.wait_for(session.run(), 5)
    assert ended.how == "stopped"
    assert len(provider.calls) == 3


# ── five in a row ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_five_failures_in_a_row_pause_and_say_why(open_session: Open) -> None:
    provider = ScriptedProvider(varied, fail_after=1)
    session = open_session(make_plan(max_ideas=3), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    paused = await follower.next(ev.Paused)
    assert (paused.by, paused.why) == ("trouble", "5 calls in a row brought no idea (failed: the server said no)")
    assert len(provider.calls) == 1 + MAX_FAILURES
    assert chain_of(session).responses == 1
    provider.fail_after = None
    session.send(cmd.Resume())
    await running
    assert chain_of(session).responses == 3


async def test_after_a_pause_five_more_may_fail(open_session: Open) -> None:
    provider = ScriptedProvider(varied, fail_after=0)
    session = open_session(make_plan(max_ideas=3), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await follower.next(ev.Paused)
    session.send(cmd.Resume())
    await follower.next(ev.Paused)
    assert len(provider.calls) == 2 * MAX_FAILURES
    session.send(cmd.Stop())
    assert (await running).how == "stopped"


async def test_an_idea_between_begins_the_count_anew(open_session: Open) -> None:
    bad = CallFailedError("server", "no")
    session = open_session(make_plan(max_ideas=2), Endings(*[bad] * 4, "stop", *[bad] * 4))
    follower = Follower(session)
    await session.run()
    assert follower.of(ev.Paused) == []
    assert chain_of(session).responses == 2


async def test_five_ideas_that_nobody_could_score_pause_and_five_more_again(open_session: Open) -> None:
    """Texts without a direction: nothing is said for or against them."""
    odd = ScriptedProvider(lambda spec, prompt, random_seed: f"ꙮ{chr(0xA000 + random_seed % 900)}ꙮ")
    session = open_session(make_plan(), odd, scorer=Unscoring())
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    paused = await follower.next(ev.Paused)
    assert (paused.by, paused.why) == ("trouble", "5 ideas in a row could not be scored")
    assert chain_of(session).responses == 5
    assert chain_of(session).valid == 5, "unscored is not failed"
    session.send(cmd.Resume())
    await follower.next(ev.Paused)
    assert chain_of(session).responses == 10
    session.send(cmd.Stop())
    await running


class Unscoring:
    """A scorer whose judges never answer."""

    async def prepare(self) -> None:
        pass

    async def score(self, chain: object, idea: object, account: object) -> Scores:
        return Scores(coherence=float("nan"))

    async def control(self, chain: object, rng: object, account: object) -> list[ev.ControlScored]:
        return []

    async def most_different(self, chain: object, account: object) -> list[int]:
        return []

    async def novelties(self, chain: object, texts: Sequence[str], account: object) -> list[float | None]:
        return [None] * len(texts)


async def test_a_score_that_is_no_number_is_null_in_the_file_and_no_pass(open_session: Open) -> None:
    session = open_session(make_plan(max_ideas=1), scorer=Unscoring())
    await session.run()
    [scored] = [event for event in read_log(session.folder).events if isinstance(event, ev.IdeaScored)]
    assert (scored.coherence, scored.verdict) == (None, "unscored")
    assert b"nan" not in (session.folder / "events.jsonl").read_bytes().lower()


# ── cut off mid-idea ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_stop_cancels_within_the_call_and_keeps_what_was_written(open_session: Open) -> None:
    provider = HeldProvider()
    session = open_session(make_plan(), provider)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    session.send(cmd.Stop())
    ended = await running
    assert (ended.how, ended.message) == ("stopped", "you")
    [failed] = follower.of(ev.ProposalFailed)
    assert failed.outcome == "cancelled"
    assert failed.text == "".join(delta.text for delta in follower.of(ev.ProposalDelta))
    assert len(failed.text.split()) == 5
    assert follower.names()[-3:] == ["proposal_failed", "question_ended", "session_ended"]
    assert chain_of(session).ended is not None
    assert chain_of(session).writing == {}
