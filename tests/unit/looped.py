"""A person beside a running session: what they say and when, for the tests of what comes of it."""

from collections.abc import Callable

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.chain import Idea
from core.config import Plan
from core.levers import Seed
from core.models import ModelSpec, Prompt
from core.session import Session
from tests.conftest import make_plan, scripted_team
from tests.scripted import ScriptedProvider, varied
from tests.unit.following import chain_of

TIDES = Seed(
    name="Tidal locking", text="A torque slows the spin until one side always faces the other body.", field="Physics"
)
STEER = "prefer what a student can test"
OWN = "Let the harbour seals carry the hydrophones under the ice."


def said(prompt: Prompt) -> str:
    return "\n".join(message.text for message in prompt.messages)


def after(session: Session, idea: int, *commands: cmd.AnyCommand) -> None:
    """Send the commands when that idea has its scores."""

    def hear(event: ev.Event) -> None:
        if isinstance(event, ev.IdeaScored) and event.idea == idea:
            for command in commands:
                session.send(command)

    session.subscribe(hear)


def answering(task: str, ideas: Callable[[ModelSpec, Prompt, int], str] = varied) -> ScriptedProvider:
    """Says `task` where it is asked for something beside the steps, and ideas everywhere else."""

    def script(spec: ModelSpec, prompt: Prompt, random_seed: int) -> str:
        beside = (
            "Make one idea" in said(prompt) or "Work the idea out" in said(prompt) or "Which mechanism" in said(prompt)
        )
        return task if beside else ideas(spec, prompt, random_seed)

    return ScriptedProvider(script)


def idea_of(session: Session, number: int) -> Idea:
    idea = chain_of(session).idea(number)
    assert idea
    return idea


def plain_plan(max_ideas: int = 6) -> Plan:
    return replace(make_plan(max_ideas=max_ideas, team=scripted_team("anna")), pipelining=False)
