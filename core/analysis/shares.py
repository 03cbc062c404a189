"""Whose ideas a person thought well of: those that they pinned or rated."""

from collections.abc import Iterable

from msgspec import Struct

from core.chain import Chain, Idea


class Share(Struct, frozen=True):
    """One author's part."""

    author: str
    """A member's name, or `you`."""
    ideas: int
    """All of theirs that were not taken out."""
    marked: int
    """Those of them that are pinned or rated."""
    of_marked: float
    """Their part of everybody's marked ideas, 0 to 1."""
    mean_rating: float | None
    """Of their rated ideas, 1 to 5; None where none is rated."""


def shares(chains: Iterable[Chain]) -> list[Share]:
    """Each author's share of the pinned and rated ideas of `chains`, the greatest first; none if no idea is marked.

    An idea that was taken out counts for nobody, and one that a member merged for a person is the member's.
    """
    by_author: dict[str, list[Idea]] = {}
    for chain in chains:
        for idea in chain.ideas:
            if not idea.removed:
                by_author.setdefault(idea.author, []).append(idea)
    every = sum(_marked(idea) for ideas in by_author.values() for idea in ideas)
    if not every:
        return []
    found = [_share(author, ideas, every) for author, ideas in by_author.items()]
    return sorted(found, key=lambda share: -share.marked)


def _share(author: str, ideas: list[Idea], every: int) -> Share:
    marked = sum(map(_marked, ideas))
    ratings = [idea.rating for idea in ideas if idea.rating]
    return Share(
        author=author,
        ideas=len(ideas),
        marked=marked,
        of_marked=marked / every,
        mean_rating=sum(ratings) / len(ratings) if ratings else None,
    )


def _marked(idea: Idea) -> bool:
    return idea.pinned or idea.rating > 0
