"""Numbers and names as charts say them."""

from core.analysis.intervals import Interval


def in_brackets(interval: Interval | None, digits: int = 1) -> str:
    """Where a value is in 95 of 100 cases; "" where nobody can tell."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"[{interval.low:.{digits}f}–{interval.high:.{digits}f}]"


def with_interval(interval: Interval | None, digits: int = 1) -> str:
    if interval is None:
        return "–"
    return f"{interval.value:.{digits}f} {in_brackets(interval, digits)}".rstrip()


def signed(interval: Interval | None, digits: int = 1) -> str:
    """A difference with its interval, and whether it tells anything."""
    if interval is None:
        return "–"
    value = f"{interval.value:+.{digits}f}".replace("-", "−")
    if interval.low is None or interval.high is None:
        return value
    low, high = (f"{end:+.{digits}f}".replace("-", "−") for end in (interval.low, interval.high))
    return f"{value} [{low}, {high}]"


def leaf_name(leaf: str) -> str:
    """A leaf without the domain before it."""
    return leaf.rpartition(" / ")[2]
