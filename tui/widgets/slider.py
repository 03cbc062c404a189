"""A number that is set by moving a knob: with keys, by a click, or by dragging."""

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.cells import fill


class Slider(Widget, can_focus=True):
    """One of several values, or none: then each session keeps its own."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"slider--line", "slider--knob", "slider--own"}
    DEFAULT_CSS = "Slider { height: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "Less", show=False, tooltip="A step less"),
        Binding("right", "move(1)", "More", show=False, tooltip="A step more"),
        Binding("shift+left,left_square_bracket", "move(-10)", "Much less", show=False, key_display="["),
        Binding("shift+right,right_square_bracket", "move(10)", "Much more", show=False, key_display="]"),
        Binding("home", "go(0)", "Least", show=False, tooltip="The least there is"),
        Binding("end", "go(-1)", "Most", show=False, tooltip="The most there is"),
        Binding("backspace,delete", "reset", "As recorded", show=False, tooltip="As each session had it"),
    ]

    class Moved(Message):
        """`value` is None where each session keeps its own."""

        def __init__(self, slider: "Slider", value: float | None) -> None:
            super().__init__()
            self.slider = slider
            self.value = value

        @property
        def control(self) -> "Slider":
            return self.slider

    def __init__(self, name: str, values: tuple[float, ...], *, label: int = 11, id: str) -> None:  # noqa: A002
        """`values` rise; `label` is the width of the name."""
        super().__init__(id=id)
        self._name = name
        self._values = values
        self._own: float | None = None
        self._label = label
        self.value: float | None = None

    def show(self, value: float | None, own: float | None) -> None:
        """Put the knob somewhere, without a message. `own` is what all sessions have; None if they differ."""
        if (value, own) != (self.value, self._own):
            self.value, self._own = value, own
            self.refresh()

    @property
    def _place(self) -> int:
        """Of the value nearest to where the knob is."""
        at = self._own if self.value is None else self.value
        if at is None:
            return len(self._values) - 1
        return min(range(len(self._values)), key=lambda place: abs(self._values[place] - at))

    @property
    def _track(self) -> tuple[int, int]:
        """The first cell of the line, and how many it has."""
        left = self._label + 6
        return left, max(self.size.width - left, 1)

    def render_line(self, y: int) -> Strip:
        left, width = self._track
        knob = round(self._place / max(len(self._values) - 1, 1) * (width - 1))
        at = self._own if self.value is None else self.value
        number = "own" if at is None else f"{at:.3f}".removeprefix("0") if self._values[-1] == 1 else f"{at:g}"
        own = self.get_component_rich_style("slider--own", partial=True) if self.value is None else Style()
        line, dot = (self.get_component_rich_style(f"slider--{part}", partial=True) for part in ("line", "knob"))
        pointer = "›" if self.has_focus else " "
        segments = [
            Segment(fill(f"{pointer}{self._name}", self._label), Style()),
            Segment(f"{number:>5} ", own),
            Segment("─" * knob, line),
            Segment("○" if self.value is None else "●", dot),
            Segment("─" * (width - 1 - knob), line),
        ]
        return Strip(segments, left + width).adjust_cell_length(self.size.width).apply_style(self.rich_style)

    def action_move(self, steps: int) -> None:
        self._set(self._place + steps)

    def action_go(self, place: int) -> None:
        self._set(place if place >= 0 else len(self._values) - 1)

    def action_reset(self) -> None:
        if self.value is not None:
            self.value = None
            self.refresh()
            self.post_message(self.Moved(self, None))

    def _set(self, place: int) -> None:
        value = self._values[min(max(place, 0), len(self._values) - 1)]
        if value != self.value:
            self.value = value
            self.refresh()
            self.post_message(self.Moved(self, value))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._drag(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._drag(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _drag(self, event: events.MouseEvent) -> None:
        left, width = self._track
        x = event.get_content_offset_capture(self).x - left
        self._set(round(min(max(x / max(width - 1, 1), 0.0), 1.0) * (len(self._values) - 1)))
