"""The rules of the next chain, as a small form made from the rules themselves."""

from typing import ClassVar

import msgspec
from msgspec import inspect
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from core.rules import Rules
from tui.widgets.field import Field

SHOWN = ("embedding_novelty", "patience", "max_ideas")
"""Those that mean something without a judge."""


class RulesScreen(ModalScreen[Rules | None]):
    """Dismissed with the rules as changed, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules
        self._labels = labels()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Rules", markup=False, classes="dialog-title")
            for name in SHOWN:
                value = getattr(self._rules, name)
                with Horizontal(classes="setting"):
                    yield Static(self._labels[name], markup=False)
                    yield Field("" if value is None else f"{value:g}", compact=True, id=name)
            yield Static(markup=False, id="wrong")
            yield Static("Tab next   Enter done   Esc cancel", markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        changed = self._rules
        for name in SHOWN:
            field = self.query_one(f"#{name}", Input)
            try:
                changed = with_rule(changed, name, field.value.strip())
            except ValueError as error:
                self.query_one("#wrong", Static).update(f"{self._labels[name]}: {error}")
                field.focus()
                return
        self.dismiss(changed)

    def action_cancel(self) -> None:
        self.dismiss(None)


def labels() -> dict[str, str]:
    """What each rule is called, by its field's name."""
    struct = inspect.type_info(Rules)
    assert isinstance(struct, inspect.StructType)
    found = {}
    for field in struct.fields:
        if isinstance(field.type, inspect.Metadata) and field.type.extra_json_schema:
            found[field.name] = str(field.type.extra_json_schema["description"])
    return found


def with_rule(rules: Rules, name: str, text: str) -> Rules:
    """`rules` with one of them as a person typed it. Raises ValueError with what was expected."""
    table = msgspec.to_builtins(rules) | {name: text or None}
    try:
        return msgspec.convert(table, Rules, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(error)) from None


def _in_words(error: msgspec.ValidationError) -> str:
    """msgspec's ``Expected `int` >= 1 - at `$.patience` `` as "a whole number, at least 1"."""
    expected = str(error).partition(" - at ")[0].partition(", got")[0].removeprefix("Expected ").replace("`", "")
    kind, _, bound = expected.replace(" | null", "").partition(" ")
    bound = bound.replace(">=", ", at least").replace("<=", ", at most").removesuffix(".0")
    return {"int": "a whole number", "float": "a number"}.get(kind, kind) + bound
