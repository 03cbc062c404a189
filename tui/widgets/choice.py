"""One of a few, from a list that opens."""

from collections.abc import Mapping

from textual.content import Content
from textual.widgets import Select


def choice(options: Mapping[str, str], value: str, name: str) -> Select[str]:
    """A list of `options`, of which `value` is chosen; what is read of each is text, whatever it holds."""
    rows = [(Content(words), key) for key, words in options.items()]
    return Select(rows, value=value, allow_blank=False, compact=True, id=name)
