"""Every chart at three sizes, as a person would read it without colours; and what holds for all of them."""

from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from core.analysis.profiles import Chains, Map, Ribbons, Scatter
from core.analysis.rescoring import Change
from tests.app import made_up
from tui.charts.catalog import NAMES, Chart, Name, View, chart
from tui.charts.look import COLORLESS, DARK, PLAIN, SIXTEEN, Look

NUMBERS: dict[str, Any] = {
    "ribbons": made_up.RIBBONS,
    "scatter": made_up.SCATTER,
    "densities": made_up.LENGTHS,
    "radar": made_up.LEAF_TABLE,
    "heat": made_up.LEAF_TABLE,
    "effort": made_up.EFFORTS,
    "winners": made_up.WINNERS,
    "chains": made_up.CHAINS,
    "map": made_up.MAP,
    "who": made_up.WHO,
    "seeds": made_up.SEEDS,
    "costs": made_up.COSTS,
    "differences": made_up.DIFFERENCES,
}
VIEW = View(
    focus="bert",
    thresholds=Change(coherence=15.0, embedding_novelty=0.15, judged_novelty=0.15),
    by="verdict",
    idea=3,
    at=4,
)
SIZES = [(60, 18), (80, 24), (120, 40)]

charts = pytest.mark.parametrize("name", NUMBERS)
sizes = pytest.mark.parametrize(("width", "height"), SIZES, ids=[f"{width}x{height}" for width, height in SIZES])


def made(name: Name, numbers: Any = None, view: View = VIEW) -> Chart:
    return chart(name, numbers or NUMBERS[name], view)


def text(drawn: Chart, width: int, height: int, look: Look = COLORLESS) -> str:
    lines = drawn.draw(width, height, look)
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


def test_there_are_numbers_for_every_chart() -> None:
    assert set(NAMES) < set(NUMBERS)


@charts
@sizes
def test_how_it_looks(snapshot: SnapshotAssertion, name: Name, width: int, height: int) -> None:
    assert text(made(name), width, height) == snapshot


@charts
def test_how_it_looks_in_ascii_dots(snapshot: SnapshotAssertion, name: Name) -> None:
    """As on the console of Linux."""
    drawn = text(made(name), 80, 24, replace(SIXTEEN, glyphs=PLAIN))
    assert not any("\u2800" <= char <= "\u28ff" for char in drawn)
    assert drawn == snapshot


@charts
@pytest.mark.parametrize(("width", "height"), [*SIZES, (39, 30), (60, 9), (200, 60), (20, 3), (41, 10)])
def test_it_fills_the_room_that_it_is_given_and_no_more(name: Name, width: int, height: int) -> None:
    lines = made(name).draw(width, height, DARK)
    assert 0 < len(lines) <= height
    assert all(sum(cell_len(segment.text) for segment in line) <= width for line in lines)


@charts
def test_where_there_is_no_room_it_is_a_table_with_the_same_numbers(name: Name) -> None:
    drawn = made(name)
    sheet = drawn.sheet()
    first, *rest = text(drawn, 39, 9).splitlines()
    assert first.split()[0] == sheet.columns[0].split()[0]
    assert len([line for line in rest if line]) == min(len(sheet.rows), 8)
    assert all(len(row) == len(sheet.columns) for row in sheet.rows)


@charts
def test_it_draws_the_same_twice_and_after_any_other(name: Name) -> None:
    before = text(made(name), 80, 24)
    for other in NAMES:
        text(made(other), 100, 30)
    assert text(made(name), 80, 24) == before


@charts
def test_names_from_outside_are_text_and_take_the_cells_they_take(name: Name) -> None:
    """Control characters, wide characters and markup in every name there is."""
    foreign = "你好\x1b[2J\u202e[/b]\tmodel"
    drawn = made(name, renamed(NUMBERS[name], foreign), View(focus=foreign, thresholds=VIEW.thresholds))
    for width, height in SIZES:
        lines = drawn.draw(width, height, DARK)
        said = "".join(segment.text for line in lines for segment in line)
        assert not {"\x1b", "\u202e", "\t"} & set(said)
        assert all(sum(cell_len(segment.text) for segment in line) <= width for line in lines)


def renamed(numbers: Any, name: str) -> Any:
    """`numbers` with `name` in the place of every model, leaf, author, seed and team."""
    if isinstance(numbers, tuple):
        return tuple(renamed(each, f"{name}{place}") for place, each in enumerate(numbers))
    if not hasattr(numbers, "__struct_fields__"):
        return numbers
    changes: dict[str, Any] = {}
    for field in numbers.__struct_fields__:
        value = getattr(numbers, field)
        named = field in ("model", "name", "author", "seed", "team", "leaf", "question", "runner_up") and isinstance(
            value, str
        )
        changes[field] = name if named else tuple(name for _ in value) if field == "leaves" else renamed(value, name)
    return replace(numbers, **changes)


def test_forty_models_scroll_so_that_the_one_in_focus_is_seen() -> None:
    drawn = text(made("ribbons", made_up.FORTY, View(focus="model-37")), 80, 20)
    assert "model-37 " in drawn
    assert "model-1 " not in drawn
    assert "more above" in drawn
    assert len(text(made("ribbons", made_up.FORTY), 80, 60).splitlines()) > 41


def test_numbers_that_are_none_of_ours_leave_gaps() -> None:
    nan, endless = float("nan"), float("inf")
    points = tuple(
        replace(point, x=nan if place == 0 else point.x) for place, point in enumerate(made_up.SCATTER.points)
    )
    odd = replace(made_up.SCATTER, points=(*points, replace(points[1], model="far", y=endless)))
    assert "anna:7b" not in text(made("scatter", odd), 80, 24)
    assert "bert" in text(made("scatter", odd), 80, 24)


@pytest.mark.parametrize("numbers", [Ribbons(rows=()), Scatter(points=(), slope=0, r=None, n=0, x_name="", y_name="")])
def test_nothing_is_an_empty_table(numbers: Any) -> None:
    name: Name = "ribbons" if isinstance(numbers, Ribbons) else "scatter"
    assert text(made(name, numbers), 80, 24).strip().startswith(made(name, numbers).sheet().columns[0])


def test_names_of_points_do_not_collide_and_none_is_lost() -> None:
    drawn = text(made("scatter", made_up.SCATTER, View()), 60, 18)
    assert all(name in drawn for name in made_up.MODELS)


def test_points_on_one_spot_share_a_number_in_the_list() -> None:
    same = tuple(replace(point, x=20.0, y=20.0) for point in made_up.SCATTER.points)
    drawn = text(made("scatter", replace(made_up.SCATTER, points=same), View()), 60, 18)
    assert all(name in drawn for name in made_up.MODELS)


def test_a_threshold_is_a_line_between_what_passes_and_what_fails() -> None:
    def line(threshold: float) -> int:
        view = View(thresholds=Change(embedding_novelty=threshold))
        rows = text(made("chains", made_up.CHAINS, view), 80, 24).splitlines()
        return next(place for place, row in enumerate(rows) if "══" in row)

    assert line(0.1) > line(0.2) > line(0.3)


def test_ideas_behind_a_threshold_have_another_colour() -> None:
    def failing(threshold: float) -> int:
        view = View(thresholds=Change(embedding_novelty=threshold))
        bad = DARK.bad
        lines = made("chains", made_up.CHAINS, view).draw(80, 24, DARK)
        return sum(
            len(segment.text)
            for line in lines
            for segment in line
            if segment.style and segment.style.color and segment.style.color.triplet == bad and segment.text != " "
        )

    assert failing(0.0) == 0
    assert 0 < failing(0.2) < failing(0.4)


@pytest.mark.parametrize("name", ["densities", "radar", "scatter"])
def test_series_differ_by_their_marks(name: Name) -> None:
    drawn = text(made(name, view=View()), 120, 40)
    marks = COLORLESS.glyphs.marks[: 1 if name == "scatter" else 4]
    assert all(drawn.count(mark) > 1 for mark in marks)


def test_a_map_of_very_many_ideas_shows_every_group() -> None:
    places = tuple(
        replace(made_up.MAP.places[number % 40], x=number % 97 / 10, y=number % 89 / 10, author=f"author-{number % 9}")
        for number in range(20_000)
    )
    drawn = text(made("map", Map(places=places, explained=(0.2, 0.1), left_out=0), View()), 80, 24)
    assert "author-0" in drawn
    assert "others" in drawn


def test_chains_without_any_score_are_a_table() -> None:
    bare = replace(
        made_up.CHAINS.series[0], coherence=(None,) * 30, embedding_novelty=(None,) * 30, judged_novelty=(None,) * 30
    )
    assert text(made("chains", Chains(series=(bare,))), 80, 24).startswith("model")
