"""Killed at any byte and resumed, a session ends as the uncut one: nothing lost, nothing twice, every token counted."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Plan, write_plan
from core.models import CallFailedError, ModelSpec, Prompt
from core.scoring.embeddings import WordLlamaEmbedder
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import State, fold
from core.store.log import EventLog, read_log
from tests.conftest import Open, make_plan
from tests.scripted import Script, ScriptedProvider, calling, same, varied

STRIDE = 23
"""Between event boundaries a run is resumed at every so many bytes; at the boundaries at every byte around them.

(`test_log.py` cuts at every single byte and compares what is read; two cuts that read the same resume the same.)
"""


def often_failing(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """Every third seed brings the same idea again."""
    return same(spec, prompt, random_seed) if random_seed % 3 == 0 else varied(spec, prompt, random_seed)


def often_broken(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
    """Every third seed brings no idea at all: an error, or an empty answer."""
    if random_seed % 3 == 0:
        raise CallFailedError("timeout", "no answer in 60 s")
    return "" if random_seed % 7 == 0 else varied(spec, prompt, random_seed)


class Told(NamedTuple):
    """What a chain comes to."""

    ideas: Sequence[tuple[int, str, str, str]]
    reason: str
    responses: int
    valid: int


def told(state: State) -> Told:
    assert state.chain
    assert state.chain.ended
    end = state.chain.ended
    ideas = [
        (idea.number, idea.text, idea.author, idea.score.verdict if idea.score else "none")
        for idea in state.chain.ideas
    ]
    return Told(ideas, end.reason, end.responses, end.valid)


def cuts(content: bytes) -> list[int]:
    edges = [place + 1 for place, byte in enumerate(content) if byte == ord("\n")]
    around = {edge + shift for edge in edges for shift in (-2, -1, 0, 1)}
    return sorted(cut for cut in around | set(range(0, len(content), STRIDE)) if 0 <= cut <= len(content))


async def resumed(folder: Path, plan: Plan, script: Script, embedder: WordLlamaEmbedder) -> State:
    """Go on with the session in `folder` to its end."""
    log, record = EventLog.reopen(folder)
    scorer = ChainScorer(embedder)
    session = Session(plan, log, calling(ScriptedProvider(script)), scorer, history=fold(record.events))
    await session.run()
    return session.state


@pytest.mark.parametrize(
    ("script", "patience", "max_ideas"),
    [(varied, 3, 6), (often_failing, 2, 6), (often_failing, 1, None), (often_broken, 3, 6), (same, 2, None)],
    ids=["cap", "failing ideas", "a rule ends it", "failing calls", "patience ends it"],
)
async def test_cut_anywhere_and_resumed_it_is_the_same_chain(
    open_session: Open,
    embedder: WordLlamaEmbedder,
    tmp_path: Path,
    script: Script,
    patience: int,
    max_ideas: int | None,
) -> None:
    plan = make_plan(patience=patience, max_ideas=max_ideas)
    uncut = open_session(plan, ScriptedProvider(script))
    await uncut.run()
    wanted = told(uncut.state)
    content = (uncut.folder / "events.jsonl").read_bytes()
    folder = tmp_path / "cut"
    folder.mkdir()
    write_plan(folder, plan)
    tried = cuts(content)
    for cut in tried:
        (folder / "events.jsonl").write_bytes(content[:cut])
        before = read_log(folder).events
        live = await resumed(folder, plan, script, embedder)
        record = read_log(folder)
        state = fold(record.events)
        where = f"cut at byte {cut}"

        assert told(state) == wanted, where
        assert state == live, where
        assert record.problems == (), where
        assert record.events[: len(before)] == before, where
        assert [event.seq for event in record.events] == list(range(len(record.events))), where
        assert [event.t for event in record.events] == sorted(event.t for event in record.events), where
        for kind in (ev.IdeaAdded, ev.IdeaScored):
            numbers = Counter(event.idea for event in record.events if isinstance(event, kind))
            assert numbers == dict.fromkeys(range(1, len(wanted.ideas) + 1), 1), where
        brought = Counter(event.step for event in record.events if isinstance(event, ev.ProposalFinished))
        assert set(brought.values()) == {1}, f"{where}: what was written already is not asked for again"
        calls = [event for event in record.events if isinstance(event, ev.ProposalFinished | ev.ProposalFailed)]
        assert state.output_tokens == sum(call.usage.output_tokens for call in calls), where
        assert state.input_tokens == sum(call.usage.input_tokens for call in calls), where
        assert state.generation_seconds == pytest.approx(sum(call.usage.seconds for call in calls)), where
        assert state.t == record.events[-1].t, where
    print(f"{len(tried)} cuts of {len(content)} bytes")


async def test_cut_twice_it_is_still_the_same_chain(
    open_session: Open, embedder: WordLlamaEmbedder, tmp_path: Path
) -> None:
    """Killed, resumed, and killed again a little later, over and over, until it is done."""
    plan = make_plan(max_ideas=4)
    uncut = open_session(replace(plan, id="uncut"), ScriptedProvider(varied))
    await uncut.run()
    folder = tmp_path / "cut"
    folder.mkdir()
    content = b""
    (folder / "events.jsonl").write_bytes(content)
    for more in range(100, 6000, 397):
        state = await resumed(folder, plan, varied, embedder)
        assert told(state).ideas == told(uncut.state).ideas
        content = (folder / "events.jsonl").read_bytes()[:more]
        (folder / "events.jsonl").write_bytes(content)


async def test_a_persons_idea_survives_a_kill_at_any_event(
    open_session: Open, embedder: WordLlamaEmbedder, tmp_path: Path
) -> None:
    plan = make_plan(max_ideas=4)
    uncut = open_session(replace(plan, id="uncut"), ScriptedProvider(varied))
    own = "Teach harbour seals to wear magnetometers."

    def add(event: ev.Event) -> None:
        if isinstance(event, ev.ProposalStarted) and event.step == 2:
            uncut.send(cmd.AddIdea(text=own))

    uncut.subscribe(add)
    await uncut.run()
    folder = tmp_path / "cut"
    folder.mkdir()
    lines = (uncut.folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(len(lines) + 1):
        (folder / "events.jsonl").write_bytes(b"".join(lines[:count]))
        shown = [event.text for event in read_log(folder).events if isinstance(event, ev.IdeaAdded)]
        state = await resumed(folder, plan, varied, embedder)
        texts = [text for _, text, _, _ in told(state).ideas]
        assert texts[: len(shown)] == shown
        assert texts.count(own) == shown.count(own)
        assert len(set(texts)) == len(texts) == 4
        assert "none" not in [verdict for _, _, _, verdict in told(state).ideas]
