"""How a comparison of teams is said to a person."""

import math
import textwrap
from collections.abc import Iterable, Mapping

import click

from core.analysis.intervals import ENOUGH, Interval
from core.analysis.standings import Alone, Pair, Report, Standing, TeamReport
from core.events.course import TROUBLE
from core.metering import BUDGET, EXHAUSTED
from core.text import clean_line, counted
from tui.words import END_WORDS

WIDTH = 80
LABEL = 14
NAME, IDEAS, CALLS, A_CALL = 27, 7, 9, 7
"""Columns."""

NOTABLE = 1.1
"""How many times the calls must be before it is said."""

MOST_NAMED = 4
"""Authors named in a line; the rest are counted."""

_ENDS = {
    BUDGET: "the budget",
    EXHAUSTED: "no more recorded ideas",
    TROUBLE: "trouble",
    "cap": "the cap",
    "refused": "a refusal",
}

_VERDICTS = {
    "more": "more than its best member alone",
    "fewer": "fewer than its best member alone",
    "no difference seen": "no difference seen",
    "too few chains to tell": f"too few chains to tell ({ENOUGH} are the least)",
}

_IN_SHORT = {"no difference seen": "no difference", "too few chains to tell": "too few chains"}


def report_lines(report: Report, *, recorded: bool = False) -> Iterable[str]:
    """The report in words. Of recorded members no time is told, and their teams have no order to be compared in."""
    for team in report.teams:
        yield from _team_lines(team, timed=not recorded)
        yield ""
    if report.pairs and not recorded:
        for each in report.pairs:
            yield from _pair_lines(each)
        yield ""
    yield from _table(report)


def _team_lines(team: TeamReport, *, timed: bool) -> Iterable[str]:
    standing, alone = team.standing, team.alone
    yield click.style(clean_line(standing.team, WIDTH), bold=True)
    yield from _wrapped("valid ideas", f"{_interval(standing.valid)} a chain")
    yield from _wrapped("for what", _for_what(standing, timed=timed))
    yield from _wrapped("used", _used(standing, timed=timed))
    yield from _wrapped("ended by", _counts({_end(name): count for name, count in standing.ended.items()}, 6))
    if len(standing.by) > 1:
        yield from _wrapped("written by", _shares(standing.by))
    if alone:
        yield from _alone_lines(alone, timed=timed)


def _alone_lines(alone: Alone, *, timed: bool) -> Iterable[str]:
    names = " and ".join(clean_line(name, 60) for name in dict.fromkeys(alone.best))
    how = (
        "picked on the half of the questions that it is not shown on"
        if alone.held_out
        else "picked on the same questions, so partly by luck"
    )
    standing = alone.standing
    spent = (
        f" ({spoken} of {standing.chains} chains told all there is)"
        if (spoken := standing.ended.get(EXHAUSTED))
        else ""
    )
    yield from _wrapped("best alone", f"{names}, {how}: {_interval(standing.valid)} a chain{spent}")
    yield from _wrapped("", _for_what(standing, timed=timed))
    said = f"{_VERDICTS[alone.verdict]}{_dearer(alone)}"
    yield from _wrapped("difference", f"{_interval(alone.difference, sign=True)}: {said}")


def _dearer(alone: Alone) -> str:
    """What a team's lead took, where it took more."""
    return f", for {_times(alone)} times the calls" if alone.calls >= NOTABLE else ""


def _times(alone: Alone) -> str:
    return f"{alone.calls:.1f}" if alone.calls < 10 else f"{alone.calls:,.0f}"


def _pair_lines(pair: Pair) -> Iterable[str]:
    said = {"more": "more", "fewer": "fewer"}.get(pair.verdict, _VERDICTS[pair.verdict])
    names = f"{clean_line(pair.team, 60)} next to {clean_line(pair.other, 60)}"
    words = f"{names}: {_interval(pair.difference, sign=True)} valid ideas a chain: {said}"
    yield from textwrap.wrap(words, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _table(report: Report) -> Iterable[str]:
    """All in short, whoever has the most valid ideas first."""
    rows = [(team.standing, _in_short(team.alone) if team.alone else "") for team in report.teams]
    rows += [(member, "alone") for member in report.members]
    yield f"{'valid ideas':>{NAME + IDEAS}}{'calls':>{CALLS}}{'a call':>{A_CALL}}  next to its best alone"
    for standing, said in sorted(rows, key=lambda row: -row[0].valid.value):
        for line in _row(standing, said):
            yield click.style(line, dim=said == "alone")


def _row(standing: Standing, said: str) -> Iterable[str]:
    """A long name has a line of its own."""
    name = clean_line(standing.team, 60)
    if len(name) > NAME:
        yield name
        name = ""
    per_call = _number(standing.per_call.value, 2, sign=False)
    numbers = f"{standing.valid.value:{IDEAS}.1f}{standing.calls:{CALLS},.1f}{per_call:>{A_CALL}}"
    yield f"{name:<{NAME}}{numbers}  {said}".rstrip()


def _in_short(alone: Alone) -> str:
    dearer = f", {_times(alone)} × calls" if alone.calls >= NOTABLE else ""
    return f"{_IN_SHORT.get(alone.verdict, alone.verdict)}{dearer}"


def _for_what(standing: Standing, *, timed: bool) -> str:
    parts = [
        f"{_interval(standing.per_call, 2)} a call",
        f"{_interval(standing.per_1000_tokens, 2)} per 1,000 tokens",
    ]
    if timed:
        parts.append(f"{_interval(standing.per_minute)} a minute")
    return ", ".join(parts)


def _used(standing: Standing, *, timed: bool) -> str:
    cost = "price unknown" if standing.cost is None else f"${standing.cost:.4f} each" if standing.cost else "free"
    time = f", {standing.seconds:.0f} s" if timed else ""
    used = f"{standing.calls:,.1f} calls, {standing.tokens:,.0f} tokens{time} a chain"
    return f"{used}, {cost}; {counted(standing.chains, 'chain')}"


def _interval(interval: Interval, digits: int = 1, *, sign: bool = False) -> str:
    texts = [
        _number(value, digits, sign=sign)
        for value in (interval.value, interval.low, interval.high)
        if value is not None
    ]
    return texts[0] if len(texts) == 1 else f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _number(value: float, digits: int, *, sign: bool) -> str:
    """With more digits where two would be none."""
    if not math.isfinite(value):
        return "–"
    if not value:
        return f"{0:.{digits}f}"
    if 0 < abs(value) < 0.5 * 10**-digits or (digits > 1 and 0 < abs(value) < 0.1):
        return f"{value:{'+' if sign else ''}.1g}".replace("-", "−")
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def _shares(by: Mapping[str, int]) -> str:
    whole = sum(by.values())
    named = [f"{clean_line(name, 40)} {count / whole:.0%}" for name, count in list(by.items())[:MOST_NAMED]]
    rest = list(by.values())[MOST_NAMED:]
    if rest:
        named.append(f"{counted(len(rest), 'other')} {sum(rest) / whole:.0%}")
    return ", ".join(named)


def _counts(counts: Mapping[str, int], most: int) -> str:
    return ", ".join(f"{name} {count}" for name, count in list(counts.items())[:most])


def _end(name: str) -> str:
    return _ENDS.get(name) or END_WORDS.get(name, name)


def _wrapped(label: str, text: str) -> list[str]:
    head = f"  {label:<{LABEL - 2}}"
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * LABEL, break_on_hyphens=False)
