"""Small screens over the others: a fault, the keys, a line to type, a terminal that is too small."""

import traceback
from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from core.errors import JagstormError
from core.text import clean
from tui.widgets.field import Field

CLOSE: list[BindingType] = [
    Binding("escape,q,enter", "app.pop_screen", "Close", show=False),
]


class Message(ModalScreen[None]):
    """Something to read."""

    BINDINGS: ClassVar[list[BindingType]] = CLOSE

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="dialog-title")
            with VerticalScroll(classes="message"):
                yield Static(self._text, markup=False)
            yield Static("Esc close", markup=False, classes="hint")


class Fault(Message):
    """What went wrong and what to do."""

    def __init__(self, error: JagstormError) -> None:
        super().__init__(error.title, error.message)


def as_fault(error: BaseException) -> JagstormError:
    """`error` as something that can be shown; one that is nobody's doing but ours tells where it arose."""
    if isinstance(error, JagstormError):
        return error
    where = "".join(traceback.format_exception(error))
    return JagstormError(f"A fault in Jagstorm itself; please report it. What was shown is saved.\n\n{clean(where)}")


class Keys(ModalScreen[None]):
    """Every key of the screen below, with what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *CLOSE,
        Binding("question_mark", "app.pop_screen", "Close", show=False),
    ]

    def __init__(self, bindings: dict[str, ActiveBinding], legend: str = "") -> None:
        """`legend` says what the marks of that screen mean."""
        super().__init__()
        self._lines = _key_lines(bindings)
        self._legend = legend

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog keys"):
            yield Static("Keys", markup=False, classes="dialog-title")
            with VerticalScroll():
                yield Static("\n".join(self._lines), markup=False)
            if self._legend:
                yield Static(self._legend, markup=False, classes="hint")
            yield Static("Ctrl+P everything by name   Ctrl+C twice quits   Esc close", markup=False, classes="hint")


def _key_lines(bindings: dict[str, ActiveBinding]) -> list[str]:
    """One line an action: those of the footer, then the others of this screen, and last the toolkit's own."""
    keys: dict[tuple[str, str], list[str]] = {}
    main: set[tuple[str, str]] = set()
    for _, binding, enabled, tooltip in bindings.values():
        if enabled and binding.description and not binding.system:
            said = (binding.description, tooltip or binding.tooltip)
            keys.setdefault(said, []).append(_key_name(binding))
            if binding.show:
                main.add(said)
    main_first = sorted(keys.items(), key=lambda entry: (not entry[0][1], entry[0] not in main))
    return [
        f"{' '.join(names):<14} {description}{f': {tooltip}' if tooltip else ''}"
        for (description, tooltip), names in main_first
    ]


def _key_name(binding: Binding) -> str:
    names = {"question_mark": "?", "slash": "/", "left_square_bracket": "[", "right_square_bracket": "]"}
    names |= {"asterisk": "*", "comma": ",", "delete": "Del"}
    names |= {"left": "←", "right": "→", "up": "↑", "down": "↓", "enter": "Enter", "escape": "Esc", "space": "Space"}
    if binding.key_display:
        return binding.key_display
    return names.get(binding.key, binding.key.replace("ctrl+", "Ctrl+").replace("full_stop", "."))


class Ask(ModalScreen[str | None]):
    """One line to type. Dismissed with the text, which may be empty, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss_none", "Cancel", show=False)]

    def __init__(
        self, title: str, value: str = "", *, hint: str = "Enter done   Esc cancel", number: bool = False
    ) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._number = number

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog ask"):
            yield Static(self._title, markup=False, classes="dialog-title")
            yield Field(self._value, type="integer" if self._number else "text", select_on_focus=False)
            yield Static(self._hint, markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())

    def action_dismiss_none(self) -> None:
        self.dismiss(None)


class Choose(ModalScreen[str | None]):
    """One of several. Dismissed with its name, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss_none", "Cancel", show=False)]

    def __init__(self, title: str, options: Sequence[tuple[str, str]], hint: str = "Enter choose   Esc cancel") -> None:
        """`options` are (name, text) pairs."""
        super().__init__()
        self._title = title
        self._options = options
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="dialog-title")
            yield OptionList(
                *(Option(Text(text), id=f"option-{place}") for place, (_, text) in enumerate(self._options))
            )
            yield Static(self._hint, markup=False, classes="hint")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._options[event.option_index][0])

    def action_dismiss_none(self) -> None:
        self.dismiss(None)


class Rate(ModalScreen[int | None]):
    """A digit. Dismissed with 1 to 5, with 0 for no rating, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "rate(-1)", "Cancel", show=False),
        *[Binding(str(stars), f"rate({stars})", show=False) for stars in range(6)],
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog ask"):
            yield Static(self._title, markup=False, classes="dialog-title")
            yield Static("1 to 5, the best is 5   0 no rating   Esc cancel", markup=False)

    def action_rate(self, stars: int) -> None:
        self.dismiss(stars if stars >= 0 else None)


class TooSmall(ModalScreen[None]):
    """Shown for as long as the terminal is too small, and gone when it is not."""

    def __init__(self, smallest: tuple[int, int]) -> None:
        super().__init__()
        self._smallest = smallest
        self._left = False

    def compose(self) -> ComposeResult:
        columns, rows = self._smallest
        yield Static(f"Too small: please enlarge to {columns}×{rows} or more. Nothing is lost.", markup=False)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._leave_if_it_fits)

    def on_resize(self) -> None:
        self._leave_if_it_fits()

    def _leave_if_it_fits(self) -> None:
        columns, rows = self._smallest
        fits = self.app.size.width >= columns and self.app.size.height >= rows
        if fits and self.app.screen is self and not self._left:
            self._left = True
            self.dismiss()
