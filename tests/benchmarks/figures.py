"""How figures are taken and printed: medians of pairs from one run, each beside the bound it is held to."""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter


def title(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def show(what: str, value: float, unit: str, bound: float | None = None) -> None:
    """One figure; with a bound, whether it is kept."""
    held = "" if bound is None else f"   bound {bound:g} {unit}   {'kept' if value <= bound else 'MISSED'}"
    print(f"{what:<62} {value:>9.4g} {unit}{held}")


def ms(seconds: float) -> float:
    return seconds * 1000


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    began = perf_counter()
    work()
    return perf_counter() - began


def interleaved(count: int, *works: Callable[[], float]) -> list[list[float]]:
    """What each of `works` measures, `count` times, by turns, so that a busy moment strikes all alike."""
    rows: list[list[float]] = [[] for _ in works]
    for work in works:
        work()  # warm
    for _ in range(count):
        for row, work in zip(rows, works, strict=True):
            row.append(work())
    return rows


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def megabytes(pid: int) -> tuple[float, float]:
    """Resident and proportional memory of a process (its share of pages that it shares), in MB. Linux only."""
    rows = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    resident, proportional = (int(rows[name].split()[0]) * 1024 / 1e6 for name in ("Rss", "Pss"))
    return resident, proportional
