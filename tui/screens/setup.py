"""From nothing to Enter: which question, which team, which rules."""

import random
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static, Tree
from textual.widgets.option_list import Option

from core.config import Judging, own_question_files
from core.errors import UsageError
from core.levers import Hand, OwnFirst, SeedPolicy
from core.models import Budget, Served
from core.naming import as_judge
from core.offers import Offer, problems
from core.planning import threshold_of
from core.questions import Question, QuestionBank, load_bank, own_question
from core.rules import Rules, rules_for
from core.spending import asked, billed, proposal
from core.store import library
from core.text import clean_line
from tui.host import host
from tui.levers import seeds_words
from tui.screens.dialogs import Ask, Choose
from tui.screens.form import FormScreen
from tui.widgets.field import Field
from tui.widgets.line import Line
from tui.widgets.questions import QuestionTree
from tui.words import budget_words, judging_words, own_first_words, rules_words, team_lines

if TYPE_CHECKING:
    from core.providers.discovery.found import FoundModel
    from core.store.listing import Summary

CHOICES = ("Judge", "Embed", "Rules", "Seeds", "Budget", "First")

LOOK_AFTER = 0.3
"""Seconds until models are looked for: the screen is painted first."""


class SetupScreen(Screen[None]):
    CSS_PATH = "../styles/setup.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", show=False, key_display="/", tooltip="Find questions by words"),
        Binding("n", "own", "Own", tooltip="Type a question of your own"),
        Binding("t", "team", "Team", tooltip="Choose the team"),
        Binding("j", "judge", "Judge", tooltip="Who judges coherence and novelty"),
        Binding("r", "rules", "Rules", tooltip="When an idea fails, and when the chain ends"),
        Binding("e", "seeds", "Seeds", show=False, tooltip="When seeds of other fields come, and which"),
        Binding("b", "budget", "Budget", tooltip="What the session may cost"),
        Binding("o", "own_first", "First", id="setup.own_first", tooltip="Write your own ideas before the team begins"),
        Binding("s", "surprise", "Surprise", show=False, tooltip="Any question of the bank"),
        Binding("escape", "leave_search", "End search", show=False, tooltip="Back to the questions"),
        Binding("q", "app.quit", "Quit", tooltip="Leave Jagstorm"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._bank = QuestionBank(())
        self._question: Question | None = None
        self._offers = host(self).offers
        self._offer = self._offers[0]
        self._chosen = False
        """Whether the person has looked at other teams; until then the best that was found is taken."""
        self._judging: Judging | None = None
        """As a person chose it for whatever team."""
        self._rules = rules_for(threshold_of(self._offer.embedder))
        self._budget = host(self).settings.budget
        self._asked_for_budget = False
        self._seeds: SeedPolicy = Hand()
        self._own_first = host(self).own_first
        self._earlier: Counter[str] = Counter()
        self._best: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        yield Line("Jagstorm", "sessions F3   profiles F4   everything Ctrl+P", classes="title")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield Field(placeholder="/ search the questions", id="search", compact=True)
                yield QuestionTree()
                yield Static(markup=False, id="preview")
            with Vertical(id="right"):
                yield Static("Team", markup=False, classes="heading")
                yield OptionList(id="teams")
                yield Static(markup=False, id="team")
                for name in CHOICES:
                    with Horizontal(classes="choice"):
                        yield Static(name, markup=False, classes="heading")
                        yield Static(markup=False, id=name.lower())
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._bank = load_bank([*own_question_files(), *host(self).question_paths])
        for problem in [*self._bank.problems, *problems(host(self).settings), *host(self).warnings]:
            host(self).say(problem, severity="warning")
        self.query_one(QuestionTree).show(list(self._bank.questions), self._bank.leaves(), expanded=False)
        self.query_one(QuestionTree).focus()
        self._show_teams()
        self._show_choices()
        self.set_timer(LOOK_AFTER, self._look)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < 90, "narrow")

    def on_screen_resume(self) -> None:
        host(self).read_sessions(self._count_sessions)

    def _look(self) -> None:
        """See what models there are, a second after whatever a person went on to at once."""
        if self.is_current:
            host(self).look_for_models(self._show_found)
        else:
            self.set_timer(1.0, lambda: host(self).look_for_models(self._show_found))

    # ── earlier sessions ──────────────────────────────────────────────────────────────────────────────────────────────

    def _count_sessions(self, rows: "list[Summary]") -> None:
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

    def _show_found(self) -> None:
        """What was found stands among the teams; what a person chose by then stays so."""
        if self.is_attached:
            self._offers = host(self).offers
            self._show_teams()

    def _show_teams(self) -> None:
        teams = self.query_one("#teams", OptionList)
        teams.clear_options()
        teams.add_options([Option(_row(offer)) for offer in self._offers])
        names = [offer.team.name for offer in self._offers]
        place = names.index(self._offer.team.name) if self._chosen and self._offer.team.name in names else 0
        self._take(self._offers[place])
        teams.highlighted = place

    def _show_team(self) -> None:
        trouble = [f"Can't be used now. {self._offer.trouble}", ""] if self._offer.trouble else []
        self.query_one("#team", Static).update("\n".join([*trouble, *team_lines(self._offer.team)]))

    def _show_choices(self) -> None:
        embedder = self._offer.embedder
        shown = {
            "judge": judging_words(self._judging_now),
            "embed": embedder if isinstance(embedder, str) else embedder.name,
            "rules": rules_words(self._rules),
            "seeds": seeds_words(self._seeds),
            "budget": budget_words(self._budget),
            "first": own_first_words(self._own_first),
        }
        for name, words in shown.items():
            self.query_one(f"#{name}", Static).update(words)

    @property
    def _judging_now(self) -> Judging:
        return self._offer.judging if self._judging is None else self._judging

    @property
    def _asked(self) -> list[Served]:
        return asked(self._offer.team, self._judging_now, self._offer.embedder)

    # ── choosing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Question]) -> None:
        self._question = event.node.data
        self._show_preview()

    def on_question_tree_chosen(self, event: QuestionTree.Chosen) -> None:
        self._start(event.question)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.has_focus:
            self._chosen = True
            self._take(self._offers[event.option_index])

    def _take(self, offer: Offer) -> None:
        if threshold_of(offer.embedder) != threshold_of(self._offer.embedder):
            self._rules = replace(self._rules, embedding_novelty=threshold_of(offer.embedder))
        self._offer = offer
        self._show_team()
        self._show_choices()

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
            if not text:
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
                self._show_choices()

        judged = ("coherence", "judged_novelty") if self._judging_now.judges else ()
        shown = ("embedding_novelty", *judged, "patience", "max_ideas")
        self.app.push_screen(FormScreen("Rules", self._rules, shown), change)

    def action_judge(self) -> None:
        found = {model.name: as_judge(model.spec) for model in host(self).found if _may_judge(model)}

        def change(name: str | None) -> None:
            if name is not None:
                judges = (found[name],) if name else ()
                self._judging = replace(self._judging_now, judges=judges)
                self._show_choices()

        rows = [("", "nobody: novelty by embedding alone"), *((name, name) for name in found)]
        hint = "Enter choose   Esc cancel   `jagstorm judge check` tells how good one is"
        self.app.push_screen(Choose("Who judges?", rows, hint), change)

    def action_budget(self) -> None:
        _, about = proposal(self._asked, host(self).providers)
        self._ask_for_budget(self._budget, about, lambda: None)

    def _ask_for_budget(self, budget: Budget, about: str, then: Callable[[], None]) -> None:
        def change(changed: Budget | None) -> None:
            if changed is not None:
                self._budget = changed
                self._show_choices()
                then()

        shown = Budget.__struct_fields__
        self.app.push_screen(FormScreen("Budget", budget, shown, about=about), change)

    def action_seeds(self) -> None:
        from tui.screens.seed_policy import SeedPolicyScreen

        def change(policy: SeedPolicy | None) -> None:
            if policy is not None:
                self._seeds = policy
                self._show_choices()

        self.app.push_screen(SeedPolicyScreen(self._seeds), change)

    def action_own_first(self) -> None:
        """Whether the person begins; and if so, whether the team is shown what they wrote."""

        def begin(name: str | None) -> None:
            if name is not None:
                self._own_first = OwnFirst(shown=name == "shown")
                self._show_choices()

        if self._own_first:
            self._own_first = None
            self._show_choices()
            return
        rows = [
            ("shown", "yes: theirs must differ from yours"),
            ("hidden", "no: they begin as if you had said nothing, and are scored beside yours"),
        ]
        self.app.push_screen(Choose("You write first. Shall the team see your ideas?", rows), begin)

    def action_surprise(self) -> None:
        if self._bank.questions:
            self.query_one(QuestionTree).go_to(random.choice(self._bank.questions))  # noqa: S311

    def _start(self, question: Question) -> None:
        if self.app.screen is not self:
            return  # a second Enter, typed before the live screen could come up
        plan = library.new_plan(
            (question,),
            self._offer.team,
            self._rules,
            embedder=self._offer.embedder,
            judging=self._judging_now,
            budget=self._budget,
        )
        if self._budget == Budget() and not self._asked_for_budget and billed(self._asked):
            self._asked_for_budget = True
            budget, about = proposal(self._asked, host(self).providers)
            why = "Somebody here sends a bill. The session ends, and can be resumed, when it has used so much."
            self._ask_for_budget(budget, "\n".join(filter(None, (why, about))), lambda: self._start(question))
        else:
            host(self).start_session(replace(plan, seeds=self._seeds, own_first=self._own_first))


def _may_judge(model: "FoundModel") -> bool:
    """The built-in model can't: its grades are those of chance."""
    return model.state == "ready" and (model.spec.provider != "embedded" or bool(model.spec.model))


def _row(offer: Offer) -> Text:
    """A team in one line: its name, how many it has, whether it can be used."""
    count = len(offer.team.places)
    members = f"  {count}" if count > 1 else ""
    state = "  not ready" if offer.trouble else ""
    return Text(f"{clean_line(offer.team.name, 40)}{members}{state}", no_wrap=True, overflow="ellipsis")
