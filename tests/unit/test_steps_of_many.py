"""Steps in which several propose: who is asked, what the chooser sees, who is picked, and what the log says of it."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.chain import LASTING
from core.models import CallFailedError, Chunk, FailureKind, Group, ModelSpec, Prompt, Served, TeamSpec, Usage
from core.prompts import concepts
from core.scoring.account import Account
from core.session import Session
from core.state import fold
from core.store.log import EventLog, read_log
from core.teams.prompts import read_choice, read_directions, read_merged
from tests.conftest import Open, make_plan, scripted_team
from tests.scripted import ScriptedProvider, calling, varied
from tests.unit.following import Follower, chain_of

SELECTOR = ModelSpec(name="picker", provider="scripted")

Say = Callable[[ModelSpec, Prompt, int], str]


class Cast(ScriptedProvider):
    """Members write something new; the selector and the lead say what they are told to say. Some members fail."""

    def __init__(self, choice: Say | str = "<pick>1</pick>", directions: str = "") -> None:
        super().__init__(self._say)
        self.choice = choice
        self.named = directions or "".join(f"<direction>way {number}</direction>" for number in range(9))
        self.faults: dict[str, FailureKind] = {}
        self.stalled: set[str] = set()
        self.asked: list[tuple[str, Prompt]] = []

    def _say(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        if prompt.tag == "direction":
            return self.named
        if "Which of these proposals" in prompt.messages[-1].text or "These proposals were" in prompt.messages[-1].text:
            return self.choice if isinstance(self.choice, str) else self.choice(spec, prompt, random_seed)
        return varied(spec, prompt, random_seed)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        self.asked.append((spec.name, prompt))
        if kind := self.faults.get(spec.name):
            raise CallFailedError(kind, f"{spec.name} is {kind}")
        if spec.name in self.stalled:
            await asyncio.Event().wait()
        async for chunk in super().stream(spec, prompt, random_seed):
            yield chunk

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return 0.25


def parallel(*names: str, **fields: object) -> TeamSpec:
    return replace(scripted_team(*names, strategy="parallel"), **fields)


async def run(open_session: Open, team: TeamSpec, cast: Cast, ideas: int = 3) -> tuple[Session, Follower]:
    session = open_session(make_plan(team=team, max_ideas=ideas, patience=1000), cast)
    follower = Follower(session)
    await asyncio.wait_for(session.run(), 20)
    assert fold(read_log(session.folder).events) == session.state
    return session, follower


# ── the pick ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_draw_the_shuffle_the_pick_and_every_losing_proposal_are_in_the_log(open_session: Open) -> None:
    team = parallel("anna", "bert", "cleo", selector=SELECTOR)
    session, follower = await run(open_session, team, Cast("<pick>2</pick>"))
    for chosen, step in zip(follower.of(ev.ProposalChosen), follower.of(ev.StepStarted), strict=True):
        assert step.members == ("anna", "bert", "cleo")
        assert sorted(chosen.order) == ["anna", "bert", "cleo"]
        assert chosen.pick == chosen.order[1]
        assert (chosen.by, chosen.chooser, chosen.cost) == ("selector", "picker", 0.25)
    ideas = chain_of(session).ideas
    assert [idea.author for idea in ideas] == [chosen.pick for chosen in follower.of(ev.ProposalChosen)]
    assert all(len(idea.others) == 2 for idea in ideas)
    assert len(follower.of(ev.ProposalFinished)) == 9
    assert session.state.cost == 12 * 0.25, "nine proposals and three choices"


async def test_shuffles_are_uniform(open_session: Open) -> None:
    _, follower = await run(open_session, parallel("anna", "bert", "cleo", selector="random"), Cast(), ideas=600)
    orders = Counter(chosen.order for chosen in follower.of(ev.ProposalChosen))
    picks = Counter(chosen.pick for chosen in follower.of(ev.ProposalChosen))
    assert len(orders) == 6
    # Five standard deviations of a binomial count; the draws are fixed by the seed.
    assert all(abs(count - 100) < 5 * (600 / 6 * 5 / 6) ** 0.5 for count in orders.values())
    assert all(abs(count - 200) < 5 * (600 / 3 * 2 / 3) ** 0.5 for count in picks.values())


async def test_novel_picks_the_proposal_that_is_farthest_from_the_chain(open_session: Open) -> None:
    session, follower = await run(open_session, parallel("anna", "bert", "cleo"), Cast(), ideas=6)
    assert {chosen.by for chosen in follower.of(ev.ProposalChosen)} == {"novelty"}
    scorer = session._scorer
    chain = chain_of(session)
    for idea in chain.ideas[1:]:
        earlier = replace(chain, ideas=[other for other in chain.ideas if other.number < idea.number])
        fresh = type(scorer)(scorer._embedder)  # type: ignore[call-arg,attr-defined]
        texts = [idea.text, *(other.text for other in idea.others)]
        novelties = await fresh.novelties(earlier, texts, Account())
        assert novelties[0] == max(novelties)  # type: ignore[type-var]


async def test_each_member_is_asked_for_as_many_proposals_as_there_are_drafts(open_session: Open) -> None:
    session, follower = await run(open_session, parallel("anna", "bert", drafts=3), Cast(), ideas=2)
    assert sorted(follower.of(ev.ProposalChosen)[0].order) == [
        "anna",
        "anna·2",
        "anna·3",
        "bert",
        "bert·2",
        "bert·3",
    ]
    texts = [finished.text for finished in follower.of(ev.ProposalFinished)]
    assert len(set(texts)) == len(texts) == 12, "each draft is another"
    assert all(idea.call and idea.call.text == idea.text for idea in chain_of(session).ideas)


@pytest.mark.parametrize("said", ["the second", "<pick>two</pick>", "<pick>7</pick>", "<pick>0</pick>", "2", ""])
async def test_what_is_not_clearly_said_is_asked_again_and_then_drawn(open_session: Open, said: str) -> None:
    cast = Cast(said)
    _, follower = await run(open_session, parallel("anna", "bert", selector=SELECTOR), cast, ideas=1)
    [chosen] = follower.of(ev.ProposalChosen)
    assert (chosen.by, chosen.why) == ("draw", "no number in its reply")
    assert [name for name, _ in cast.asked].count("picker") == 2
    assert chosen.cost == 0.5


async def test_a_selector_that_can_not_be_reached_is_replaced_by_chance(open_session: Open) -> None:
    cast = Cast()
    cast.faults["picker"] = "denied"
    session, follower = await run(open_session, parallel("anna", "bert", selector=SELECTOR), cast, ideas=2)
    assert {(chosen.by, chosen.why) for chosen in follower.of(ev.ProposalChosen)} == {("draw", "picker is denied")}
    assert [lost.model for lost in follower.of(ev.AsideFailed)] == ["picker"], "nobody can mend it but a person"
    assert [notice.text for notice in follower.of(ev.Notice)] == [
        "picker is not asked to choose any more: picker is denied"
    ]
    assert chain_of(session).responses == 2


async def test_two_orders_take_the_agreement(open_session: Open) -> None:
    def steady(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        """Always the proposal whose text comes first in the alphabet."""
        lines = [line for line in prompt.messages[-1].text.splitlines() if line[:1].isdigit() and "Couple" in line]
        tail = lines[-3:]
        best = min(range(3), key=lambda place: tail[place].partition(". ")[2])
        return f"<pick>{best + 1}</pick>"

    team = parallel("anna", "bert", "cleo", selector=SELECTOR, selector_orders=2)
    _, follower = await run(open_session, team, Cast(steady), ideas=4)
    assert {chosen.by for chosen in follower.of(ev.ProposalChosen)} == {"selector"}
    _, follower = await run(open_session, team, Cast("<pick>1</pick>"), ideas=8)
    whys = {chosen.why for chosen in follower.of(ev.ProposalChosen)}
    assert whys == {"the two orders disagree"}, "who always takes the first has no preference"


# ── members that fail, stall and recover ──────────────────────────────────────────────────────────────────────────────


async def test_a_member_that_fails_is_skipped_and_shown(open_session: Open) -> None:
    cast = Cast()
    cast.faults["model-bert"] = "server"
    session, follower = await run(open_session, parallel("anna", "bert", "cleo", "dora", "egon"), cast, ideas=3)
    assert chain_of(session).responses == 3
    assert {failed.member for failed in follower.of(ev.ProposalFailed)} == {"bert"}
    assert all("bert" not in chosen.order for chosen in follower.of(ev.ProposalChosen))


async def test_a_member_without_a_key_is_asked_once(open_session: Open) -> None:
    cast = Cast()
    cast.faults["model-bert"] = "denied"
    _, follower = await run(open_session, parallel("anna", "bert", "cleo"), cast, ideas=4)
    assert len(follower.of(ev.ProposalFailed)) == 1
    assert [step.members for step in follower.of(ev.StepStarted)][1:] == [("anna", "cleo")] * 3


async def test_all_failing_pauses_and_nothing_looks_finished(open_session: Open) -> None:
    cast = Cast()
    cast.faults.update({f"model-{name}": "server" for name in ("anna", "bert")})
    session = open_session(make_plan(team=parallel("anna", "bert"), max_ideas=3), cast)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    paused = await follower.next(ev.Paused)
    assert paused.by == "trouble"
    assert chain_of(session).ended is None
    cast.faults.clear()
    session.send(cmd.Resume())
    await running
    assert chain_of(session).responses == 3


async def test_five_members_fail_stall_and_recover(open_session: Open) -> None:
    cast = Cast()
    cast.faults["model-anna"] = "server"
    cast.stalled.add("model-bert")
    session = open_session(make_plan(team=parallel("anna", "bert", "cleo", "dora", "egon"), max_ideas=3), cast)
    session._stepper._caller.persistence = replace(session._stepper._caller.persistence, first_token=0.05)
    follower = Follower(session)

    def recover(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaAdded) and event.idea == 1:
            cast.faults.clear()
            cast.stalled.clear()

    session.subscribe(recover)
    await asyncio.wait_for(session.run(), 20)
    orders = [set(chosen.order) for chosen in follower.of(ev.ProposalChosen)]
    assert orders[0] == {"cleo", "dora", "egon"}
    assert orders[-1] == {"anna", "bert", "cleo", "dora", "egon"}


async def test_resumed_amid_a_step_what_came_is_not_asked_for_again(open_session: Open) -> None:
    cast = Cast()
    cast.stalled.add("model-cleo")
    session = open_session(make_plan(team=parallel("anna", "bert", "cleo"), max_ideas=2), cast)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    for name in ("anna", "bert"):
        await follower.next(ev.ProposalFinished, lambda finished, name=name: finished.member in (name, "bert"))  # type: ignore[misc]
        if len(follower.of(ev.ProposalFinished)) == 2:
            break
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    log, record = EventLog.reopen(session.folder)
    again_cast = Cast()
    again = Session(session.plan, log, calling(again_cast), session._scorer, history=fold(record.events))
    await again.run()
    first = [name for name, prompt in again_cast.asked if not prompt.held]
    assert first == ["model-cleo"]
    assert chain_of(again).responses == 2


# ── hierarchy, teams within teams ─────────────────────────────────────────────────────────────────────────────────────


async def test_a_lead_directs_and_chooses(open_session: Open) -> None:
    team = replace(scripted_team("anna", "bert", "cleo", strategy="hierarchy"), lead="anna")
    session, follower = await run(open_session, team, Cast("<pick>2</pick>"), ideas=2)
    named = follower.of(ev.DirectionsNamed)
    assert [(event.member, event.directions) for event in named] == [("anna", ("way 0", "way 1"))] * 2
    started = [(event.member, event.direction) for event in follower.of(ev.ProposalStarted)]
    assert started == [("bert", "way 0"), ("cleo", "way 1")] * 2
    assert {chosen.by for chosen in follower.of(ev.ProposalChosen)} == {"lead"}
    assert {idea.author for idea in chain_of(session).ideas} <= {"bert", "cleo"}
    prompt = chain_of(session).ideas[0].prompt
    assert prompt
    assert prompt.direction in ("way 0", "way 1")


async def test_or_merges(open_session: Open) -> None:
    team = replace(scripted_team("anna", "bert", "cleo", strategy="hierarchy"), lead="anna")
    merged = "Freeze a fibre into the ice and hear both its ends."
    session, follower = await run(open_session, team, Cast(f"<idea>{merged}</idea>"), ideas=1)
    [idea] = chain_of(session).ideas
    assert (idea.text, idea.author) == (merged, "anna")
    assert len(idea.others) == 2
    assert follower.of(ev.ProposalChosen)[0].text == merged


async def test_for_a_lead_that_names_nothing_directions_are_drawn_and_recorded_as_such(open_session: Open) -> None:
    team = scripted_team("anna", "bert", "cleo", strategy="hierarchy")
    cast = Cast(directions="none come to mind")
    session, follower = await run(open_session, team, cast, ideas=2)
    assert [event.by for event in follower.of(ev.DirectionsNamed)] == ["draw", "draw"]
    assert all(set(event.directions) <= set(concepts()) for event in follower.of(ev.DirectionsNamed))
    assert all(len(set(event.directions)) == 2 for event in follower.of(ev.DirectionsNamed))
    assert [prompt.tag for _, prompt in cast.asked].count("direction") == 4, "it was asked again each time"
    assert chain_of(session).responses == 2


@pytest.mark.parametrize("kind", ["denied", "server", "missing", "unreadable"])
async def test_without_a_lead_that_answers_the_others_go_on(open_session: Open, kind: FailureKind) -> None:
    team = scripted_team("anna", "bert", "cleo", strategy="hierarchy")
    cast = Cast()
    cast.faults["model-anna"] = kind
    session, follower = await run(open_session, team, cast, ideas=3)
    assert [idea.author in ("bert", "cleo") for idea in chain_of(session).ideas] == [True] * 3
    assert follower.of(ev.DirectionsNamed) == []
    assert {started.direction for started in follower.of(ev.ProposalStarted)} == {""}
    assert {(chosen.by, chosen.why) for chosen in follower.of(ev.ProposalChosen)} == {("draw", f"model-anna is {kind}")}
    lost = 1 if kind in LASTING else 6
    assert len(follower.of(ev.AsideFailed)) == lost, "in the log each time, and asked once if only a person can mend it"


@pytest.mark.parametrize("names", [("anna", "bert", "cleo"), ("anna",)])
@pytest.mark.parametrize("kind", ["denied", "server"])
async def test_with_nobody_who_answers_a_hierarchy_pauses(
    open_session: Open, names: tuple[str, ...], kind: FailureKind
) -> None:
    cast = Cast()
    cast.faults.update({f"model-{name}": kind for name in names})
    session = open_session(make_plan(team=scripted_team(*names, strategy="hierarchy"), max_ideas=3), cast)
    follower = Follower(session)
    running = asyncio.create_task(session.run())
    paused = await follower.next(ev.Paused)
    assert paused.by == "trouble"
    session.send(cmd.Stop())
    await running
    assert len(cast.asked) < 40


async def test_every_proposal_of_a_step_has_a_place_of_its_own_in_the_log(open_session: Open) -> None:
    lab = replace(scripted_team("x", "y", strategy="parallel"), name="lab", drafts=2)
    groups = (Group(name="lab", team=lab), Group(name="den", team=lab))
    for strategy in ("parallel", "hierarchy"):
        team = replace(scripted_team("anna", "bert", strategy=strategy), groups=groups, drafts=2, directions=7)
        _, follower = await run(open_session, team, Cast(), ideas=3)
        slots = Counter((each.step, ev.slot_of(each.member, each.draft)) for each in follower.of(ev.ProposalStarted))
        assert set(slots.values()) == {1}


async def test_a_member_can_be_a_team(open_session: Open) -> None:
    lab = replace(scripted_team("cleo", "dora", strategy="parallel"), name="lab")
    team = replace(scripted_team("anna", strategy="parallel"), groups=(Group(name="lab", team=lab),), selector="random")
    session, follower = await run(open_session, team, Cast(), ideas=6)
    assert {step.members for step in follower.of(ev.StepStarted)} == {("anna", "lab")}
    orders = {frozenset(chosen.order) for chosen in follower.of(ev.ProposalChosen)}
    assert frozenset({"lab/cleo", "lab/dora"}) in orders, "the choice within"
    authors = {idea.author for idea in chain_of(session).ideas}
    assert authors <= {"anna", "lab/cleo", "lab/dora"}
    assert len(authors) > 1


# ── anonymity, reading ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("strategy", ["solo", "sample", "router", "parallel", "hierarchy", "bandit"])
async def test_no_prompt_tells_who_is_in_the_team(open_session: Open, strategy: str) -> None:
    names = ("zaphod", "trillian", "marvin")
    team = replace(scripted_team(*names, strategy=strategy), selector=replace(SELECTOR, name="slartibartfast"))
    cast = Cast()
    await run(open_session, team, cast, ideas=3)
    sent = "\n".join(message.text for _, prompt in cast.asked for message in prompt.messages)
    assert [name for name in (*names, "slartibartfast", "model-", "scripted") if name in sent] == []


@pytest.mark.parametrize(
    ("answer", "choice"),
    [
        ("<pick>2</pick>", 1),
        ("I take <pick> 3 </pick> for its reach.", 2),
        ("<pick>1</pick> no, <pick>2</pick>", 1),
        ("<think><pick>1</pick></think><pick>3</pick>", 2),
        ("<pick>4</pick>", None),
        ("<pick>0</pick>", None),
        ("<pick>-1</pick>", None),
        ("<pick>1 or 2</pick>", None),
        ("1", None),
        ("<think><pick>1</pick>", None),
    ],
)
def test_a_choice_is_a_number_in_the_tag(answer: str, choice: int | None) -> None:
    assert read_choice(answer, 3) == choice


def test_directions_and_merged_ideas_are_read_from_their_tags() -> None:
    said = "<think><direction>draft</direction></think><direction>by ear</direction> <direction>by  light</direction>"
    assert read_directions(said + said, 5) == ("by ear", "by light")
    assert read_directions(said, 1) == ("by ear",)
    assert read_merged("Both: <idea>Freeze a fibre in.</idea>") == "Freeze a fibre in."
    assert read_merged("<pick>1</pick>") == ""
