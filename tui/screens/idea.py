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
from core.prompts import VERSION, idea_prompt
from core.rules import dollars
from core.text import clean_line
from tui.host import host
from tui.words import score_words, vote_lines


class IdeaScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close"),
        Binding("left,up,k", "turn(-1)", "Before", tooltip="The idea before"),
        Binding("right,down,j", "turn(1)", "After", tooltip="The idea after"),
        Binding("y", "copy", "Copy", tooltip="Copy the idea's text"),
        Binding("n", "names", "Names", tooltip="Show who wrote it"),
        Binding("space", "scroll", "Scroll", show=False, tooltip="A page on"),
    ]

    def __init__(self, feed: Feed, number: int, letters: dict[str, str]) -> None:
        super().__init__()
        self._feed = feed
        self._number = number
        self._letters = letters
        self._named = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog idea"):
            yield Static(markup=False, classes="dialog-title", id="idea-title")
            with VerticalScroll(id="idea-scroll"):
                with Horizontal(id="idea-texts"):
                    yield Static(markup=False, id="idea-text")
                    yield Static(markup=False, id="idea-nearest")
                yield Static(markup=False, id="idea-more")
            yield Static(
                "← → before, after   y copy   n names   Space scroll   Esc close", markup=False, classes="hint"
            )

    def on_mount(self) -> None:
        self._fill()

    @property
    def _chain(self) -> Chain:
        chain = self._feed.state.chain
        assert chain is not None
        return chain

    def _idea(self, number: int | None) -> Idea | None:
        return next((idea for idea in self._chain.ideas if idea.number == number), None)

    def _fill(self) -> None:
        idea = self._idea(self._number)
        if idea is None:
            return
        title = f"Idea {idea.number} of {len(self._chain.ideas)}, by {self._called(idea.author)}"
        self.query_one("#idea-title", Static).update(title)
        self.query_one("#idea-text", Static).update(idea.text)
        nearest = self._idea(idea.score.nearest) if idea.score else None
        beside = self.query_one("#idea-nearest", Static)
        beside.display = nearest is not None
        if nearest:
            beside.update(f"Nearest earlier idea, {nearest.number}\n\n{nearest.text}")
        self.query_one("#idea-more", Static).update("\n\n".join(self._paragraphs(idea)))
        self.query_one("#idea-scroll").scroll_home(animate=False)

    def _paragraphs(self, idea: Idea) -> Iterator[str]:
        yield f"Scores: {score_words(idea)}" + (f" (by {idea.score.embedder})" if idea.score else "")
        if idea.score and idea.score.votes:
            yield "\n".join(["Judges", *vote_lines(idea.score)])
        if idea.call:
            yield self._written(idea.step, idea.call)
            if idea.call.thoughts:
                yield f"Thoughts\n{idea.call.thoughts}"
        if idea.chosen:
            yield self._choice(idea, idea.chosen)
        if idea.prompt:
            shown = f"style {idea.prompt.style}, showing {len(idea.prompt.shown)} ideas"
            yield f"The prompt ({shown})\n{self._prompt(idea)}"

    def _choice(self, idea: Idea, chosen: ev.ProposalChosen) -> str:
        """How it was picked, and what else was proposed."""
        by = {"draw": "drawn", "selector": f"picked by {chosen.chooser}", "novelty": "the farthest from the chain"}
        by |= {"lead": f"picked by the lead, {chosen.chooser}", "person": "picked by you"}
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

    def _prompt(self, idea: Idea) -> str:
        """The prompt that made the idea, built again from what the log says of it."""
        assert idea.prompt is not None
        if idea.prompt.prompt_version != VERSION:
            return f"It was of version {idea.prompt.prompt_version}, and its words have changed since (now {VERSION})."
        shown = [other.text for other in self._chain.ideas if other.number in set(idea.prompt.shown)]
        prompt = idea_prompt(
            self._chain.text,
            shown,
            style=idea.prompt.style,
            persona=idea.prompt.persona,
            concept=idea.prompt.concept,
            direction=idea.prompt.direction,
        )
        return "\n".join(f"[{message.role}] {message.text}" for message in prompt.messages)

    def action_close(self) -> None:
        self.dismiss()

    def action_turn(self, by: int) -> None:
        if self._idea(self._number + by):
            self._number += by
            self._fill()

    def action_names(self) -> None:
        self._named = not self._named
        self._fill()

    def action_scroll(self) -> None:
        self.query_one("#idea-scroll").scroll_page_down(animate=False)

    def action_copy(self) -> None:
        if idea := self._idea(self._number):
            host(self).copy(idea.text)
