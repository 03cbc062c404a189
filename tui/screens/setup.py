"""From nothing to Enter: which question, which team, which rules."""

import random
from collections import Counter
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static, Tree
from textual.widgets.option_list import Option

from core.config import own_question_files
from core.errors import UsageError
from core.models import TeamSpec
from core.questions import Question, QuestionBank, load_bank, own_question
from core.rules import Rules, rules_for
from core.store import library
from core.teams.presets import on_model, presets
from core.text import clean_line
from tui.host import host
from tui.screens.dialogs import Ask
from tui.screens.rules import RulesScreen
from tui.widgets.field import Field
from tui.widgets.line import Line
from tui.words import STRATEGIES, STYLES, rules_words


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


class SetupScreen(Screen[None]):
    CSS_PATH = "../styles/setup.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/", tooltip="Find questions by words"),
        Binding("n", "own", "Own", tooltip="Type a question of your own"),
        Binding("t", "team", "Team", tooltip="Choose the team"),
        Binding("r", "rules", "Rules", tooltip="When an idea fails, and when the chain ends"),
        Binding("s", "surprise", "Surprise", tooltip="Any question of the bank"),
        Binding("escape", "leave_search", "End search", show=False, tooltip="Back to the questions"),
        Binding("q", "app.quit", "Quit", tooltip="Leave Jagstorm"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._bank = QuestionBank(())
        self._question: Question | None = None
        self._teams = {name: on_model(team, host(self).model) for name, team in presets().items()}
        self._team = next(iter(self._teams.values()))
        self._rules = rules_for("wordllama")
        self._earlier: Counter[str] = Counter()
        self._best: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        yield Line("Jagstorm", "sessions F3   everything Ctrl+P", classes="title")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Field(placeholder="/ search the questions", id="search", compact=True)
                yield QuestionTree()
                yield Static(markup=False, id="preview")
            with Vertical(id="right"):
                yield Static("Team", markup=False, classes="heading")
                yield OptionList(
                    *(Option(Text(f"{team.name}"), id=name) for name, team in self._teams.items()), id="teams"
                )
                yield Static(markup=False, id="team")
                yield Static("Rules", markup=False, classes="heading")
                yield Static(markup=False, id="rules")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._bank = load_bank([*own_question_files(), *host(self).question_paths])
        for problem in self._bank.problems:
            host(self).say(problem, severity="warning")
        self.query_one(QuestionTree).show(list(self._bank.questions), self._bank.leaves(), expanded=False)
        self.query_one(QuestionTree).focus()
        self._show_team()
        self._show_rules()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < 90, "narrow")

    def on_screen_resume(self) -> None:
        host(self).read_sessions(self._count_sessions)

    # ── earlier sessions ──────────────────────────────────────────────────────────────────────────────────────────────

    def _count_sessions(self, rows: list[library.Summary]) -> None:
        if not self.is_attached:
            return
        self._earlier = Counter(row.question for row in rows)
        self._best = {}
        for row in rows:
            self._best[row.question] = max(row.valid, self._best.get(row.question, 0))
        self._show_preview()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _show_preview(self) -> None:
        question = self._question
        preview = self.query_one("#preview", Static)
        if question is None:
            preview.update(
                "No question holds all these words. Esc shows all; n types your own."
                if self.query_one("#search", Input).value and not self.query_one(QuestionTree).root.children
                else "Open a domain with Enter and choose a question; or type your own (n), find one by words (/), "
                "or be surprised (s). Enter on a question starts the brainstorm."
            )
            return
        earlier = self._earlier[question.text]
        plural = "s" if earlier != 1 else ""
        history = f"   {earlier} earlier session{plural}, best {self._best[question.text]}" if earlier else ""
        preview.update(f"{question.text}\n\n{question.leaf}{history}")

    def _show_team(self) -> None:
        self.query_one("#team", Static).update("\n".join(team_lines(self._team)))

    def _show_rules(self) -> None:
        self.query_one("#rules", Static).update(rules_words(self._rules))

    # ── choosing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Question]) -> None:
        self._question = event.node.data
        self._show_preview()

    def on_question_tree_chosen(self, event: QuestionTree.Chosen) -> None:
        self._start(event.question)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id:
            self._team = self._teams[event.option.id]
            self._show_team()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.query_one(QuestionTree).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        found = self._bank.search(event.value)
        self.query_one(QuestionTree).show(found, self._bank.leaves(), expanded=bool(event.value))
        self._question = None
        self._show_preview()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one(QuestionTree).focus()

    def action_search(self) -> None:
        self.set_focus(self.query_one("#search", Input))

    def action_leave_search(self) -> None:
        search = self.query_one("#search", Input)
        if search.value:
            search.value = ""
        self.query_one(QuestionTree).focus()

    def action_team(self) -> None:
        self.query_one("#teams").focus()

    def action_own(self) -> None:
        def begin(text: str | None) -> None:
            if text is None:
                return
            try:
                self._start(own_question(text))
            except UsageError as error:
                host(self).show_fault(error)

        hint = "An open question, such as “Propose a way to …”   Enter start   Esc cancel"
        self.app.push_screen(Ask("Your own question", hint=hint), begin)

    def action_rules(self) -> None:
        def change(rules: Rules | None) -> None:
            if rules:
                self._rules = rules
                self._show_rules()

        self.app.push_screen(RulesScreen(self._rules), change)

    def action_surprise(self) -> None:
        if self._bank.questions:
            self.query_one(QuestionTree).go_to(random.choice(self._bank.questions))  # noqa: S311

    def _start(self, question: Question) -> None:
        if self.app.screen is not self:
            return  # a second Enter, typed before the live screen could come up
        plan = library.new_plan((question,), self._team, self._rules)
        host(self).start_session(plan)


def team_lines(team: TeamSpec) -> list[str]:
    """What a team is, and its members; a model that all of them share is named once."""
    models = dict.fromkeys(member.model.name for member in team.members)
    lines = [team.about, "", ", ".join(models), STRATEGIES[team.strategy]]
    for member in team.members:
        model = "" if len(models) == 1 else f"{member.model.name}, "
        lines.append(f"  {member.name}: {model}{STYLES[member.style]}, temperature {member.model.temperature:g}")
    return lines
