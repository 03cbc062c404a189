"""The rules of the next chain, as a small form made from the rules themselves."""

from typing import ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from core.rules import Rules


class Setting(Struct, frozen=True):
    """One line of the form: a field of `Rules`, what it is called, and the least it can be."""

    field: str
    label: str
    least: float
    most: float
    optional: bool = False


SETTINGS = (
    Setting("embedding_novelty", "Least novelty that passes, 0 to 1", 0.0, 1.0),
    Setting("patience", "Failing ideas in a row that end a chain", 1, 1000),
    Setting("max_ideas", "Stop after so many ideas (empty: no cap)", 1, 100_000, optional=True),
)


class RulesScreen(ModalScreen[Rules | None]):
    """Dismissed with the rules as changed, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static("Rules", markup=False, classes="dialog-title")
            for setting in SETTINGS:
                value = getattr(self._rules, setting.field)
                with Horizontal(classes="setting"):
                    yield Static(setting.label, markup=False)
                    field = Input("" if value is None else f"{value:g}", compact=True, id=setting.field)
                    field.cursor_blink = False
                    yield field
            yield Static(markup=False, id="wrong")
            yield Static("Tab next   Enter done   Esc cancel", markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        changed = self._rules
        for setting in SETTINGS:
            text = self.query_one(f"#{setting.field}", Input).value.strip()
            try:
                changed = replace(changed, **{setting.field: read_setting(setting, text)})
            except ValueError as error:
                self.query_one("#wrong", Static).update(str(error))
                self.query_one(f"#{setting.field}").focus()
                return
        self.dismiss(changed)

    def action_cancel(self) -> None:
        self.dismiss(None)


def read_setting(setting: Setting, text: str) -> float | int | None:
    """The value that a person typed. Raises ValueError with what was expected."""
    if not text and setting.optional:
        return None
    kind = float if isinstance(setting.least, float) else int
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError:
        value = None
    if value is None or not setting.least <= value <= setting.most:
        what = "a number" if kind is float else "a whole number"
        raise ValueError(f"{setting.label}: {what} from {setting.least:g} to {setting.most:g}")
    return value
