"""One idea in full: text, thoughts, scores, the nearest earlier idea, and the prompt that made it."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from core import events as ev
from core.chain import Chain, Idea
from core.feed import Feed
from core.models import YOU
from core.prompts import VERSION, idea_prompt
from core.rules import dollars
from core.text import clean_line
from tui.deeds import LEVERS, TASKS, doer, ideas_words, mark_words
from tui.host import host
from tui.screens.following import Following
from tui.words import score_words, vote_lines


class IdeaScreen(ModalScreen[None], Following):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close", id="idea.close"),
        Binding("left,up,k", "turn(-1)", "Before", id="idea.before", tooltip="The idea before"),
        Binding("right,down,j", "turn(1)", "After", id="idea.after", tooltip="The idea after"),
        Binding("y", "copy", "Copy", id="idea.copy", tooltip="Copy the idea's text"),
        Binding("n", "names", "Names", id="idea.names", tooltip="Show who wrote it"),
        Binding("space", "scroll", "Scroll", id="idea.scroll", show=False, tooltip="A page on"),
    ]
    HINT: ClassVar[str] = "← → before, after   y copy   n names   Space scroll   Esc close"

    def __init__(self, feed: Feed, question: str, number: int, letters: dict[str, str]) -> None:
        """Idea `number` of the question with that id, which need not be the one under way."""
        super().__init__()
        self.feed = feed
        self._question = question
        self._number = number
        self._letters = letters
        self._named = False
        self._shown: tuple[Idea, int] | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog idea"):
            yield Static(markup=False, classes="dialog-title", id="idea-title")
            with VerticalScroll(id="idea-scroll"):
                with Horizontal(id="idea-texts"):
                    yield Static(markup=False, id="idea-text")
                    yield Static(markup=False, id="idea-nearest")
                yield Static(markup=False, id="idea-more")
            yield Static(self.HINT, markup=False, classes="hint")

    @property
    def question(self) -> str:
        """The id of the question that the idea is of."""
        return self._question

    @property
    def _chain(self) -> Chain:
        chain = self.feed.state.chains.get(self._question)
        assert chain is not None
        return chain

    def at_hand(self) -> Idea | None:
        """The idea that is shown."""
        return self._chain.idea(self._number)

    def show_state(self) -> None:
        """Show the idea as it is now, if it is not shown so already."""
        idea = self.at_hand()
        if idea is None or self._shown == (idea, len(self.feed.state.tasks)):
            return
        self._shown = (idea, len(self.feed.state.tasks))
        marks = "".join(f" · {words}" for words in mark_words(idea))
        title = f"Idea {idea.number} of {len(self._chain.ideas)}, by {self._called(idea.author)}{marks}"
        self.query_one("#idea-title", Static).update(title)
        self.query_one("#idea-text", Static).update(idea.text)
        nearest = self._chain.idea(idea.score.nearest) if idea.score and idea.score.nearest is not None else None
        beside = self.query_one("#idea-nearest", Static)
        beside.display = nearest is not None
        if nearest:
            beside.update(f"Nearest earlier idea, {nearest.number}\n\n{nearest.text}")
        self.query_one("#idea-more", Static).update("\n\n".join(self._paragraphs(idea)))

    def _paragraphs(self, idea: Idea) -> Iterator[str]:
        """All that is known of it beside its text."""
        yield score_words(idea)
        if idea.comment:
            by = doer(idea, ev.IdeaCommented)
            yield f"{'Your comment' if by == YOU else f'Comment by {by}'}\n{idea.comment}"
        yield from self._developments(idea)
        if idea.score and idea.score.votes:
            yield "\n".join(["Judges", *vote_lines(idea.score)])
        if idea.original:
            yield f"As it was written first\n{idea.original}"
        for number in idea.parents:
            if parent := self._chain.idea(number):
                yield f"Merged from idea {number}\n{parent.text}"
        yield from self._under(idea)
        if idea.call:
            yield self._written(idea.step, idea.call)
            if idea.call.thoughts:
                yield f"Thoughts\n{idea.call.thoughts}"
        if idea.chosen:
            yield self._choice(idea, idea.chosen)
        if idea.prompt:
            yield self._prompt(idea, idea.prompt)

    def _developments(self, idea: Idea) -> Iterator[str]:
        """What the team made of it, and what it is making of it now."""
        for done in idea.developments:
            yield f"Worked out by {self._called(done.member)}\n{done.text}"
        tasks = [task for task in self.feed.state.tasks.values() if idea.number in task.ideas]
        yield from (f"The team is {TASKS[task.task]} {ideas_words(task.ideas)} …" for task in tasks)

    def _under(self, idea: Idea) -> Iterator[str]:
        """What its prompt held beside question and ideas."""
        force = self.feed.state.was_in_force(idea)
        lines = [f"{LEVERS[seed.lever]} {seed.name}{f': {seed.text}' if seed.text else ''}" for seed in force.seeds]
        lines += [f"instruction “{steer}”" for steer in force.steers]
        if lines:
            yield "\n".join(["Written under", *lines])

    def _choice(self, idea: Idea, chosen: ev.ProposalChosen) -> str:
        """How it was picked, and what else was proposed."""
        by = {"draw": "drawn", "selector": f"picked by {chosen.chooser}", "novelty": "the farthest from the chain"}
        by |= {"lead": f"picked by the lead, {chosen.chooser}", "person": f"picked by {chosen.chooser or YOU}"}
        why = f" ({chosen.why})" if chosen.why else ""
        others = [f"{self._called(other.member)}: {other.text}" for other in idea.others]
        return "\n".join([f"One of {len(chosen.order)} proposals, {by[chosen.by]}{why}. The others:", *others])

    def _called(self, author: str) -> str:
        return author if self._named else self._letters.get(author, "?")

    @staticmethod
    def _written(step: int, call: ev.ProposalFinished) -> str:
        usage = call.usage
        speed = f", {usage.tokens_per_second:.0f} a second" if usage.seconds else ""
        counted = " (estimated)" if usage.estimated else ""
        cost = "" if call.cost == 0 else ", at an unknown price" if call.cost is None else f", {dollars(call.cost)}"
        tries = f", at the {call.tries}. try" if call.tries > 1 else ""
        sent = ", ".join(f"{name} {value}" for name, value in call.parameters.items())
        asked = f"\nAsked with {clean_line(sent)}" if sent else ""
        return f"Written in step {step}: {usage.output_tokens} tokens{counted}{speed}{cost}{tries}{asked}"

    def _prompt(self, idea: Idea, asked: ev.ProposalStarted) -> str:
        """The prompt that made the idea, built again from what the log says of it."""
        if asked.prompt_version != VERSION:
            return (
                f"The prompt was of version {asked.prompt_version}, and its words have changed since (now {VERSION})."
            )
        shown = self._chain.shown_by(asked)
        prompt = idea_prompt(
            self._chain.text,
            [other.text for other in shown],
            style=asked.style,
            persona=asked.persona,
            concept=asked.concept,
            direction=asked.direction,
            force=self.feed.state.was_in_force(idea),
        )
        words = "\n".join(f"[{message.role}] {message.text}" for message in prompt.messages)
        return f"The prompt (style {asked.style}, showing {len(shown)} ideas)\n{words}"

    def action_close(self) -> None:
        self.dismiss()

    def action_turn(self, by: int) -> None:
        if self._chain.idea(self._number + by):
            self._number += by
            self.show_state()

    def action_names(self) -> None:
        self._named = not self._named
        self._shown = None
        self.show_state()

    def action_scroll(self) -> None:
        self.query_one("#idea-scroll").scroll_page_down(animate=False)

    def action_copy(self) -> None:
        if idea := self.at_hand():
            host(self).copy(idea.text)
