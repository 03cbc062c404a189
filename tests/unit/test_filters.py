"""Which questions pass the filters of profiles, on the screen and on the command line."""

import pytest

from core.questions import Question
from tui.selection import fitting


@pytest.mark.parametrize(
    ("domain", "leaves"),
    [
        ("", ["Physics / Optics", "Biology", "Marine / Biology"]),
        ("physics", ["Physics / Optics"]),
        ("PHYSICS / OPTICS", ["Physics / Optics"]),
        ("optics", ["Physics / Optics"]),
        ("opt", []),
        ("biology", ["Biology"]),
        ("marine", ["Marine / Biology"]),
    ],
)
def test_a_domain_is_named_in_full_and_a_leaf_by_its_last_part_too(domain: str, leaves: list[str]) -> None:
    questions = (
        Question("a", "Why?", "Physics", "Optics"),
        Question("b", "Why?", "Biology"),
        Question("c", "Why?", "Marine", "Biology"),
    )
    marked = fitting(questions, "why", domain)
    assert [question.leaf for question, fits in zip(questions, marked, strict=True) if fits] == leaves
