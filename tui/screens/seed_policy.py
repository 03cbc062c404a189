"""When seeds come, and which: a form for a seed policy."""

from typing import Any, ClassVar

from msgspec import convert, to_builtins
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Button, Input, Select, Static

from core import commands as cmd
from core.errors import UsageError
from core.feed import Feed
from core.levers import Each, Every, Hand, Off, Plateau, SeedPolicy
from core.seeds.sources import banked
from core.text import clean_line
from tui.charts.words import leaf_name
from tui.levers import policy_now
from tui.screens.form import with_field
from tui.telling import tell
from tui.widgets.choice import choice
from tui.widgets.field import Field

KINDS: dict[str, tuple[type[SeedPolicy], str, str]] = {
    "off": (Off, "off", "None at all, not even by hand: for comparisons."),
    "hand": (Hand, "by hand", "When you bring one: s on the live screen opens the drawer."),
    "every": (Every, "every so many steps", "One at every n-th step, and when you bring one."),
    "plateau": (
        Plateau,
        "at a plateau",
        "When ideas become alike or fail in a row, and when you bring one.",
    ),
    "each": (Each, "each step", "For every step a fresh one, or always the same."),
}
"""By its tag: how it is called, and what it means."""

TYPED = {
    "steps": "Every so many steps",
    "fall": "When mean novelty has fallen by",
    "window": "  over so many ideas",
    "failures": "  or so many in a row fail",
    "seed": "Always this one (empty: fresh)",
    "lasts": "Ideas written under one seed",
}
"""What is typed, in this order."""

CHOSEN = {"distance": "Distance from the question", "field": "Only of the field", "style": "In the prompt"}
"""What is chosen from a few, in this order."""

DISTANCES = {"far": "far: the farthest third", "near": "near: the nearest third", "any": "any"}
STYLES = {"analogy": "a source of analogy", "mention": "in passing", "constraint": "to be built on"}


class SeedPolicyScreen(ModalScreen[SeedPolicy | None]):
    """Dismissed with the policy as changed, or with None."""

    CSS_PATH = "../styles/drawer.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False),
    ]

    def __init__(self, policy: SeedPolicy) -> None:
        super().__init__()
        self._values: dict[str, Any] = to_builtins(policy)
        """What a policy of any kind would have, as far as it was said."""
        self._bank = banked()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog seed-policy"):
            yield Static("Seeds", markup=False, classes="dialog-title")
            with Horizontal(classes="setting"):
                yield Static("They come", markup=False)
                yield choice({tag: name for tag, (_, name, _) in KINDS.items()}, self._values["when"], "when")
            yield Static(markup=False, id="meaning")
            for name, label in TYPED.items():
                with Horizontal(classes="setting", id=f"setting-{name}"):
                    yield Static(label, markup=False)
                    yield Field(compact=True, id=name)
            for name, label in CHOSEN.items():
                with Horizontal(classes="setting", id=f"setting-{name}"):
                    yield Static(label, markup=False)
                    options = self._options(name)
                    yield choice(options, next(iter(options)), name)
            yield Static(markup=False, id="wrong")
            yield Button("Done", compact=True, id="done")
            yield Static("Tab next   Enter opens a list   Esc cancel", markup=False, classes="hint")

    def on_mount(self) -> None:
        self._show()

    def _options(self, name: str) -> dict[str, str]:
        """What is read of each value; among fields is the policy's own, though the bank may not have it any more."""
        if name == "field":
            leaves = filter(None, (*self._bank.leaves(), self._values.get("field", "")))
            return {"": "any"} | {leaf: clean_line(leaf_name(leaf), 40) for leaf in leaves}
        return DISTANCES if name == "distance" else STYLES

    def _show(self) -> None:
        """What can be set of such a policy, as it is."""
        kind, _, meaning = KINDS[self._values["when"]]
        self.query_one("#meaning", Static).update(meaning)
        shown = to_builtins(kind()) | self._values
        for name in (*TYPED, *CHOSEN):
            belongs = name in kind.__struct_fields__
            self.query_one(f"#setting-{name}").display = belongs
            if belongs and name in TYPED:
                value = shown[name]
                self.query_one(f"#{name}", Input).value = f"{value:g}" if isinstance(value, float) else str(value)
            elif belongs:
                self.query_one(f"#{name}", Select).value = shown[name]

    def on_select_changed(self, event: Select.Changed) -> None:
        before = self._values["when"]
        self._values[event.select.id or ""] = event.value
        if self._values["when"] != before:
            self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._finish()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self._finish()

    def _finish(self) -> None:
        kind = KINDS[self._values["when"]][0]
        names = kind.__struct_fields__
        chosen = {name: self._values[name] for name in CHOSEN if name in names and name in self._values}
        policy = convert(to_builtins(kind()) | chosen, kind)
        for name in (name for name in TYPED if name in names):
            try:
                policy = self._with(policy, name, self.query_one(f"#{name}", Input).value.strip())
            except (ValueError, UsageError) as error:
                self.query_one("#wrong", Static).update(f"{TYPED[name].strip()}: {error}")
                self.query_one(f"#{name}").focus()
                return
        self.dismiss(policy)

    def _with(self, policy: SeedPolicy, name: str, text: str) -> SeedPolicy:
        """Raises ValueError, `UsageError`."""
        if name != "seed":
            return with_field(policy, name, text)
        return convert(to_builtins(policy) | {name: self._bank.get(text).name if text else ""}, Each)

    def action_cancel(self) -> None:
        self.dismiss(None)


def set_when_seeds_come(screen: Screen[None], feed: Feed) -> None:
    """Ask, and tell `feed`."""

    def change(policy: SeedPolicy | None) -> None:
        if policy is not None:
            tell(screen, feed, cmd.SetSeeds(policy=policy))

    screen.app.push_screen(SeedPolicyScreen(policy_now(feed)), change)
