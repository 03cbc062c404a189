"""Curves in dots: two by four to a cell in braille, or two to a cell in ASCII."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.style import Style

from tui.charts.canvas import Canvas

ACROSS, DOWN = 2, 4
"""Dots of a cell."""

_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Of the dots of a braille character (Unicode, U+2800)."""

_HALVES = {(True, False): "'", (False, True): ".", (True, True): ":"}


class Dots:
    """The dots of `width` × `height` cells; x and y are in cells from the upper left corner, and may be broken."""

    def __init__(self, width: int, height: int) -> None:
        self._set: NDArray[np.bool_] = np.zeros((height * DOWN, width * ACROSS), dtype=np.bool_)

    def curve(self, x: Sequence[float] | NDArray[np.float64], y: Sequence[float] | NDArray[np.float64]) -> None:
        """Straight lines from point to point; a point that is not finite is a gap."""
        columns, rows = np.asarray(x, dtype=np.float64) * ACROSS, np.asarray(y, dtype=np.float64) * DOWN
        there = np.isfinite(columns) & np.isfinite(rows)
        begins = np.flatnonzero(there[:-1] & there[1:])
        if not len(begins):
            return
        dx, dy = columns[begins + 1] - columns[begins], rows[begins + 1] - rows[begins]
        steps = np.ceil(np.maximum(np.abs(dx), np.abs(dy))).astype(int) + 1
        segment = np.repeat(np.arange(len(begins)), steps)
        step = np.arange(len(segment)) - np.repeat(np.cumsum(steps) - steps, steps)
        along = step / np.maximum(steps - 1, 1)[segment]
        self._mark(columns[begins][segment] + along * dx[segment], rows[begins][segment] + along * dy[segment])

    def _mark(self, columns: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
        column, row = np.floor(columns).astype(int), np.floor(rows).astype(int)
        height, width = self._set.shape
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        self._set[row[inside], column[inside]] = True

    def draw(self, canvas: Canvas, left: int, top: int, style: Style, *, braille: bool) -> None:
        """On `canvas`, the upper left cell at `left`, `top`; over other dots, but under everything else."""
        height, width = self._set.shape[0] // DOWN, self._set.shape[1] // ACROSS
        cells = self._set.reshape(height, DOWN, width, ACROSS).transpose(0, 2, 1, 3)
        codes = (cells * _BITS).sum(axis=(2, 3))
        upper = np.asarray(cells[:, :, : DOWN // 2].any(axis=(2, 3)))
        lower = np.asarray(cells[:, :, DOWN // 2 :].any(axis=(2, 3)))
        for row, column in np.argwhere(codes):
            halves = bool(upper[row, column]), bool(lower[row, column])
            char = chr(0x2800 + codes[row, column]) if braille else _HALVES[halves]
            canvas.put_dots(left + int(column), top + int(row), char, style)
