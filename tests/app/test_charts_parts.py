"""What charts are made of: axes and where numbers stand on them, cells, dots, and charts as files."""

import csv
import io
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies
from msgspec.structs import replace
from numpy.random import default_rng
from rich.ansi import AnsiDecoder

from core.analysis.profiles import Map, Place
from core.errors import UsageError
from tests.app import made_up
from tests.app.test_charts_drawn import made, text
from tui.charts.axes import Points, axis, count_axis, draw_axes, log_axis, number
from tui.charts.bars import hidden_words
from tui.charts.canvas import Canvas
from tui.charts.catalog import Name
from tui.charts.dots import Dots
from tui.charts.heat import jagged_words
from tui.charts.ideas_map import beside, draw_map, nearest
from tui.charts.look import COLORLESS, DARK, FULL, LIGHT, PLAIN, SIXTEEN, Look, glyphs_here, paint
from tui.charts.printed import ColorSystem, csv_of, look_for, printed, svg, write
from tui.charts.sheet import Sheet

numbers = strategies.floats(min_value=-1e9, max_value=1e9)
PLAIN_STYLE = paint("default")


# ── axes ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(strategies.lists(strategies.floats(), max_size=20))
def test_an_axis_holds_every_finite_number_and_has_ticks_in_order(values: list[float]) -> None:
    values = [value for value in values if not math.isfinite(value) or abs(value) < 1e100]
    found = axis(values, from_zero=False)
    assert all(found.holds(value) for value in values if math.isfinite(value))
    assert list(found.ticks) == sorted(set(found.ticks))
    assert all(found.low <= tick <= found.high for tick in found.ticks)


@given(strategies.lists(strategies.floats(min_value=1e-9, max_value=1e9), min_size=1, max_size=20))
def test_an_axis_of_logarithms_holds_what_is_above_zero(values: list[float]) -> None:
    found = log_axis([*values, 0.0, -1.0, math.nan])
    assert all(found.holds(value) for value in values)
    assert found.ticks


@given(strategies.floats(min_value=1, max_value=1e5), strategies.floats(min_value=0, max_value=1))
def test_a_place_on_an_axis_and_its_number_are_each_other(high: float, share: float) -> None:
    for each in (axis([0, high]), count_axis(high), log_axis([1.0, high])):
        assert each.place(each.value(share)) == pytest.approx(share, abs=1e-6)


def test_ticks_are_numbers_that_people_say() -> None:
    assert axis([0, 47], ticks=6).ticks == (0, 10, 20, 30, 40)
    assert count_axis(275).ticks == (0, 1, 10, 100)
    assert log_axis([300, 4000]).ticks == (500, 1000, 2000)
    assert [number(value) for value in (0.25, -0.5, 0, 3, 1200, 2.5e6)] == [".25", "−.5", "0", "3", "1.2k", "2.5M"]


@given(strategies.lists(strategies.tuples(numbers, numbers), min_size=1, max_size=8))
def test_a_point_stands_where_the_area_says(points: list[tuple[float, float]]) -> None:
    x, y = ([point[side] for point in points] for side in (0, 1))
    canvas, area = draw_axes([Points(x, y, "•", "red")], axis(x), axis(y), 60, 20, COLORLESS)
    lines = ["".join(segment.text for segment in line) for line in canvas.lines()]
    spots = {area.cell(*point) for point in points}
    assert spots == {(column, row) for row, line in enumerate(lines) for column, char in enumerate(line) if char == "•"}


def test_ticks_stand_where_the_area_says() -> None:
    """The axes are another's: what stands on them must agree with it."""
    _, area = drawn = draw_axes([], axis([0, 47], "across"), axis([0, 8], "up"), 61, 19, COLORLESS)
    lines = shown(drawn[0])
    assert {area.left + area.column(tick) for tick in area.x.ticks} == places(lines[area.top + area.height], "┬")
    ticks = {area.top + area.row(tick) for tick in area.y.ticks}
    assert ticks == {row for row, line in enumerate(lines) if line[area.left - 1] == "┤"}


def places(line: str, char: str) -> set[int]:
    return {column for column, each in enumerate(line) if each == char}


# ── cells and dots ────────────────────────────────────────────────────────────────────────────────────────────────────


def shown(canvas: Canvas) -> list[str]:
    return ["".join(segment.text for segment in line) for line in canvas.lines()]


def test_wide_characters_take_two_cells_and_what_does_not_fit_is_cut() -> None:
    canvas = Canvas(6, 2)
    canvas.write(0, 0, "你好世界", PLAIN_STYLE)
    canvas.write(4, 1, "abcdef", PLAIN_STYLE)
    canvas.write(0, 5, "below")
    assert shown(canvas) == ["你好… ", "    a…"]


def test_dots_lie_under_words_and_add_up_with_dots() -> None:
    canvas = Canvas(4, 1)
    canvas.write(0, 0, ".:", PLAIN_STYLE)
    for row in (0.1, 0.9):
        dots = Dots(4, 1)
        dots.curve([0, 4], [row, row])
        dots.draw(canvas, 0, 0, paint("red"), braille=True)
    assert shown(canvas) == [".:⣉⣉"]


def test_a_curve_has_a_gap_where_a_number_is_missing() -> None:
    dots = Dots(6, 1)
    dots.curve([0.0, 1.9, math.nan, 4.0, 5.9], [0.5] * 5)
    canvas = Canvas(6, 1)
    dots.draw(canvas, 0, 0, PLAIN_STYLE, braille=False)
    assert shown(canvas) == [".." + "  " + ".."]


@pytest.mark.parametrize(("term", "glyphs"), [("linux", PLAIN), ("xterm-256color", FULL), ("tmux", FULL)])
def test_a_console_without_braille_gets_ascii(monkeypatch: pytest.MonkeyPatch, term: str, glyphs: object) -> None:
    monkeypatch.setenv("TERM", term)
    assert glyphs_here() is glyphs


# ── the map ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_idea_under_a_cell_is_the_nearest() -> None:
    area = draw_map(made_up.MAP, 80, 24, COLORLESS).area
    assert area is not None
    for place in (0, 17, 39):
        found = nearest(made_up.MAP, 80, 24, *area.cell(made_up.MAP.places[place].x, made_up.MAP.places[place].y))
        assert found is not None
        same = (made_up.MAP.places[each] for each in (found, place))
        assert len({area.cell(each.x, each.y) for each in same}) == 1


def test_a_step_on_the_map_goes_that_way_or_nowhere() -> None:
    places = made_up.MAP.places
    for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        place = 5
        for _ in range(50):
            before, place = place, beside(made_up.MAP, place, right, up)
            if place == before:
                break
            assert (places[place].x - places[before].x) * right + (places[place].y - places[before].y) * up > 0
        assert place == before


@pytest.mark.parametrize("look", [DARK, COLORLESS, replace(COLORLESS, glyphs=PLAIN)])
def test_where_ideas_crowd_shades_say_how_many_and_marks_who_stands_out(look: Look) -> None:
    rng = default_rng(0)
    everywhere = [(x, y, "anna") for x, y in rng.normal(0, 1, (20_000, 2)).tolist()]
    in_a_corner = [(x, y, "bert") for x, y in rng.normal(2, 0.1, (600, 2)).tolist()]
    places = tuple(
        Place(x=x, y=y, chain=0, model="m", question="How?", number=number, author=author, seed=None, verdict="passed")
        for number, (x, y, author) in enumerate([*everywhere, *in_a_corner], 1)
    )
    found = draw_map(Map(places=places, explained=(0.3, 0.2), left_out=0), 80, 24, look)
    drawn = ["".join(segment.text for segment in line) for line in found.lines]
    shades, (anna, bert) = look.glyphs.shades[1:], look.glyphs.marks[:2]
    assert not set(shades) & set(look.glyphs.marks)
    cells = drawn[1:-3]
    assert all(any(shade in line for line in cells) for shade in shades)
    assert not any(anna in line for line in cells), "who is everywhere stands out nowhere"
    column, row = found.area.cell(2, 2) if found.area else (0, 0)
    marked = [(line.index(bert), y) for y, line in enumerate(drawn) if y and bert in line]
    assert marked
    assert all(abs(x - column) < 8 and abs(y - row) < 4 for x, y in marked)
    assert "shade: how many" in drawn[-1]


# ── winners, and how jagged ───────────────────────────────────────────────────────────────────────────────────────────


def test_where_nobody_answered_all_leaves_it_says_so_and_shows_no_empty_table() -> None:
    shown = text(made("winners", replace(made_up.WINNERS, contenders=())), 100, 30)
    assert "No model answered the questions of all these leaves" in shown
    assert "Over all leaves" not in shown


def test_of_one_leaf_nothing_is_said_of_jaggedness() -> None:
    row = made_up.LEAF_TABLE.rows[0]
    only = replace(row, means=tuple(mean if place == 0 else None for place, mean in enumerate(row.means)))
    assert "jaggedness" in jagged_words(row)
    assert jagged_words(only).endswith(" only")


def test_rows_that_are_hidden_are_told_only_where_there_are_some() -> None:
    assert hidden_words(0, 12) == "↓ 12 more below"
    assert hidden_words(3, 0) == "↑ 3 more above"
    assert hidden_words(3, 12) == "↑ 3 more above   ↓ 12 more below"


# ── in print and in files ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("colors", [None, "standard", "256", "truecolor"])
def test_what_is_printed_is_what_is_drawn_in_the_colours_that_there_are(colors: ColorSystem | None) -> None:
    paint.cache_clear()  # Rich's styles remember the first colours that they were shown in
    drawn = printed(made("ribbons"), 80, 24, colors)
    assert ("\x1b[" in drawn) == (colors is not None)
    assert ("38;2;" in drawn) == (colors == "truecolor")
    assert ("38;5;" in drawn) == (colors == "256")
    plain = [line.plain.rstrip() for line in AnsiDecoder().decode(drawn.rstrip("\n"))]
    assert plain == text(made("ribbons"), 80, 10).splitlines()


def test_print_shows_all_rows_however_low_the_terminal() -> None:
    drawn = printed(made("ribbons", made_up.FORTY), 80, 24, None)
    assert all(f"model-{place} " in drawn for place in range(1, 41))
    assert "more below" not in drawn


def test_the_look_follows_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLORFGBG", "15;0")
    assert (look_for(None), look_for("standard"), look_for("truecolor")) == (COLORLESS, SIXTEEN, DARK)
    monkeypatch.setenv("COLORFGBG", "0;15")
    assert look_for("256") == LIGHT


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_a_picture_is_svg_with_the_chart_and_nothing_from_the_net(look: object) -> None:
    made_svg = svg(made("scatter"), 80, 24, look)  # type: ignore[arg-type]
    root = ElementTree.fromstring(made_svg)
    words = "".join(root.itertext()).replace("\xa0", " ")
    assert "bert" in words
    assert "y = 0.520 x" in words
    assert "http" not in made_svg.replace("http://www.w3.org/2000/svg", "")


def test_csv_has_every_number_and_no_formula() -> None:
    sheet = Sheet(("name", "mean"), (("=cmd()", 1.25), ("plain", None), ("a, b", math.pi)))
    assert list(csv.reader(io.StringIO(csv_of(sheet)))) == [
        ["name", "mean"],
        ["'=cmd()", "1.25"],
        ["plain", ""],
        ["a, b", str(math.pi)],
    ]


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("ribbons", ["mean valid"]),
        ("radar", ["all", "Fundamental", "Biology"]),
        ("heat", ["all", "Chemistry"]),
        ("winners", ["ahead"]),
    ],
)
def test_wherever_csv_has_a_mean_it_has_the_ends_of_its_interval(name: Name, means: list[str]) -> None:
    first = next(csv.DictReader(io.StringIO(csv_of(made(name).sheet()))))
    for mean in means:
        assert float(first[f"{mean} low"]) < float(first[mean]) < float(first[f"{mean} high"])


@pytest.mark.parametrize("end", [".svg", ".txt", ".csv"])
def test_a_chart_is_written_as_the_name_says_and_never_over_another_file(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"chart{end}"
    write(made("ribbons"), path, 80, 24, LIGHT)
    assert "cleo/large" in path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="is there already"):
        write(made("ribbons"), path, 80, 24, LIGHT)


def test_a_chart_can_not_be_written_as_anything_else(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must end in \.svg, \.txt or \.csv"):
        write(made("ribbons"), tmp_path / "chart.png", 80, 24, LIGHT)
    with pytest.raises(UsageError, match="can't be written"):
        write(made("ribbons"), tmp_path / "none" / "chart.svg", 80, 24, LIGHT)
