"""A session in which a person has done about everything, as its events tell it, and a screen that stands still."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core import commands as cmd
from core import events as ev
from core.config import Plan
from core.errors import JagstormError, UsageError
from core.feed import Listener, Listeners
from core.levers import Seed
from core.models import TeamSpec
from core.state import State, apply
from tests.conftest import QUESTION, make_plan, scripted_team
from tui import styles
from tui.screens.steering import SteeringScreen

IDEAS = (
    "Scan a nitrogen-vacancy tip over the film and read the stray field of each vortex from its spin precession.",
    "Cool the film under a garnet layer whose Faraday rotation lights up where flux threads it.",
    "Cool the film under a garnet whose rotation of light shows where flux goes through.",
    "Let a travelling heat pulse unpin vortices one by one and hear each arrival as a step in the edge voltage.",
    "Grow yeast with magnetosomes on the film and photograph where the colonies line up.",
    "Decorate the film with cold cobalt smoke, which settles on the field lines as iron filings do.",
)
WHERE: dict[str, Any] = {"question": QUESTION.id}


class Recorder:
    """Events with the numbers and times that a session would give them."""

    def __init__(self) -> None:
        self.events: list[ev.Event] = []

    def add(self, *events: ev.Event) -> None:
        for event in events:
            number = len(self.events)
            self.events.append(replace(event, seq=number, t=2.0 * number, at="2026-01-05T10:00:00+00:00"))

    def step(self, number: int, text: str, author: str, **force: Any) -> None:
        """A step that brings an idea."""
        where: dict[str, Any] = {**WHERE, "step": number}
        self.add(
            ev.StepStarted(**where, members=(author,), **force),
            ev.ProposalStarted(**where, member=author, whole=True, style="tagged", prompt_version=2),
            ev.ProposalFinished(**where, member=author, text=text, raw=text),
            ev.IdeaAdded(**where, idea=number, text=text, author=author),
        )

    def score(self, idea: int, novelty: float, coherence: float = 80, *, failed: bool = False) -> None:
        self.add(
            ev.IdeaScored(
                **WHERE,
                idea=idea,
                embedding_novelty=novelty,
                coherence=coherence,
                nearest=idea - 1 or None,
                verdict="failed" if failed else "passed",
                failed_rule="embedding_novelty" if failed else None,
            )
        )


def begun() -> Recorder:
    """A question, and nothing yet."""
    recorder = Recorder()
    recorder.add(
        ev.SessionStarted(version="1"),
        ev.QuestionStarted(**WHERE, text=QUESTION.text, domain=QUESTION.domain, subdomain=QUESTION.subdomain),
    )
    return recorder


def steered() -> Recorder:
    """Six ideas, all that can be done to them, and a seventh under way."""
    recorder = begun()
    for number, author in enumerate(("anna", "bert", "cleo"), 1):
        recorder.step(number, IDEAS[number - 1], author)
        recorder.score(number, (1.0, 0.62, 0.11)[number - 1], failed=number == 3)
    codes = Seed(name="error-correcting codes", text="Spare symbols let a reader find and mend what noise has changed.")
    recorder.add(
        ev.SeedInjected(**WHERE, id="s1", seed=codes, steps=2, step=4),
        ev.SteerAdded(**WHERE, id="g1", text="prefer what a student can test"),
    )
    recorder.step(4, IDEAS[3], "anna", seeds=("s1",), steers=("g1",))
    recorder.score(4, 0.71, 91)
    recorder.add(ev.IdeaAdded(**WHERE, idea=5, step=4, text=IDEAS[4], author="you"))
    recorder.score(5, 0.83, 40)
    recorder.add(
        ev.TaskGiven(**WHERE, id="t1", task="merge", ideas=(2, 4)),
        ev.TaskDone(**WHERE, id="t1", text=IDEAS[5], member="bert"),
        ev.IdeaAdded(**WHERE, idea=6, step=4, text=IDEAS[5], author="bert", parents=(2, 4), task="t1"),
    )
    recorder.score(6, 0.38, 77)
    recorder.add(
        ev.IdeaPinned(**WHERE, idea=1, old=False, new=True),
        ev.IdeaRated(**WHERE, idea=4, old=0, new=4),
        ev.IdeaCommented(**WHERE, idea=4, old="", new="Ask the cryostat people whether the edge can be wired."),
        ev.IdeaEdited(**WHERE, idea=2, old=IDEAS[1], new="Lay a garnet film on top, and watch its Faraday rotation."),
    )
    recorder.score(2, 0.58)
    recorder.add(
        ev.IdeaRemoved(**WHERE, idea=5),
        ev.SeedInjected(**WHERE, id="s2", seed=Seed(name="magnetotaxis", lever="deny"), steps=None, step=5),
        ev.TaskGiven(**WHERE, id="t2", task="develop", ideas=(4,)),
        ev.StepStarted(**WHERE, step=5, members=("cleo",), seeds=("s1", "s2"), steers=("g1",)),
        ev.ProposalStarted(**WHERE, step=5, member="cleo", whole=True, style="tagged", prompt_version=2),
        ev.ProposalDelta(**WHERE, step=5, member="cleo", text="Encode the position of each vortex redundantly in"),
    )
    return recorder


def offered(*, until: float | None = None) -> Recorder:
    """A step in which a person is to pick among three proposals, named bert, cleo, anna in the order offered."""
    recorder = begun()
    recorder.step(1, IDEAS[0], "anna")
    recorder.score(1, 1.0)
    where: dict[str, Any] = {**WHERE, "step": 2}
    names = ("anna", "bert", "cleo")
    recorder.add(ev.StepStarted(**where, members=names))
    recorder.add(*(ev.ProposalStarted(**where, member=name, whole=True) for name in names))
    recorder.add(
        *(ev.ProposalFinished(**where, member=name, text=IDEAS[n], raw=IDEAS[n]) for n, name in enumerate(names, 1))
    )
    recorder.add(ev.ChoiceOffered(**where, order=("bert", "cleo", "anna"), until=until))
    return recorder


def picking_team() -> TeamSpec:
    """Three who propose at once, among whom the person picks."""
    return replace(scripted_team("anna", "bert", "cleo", strategy="parallel"), selector="me")


class Told:
    """A feed that stands where it is, and keeps what it is told."""

    folder = Path("nowhere")
    fault: JagstormError | None = None

    def __init__(self, recorder: Recorder, plan: Plan | None = None) -> None:
        self.plan = plan or make_plan()
        self.state = State()
        self.sent: list[cmd.AnyCommand] = []
        self.refusal = ""
        self.seconds = 0.0
        """What its clock shows."""
        self._listeners = Listeners()
        for event in recorder.events:
            apply(self.state, event)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.subscribe(listener)

    def send(self, command: cmd.AnyCommand) -> None:
        if self.refusal:
            raise UsageError(self.refusal)
        self.sent.append(command)

    def elapsed(self) -> float:
        return self.seconds

    def come(self, events: Sequence[ev.Event]) -> None:
        """Let something happen."""
        for event in events:
            stamped = replace(event, seq=self.state.seq + 1, t=self.state.t + 1, at="2026-01-05T10:00:00+00:00")
            apply(self.state, stamped)
            self._listeners.tell(stamped)


class ToldScreen(SteeringScreen):
    """The live screen on such a feed."""

    CSS_PATH = str(Path(styles.__path__[0]) / "live.tcss")

    def activity(self) -> str:
        return "writing"
