"""The tables of novelty and length and of variety, as `jagstorm profile` prints them, and what stands below them."""

import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion

from core.analysis.brevity import Brevities, Brevity
from core.analysis.richness import FirstAnswers
from core.analysis.variety import THRESHOLDS, Varieties, Variety
from tests.app.made_up import MODELS, interval
from tests.app.test_charts_drawn import sizes, text
from tui.variety import More, more_chart, more_notes

LENGTH = Brevities(
    rows=tuple(
        Brevity(
            model=name,
            r=None if place == 5 else 0.3 - 0.2 * place,
            length=800 - 100.0 * place,
            novelty=interval(0.4 - 0.03 * place),
            at_usual_length=interval(0.38 - 0.02 * place),
        )
        for place, name in enumerate(MODELS)
    ),
    r=-0.21,
    slope=-0.03,
    usual_length=510.0,
)

VARIETY = Varieties(
    rows=tuple(
        Variety(
            model=name,
            ideas=interval(20.0 - place),
            vendi=interval(9.0 - place),
            vendi_2=interval(5.0 - 0.5 * place),
            distance=None if place == 5 else interval(0.6 - 0.05 * place),
            clusters=tuple((20.0 - place) * (1 - threshold) for threshold in THRESHOLDS),
            dry=None if place == 5 else interval(0.5 - 0.04 * place),
        )
        for place, name in enumerate(MODELS)
    ),
    thresholds=THRESHOLDS,
    shared=tuple(
        tuple(None if {row, column} == {0, 5} else 1.0 if row == column else 0.1 * row for column in range(6))
        for row in range(6)
    ),
    threshold=0.185,
    first_answers=tuple(
        FirstAnswers(
            leaf="Chemistry",
            question=f"How to hear ice {place}?",
            chains=20 - place,
            distinct=12,
            coverage=0.1 * (5 + place),
            expected=None if place == 1 else 30.4,
        )
        for place in range(5)
    ),
)


@sizes
@pytest.mark.parametrize("numbers", [LENGTH, VARIETY], ids=["length", "diversity"])
def test_how_it_looks(snapshot: SnapshotAssertion, numbers: More, width: int, height: int) -> None:
    assert text(more_chart(numbers), width, height) == snapshot


def test_what_stands_below_names_the_most_alike_and_counts_kinds(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(more_notes(VARIETY)) == snapshot


def test_where_nothing_is_in_common_nothing_is_said() -> None:
    assert more_notes(replace(VARIETY, shared=((1.0,),), first_answers=())) == []
    assert more_notes(LENGTH) == []
