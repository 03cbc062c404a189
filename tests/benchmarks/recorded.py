"""A recorded session of any length, as the embedded team would have left it."""

from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from core import events as ev
from core.config import write_plan
from core.lines import encode
from core.models import ModelSpec, Prompt, Usage
from core.questions import Question
from core.rules import Rules
from core.store import library
from core.teams.presets import default_team
from tests.scripted import varied

QUESTION = Question("cloud", "Propose a way to weigh a cloud.", "Environmental Science")

AT = "2026-01-01T00:00:00.000+00:00"


def record(folder: Path, ideas: int) -> Path:
    """Write the session; it was stopped by a person, so it can be resumed."""
    folder.mkdir(parents=True)
    team = default_team()
    write_plan(folder, library.new_plan((QUESTION,), team, Rules(embedding_novelty=0.0), random_seed=1))
    names = [member.name for member in team.members]
    with (folder / "events.jsonl").open("wb") as file:
        for seq, event in enumerate(events(ideas, names)):
            file.write(encode(stamped(event, seq)) + b"\n")
    return folder


def stamped(event: ev.Event, seq: int) -> ev.Event:
    return replace(event, seq=seq, t=seq * 0.1, at=AT)


def events(ideas: int, names: list[str]) -> list[ev.Event]:
    rng = np.random.default_rng(1)
    spec, prompt = ModelSpec(name="scripted"), Prompt(messages=())
    question = QUESTION.id
    found: list[ev.Event] = [
        ev.SessionStarted(version="0"),
        ev.QuestionStarted(question=question, text=QUESTION.text, domain=QUESTION.domain),
    ]
    for number in range(1, ideas + 1):
        text = varied(spec, prompt, int(rng.integers(2**31)))
        member = names[number % len(names)]
        step: dict[str, Any] = {"question": question, "step": number, "member": member}
        trace = tuple((50 * place, len(text) * place // 10) for place in range(1, 11))
        shown = tuple(range(max(1, number - 150), number))
        found += [
            ev.StepStarted(question=question, step=number, members=(member,)),
            ev.ProposalStarted(**step, shown=shown),
            ev.ProposalFinished(**step, text=text, raw=text, usage=Usage(output_tokens=20, seconds=0.4), trace=trace),
            ev.IdeaAdded(question=question, idea=number, step=number, text=text, author=member),
            ev.IdeaScored(
                question=question,
                idea=number,
                embedding_novelty=float(rng.uniform(0.1, 0.9)),
                nearest=max(1, number - 1),
                verdict="passed",
                embedder="wordllama",
            ),
        ]
    found.append(ev.QuestionEnded(question=question, reason="person", censored=True, responses=ideas, valid=ideas))
    found.append(ev.SessionEnded(how="stopped", message="you"))
    return found
