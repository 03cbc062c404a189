"""Which earlier ideas a prompt shows: all that fit; when not all do, the pinned, the newest, the most different."""

from collections.abc import Iterable, Mapping, Sequence

NEWEST_SHARE = 0.5
"""How much of the room goes to the newest ideas, before the most different of the rest fill it."""


def fit(tokens: Mapping[int, int], room: int, most_different: Iterable[int], pinned: Sequence[int] = ()) -> list[int]:
    """The numbers of the ideas to show, in their order, taking at most `room` tokens.

    `tokens` gives the tokens each idea takes, oldest first; `most_different` the order in which older ones are wanted;
    `pinned` those that come before all others.
    """
    if sum(tokens.values()) <= room:
        return list(tokens)
    shown: set[int] = set()
    used = 0
    for number in pinned:
        if number in tokens and used + tokens[number] <= room:
            shown.add(number)
            used += tokens[number]
    newest = used + (room - used) * NEWEST_SHARE
    for number in reversed(tokens):
        if number in shown:
            continue
        if used + tokens[number] > newest:
            break
        shown.add(number)
        used += tokens[number]
    smallest = min(tokens.values())
    for number in most_different:
        if used + smallest > room:
            break
        if number in tokens and number not in shown and used + tokens[number] <= room:
            shown.add(number)
            used += tokens[number]
    return sorted(shown)
