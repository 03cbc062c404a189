"""What a person does to one idea: the one under the cursor, or the one that is shown."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from core import commands as cmd
from core import events as ev
from core.chain import Idea
from core.errors import JagstormError
from core.feed import Feed
from core.models import YOU
from core.text import clean_line
from tui.deeds import doer
from tui.host import host
from tui.screens.dialogs import Ask, Rate
from tui.telling import tell


class IdeaKeys(Screen[None]):
    """A screen with an idea at hand, and a feed that takes commands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit", id="idea.edit", tooltip="Edit the idea; it is scored anew, the original is kept"),
        Binding("E,ctrl+e", "edit_outside", "Editor", id="idea.editor", show=False, tooltip="Edit the idea in $EDITOR"),
        Binding(
            "x",
            "remove",
            "Take out",
            id="idea.remove",
            show=False,
            tooltip="Take the idea out: prompts no longer show it",
        ),
        Binding("u", "restore", "Bring back", id="idea.restore", show=False, tooltip="Bring a removed idea back"),
        Binding(
            "p", "pin", "Pin", id="idea.pin", show=False, tooltip="Always show the idea to the team; again: no longer"
        ),
        Binding(
            "asterisk", "rate", "Rate", id="idea.rate", show=False, key_display="*", tooltip="Give the idea 1 to 5"
        ),
        Binding("c", "comment", "Comment", id="idea.comment", show=False, tooltip="Say something of the idea"),
        Binding(
            "d",
            "develop",
            "Work out",
            id="idea.develop",
            show=False,
            tooltip="Have the team work it out: mechanism, first experiment, what would refute it, trade-offs",
        ),
        Binding(
            "D", "deny", "Forbid", id="idea.deny", show=False, tooltip="Forbid the mechanism that the idea rests on"
        ),
        Binding(
            "f", "fork", "Fork", id="idea.fork", show=False, tooltip="A new session that shares the past up to here"
        ),
        Binding("U,ctrl+z", "undo", "Undo", id="idea.undo", show=False, tooltip="Take back what you did last"),
    ]

    feed: Feed

    def at_hand(self) -> Idea | None:
        """The idea that keys are about."""
        raise NotImplementedError

    @property
    def question(self) -> str:
        """The id of the question that it is of: another one may be under way, or begin while a dialog is open."""
        raise NotImplementedError

    def tell(self, command: cmd.AnyCommand) -> bool:
        """Whether the session obeys; if not, a toast says why."""
        return tell(self, self.feed, command)

    def _idea(self) -> Idea | None:
        idea = self.at_hand()
        if idea is None:
            host(self).say("There is no idea yet")
        return idea

    def action_edit(self) -> None:
        if idea := self._idea():
            self._edit_here(self.question, idea, idea.text)

    def _edit_here(self, question: str, idea: Idea, text: str, said: str = "") -> None:
        from tui.screens.edit import Edit

        def edit(changed: str | None) -> None:
            if changed is not None:
                self.tell(cmd.EditIdea(question=question, idea=idea.number, text=changed))

        self.app.push_screen(Edit(f"Idea {idea.number}{said}", text), edit)

    def action_edit_outside(self) -> None:
        if idea := self._idea():
            self.run_worker(
                self._edit_outside(self.question, idea), exclusive=True, group="editor", exit_on_error=False
            )

    async def _edit_outside(self, question: str, idea: Idea) -> None:
        """In the person's own editor; what a failing one leaves is not lost."""
        from tui.editor import EditorFailedError, edited

        try:
            text = await edited(host(self), idea.text)
        except EditorFailedError as error:
            host(self).say(error.message, severity="warning")
            if error.text != idea.text:
                self._edit_here(question, idea, error.text, ", as the editor left it")
        except JagstormError as error:
            host(self).say(error.message, severity="warning")
        else:
            self.tell(cmd.EditIdea(question=question, idea=idea.number, text=text))

    def action_remove(self) -> None:
        if idea := self._idea():
            self.tell(cmd.RemoveIdea(question=self.question, idea=idea.number))

    def action_restore(self) -> None:
        if idea := self._idea():
            self.tell(cmd.RestoreIdea(question=self.question, idea=idea.number))

    def action_pin(self) -> None:
        if idea := self._idea():
            self.tell(cmd.PinIdea(question=self.question, idea=idea.number, on=not idea.pinned))

    def action_rate(self) -> None:
        idea = self._idea()
        if idea is None:
            return
        number, question = idea.number, self.question

        def rate(stars: int | None) -> None:
            if stars is not None:
                self.tell(cmd.RateIdea(question=question, idea=number, stars=stars))

        self.app.push_screen(Rate(f"How good is idea {number}?"), rate)

    def action_comment(self) -> None:
        idea = self._idea()
        if idea is None:
            return
        number, question = idea.number, self.question

        def comment(text: str | None) -> None:
            if text is not None:
                self.tell(cmd.CommentIdea(question=question, idea=number, text=text))

        hint = "Enter done, with nothing takes it back   Esc cancel"
        by = doer(idea, ev.IdeaCommented)
        whose = "Your" if by == YOU else f"{by}'s"
        self.app.push_screen(Ask(f"{whose} comment on idea {number}", clean_line(idea.comment), hint=hint), comment)

    def action_develop(self) -> None:
        if idea := self._idea():
            self.tell(cmd.DevelopIdea(question=self.question, idea=idea.number))

    def action_deny(self) -> None:
        if idea := self._idea():
            self.tell(cmd.DenyMechanism(question=self.question, idea=idea.number))

    def action_fork(self) -> None:
        if idea := self._idea():
            self.fork(self.question, idea.number)

    def fork(self, question: str, number: int) -> None:
        """Begin a session that shares the past up to an idea of a question."""
        raise NotImplementedError

    def action_undo(self) -> None:
        self.tell(cmd.Undo())
