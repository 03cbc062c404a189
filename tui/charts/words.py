"""Numbers and names as charts say them."""

from core.analysis.intervals import Interval


def in_brackets(interval: Interval | None, digits: int = 1) -> str:
    """Where a value is in 95 of 100 cases; "" where nobody can tell."""
    ends = both_ends(interval)
    return f"[{ends[0]:.{digits}f}–{ends[1]:.{digits}f}]" if ends else ""


def with_interval(interval: Interval | None, digits: int = 1) -> str:
    if interval is None:
        return "–"
    return f"{interval.value:.{digits}f} {in_brackets(interval, digits)}".rstrip()


def amount(value: float | None) -> str:
    """Two digits and no more of what is small."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}" if value else "0"


def said(interval: Interval | None) -> str:
    """An amount of any size with where it is in 95 of 100 cases."""
    return "–" if interval is None else f"{amount(interval.value)} {amount_ends(interval)}".rstrip()


def amount_ends(interval: Interval | None) -> str:
    """As `in_brackets`, of an amount of any size."""
    ends = both_ends(interval)
    return f"[{amount(ends[0])}–{amount(ends[1])}]" if ends else ""


def signed(interval: Interval | None, digits: int = 1) -> str:
    """A difference with its interval, and whether it tells anything."""
    if interval is None:
        return "–"
    value = f"{interval.value:+.{digits}f}".replace("-", "−")
    if interval.low is None or interval.high is None:
        return value
    low, high = (f"{end:+.{digits}f}".replace("-", "−") for end in (interval.low, interval.high))
    return f"{value} [{low}, {high}]"


def both_ends(interval: Interval | None) -> tuple[float, float] | None:
    """None where nobody can tell."""
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high


def leaf_name(leaf: str) -> str:
    """A leaf without the domain before it."""
    return leaf.rpartition(" / ")[2]
