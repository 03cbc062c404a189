"""The questions of the bank, under their domains."""

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Tree

from core.questions import Question
from core.text import clean_line


class QuestionTree(Tree[Question]):
    """Domains, and under them their questions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Start", tooltip="Open a domain; on a question, begin to brainstorm"),
        Binding("right", "open", "Open", show=False, tooltip="Open a domain"),
        Binding("left", "close", "Close", show=False, tooltip="Close a domain"),
    ]

    class Chosen(Message):
        def __init__(self, question: Question) -> None:
            super().__init__()
            self.question = question

    def __init__(self) -> None:
        super().__init__("Questions", id="questions")
        self.show_root = False
        self.guide_depth = 2
        self.auto_expand = True

    def show(self, questions: list[Question], leaves: list[str], *, expanded: bool) -> None:
        """All of `questions` under their leaves, in the order of `leaves`."""
        self.clear()
        by_leaf: dict[str, list[Question]] = {leaf: [] for leaf in leaves}
        for question in questions:
            by_leaf[question.leaf].append(question)
        for leaf, found in by_leaf.items():
            if found:
                node = self.root.add(Text(f"{leaf}  {len(found)}"), expand=expanded)
                for question in found:
                    node.add_leaf(Text(clean_line(question.text, 300)), data=question)
        if self.root.children:
            first = self.root.children[0]
            self.call_after_refresh(self.move_cursor, first.children[0] if expanded else first)

    def go_to(self, question: Question) -> None:
        """Open the question's domain and put the cursor on it."""
        for leaf in self.root.children:
            for node in leaf.children:
                if node.data == question:
                    leaf.expand()
                    self.call_after_refresh(self.move_cursor, node, animate=False)
                    self.focus()

    def action_choose(self) -> None:
        node = self.cursor_node
        if node and node.data:
            self.post_message(self.Chosen(node.data))
        elif node:
            node.toggle()

    def on_click(self, event: events.Click) -> None:
        """One click shows a question, two begin."""
        if event.chain == 2 and self.cursor_node and self.cursor_node.data:
            self.action_choose()

    def action_open(self) -> None:
        if node := self.cursor_node:
            node.expand()

    def action_close(self) -> None:
        node = self.cursor_node
        if node and node.data is not None and node.parent:
            self.move_cursor(node.parent)
        elif node:
            node.collapse()
