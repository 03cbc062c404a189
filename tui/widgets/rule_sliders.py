"""The rules under which profiles are counted, each as a slider."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical

from core.analysis.rescoring import Change
from tui.widgets.line import Line
from tui.widgets.slider import Slider

_SHARES = tuple(step / 200 for step in range(201))

RULES: dict[str, tuple[str, tuple[float, ...]]] = {
    "coherence": ("coherence", tuple(map(float, range(101)))),
    "embedding_novelty": ("embedding", _SHARES),
    "judged_novelty": ("judged", _SHARES),
    "patience": ("patience", tuple(map(float, range(1, 11)))),
    "max_ideas": ("cap", tuple(map(float, [*range(1, 21), *range(25, 105, 5), *range(120, 320, 20)]))),
}
"""What each is called, and the values that it can have."""


class RuleSliders(Vertical):
    """Sliders by the names of the rules."""

    DEFAULT_CSS = "RuleSliders { height: auto; }"

    def compose(self) -> ComposeResult:
        yield Line("Rules", "x as recorded", classes="heading")
        for rule, (name, values) in RULES.items():
            yield Slider(name, values, id=rule)

    def show(self, change: Change, own: Callable[[str], float | None]) -> None:
        """Put every knob where `change` has its rule; `own` tells what sessions have in common where it has none."""
        for rule in RULES:
            self.query_one(f"#{rule}", Slider).show(getattr(change, rule), own(rule))
