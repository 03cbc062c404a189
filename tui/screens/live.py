"""The live screen: a session under way, and everything that a person can tell it."""

import asyncio
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.timer import Timer

from core import commands as cmd
from core import events as ev
from core.analysis.shares import shares
from core.chain import Chain
from core.errors import JagstormError, NotPulledError
from core.events.course import STORAGE
from core.feed import LiveFeed
from core.text import shown
from tui.deeds import share_lines, task_lines
from tui.hints import attach_command, resume_command
from tui.host import host
from tui.screens.dialogs import Ask, as_fault
from tui.screens.steering import SteeringScreen


class LiveScreen(SteeringScreen):
    """A session that this process runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "stop", "Stop", id="live.stop", tooltip="Stop the session; it can be resumed"),
        Binding("q", "back", "Back", id="live.back", tooltip="Back to where you came from"),
        Binding("r", "resume", "Resume", id="live.resume", tooltip="Go on with a session that was stopped"),
        Binding("R", "replay", "Replay", id="live.replay", tooltip="Watch the session again from its start"),
        Binding(
            "w",
            "save",
            "Save elsewhere",
            id="live.save",
            show=False,
            tooltip="If the session can't be written: to another folder",
        ),
    ]

    def __init__(self, feed: LiveFeed, run: "asyncio.Task[ev.SessionEnded]") -> None:
        """`run` is done when the session has ended, or can't be followed any more."""
        super().__init__(feed)
        self._run = run
        self._tick: Timer | None = None
        self._warned = False

    def on_mount(self) -> None:  # Textual calls the base class's as well
        self._run.add_done_callback(self._on_run_ended)
        self._tick = self.set_interval(1, self.touch)

    @property
    def over(self) -> bool:
        """Whether the session runs no more."""
        return self._run.done()

    # ── the session's end ─────────────────────────────────────────────────────────────────────────────────────────────

    def _on_run_ended(self, run: "asyncio.Task[ev.SessionEnded]") -> None:
        if self._tick:
            self._tick.stop()
        if run.cancelled() or not self.is_attached:
            return
        if self._fault:
            host(self).show_fault(self._fault)
        elif isinstance(self.feed.fault, NotPulledError):
            self._offer_to_pull(self.feed.fault)
        elif self.feed.state.ended and self.feed.state.ended.how == "error":
            host(self).say(self.feed.state.ended.message, severity="error")
        self.refresh_bindings()
        self.paint()

    def _offer_to_pull(self, fault: NotPulledError) -> None:
        from tui.screens.pull import PullScreen

        def pulled(there: bool | None) -> None:
            if there:
                self.action_resume()

        self.app.push_screen(PullScreen(fault, host(self).pull_model), pulled)

    async def end_session(self, stop: cmd.Stop) -> JagstormError | None:
        """Stop the session, if it still runs, and wait until all of it is written. Returns what went wrong."""
        self.feed.send(stop)
        await asyncio.wait({self._run})
        return self._fault

    @property
    def _fault(self) -> JagstormError | None:
        """What the session ended with, if it could not end well."""
        if not self._run.done() or self._run.cancelled():
            return None
        error = self._run.exception()
        return as_fault(error) if error else None

    def parting_words(self) -> list[str]:
        """What to say when the app has gone."""
        if not self.over:
            return [f"It runs on without you. Look in with: {attach_command(self.feed.folder)}"]
        words = [f"{'Only what could be saved is' if self._fault else 'Saved'} in {shown(self.feed.folder)}"]
        if self.feed.state.resumable:
            words.append(f"Go on with: {resume_command(self.feed.folder)}")
        words += share_lines(shares(self.feed.state.chains.values()))
        return words

    # ── what is going on ──────────────────────────────────────────────────────────────────────────────────────────────

    def seconds(self) -> float:
        """By the clock while something goes on; as of the last event while nothing does, so that nothing is painted."""
        state = self.feed.state
        held = state.paused is not None and state.chain is not None and not state.chain.step_open
        return state.t if held else self.feed.elapsed()

    def activity(self) -> str:
        return " · ".join([self._doing(), *task_lines(self.feed.state)])

    def _doing(self) -> str:
        state = self.feed.state
        chain = state.chain
        if self.over:
            stands = "stopped" if state.ended else "interrupted"
            return f"{stands} · r resume · R replay · q back" if state.resumable else "finished · R replay · q back"
        if state.paused:
            after = " after this idea" if chain and chain.step_open else ""
            retry = " · Space try again · w save elsewhere" if self._unsaved else " · Space go on"
            return f"paused{after}{retry}"
        if chain is None or chain.step == 0:
            return "loading the model"
        if chain.offered:
            return "waiting for your pick"
        if state.retry and not any(w.text or w.thoughts for w in chain.writing.values()):
            return "waiting for a judge's server" if state.retry.scoring else "waiting for a server · t another team"
        if chain.pending:
            progress = f" … {chain.scoring.done}/{chain.scoring.total}" if chain.scoring else ""
            return f"scoring idea {chain.pending.number}{progress}"
        if chain.writing:
            return _writing_words(chain)
        team = state.team or self.feed.plan.team
        return "the lead names directions" if team.strategy == "hierarchy" and not chain.prompts else "working"

    @property
    def _unsaved(self) -> bool:
        """Whether the session waits because it could not be written."""
        paused = self.feed.state.paused
        return paused is not None and paused.by == STORAGE

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return not self.over
        if action in ("back", "replay"):
            return self.over
        if action == "resume":
            return self.over and self.feed.state.resumable
        if action == "save":
            return self._unsaved and not self.over
        return super().check_action(action, parameters)

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def action_back(self) -> None:
        self.dismiss()

    def action_stop(self) -> None:
        if self._unsaved and not self._warned:
            self._warned = True
            host(self).say("Not all of this is saved: w saves it elsewhere, q again lets it go", severity="warning")
        else:
            self.tell(cmd.Stop())

    def action_resume(self) -> None:
        folder = self.feed.folder
        self.app.pop_screen()
        host(self).resume_session(folder)

    def fork(self, question: str, number: int) -> None:
        host(self).fork_session(self.feed.folder, number, question)

    def action_replay(self) -> None:
        host(self).open_replay(self.feed.folder)

    def action_save(self) -> None:
        def save(folder: str | None) -> None:
            if folder:
                self.tell(cmd.SaveElsewhere(folder=folder))

        self.app.push_screen(Ask("Save under which folder?"), save)


def _writing_words(chain: Chain) -> str:
    """How far those have come who write now."""
    begun = chain.writing.values()
    if any(writing.text for writing in begun):
        return "writing"
    return "thinking" if any(writing.thoughts for writing in begun) else "reading the chain"
