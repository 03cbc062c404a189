"""The live screen fed by a recorded session, with a time bar."""

import asyncio
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer

from core.store.replay import SPEEDS, Replay
from tui.host import host
from tui.screens.dialogs import Ask
from tui.screens.feed import FeedScreen, clock
from tui.widgets.chain import ChainList
from tui.widgets.in_force import InForceList
from tui.widgets.timebar import TimeBar


class ReplayScreen(FeedScreen):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "Play", tooltip="Play or hold"),
        Binding("left_square_bracket", "slower", "Slower", show=False, key_display="[", tooltip="Half the speed"),
        Binding(
            "right_square_bracket",
            "faster",
            "Speed",
            key_display="[ ]",
            tooltip="Twice the speed; at last, all at once",
        ),
        Binding("full_stop", "step", "Step", show=False, key_display=".", tooltip="One event on"),
        Binding(
            "left", "seek(-5)", "Five seconds back", show=False, key_display="←", tooltip="Hold the key to run back"
        ),
        Binding("right", "seek(5)", "Five seconds on", show=False, key_display="→", tooltip="Hold the key to run on"),
        Binding("g", "idea", "Go", tooltip="Go to where an idea was added"),
        Binding("0", "tenth(0)", "Jump", show=False, key_display="0–9", tooltip="Along the recording, in tenths"),
        *[Binding(str(tenth), f"tenth({tenth})", show=False) for tenth in range(1, 10)],
        Binding("q", "back", "Back", tooltip="Leave the replay"),
    ]

    def __init__(self, replay: Replay) -> None:
        super().__init__(replay)
        self._replay = replay
        self._playing: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if isinstance(widget, Footer):
                yield TimeBar(self._replay.marks(), self._replay.length, id="timebar")
            yield widget

    def on_mount(self) -> None:  # Textual calls the base class's as well
        self.query_one(InForceList).can_focus = False  # what was in force can't be withdrawn
        self._playing = asyncio.create_task(self._replay.run())
        self._replay.play()

    def on_unmount(self) -> None:
        if self._playing:
            self._playing.cancel()

    def paint(self) -> None:
        super().paint()
        self.query_one(TimeBar).show(self._replay.seconds)

    def seconds(self) -> float:
        return self._replay.seconds

    def activity(self) -> str:
        speed = "as fast as possible" if self._replay.speed == SPEEDS[-1] else f"{self._replay.speed:g}×"
        if self._replay.playing:
            doing = "playing"
        else:
            doing = "at the end" if self._replay.at_end else "held"
        return f"replay, {doing} · {speed} · {clock(self._replay.seconds)} of {clock(self._replay.length)}"

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def action_play(self) -> None:
        if self._replay.playing:
            self._replay.pause()
        else:
            if self._replay.at_end:
                self._replay.seek(0)
                self._moved()
            self._replay.play()
        self.touch()

    def action_slower(self) -> None:
        slower = [speed for speed in SPEEDS if speed < self._replay.speed]
        self._replay.set_speed(slower[-1] if slower else SPEEDS[0])
        self.touch()

    def action_faster(self) -> None:
        faster = [speed for speed in SPEEDS if speed > self._replay.speed]
        self._replay.set_speed(faster[0] if faster else SPEEDS[-1])
        self.touch()

    def action_step(self) -> None:
        self._replay.pause()
        self._replay.step()
        self._moved()

    def action_seek(self, seconds: int) -> None:
        self._replay.seek(self._replay.seconds + seconds)
        self._moved()

    def action_tenth(self, tenth: int) -> None:
        self._replay.seek(self._replay.length * tenth / 10)
        self._moved()

    def action_idea(self) -> None:
        def go(number: str | None) -> None:
            if number:
                if int(number) > len(self._replay.idea_places):
                    host(self).say(f"There are {len(self._replay.idea_places)} ideas: this is the last")
                self._replay.pause()
                self._replay.seek_idea(int(number))
                self._moved()

        self.app.push_screen(Ask(f"Which idea? 1 to {len(self._replay.idea_places)}", number=True), go)

    def action_back(self) -> None:
        self.dismiss()

    def on_time_bar_moved(self, event: TimeBar.Moved) -> None:
        self._replay.seek(self._replay.length * event.share)
        self._moved()

    def _moved(self) -> None:
        """A seek tells no listener: the state is simply another one."""
        self.paint()
        self.query_one(ChainList).action_jump(-1)
