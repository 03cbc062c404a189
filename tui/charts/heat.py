"""A heat map of models and leaves: every mean as a number and as a shade."""

from rich.cells import cell_len, set_cell_size

from core.analysis.intervals import Interval
from core.analysis.profiles import LeafRow, LeafTable
from tui.charts.bars import hidden_words, rows_shown
from tui.charts.canvas import Canvas, label
from tui.charts.look import PLAIN_TEXT, Lines, Look, paint
from tui.charts.sheet import Sheet, draw_sheet, ends, too_small, with_ends
from tui.charts.words import leaf_name, with_interval
from tui.widgets.cells import cut

NARROWEST = 7
"""Cells of a leaf: a shade, a number, a space."""

SMALLEST_WITH_FOOT = 12
"""Rows from which there are words below."""

WIDEST = 12


def draw_heat(leaves: LeafTable, width: int, height: int, look: Look, focus: str = "") -> Lines:
    """The shade says how a mean stands between the lowest and the highest of its leaf; `focus` is a model's name.

    Below the means of the model in focus is where they are in 95 of 100 cases; below those of all, if there is room.
    """
    if too_small(width, height) or not leaves.rows:
        return draw_leaves(leaves, width, height, look)
    canvas = Canvas(width, height)
    muted = paint(look.muted)
    foot = _foot(leaves, focus) if height >= SMALLEST_WITH_FOOT else ()
    lines = height - 1 - len(foot)
    focused = next((place for place, row in enumerate(leaves.rows) if row.model == focus), 0)
    left, each = _layout(leaves, width)
    widened = range(len(leaves.rows)) if 2 * len(leaves.rows) <= lines else range(focused, focused + 1)
    if each < NARROWEST:  # ends would be cut
        widened = range(0)
    room = lines - len(widened)
    hidden = len(leaves.rows) > room
    shown = rows_shown(len(leaves.rows), room - hidden, focused)
    for place, leaf in enumerate(leaves.leaves):
        canvas.write(left + place * each, 0, set_cell_size(leaf_name(leaf), each - 1), muted)
    y = 1
    for place in shown:
        row = leaves.rows[place]
        style = paint(look.accent, bold=True) if row.model == focus else PLAIN_TEXT
        canvas.write(0, y, label(row.model, left - 1), style)
        for column, mean in enumerate(row.means):
            _draw_cell(canvas, leaves, column, mean, left + column * each, y, look, whole=each < NARROWEST)
            if place in widened:
                canvas.write(left + 1 + column * each, y + 1, cut(_ends(mean), each - 1), muted)
        y += 1 + (place in widened)
    if hidden:
        more = hidden_words(shown[0], len(leaves.rows) - 1 - shown[-1])
        canvas.write(0, height - 1 - len(foot), more, muted)
    for row_below, line in enumerate(foot, height - len(foot)):
        canvas.write(0, row_below, line, muted)
    return canvas.lines()


def heat_rows(leaves: LeafTable, look: Look) -> int:
    """Lines that it takes to show all."""
    return 1 + 2 * len(leaves.rows) + len(_foot(leaves, ""))


def draw_leaves(leaves: LeafTable, width: int, height: int, look: Look) -> Lines:
    """Where there is room for no more: the means alone."""
    columns = ("model", "all", *(leaf_name(leaf) for leaf in leaves.leaves))
    means = (
        (row.model, row.overall.value, *(mean.value if mean else None for mean in row.means)) for row in leaves.rows
    )
    return draw_sheet(Sheet(columns, tuple(means)), width, height, look)


def leaves_sheet(leaves: LeafTable) -> Sheet:
    """The means with their ends; then how uneven each model is."""
    names = ("all", *(leaf_name(leaf) for leaf in leaves.leaves))
    return Sheet(
        ("model", *(column for name in names for column in with_ends(name)), "jaggedness", "strongest", "weakest"),
        tuple(
            (
                row.model,
                *(value for mean in (row.overall, *row.means) for value in ends(mean)),
                row.jaggedness.over_leaves,
                leaf_name(row.jaggedness.strongest),
                leaf_name(row.jaggedness.weakest),
            )
            for row in leaves.rows
        ),
    )


def _layout(leaves: LeafTable, width: int) -> tuple[int, int]:
    """The column at which cells begin, and how wide each is."""
    longest = max(cell_len(row.model) for row in leaves.rows)
    names = min(longest, max(width - 1 - NARROWEST * len(leaves.leaves), 10), 28)
    return names + 1, min(max((width - names - 1) // len(leaves.leaves), 1), WIDEST)


def _draw_cell(
    canvas: Canvas, leaves: LeafTable, column: int, mean: Interval | None, x: int, y: int, look: Look, *, whole: bool
) -> None:
    """`whole`: there is no room for a decimal."""
    if mean is None:
        canvas.write(x + 1, y, "–", paint(look.muted))
        return
    most = len(look.glyphs.shades) - 1
    level = _level(leaves, column, mean.value, most + 1)
    style = paint(look.accent, bold=True) if level == most else paint(look.series[0])
    canvas.write(x, y, look.glyphs.shades[level], style)
    canvas.write(x + 1, y, f"{mean.value:.1f}" if mean.value < 100 and not whole else f"{mean.value:.0f}", style)


def _ends(mean: Interval | None) -> str:
    return "" if mean is None or mean.low is None or mean.high is None else f"{mean.low:.0f}–{mean.high:.0f}"


def _level(leaves: LeafTable, column: int, value: float, levels: int) -> int:
    """0 for the leaf's lowest mean, the last only for its highest."""
    means = [mean.value for row in leaves.rows if (mean := row.means[column])]
    low, high = min(means), max(means)
    if value >= high:
        return levels - 1
    return int((value - low) / (high - low) * (levels - 1)) if high > low else 0


def _foot(leaves: LeafTable, focus: str) -> tuple[str, ...]:
    """How jagged the model in focus is, and what differences come down to."""
    row = next((row for row in leaves.rows if row.model == focus), leaves.rows[0])
    lines = [jagged_words(row)]
    if split := leaves.split:
        lines.append(
            f"differences: {split.model:.0%} by model, {split.question:.0%} by question, {split.interaction:.0%} by "
            f"both, of which {split.by_leaf:.0%} by leaf"
        )
    return tuple(lines)


def jagged_words(row: LeafRow) -> str:
    """One model's mean, how uneven it is over leaves, and which are its best and its worst, in a line."""
    mean = f"{label(row.model, 24)}: {with_interval(row.overall)}"
    uneven = row.jaggedness
    if sum(leaf is not None for leaf in row.means) < 2:
        return f"{mean}; {leaf_name(uneven.strongest)} only"
    spread = f"jaggedness {uneven.over_leaves:.2f} ({uneven.beyond_chance:.2f} beyond chance)"
    return f"{mean}; {spread}; best {leaf_name(uneven.strongest)}, worst {leaf_name(uneven.weakest)}"
