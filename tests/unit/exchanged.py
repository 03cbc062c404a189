"""Result files as the public benchmarks write them, and sessions told by hand."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core import events as ev
from core.config import Plan
from core.levers import Seed
from core.models import Usage
from core.store.library import StoredSession
from core.store.log import Record
from tests.conftest import make_plan

Q = "vortex-in-a-film"


def answer(number: int, text: str = "Listen to the bubbles.", **more: Any) -> dict[str, Any]:
    return {
        "answer_num": number,
        "answer": text,
        "embedding_dissimilarity_score": 0.5,
        "coherence_score": 80,
        "processing_time": 1.5 * number,
        "stopping_condition": None,
        "llm_dissimilarity_score": 0.4,
        **more,
    }


def failing(number: int, stop: str = "embedding_dissimilarity_threshold", **more: Any) -> dict[str, Any]:
    return answer(number, stopping_condition=stop, final_stopping_condition=stop, **more)


def models(*answers: dict[str, Any], model: str = "a/b:7b", question: str = "How to hear ice?") -> dict[str, Any]:
    return {"models": {model: {"0.7": {question: list(answers)}}}}


def chemistry(*answers: dict[str, Any], **names: str) -> dict[str, Any]:
    return {"domains": {"Chemistry": models(*answers, **names)}}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def told(
    *events: ev.Event, plan: Plan | None = None, folder: str = "sessions/20260101-120000-vortex-00aa"
) -> StoredSession:
    """A session in which these things happened, a second apart."""
    plan = plan or make_plan()
    question = plan.questions[0]
    first = (
        ev.SessionStarted(version="0.1.0"),
        ev.QuestionStarted(question=Q, text=question.text, domain=question.domain, subdomain=question.subdomain),
    )
    stamped = tuple(
        replace(event, seq=seq, t=event.t or float(seq), at="2026-01-01T12:00:00+00:00")
        for seq, event in enumerate((*first, *events))
    )
    return StoredSession(Path(folder), plan, Record(stamped, (), 0, open_ended=False))


def idea(
    number: int, text: str, author: str = "anna", *, seeds: tuple[str, ...] = (), thoughts: str = "", **scores: Any
) -> list[ev.Event]:
    """A step that brings one idea, and its scores."""
    trace = ((0, 0), (400, len(text) // 2), (900, len(text)))
    return [
        ev.StepStarted(question=Q, step=number, members=(author,), seeds=seeds),
        ev.ProposalStarted(question=Q, step=number, member=author),
        ev.ProposalFinished(
            question=Q,
            step=number,
            member=author,
            text=text,
            raw=text,
            thoughts=thoughts,
            usage=Usage(input_tokens=100, output_tokens=20, reasoning_tokens=5, seconds=0.9),
            cost=0.01,
            trace=trace if text else (),
        ),
        ev.IdeaAdded(question=Q, idea=number, step=number, text=text, author=author),
        scored(number, **scores),
    ]


def scored(number: int, **scores: Any) -> ev.IdeaScored:
    given = {"coherence": 88.0, "embedding_novelty": 0.42, "judged_novelty": 0.3, "verdict": "passed", **scores}
    return ev.IdeaScored(question=Q, idea=number, embedder="wordllama", judges=("judge",), **given)


def seed(name: str) -> ev.SeedInjected:
    return ev.SeedInjected(question=Q, id="s1", seed=Seed(name=name))


def ended(reason: ev.EndReason = "embedding_novelty", ideas: int = 1, valid: int = 1) -> list[ev.Event]:
    return [
        ev.QuestionEnded(question=Q, reason=reason, censored=reason == "cap", responses=ideas, valid=valid),
        ev.SessionEnded(how="finished"),
    ]


def whole(pieces: Iterable[str]) -> str:
    return "".join(pieces)
