"""A chart that a person can point into and move things on."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.widgets.plot import Plot


class ChartView(Plot, can_focus=True):
    """Tells where in it a person points, drags and steps; whoever shows it knows what that means."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "nudge(0, 1)", "Up", show=False, tooltip="A threshold up, or the idea above"),
        Binding("down", "nudge(0, -1)", "Down", show=False, tooltip="A threshold down, or the idea below"),
        Binding("right", "nudge(1, 0)", "Right", show=False, tooltip="The idea on the right"),
        Binding("left", "nudge(-1, 0)", "Left", show=False, tooltip="The idea on the left"),
        Binding("enter", "enter", "Open", show=False, tooltip="Open the idea that is chosen on the map"),
    ]

    class Pointed(Message):
        """At a cell of the chart; `begun` where the button went down there, not where it was dragged to."""

        def __init__(self, x: int, y: int, *, begun: bool) -> None:
            super().__init__()
            self.x = x
            self.y = y
            self.begun = begun

    class Nudged(Message):
        """A step to the right and up."""

        def __init__(self, right: int, up: int) -> None:
            super().__init__()
            self.right = right
            self.up = up

    class Entered(Message):
        """What is chosen shall be opened; `clicked` twice, or asked for by a key."""

        def __init__(self, *, clicked: bool) -> None:
            super().__init__()
            self.clicked = clicked

    def action_nudge(self, right: int, up: int) -> None:
        self.post_message(self.Nudged(right, up))

    def action_enter(self) -> None:
        self.post_message(self.Entered(clicked=False))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._point(event, begun=True)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._point(event, begun=False)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2:
            self.post_message(self.Entered(clicked=True))

    def _point(self, event: events.MouseEvent, *, begun: bool) -> None:
        offset = event.get_content_offset_capture(self)
        self.post_message(self.Pointed(offset.x, offset.y, begun=begun))
