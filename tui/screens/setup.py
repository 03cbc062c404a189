"""From nothing to Enter: which question, which team, which rules."""

from collections import Counter
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static, Tree
from textual.widgets.option_list import Option

from core.config import own_question_files
from core.errors import UsageError
from core.models import TeamSpec
from core.questions import Question, QuestionBank, load_bank, own_question
from core.rules import NOVELTY_THRESHOLDS, Rules
from core.store import library
from core.teams.presets import presets
from core.text import clean_line
from tui.screens.dialogs import Ask
from tui.widgets.line import Line
from tui.words import rules_words


class QuestionTree(Tree[Question]):
    """Domains, and under them their questions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open", "Open", show=False, tooltip="Open a domain"),
        Binding("left", "close", "Close", show=False, tooltip="Close a domain"),
    ]

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
        first = True
        for leaf, found in by_leaf.items():
            if found:
                node = self.root.add(Text(f"{leaf}  {len(found)}"), expand=expanded or first)
                first = False
                for question in found:
                    node.add_leaf(Text(clean_line(question.text, 300)), data=question)
        self._put_cursor_on_first_question()

    def _put_cursor_on_first_question(self) -> None:
        if self.root.children and self.root.children[0].children:
            self.call_after_refresh(self.move_cursor, self.root.children[0].children[0])

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
        Binding("enter", "start", "Start", tooltip="Begin to brainstorm on the question", priority=False),
        Binding("slash", "search", "Search", key_display="/", tooltip="Find questions by words"),
        Binding("n", "own", "Own question", tooltip="Type a question of your own"),
        Binding("t", "team", "Team", tooltip="Choose the team"),
        Binding("r", "rules", "Patience", tooltip="How many failing ideas in a row end the chain"),
        Binding("c", "cap", "Cap", tooltip="After how many ideas to stop"),
        Binding("escape", "leave_search", "End search", show=False, tooltip="Back to the questions"),
        Binding("q", "app.quit", "Quit", tooltip="Leave Jagstorm"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._bank = QuestionBank(())
        self._question: Question | None = None
        self._teams: dict[str, TeamSpec] = presets()
        self._team = next(iter(self._teams.values()))
        self._rules = Rules(embedding_novelty=NOVELTY_THRESHOLDS["wordllama"])
        self._earlier: Counter[str] = Counter()
        self._best: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        yield Line("Jagstorm", "sessions F3   everything Ctrl+P", classes="title")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Input(placeholder="/ search the questions", id="search", compact=True)
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
        self.query_one("#search", Input).cursor_blink = False
        self._bank = load_bank([*own_question_files(), *self._given_files()])
        for problem in self._bank.problems:
            self.app.say(problem, severity="warning")  # type: ignore[attr-defined]
        self.query_one(QuestionTree).show(list(self._bank.questions), self._bank.leaves(), expanded=False)
        self.query_one(QuestionTree).focus()
        self._show_team()
        self._show_rules()
        self._read_sessions()

    def _given_files(self) -> list[Path]:
        return [Path(name).expanduser() for name in self.app.question_files]  # type: ignore[attr-defined]

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < 90, "narrow")

    def on_screen_resume(self) -> None:
        self._read_sessions()

    # ── earlier sessions ──────────────────────────────────────────────────────────────────────────────────────────────

    @work(thread=True, exclusive=True, exit_on_error=False, group="sessions")
    def _read_sessions(self) -> None:
        rows = list(library.summaries(self.app.sessions))  # type: ignore[attr-defined]
        self.app.call_from_thread(self._count_sessions, rows)

    def _count_sessions(self, rows: list[library.Summary]) -> None:
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
            preview.update("Open a domain with → or Enter, and choose a question.")
            return
        earlier = self._earlier[question.text]
        plural = "s" if earlier != 1 else ""
        history = f"   {earlier} earlier session{plural}, best {self._best[question.text]}" if earlier else ""
        preview.update(f"{question.text}\n\n{question.leaf}{history}")

    def _show_team(self) -> None:
        team = self._team
        lines = [team.about, f"Strategy: {team.strategy}", ""]
        lines += [f"{m.name}: {m.model.name}, temperature {m.model.temperature:g}, {m.style}" for m in team.members]
        self.query_one("#team", Static).update("\n".join(lines))

    def _show_rules(self) -> None:
        self.query_one("#rules", Static).update(f"{rules_words(self._rules)}\nseeds: off")

    # ── choosing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Question]) -> None:
        self._question = event.node.data
        self._show_preview()

    def on_tree_node_selected(self, event: Tree.NodeSelected[Question]) -> None:
        if event.node.data:
            self._start(event.node.data)

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

    def action_start(self) -> None:
        if self._question:
            self._start(self._question)

    def action_search(self) -> None:
        self.query_one("#search", Input).focus()

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
                self.app.show_fault(error)  # type: ignore[attr-defined]

        hint = "An open question, such as “Propose a way to …”   Enter start   Esc cancel"
        self.app.push_screen(Ask("Your own question", hint=hint), begin)

    def action_rules(self) -> None:
        def change(value: str | None) -> None:
            if value and int(value) >= 1:
                self._rules = replace(self._rules, patience=int(value))
                self._show_rules()

        self.app.push_screen(
            Ask("How many failing ideas in a row end the chain?", str(self._rules.patience), number=True), change
        )

    def action_cap(self) -> None:
        def change(value: str | None) -> None:
            self._rules = replace(self._rules, max_ideas=int(value) if value and int(value) >= 1 else None)
            self._show_rules()

        self.app.push_screen(
            Ask("Stop after how many ideas? (empty: no cap)", str(self._rules.max_ideas or ""), number=True), change
        )

    def _start(self, question: Question) -> None:
        plan = library.new_plan((question,), self._team, self._rules)
        self.app.start_session(plan)  # type: ignore[attr-defined]
