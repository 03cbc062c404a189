"""A team with other members, other weights or another strategy."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Select, Static

from core.errors import UsageError
from core.models import ModelSpec, Place, TeamSpec
from core.teams.rearranged import rearranged
from core.teams.written import free_name, member_of
from core.text import clean_line
from tui.widgets.choice import choice
from tui.widgets.field import Field
from tui.words import STRATEGIES, selector_words

_SELECTORS = {"me": "you", "novel": "the one farthest from the chain", "random": "any, by chance"}


class TeamScreen(ModalScreen[TeamSpec | None]):
    """Dismissed with the team as changed, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, team: TeamSpec, others: Sequence[ModelSpec] = ()) -> None:
        """`others` are models that could join."""
        super().__init__()
        self._team = team
        self._places = [*team.places, *_newcomers(team, others)]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog team"):
            yield Static("From the next step on", markup=False, classes="dialog-title")
            with Horizontal(classes="setting"):
                yield Static("Strategy", markup=False)
                strategies: dict[str, str] = {name: f"{name}: {words.lower()}" for name, words in STRATEGIES.items()}
                yield choice(strategies, self._team.strategy, "strategy")
            with Horizontal(classes="setting"):
                yield Static("parallel: who picks", markup=False)
                yield choice(self._selectors(), _key(self._team.selector), "selector")
            yield Static("How often each is drawn; 0 leaves one out", markup=False, classes="about")
            with VerticalScroll(classes="weights", can_focus=False):
                for number, place in enumerate(self._places):
                    with Horizontal(classes="setting"):
                        yield Static(clean_line(place.name, 40), markup=False)
                        weight = place.weight if place in self._team.places else 0.0
                        yield Field(f"{weight:g}", compact=True, id=f"weight-{number}")
            yield Static(markup=False, id="wrong")
            yield Static("Tab next   Enter done (on a weight)   Esc cancel", markup=False, classes="hint")

    def on_mount(self) -> None:
        self.query(Field).first().focus()

    def _selectors(self) -> dict[str, str]:
        given = self._team.selector
        return _SELECTORS if isinstance(given, str) else {_key(given): selector_words(self._team), **_SELECTORS}

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            team = rearranged(self._team, list(self._weights()), **self._changes())
        except UsageError as error:
            self.query_one("#wrong", Static).update(error.message)
        else:
            self.dismiss(team)

    def _weights(self) -> Iterator[tuple[Place, float]]:
        """Raises `UsageError`."""
        for number, place in enumerate(self._places):
            field = self.query_one(f"#weight-{number}", Field)
            try:
                weight = float(field.value)
            except ValueError:
                weight = -1.0
            if not 0 <= weight <= 1e6:
                field.focus()
                raise UsageError(f"{clean_line(place.name, 40)}: a number is needed, from 0 to a million")
            yield place, weight

    def _changes(self) -> dict[str, Any]:
        selector = self.query_one("#selector", Select).value
        changes: dict[str, Any] = {"strategy": self.query_one("#strategy", Select).value}
        return changes | ({"selector": selector} if selector in _SELECTORS else {})

    def action_cancel(self) -> None:
        self.dismiss(None)


def _newcomers(team: TeamSpec, others: Sequence[ModelSpec]) -> Iterator[Place]:
    """Members for the models that are not in the team yet."""
    taken = [place.name for place in team.places]
    known = {member.model for member in team.everybody}
    for spec in others:
        if spec not in known:
            taken.append(free_name(spec.name, taken))
            yield member_of(taken[-1], spec)


def _key(selector: ModelSpec | str) -> str:
    return selector if isinstance(selector, str) else "model"
