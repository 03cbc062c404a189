"""A small form made from a struct: each field's label, type and bounds come from the struct itself."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct, inspect
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.widgets.field import Field

S = TypeVar("S", bound=Struct)


class FormScreen(ModalScreen[S | None], Generic[S]):
    """Dismissed with the struct as changed, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, title: str, value: S, shown: Sequence[str], *, about: str = "") -> None:
        """`shown` are the names of the fields that can be changed."""
        super().__init__()
        self._title = title
        self._value = value
        self._shown = shown
        self._about = about
        self._labels = labels(type(value))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="dialog-title")
            if self._about:
                yield Static(self._about, markup=False, classes="about")
            for name in self._shown:
                value = getattr(self._value, name)
                with Horizontal(classes="setting"):
                    yield Static(self._labels[name], markup=False)
                    yield Field(_shown(value), compact=True, id=name)
            yield Static(markup=False, id="wrong")
            yield Static("Tab next   Enter done   Esc cancel", markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        changed = self._value
        for name in self._shown:
            field = self.query_one(f"#{name}", Input)
            try:
                changed = with_field(changed, name, field.value.strip())
            except ValueError as error:
                self.query_one("#wrong", Static).update(f"{self._labels[name]}: {error}")
                field.focus()
                return
        self.dismiss(changed)

    def action_cancel(self) -> None:
        self.dismiss(None)


def labels(kind: type[Struct]) -> dict[str, str]:
    """What each field is called, by its name."""
    struct = inspect.type_info(kind)
    assert isinstance(struct, inspect.StructType)
    found = {}
    for field in struct.fields:
        if isinstance(field.type, inspect.Metadata) and field.type.extra_json_schema:
            found[field.name] = str(field.type.extra_json_schema["description"])
    return found


def with_field(value: S, name: str, text: str) -> S:
    """`value` with one of its fields as a person typed it. Raises ValueError with what was expected."""
    table = msgspec.to_builtins(value) | {name: text or None}
    try:
        return msgspec.convert(table, type(value), strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(error)) from None


def _in_words(error: msgspec.ValidationError) -> str:
    """msgspec's ``Expected `int` >= 1 - at `$.patience` `` as "a whole number, at least 1"."""
    expected = str(error).partition(" - at ")[0].partition(", got")[0].removeprefix("Expected ").replace("`", "")
    kind, _, bound = expected.replace(" | null", "").partition(" ")
    bound = bound.replace(">=", ", at least").replace("<=", ", at most").replace(">", ", more than").removesuffix(".0")
    return {"int": "a whole number", "float": "a number"}.get(kind, kind) + bound


def _shown(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
