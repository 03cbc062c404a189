"""The drawer of seeds, over the live screen, which goes on beneath: what to put into the next prompts, and what is."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static, Tab, Tabs

from core import commands as cmd
from core import events as ev
from core.config import own_question_files
from core.errors import ModelUnavailableError, UsageError
from core.feed import Feed
from core.levers import Lever, Off, Seed, SeedStyle
from core.questions import LEAVES, Question
from core.seeds.bank import folded
from core.seeds.ranking import among, ranked
from core.seeds.sources import Stock, levers, stock_of_bank, stock_of_ideas, stock_of_questions, typed
from core.text import clean_line
from tui.charts.words import leaf_name
from tui.deeds import policy_words, standing
from tui.host import host
from tui.levers import NEWEST, TYPED, first_new_line, holds, lever_rows, policy_now, prompt_with
from tui.screens.dialogs import Ask
from tui.screens.following import Following
from tui.screens.seed_policy import set_when_seeds_come
from tui.telling import tell, withdrawal
from tui.widgets.field import Field
from tui.widgets.in_force import InForceList
from tui.widgets.line import Line
from tui.widgets.seeds import Row, SeedList

WIDE = 120
"""Columns from which the live screen is seen beside the drawer."""

MOST_STEPS = 99

STYLES: tuple[SeedStyle, ...] = ("analogy", "mention", "constraint")

BANK, IDEAS, QUESTIONS, ANY, OTHERS = "bank", "ideas", "questions", "any", "levers"

OFF = "Seeds are off in this session. o sets when they come."


class SeedDrawer(ModalScreen[None], Following):
    """Closes when something was put into the prompts."""

    CSS_PATH = "../styles/drawer.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "keep", "Keep", tooltip="Put it into the prompts until it is withdrawn"),
        Binding("r", "random", "Random far", tooltip="Any of the farthest third of this tab, from the next step on"),
        Binding("n", "own", "Own", tooltip="Type a seed of your own; a colon between its name and how it works"),
        Binding("y", "style", "Style", show=False, tooltip="Mention it, take it as an analogy, or build on it"),
        Binding("plus,equals_sign", "longer(1)", "More ideas", key_display="+", show=False),
        Binding("minus", "longer(-1)", "Fewer ideas", key_display="-", show=False),
        Binding("w", "withdraw", "Withdraw", show=False, tooltip="Withdraw what the cursor is on under “In force”"),
        Binding("o", "policy", "When", show=False, tooltip="When seeds come by themselves"),
        Binding("d", "order", "Far or near", show=False, tooltip="The farthest first, or the nearest"),
        Binding("slash", "search", "Search", key_display="/", tooltip="Only what holds some words"),
        Binding("left", "tab(-1)", "Tab before", show=False),
        Binding("right", "tab(1)", "Next tab", show=False),
        Binding("escape", "leave", "Close", tooltip="End the search; close the drawer"),
    ]

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self.feed = feed
        self._stock: dict[str, Sequence[Seed]] = {OTHERS: levers()}
        """Seeds by where they come from, the nearest first once that is known."""
        self._marked: frozenset[str] = frozenset()
        self._asked: set[tuple[str, str]] = set()
        """Sources that are there or being read, with the question that distances are from, by its id."""
        self._fields = {f"leaf-{place}": leaf for place, leaf in enumerate(LEAVES)}
        self._style: SeedStyle = STYLES[0]
        self._steps = 1
        self._farthest_first = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="drawer"):
            yield Line("Seeds", classes="title", id="drawer-title")
            yield Field(placeholder="/ search names, mechanisms and fields", id="seed-search", compact=True)
            leaves = [Tab(leaf_name(leaf), id=name) for name, leaf in self._fields.items()]
            yield Tabs(
                Tab("Bank", id=BANK),
                *leaves,
                Tab("Ideas", id=IDEAS),
                Tab("Questions", id=QUESTIONS),
                Tab("Any", id=ANY),
                Tab("Levers", id=OTHERS),
            )
            yield SeedList(id="seeds")
            yield Line(id="how")
            with VerticalScroll(id="preview", can_focus=False):
                yield Static(markup=False, id="preview-text")
            yield Line("In force", id="force-title")
            yield InForceList(id="force")
            yield Footer(show_command_palette=False)

    def on_mount(self) -> None:  # Textual calls the base class's as well
        self.query_one(SeedList).focus()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE, "beside")

    # ── what there is ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _question(self) -> Question:
        chain = self.feed.state.chain
        if chain is None:
            return self.feed.plan.questions[0]
        return Question(chain.question, chain.text, chain.domain, chain.subdomain)

    @property
    def _tab(self) -> str:
        return self.query_one(Tabs).active or BANK

    @property
    def _sources(self) -> tuple[str, ...]:
        """Where the seeds of the tab come from."""
        if self._tab == ANY:
            return (BANK, IDEAS, QUESTIONS)
        return (self._tab,) if self._tab in (IDEAS, QUESTIONS, OTHERS) else (BANK,)

    @work(exit_on_error=False, group="seeds")
    async def _fetch(self, source: str) -> None:
        """Read a source beside everything else and show it; then its distances, as soon as they are there."""
        from core.scoring.embeddings import WordLlamaEmbedder

        question = self._question
        stock = await asyncio.to_thread(self._read, source)
        self._take(source, stock)
        try:
            near_first = await ranked(question.text, stock.seeds, WordLlamaEmbedder())
            if question.id == self._question.id:
                self._stock[source] = near_first
        except ModelUnavailableError as error:
            host(self).say(f"Seeds stand here without their distances. {error.message}", severity="warning")
        self._show_seeds(anew=False)

    def _read(self, source: str) -> Stock:
        match source:
            case "ideas":
                return stock_of_ideas(host(self).sessions, self.feed.plan.id, lambda: not self.is_attached)
            case "questions":
                return stock_of_questions(self._question, [*own_question_files(), *host(self).question_paths])
        return stock_of_bank()

    def _take(self, source: str, stock: Stock) -> None:
        if not self.is_attached:
            return
        self._stock[source] = stock.seeds
        self._marked |= stock.marked
        if source == BANK:
            self._add_fields(seed.field for seed in stock.seeds)
            for problem in stock.problems:
                host(self).say(problem, severity="warning")
        self._show_seeds(anew=True)

    def _add_fields(self, leaves: Iterable[str]) -> None:
        """Tabs for fields of a person's own."""
        for leaf in dict.fromkeys(leaves):
            if leaf not in self._fields.values():
                name = f"leaf-{len(self._fields)}"
                self._fields[name] = leaf
                self.query_one(Tabs).add_tab(Tab(Content(clean_line(leaf_name(leaf), 24)), id=name), before=IDEAS)

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _show_seeds(self, *, anew: bool) -> None:
        if not self.is_attached:
            return
        for source in self._sources:
            asked = (source, self._question.id)
            if asked not in self._asked and source != OTHERS:
                self._asked.add(asked)
                self._fetch(source)
        self.query_one(SeedList).show(list(self._rows()), anew=anew)

    def _rows(self) -> Iterator[Row]:
        words = folded(self.query_one("#seed-search", Input).value).split()
        if self._tab == OTHERS:
            yield from lever_rows(words)
            return
        for seed in self._in_order(self._listed()):
            if holds(seed, words):
                about = leaf_name(seed.field) or seed.source
                yield Row(name=seed.name, about=about, mark="*" if seed.name in self._marked else " ", seed=seed)

    def _listed(self) -> list[Seed]:
        field = self._fields.get(self._tab, "")
        stock = [seed for source in self._sources for seed in self._stock.get(source, ())]
        return [seed for seed in stock if not field or seed.field == field]

    def _in_order(self, seeds: Sequence[Seed]) -> list[Seed]:
        """Those that a person has marked first, and those without a distance last."""
        sign = -1 if self._farthest_first else 1
        return sorted(
            seeds,
            key=lambda seed: (
                seed.name not in self._marked,
                seed.distance is None,
                sign * (seed.distance or 0.0),
            ),
        )

    def _show_how(self) -> None:
        """How the prompt will read with what the cursor is on."""
        ideas = f"{self._steps} idea" + "s" * (self._steps > 1)
        policy = policy_now(self.feed)
        off = isinstance(policy, Off)
        self.query_one("#drawer-title", Line).show("Seeds", f"come {policy_words(policy)}   o changes that")
        row = self.query_one(SeedList).selected
        seeds = self._tab != OTHERS
        how = f"as {self._style} (y)   for {ideas} (+ −)" if seeds else f"for {ideas} (+ −)"
        order = "farthest first (d)" if self._farthest_first else "nearest first (d)"
        self.query_one("#how", Line).show(*(OFF, "") if off else (how, order if seeds else ""))
        prompt = self._preview(row) if row else Content(self._nothing())
        text, room = self.query_one("#preview-text", Static), self.query_one("#preview")
        text.update(prompt)
        line = first_new_line(prompt, text.size.width)
        self.call_after_refresh(room.scroll_to, y=line if line >= room.size.height // 2 else 0, animate=False)

    def _nothing(self) -> str:
        """Why there is nothing in the list."""
        if any(source not in self._stock for source in self._sources):
            return "Reading …"
        return "Nothing here holds all these words." if self.query_one("#seed-search", Input).value else "Nothing here."

    def _preview(self, row: Row) -> Content:
        if row.seed is None:
            return Content("Enter asks for it." if row is not NEWEST else "Enter asks the team; it stays forbidden.")
        return prompt_with(self._styled(row.seed), self.feed, self._question.text)

    def _styled(self, seed: Seed) -> Seed:
        return replace(seed, style=self._style) if seed.lever == "seed" else seed

    def _show_force(self) -> None:
        rows = standing(self.feed.state)
        self.query_one(InForceList).show([], rows)
        self.query_one("#force-title", Line).show("In force", "w withdraw" * bool(rows))

    def concerns(self, event: ev.Event) -> bool:
        return isinstance(event, ev.Deed | ev.QuestionStarted)

    def show_state(self) -> None:
        self._show_force()
        if self._asked and not any(question == self._question.id for _, question in self._asked):
            self._show_seeds(anew=False)  # the next question has begun: distances are from that one
        self._show_how()

    # ── what a person does ────────────────────────────────────────────────────────────────────────────────────────────

    def on_tabs_tab_activated(self, event: Tabs.TabActivated) -> None:
        self._show_seeds(anew=True)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._show_seeds(anew=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one(SeedList).focus()

    def on_seed_list_highlighted(self, event: SeedList.Highlighted) -> None:
        self._show_how()

    def on_seed_list_chosen(self, event: SeedList.Chosen) -> None:
        self._inject(event.row, self._steps)

    def on_in_force_list_withdrawn(self, event: InForceList.Withdrawn) -> None:
        tell(self, self.feed, withdrawal(event.standing))

    def action_keep(self) -> None:
        if row := self.query_one(SeedList).selected:
            self._inject(row, None)

    def _inject(self, row: Row, steps: int | None) -> None:
        if row.seed:
            self._finish(cmd.InjectSeed(seed=self._styled(row.seed), steps=steps))
        elif row is NEWEST:
            self._finish(cmd.DenyMechanism())
        else:
            self._ask(TYPED[row.lever][1], row.lever, steps)

    def _finish(self, command: cmd.AnyCommand) -> None:
        if isinstance(policy_now(self.feed), Off) and not isinstance(command, cmd.DenyMechanism):
            host(self).say(OFF, severity="warning")
            return
        if tell(self, self.feed, command):
            self.dismiss()

    def action_own(self) -> None:
        self._ask("Your own seed", "seed", self._steps)

    def _ask(self, title: str, lever: Lever, steps: int | None) -> None:
        def take(line: str | None) -> None:
            if line is None:
                return
            try:
                seed = typed(line)
            except UsageError as error:
                host(self).show_fault(error)
                return
            if lever == "deny":
                self._finish(cmd.DenyMechanism(text=line))
            else:
                seed = self._styled(seed) if lever == "seed" else Seed(name=clean_line(line, 500), lever=lever)
                self._finish(cmd.InjectSeed(seed=seed, steps=steps))

        hint = "A concept, or “name: how it works”   Enter inject   Esc cancel" if lever == "seed" else ""
        self.app.push_screen(Ask(title, hint=hint or "Enter done   Esc cancel"), take)

    def action_random(self) -> None:
        """The session draws from the bank; what is listed here alone is drawn here."""
        if self._sources == (BANK,):
            field = self._fields.get(self._tab, "")
            self._finish(cmd.DrawSeed(distance="far", field=field, steps=self._steps, style=self._style))
        elif pool := among(self._stock[OTHERS] if self._tab == OTHERS else self._by_distance(), "far"):
            seed = random.choice(pool)  # noqa: S311
            self._finish(cmd.InjectSeed(seed=self._styled(seed), steps=self._steps))

    def _by_distance(self) -> list[Seed]:
        return sorted(self._listed(), key=lambda seed: (seed.distance is None, seed.distance))

    def action_withdraw(self) -> None:
        self.query_one(InForceList).action_withdraw()

    def action_style(self) -> None:
        self._style = STYLES[(STYLES.index(self._style) + 1) % len(STYLES)]
        self._show_how()

    def action_longer(self, by: int) -> None:
        self._steps = max(1, min(self._steps + by, MOST_STEPS))
        self._show_how()

    def action_order(self) -> None:
        self._farthest_first = not self._farthest_first
        self._show_seeds(anew=True)

    def action_policy(self) -> None:
        set_when_seeds_come(self, self.feed)

    def action_search(self) -> None:
        self.query_one("#seed-search", Input).focus()

    def action_tab(self, by: int) -> None:
        tabs = self.query_one(Tabs)
        if by > 0:
            tabs.action_next_tab()
        else:
            tabs.action_previous_tab()

    def action_leave(self) -> None:
        search = self.query_one("#seed-search", Input)
        if search.value or search.has_focus:
            search.value = ""
            self.query_one(SeedList).focus()
        else:
            self.dismiss()
