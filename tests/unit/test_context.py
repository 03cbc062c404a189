"""Which ideas a prompt shows when not all fit: the newest, and of the rest the most different."""

from hypothesis import given
from hypothesis import strategies as st

from core.context import fit

TOKENS = st.lists(st.integers(1, 50), max_size=30).map(lambda sizes: dict(enumerate(sizes, 1)))


def test_all_are_shown_while_they_fit() -> None:
    assert fit({1: 10, 2: 10, 3: 10}, 30, []) == [1, 2, 3]
    assert fit({}, 30, []) == []


def test_the_newest_take_half_and_the_most_different_of_the_rest_the_other_half() -> None:
    tokens = dict.fromkeys(range(1, 11), 10)
    assert fit(tokens, 60, [10, 2, 7, 5, 1]) == [2, 5, 7, 8, 9, 10]
    assert fit(tokens, 59, [10, 2, 7, 5, 1]) == [2, 5, 7, 9, 10]


def test_one_that_is_too_long_makes_way_for_shorter_ones() -> None:
    assert fit({1: 10, 2: 90, 3: 10, 4: 10}, 40, [2, 1, 3]) == [1, 3, 4]


def test_where_nothing_fits_nothing_is_shown() -> None:
    assert fit({1: 50, 2: 60}, 20, [1, 2]) == []


def test_no_more_is_asked_for_than_there_is_room() -> None:
    asked = []

    def most_different() -> object:
        for number in range(999, 0, -1):
            asked.append(number)
            yield number

    assert len(fit(dict.fromkeys(range(1, 1000), 10), 200, most_different())) == 20  # type: ignore[arg-type]
    assert len(asked) < 25


@given(TOKENS, st.integers(0, 400), st.randoms())
def test_the_room_is_never_exceeded_and_the_order_is_the_chains(
    tokens: dict[int, int], room: int, random: object
) -> None:
    wanted = list(tokens)
    random.shuffle(wanted)  # type: ignore[attr-defined]
    shown = fit(tokens, room, wanted)
    assert sum(tokens[number] for number in shown) <= room
    assert shown == sorted(set(shown))
    left_out = [tokens[number] for number in tokens if number not in shown]
    assert all(size > room - sum(tokens[number] for number in shown) for size in left_out), "what fits is shown"
