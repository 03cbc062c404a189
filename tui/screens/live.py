"""The live screen: a session that this process runs, and everything that a person can tell it."""

import asyncio
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.timer import Timer

from core import commands as cmd
from core import events as ev
from core.errors import JagstormError, NotPulledError
from core.session import STORAGE, Session
from core.text import shown
from tui.host import host
from tui.screens.dialogs import Ask, Choose, as_fault
from tui.screens.feed import FeedScreen


class LiveScreen(FeedScreen):
    """A session that this process runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "Pause", tooltip="Hold after the idea under way"),
        Binding("space", "go_on", "Go on", tooltip="Go on after a pause; if it could not be saved, try that again"),
        Binding("a", "add", "Add idea", tooltip="Add an idea of your own; it is scored like any other"),
        Binding("t", "team", "Team", show=False, tooltip="Let another team go on from the next step"),
        Binding("z", "pipelining", "Ask ahead", show=False, tooltip="Ask for the next idea while scores come, or not"),
        Binding("q", "stop", "Stop", tooltip="Stop the session; it can be resumed"),
        Binding("q", "back", "Back", tooltip="Back to where you came from"),
        Binding("r", "resume", "Resume", tooltip="Go on with a session that was stopped"),
        Binding("p", "replay", "Replay", tooltip="Watch the session again from its start"),
        Binding(
            "w", "save", "Save elsewhere", show=False, tooltip="If the session can't be written: to another folder"
        ),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._run: asyncio.Task[ev.SessionEnded] | None = None
        self._tick: Timer | None = None
        self._warned = False

    def on_mount(self) -> None:  # Textual calls the base class's as well
        self._begin().add_done_callback(self._on_run_ended)
        self._tick = self.set_interval(1, self.touch)

    def _begin(self) -> "asyncio.Task[ev.SessionEnded]":
        if self._run is None:
            self._run = asyncio.create_task(self._session.run())
        return self._run

    @property
    def over(self) -> bool:
        """Whether the session runs no more."""
        return self._run is not None and self._run.done()

    def _on_event(self, event: ev.Event) -> None:
        super()._on_event(event)
        if isinstance(event, ev.Notice):
            host(self).say(event.text, severity="warning")
        elif isinstance(event, ev.Paused | ev.Resumed):
            self.refresh_bindings()

    # ── the session's end ─────────────────────────────────────────────────────────────────────────────────────────────

    def _on_run_ended(self, run: "asyncio.Task[ev.SessionEnded]") -> None:
        if self._tick:
            self._tick.stop()
        if run.cancelled() or not self.is_attached:
            return
        if self._fault:
            host(self).show_fault(self._fault)
        elif isinstance(self._session.fault, NotPulledError):
            self._offer_to_pull(self._session.fault)
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
        run = self._begin()
        self._session.send(stop)
        await asyncio.wait({run})
        return self._fault

    @property
    def _fault(self) -> JagstormError | None:
        """What the session ended with, if it could not end well."""
        if self._run is None or not self._run.done() or self._run.cancelled():
            return None
        error = self._run.exception()
        return as_fault(error) if error else None

    def parting_words(self) -> list[str]:
        """What to say when the app has gone."""
        from tui.headless import resume_command

        words = [f"{'Only what could be saved is' if self._fault else 'Saved'} in {shown(self._session.folder)}"]
        if self.feed.state.resumable:
            words.append(f"Go on with: {resume_command(self._session.folder)}")
        return words

    # ── what is going on ──────────────────────────────────────────────────────────────────────────────────────────────

    def seconds(self) -> float:
        """By the clock while something goes on; as of the last event while nothing does, so that nothing is painted."""
        state = self.feed.state
        held = state.paused is not None and state.chain is not None and not state.chain.step_open
        return state.t if held else self._session.elapsed()

    def activity(self) -> str:
        state = self.feed.state
        chain = state.chain
        if self.over:
            stands = "stopped · r resume" if state.resumable else "finished"
            return f"{stands} · p replay · q back"
        if state.paused:
            after = " after this idea" if chain and chain.step_open else ""
            retry = " · Space try again · w save elsewhere" if self._unsaved else " · Space go on"
            return f"paused{after}{retry}"
        if chain is None or chain.step == 0:
            return "loading the model"
        if state.retry and not any(w.text or w.thoughts for w in chain.writing.values()):
            return "waiting for a judge's server" if state.retry.scoring else "waiting for a server · t another team"
        if chain.pending:
            progress = f" … {chain.scoring.done}/{chain.scoring.total}" if chain.scoring else ""
            return f"scoring idea {chain.pending.number}{progress}"
        if chain.writing:
            begun = chain.writing.values()
            return (
                "writing"
                if any(w.text for w in begun)
                else "thinking"
                if any(w.thoughts for w in begun)
                else "reading the chain"
            )
        return "working"

    @property
    def _unsaved(self) -> bool:
        """Whether the session waits because it could not be written."""
        paused = self.feed.state.paused
        return paused is not None and paused.by == STORAGE

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        paused = self.feed.state.paused is not None
        if action == "pause":
            return not self.over and not paused
        if action == "go_on":
            return not self.over and paused
        if action in ("add", "stop", "team", "pipelining"):
            return not self.over
        if action in ("back", "replay"):
            return self.over
        if action == "resume":
            return self.over and self.feed.state.resumable
        if action == "save":
            return self._unsaved and not self.over
        return super().check_action(action, parameters)

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def action_pause(self) -> None:
        self._session.send(cmd.Pause())

    def action_go_on(self) -> None:
        self._session.send(cmd.Resume())

    def action_back(self) -> None:
        self.dismiss()

    def action_add(self) -> None:
        def add(text: str | None) -> None:
            if text:
                self._session.send(cmd.AddIdea(text=text))

        self.app.push_screen(Ask("Your idea"), add)

    def action_team(self) -> None:
        teams = {offer.team.name: offer.team for offer in host(self).offers if not offer.trouble}

        def change(name: str | None) -> None:
            if name is not None:
                self._session.send(cmd.ChangeTeam(team=teams[name]))

        rows = [(name, f"{name}   {team.about}" if team.about else name) for name, team in teams.items()]
        self.app.push_screen(Choose("Who goes on from the next step?", rows), change)

    def action_pipelining(self) -> None:
        state = self.feed.state
        on = not (self.feed.plan.pipelining if state.pipelining is None else state.pipelining)
        self._session.send(cmd.SetPipelining(on=on))
        host(self).say(
            "The next idea is asked for while scores come" if on else "Each idea waits for the last one's scores"
        )

    def action_stop(self) -> None:
        if self._unsaved and not self._warned:
            self._warned = True
            host(self).say("Not all of this is saved: w saves it elsewhere, q again lets it go", severity="warning")
        else:
            self._session.send(cmd.Stop())

    def action_resume(self) -> None:
        folder = self._session.folder
        self.app.pop_screen()
        host(self).resume_session(folder)

    def action_replay(self) -> None:
        host(self).open_replay(self._session.folder)

    def action_save(self) -> None:
        def save(folder: str | None) -> None:
            if folder:
                self._session.send(cmd.SaveElsewhere(folder=folder))

        self.app.push_screen(Ask("Save under which folder?"), save)
