"""What one must know of a selection before one compares what is in it."""

from core.analysis.mixed import mixed
from core.analysis.table import Table
from core.text import clean_line, counted


def caveats(table: Table) -> list[str]:
    """A line each; none where nothing is mixed that differs, and nothing counted twice."""
    found = mixed(table)
    lines = []
    if len(found.embedders) > 1:
        names = ", ".join(clean_line(name, 60) for name in found.embedders)
        lines.append(f"Several embedders ({names}): the same novelty, or threshold, does not mean the same to each.")
    if found.forks:
        lines.append(
            f"Forks share {counted(found.shared, 'idea')} in {counted(found.forks, 'chain')} with the sessions that "
            "they were made of: both count them."
        )
    if found.damaged:
        lack = f"{counted(found.damaged, 'session')} {'lacks' if found.damaged == 1 else 'lack'}"
        lines.append(f"{lack} part of the record: `jagstorm show` says what.")
    return lines
