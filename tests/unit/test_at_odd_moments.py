"""What a person does at odd moments: while a server is gone, before a resume, between questions, at the end."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.annotating import annotate
from core.chain import Chain, Idea
from core.config import Plan
from core.errors import UsageError
from core.levers import Each, Every, InForce, Off, OwnFirst, Plateau, Seed, SeedPolicy
from core.models import CallFailedError, Chunk, ModelSpec, Prompt
from core.questions import Question
from core.scoring.account import Account
from core.scoring.embeddings import Embedding, WordLlamaEmbedder
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import fold
from core.store import library
from core.store.log import EventLog, read_log
from tests.conftest import QUESTION, Open, make_plan, scripted_team
from tests.scripted import HeldProvider, ScriptedProvider, calling, same, varied
from tests.unit.following import Follower, chain_of
from tests.unit.looped import OWN, STEER, TIDES, after, answering, idea_of, plain_plan, said

WING = Question("ice-on-a-wing", "Propose a way to keep ice from forming on a wing.", "Physics", "Fundamental")
BANK = [Seed(name=f"seed {n}", text=f"Mechanism number {n} works.", source="bank") for n in range(30)]
MERGED = "<idea>Let the seals and the ice ring together at one frequency.</idea>"


def two_questions(max_ideas: int = 4, **changes: object) -> Plan:
    return replace(plain_plan(max_ideas), questions=(QUESTION, WING), **changes)


def again(session: Session, provider: ScriptedProvider | None = None) -> Session:
    """The session, taken up from its folder."""
    log, record = EventLog.reopen(session.folder)
    provider = provider or ScriptedProvider(varied)
    return Session(session.plan, log, calling(provider), session._scorer, history=fold(record.events))


def once(session: Session, wanted: Callable[[ev.Event], bool], *commands: cmd.AnyCommand) -> None:
    """Send the commands at the first event that is wanted."""
    waiting = list(commands)

    def hear(event: ev.Event) -> None:
        if waiting and wanted(event):
            sent, waiting[:] = list(waiting), []
            for command in sent:
                session.send(command)

    session.subscribe(hear)


class Slow(ScriptedProvider):
    """Takes its time over what it is asked beside the steps."""

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        if "Make one idea" in said(prompt) or "Work the idea out" in said(prompt):
            await asyncio.sleep(0.1)
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk


# ── while a server is gone ────────────────────────────────────────────────────────────────────────────────────────────


class Gone(ScriptedProvider):
    """Its server is gone after the first idea, until it is back."""

    def __init__(self) -> None:
        super().__init__(varied)
        self.back = False

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        if self.calls and not self.back:
            self.calls.append(prompt)
            raise CallFailedError("connection", "gone")
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk


@pytest.mark.parametrize(
    "command", [cmd.EditIdea(idea=1, text=OWN), cmd.RemoveIdea(idea=1), cmd.WithdrawSteer(id="g1")]
)
async def test_what_is_said_while_a_server_is_gone_is_done_and_the_session_goes_on(
    open_session: Open, command: cmd.AnyCommand
) -> None:
    provider = Gone()
    session = open_session(plain_plan(3), provider)
    follower = Follower(session)
    session.send(cmd.AddSteer(text=STEER))
    running = asyncio.create_task(session.run())
    await follower.next(ev.RetryScheduled)
    await asyncio.sleep(0.01)
    provider.back = True
    session.send(command)
    assert (await asyncio.wait_for(running, 10)).how == "finished"


# ── before a session is resumed, and in a pause ───────────────────────────────────────────────────────────────────────


async def test_a_task_given_before_a_resume_is_done_once(open_session: Open) -> None:
    session = open_session(plain_plan(4))
    after(session, 2, cmd.Stop())
    await session.run()
    resumed = again(session, answering(MERGED))
    follower = Follower(resumed)
    resumed.send(cmd.MergeIdeas(ideas=(1, 2)))
    await resumed.run()
    assert len(follower.of(ev.TaskDone)) == 1
    assert len([idea for idea in chain_of(resumed).ideas if idea.parents]) == 1


async def test_a_team_that_was_wanted_before_a_stop_takes_over_at_the_resume(open_session: Open) -> None:
    session = open_session(plain_plan(4))
    after(session, 1, cmd.Pause(), cmd.ChangeTeam(team=scripted_team("dora")), cmd.Stop())
    await session.run()
    resumed = again(session)
    await resumed.run()
    assert [idea.author for idea in chain_of(resumed).ideas] == ["anna", "dora", "dora", "dora"]
    assert resumed.state.team_wanted is None


async def test_a_pause_takes_nothing_off_the_screen_that_is_being_written(open_session: Open) -> None:
    provider = HeldProvider(varied)
    session = open_session(plain_plan(1), provider)
    running = asyncio.create_task(session.run())
    await provider.halfway.wait()
    before = dict(chain_of(session).writing)
    session.send(cmd.Pause())
    session.send(cmd.Resume())
    assert chain_of(session).writing == before
    assert before["anna"].text
    provider.go_on.set()
    await running


async def test_a_seed_that_leaves_no_room_pauses_until_it_is_withdrawn(open_session: Open) -> None:
    session = open_session(replace(make_plan(max_ideas=3, team=scripted_team("anna", context=1000)), pipelining=False))
    follower = Follower(session)
    after(session, 1, cmd.InjectSeed(seed=Seed(name="long", text="word " * 1500), steps=None))
    running = asyncio.create_task(session.run())
    paused = await follower.next(ev.Paused)
    assert paused.why == "anna: What is in force takes too much of its 1,000 tokens: withdraw some of it"
    session.send(cmd.WithdrawSeed(id="s1"))
    session.send(cmd.Resume())
    assert (await running).how == "finished"
    assert chain_of(session).responses == 3


# ── several questions ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("policy", [Every(steps=3), Each(), Plateau(failures=1)])
async def test_seeds_come_in_the_second_question_as_in_the_first(open_session: Open, policy: SeedPolicy) -> None:
    session = open_session(two_questions(6, seeds=policy), bank=lambda: BANK)
    await session.run()
    one, other = ([len(idea.seeds) for idea in chain.ideas] for chain in session.state.chains.values())
    assert one == other


async def test_a_command_names_the_question_whose_idea_it_means(open_session: Open) -> None:
    session = open_session(two_questions(3))

    def in_the_second(event: ev.Event) -> bool:
        return isinstance(event, ev.IdeaScored) and event.question == WING.id and event.idea == 1

    once(session, in_the_second, cmd.EditIdea(question=QUESTION.id, idea=1, text=OWN))
    await session.run()
    first, second = session.state.chains.values()
    assert first.ideas[0].text == OWN
    assert first.ideas[0].score
    assert second.ideas[0].text != OWN
    session.send(cmd.RateIdea(question=QUESTION.id, idea=2, stars=5))
    assert first.ideas[1].rating == 5
    with pytest.raises(UsageError, match="no question 'other'"):
        session.send(cmd.PinIdea(question="other", idea=1))


async def test_a_question_that_is_full_is_not_begun_again_when_the_session_is_resumed(open_session: Open) -> None:
    session = open_session(two_questions(3))
    once(session, lambda event: isinstance(event, ev.IdeaScored) and event.question == WING.id, cmd.Stop())
    await session.run()
    resumed = again(session)
    resumed.send(cmd.EditIdea(idea=1, text=OWN))
    await resumed.run()
    first, second = resumed.state.chains.values()
    assert second.ideas[0].text == OWN
    assert first.ideas[0].text != OWN


async def test_own_ideas_are_asked_for_before_the_first_question_alone(open_session: Open) -> None:
    session = open_session(two_questions(2, own_first=OwnFirst()))
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    await follower.next(ev.Paused)
    session.send(cmd.Resume())
    await running
    assert len(follower.of(ev.Paused)) == 1


async def test_a_chain_waits_for_the_idea_that_a_person_has_asked_for(open_session: Open) -> None:
    session = open_session(two_questions(4), Slow(answering(MERGED).script))
    once(session, lambda event: isinstance(event, ev.IdeaScored) and event.idea == 3, cmd.MergeIdeas(ideas=(1, 2)))
    await session.run()
    first, _ = session.state.chains.values()
    assert [bool(idea.parents) for idea in first.ideas].count(True) == 1
    assert all(idea.score for idea in first.ideas)
    assert first.ended
    assert first.ended.responses == first.responses


# ── seeds that a policy brought ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_step_that_brings_nothing_does_not_leave_its_seed_beside_the_next(open_session: Open) -> None:
    class Failing(ScriptedProvider):
        async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
            if len(self.calls) in (1, 2, 3):
                self.calls.append(prompt)
                raise CallFailedError("server", "no")
            async for chunk in super().stream(spec, prompt, random_seed):
                yield chunk

    session = open_session(replace(plain_plan(4), seeds=Each()), Failing(varied), bank=lambda: BANK)
    await session.run()
    assert [len(idea.seeds) for idea in chain_of(session).ideas] == [1, 1, 1, 1]


async def test_off_ends_what_a_policy_brought(open_session: Open) -> None:
    session = open_session(replace(plain_plan(6), seeds=Every(steps=1, lasts=50)), bank=lambda: BANK)
    after(session, 2, cmd.SetSeeds(policy=Off()))
    await session.run()
    assert [len(idea.seeds) for idea in chain_of(session).ideas] == [1, 1, 0, 0, 0, 0]


async def test_a_plateau_is_seen_before_patience_runs_out(open_session: Open) -> None:
    def stuck(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        write = varied if "Mechanism number" in said(prompt) or not prompt.held else same
        return write(spec, prompt, random_seed)

    plan = replace(plain_plan(9), seeds=Plateau())
    assert plan.rules.patience == 3
    session = open_session(plan, ScriptedProvider(stuck), bank=lambda: BANK)
    await session.run()
    assert session.state.seeds


# ── undo ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_undoing_everything_leaves_nothing_in_force(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    after(
        session,
        1,
        cmd.InjectSeed(seed=TIDES, steps=None),
        cmd.WithdrawSeed(id="s1"),
        cmd.AddSteer(text=STEER),
        cmd.WithdrawSteer(id="g1"),
        *[cmd.Undo()] * 4,
    )
    await session.run()
    assert session.state.in_force == InForce()
    assert set(session.state.seeds) == {"s1"}
    assert session.state.deeds == []


# ── at the end ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_two_who_mark_an_ended_session_take_turns(open_session: Open) -> None:
    session = open_session(plain_plan(3))
    await session.run()
    annotate(session.folder, cmd.RateIdea(idea=1, stars=5, by="ada"))
    session.send(cmd.PinIdea(idea=2))
    record = read_log(session.folder)
    assert [event.seq for event in record.events] == list(range(len(record.events)))
    assert fold(record.events) == session.state
    assert idea_of(session, 1).rating == 5


async def test_a_task_that_a_stop_cut_short_is_done_when_the_session_is_resumed(open_session: Open) -> None:
    plan = replace(plain_plan(9), rules=replace(plain_plan().rules, patience=1))

    def repeating(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        return varied(spec, prompt, random_seed) if len(prompt.held) < 2 else prompt.held[0]

    session = open_session(plan, Slow(answering("Mechanism: it rings.", repeating).script))
    follower = Follower(session)
    once(session, lambda event: isinstance(event, ev.IdeaScored) and event.idea == 2, cmd.DevelopIdea(idea=1))
    running = asyncio.create_task(session.run())
    await follower.next(ev.QuestionEnded)
    session.send(cmd.Stop())
    assert (await running).how == "stopped"
    library.check_unfinished(session.plan, session.state, None)
    resumed = again(session, answering("Mechanism: it rings."))
    assert (await resumed.run()).how == "finished"
    assert idea_of(resumed, 1).developments


async def test_the_second_of_two_picks_comes_after_a_kill_between_them(open_session: Open) -> None:
    def picking(session: Session) -> None:
        def hear(event: ev.Event) -> None:
            if isinstance(event, ev.ChoiceOffered):
                asyncio.get_running_loop().call_soon(session.send, cmd.Choose(picks=(2, 3)))

        session.subscribe(hear)

    team = replace(scripted_team("anna", "bert", "cleo", strategy="parallel"), selector="me")
    session = open_session(make_plan(max_ideas=4, team=team), ScriptedProvider(varied))
    picking(session)
    await session.run()
    path = session.folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if b'"type":"idea_added"' in line)
    path.write_bytes(b"".join(lines[: first + 1]))
    resumed = again(session)
    picking(resumed)
    await resumed.run()
    assert [(idea.step, idea.text) for idea in chain_of(resumed).ideas] == [
        (idea.step, idea.text) for idea in chain_of(session).ideas
    ]


# ── scores of another text ────────────────────────────────────────────────────────────────────────────────────────────


async def test_no_vector_stays_of_a_text_that_was_edited_while_it_was_embedded(embedder: WordLlamaEmbedder) -> None:
    old = "Cool the film until the vortex freezes in its place."

    class Late:
        name = "late"

        async def prepare(self) -> None:
            pass

        async def embed(self, texts: list[str], account: Account) -> list[Embedding]:
            await asyncio.sleep(0.05 if old in texts else 0.1)
            return await embedder.embed(texts)

    idea = Idea(number=1, step=1, text=old, author="anna")
    chain = Chain(question="q", text="Q?", domain="d", ideas=[idea])
    scorer = ChainScorer(Late())  # type: ignore[arg-type]
    scoring = asyncio.create_task(scorer.score(chain, idea, Account()))
    await asyncio.sleep(0.01)
    chain.ideas[0] = replace(idea, text=OWN)
    list(await scorer.most_different(chain, Account()))
    await scoring
    await scorer.score(chain, chain.ideas[0], Account())
    [novelty] = await scorer.novelties(chain, [OWN], Account())
    assert novelty == pytest.approx(0.0, abs=1e-5)
