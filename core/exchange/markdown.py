"""Sessions as Markdown, in which what others wrote is text: it makes no headings, links, images or tags."""

import re
from collections.abc import Iterable, Iterator

from core.exchange.report import BLANK, ReportedChain, ReportedIdea, ReportedSession, reported
from core.store.library import StoredSession

_ACTIVE = re.compile(r"[\\`*_\[\]<&~$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BEGINS = re.compile(r"^([#>+=:|-])|^(\d{1,9})([.)])")


def markdown(sessions: Iterable[StoredSession]) -> Iterator[str]:
    """Line by line, with their ends."""
    for number, session in enumerate(sessions):
        if number:
            yield "\n"
        for line in _session(reported(session)):
            yield f"{line}\n"


def escaped(text: str) -> str:
    """`text` with its lines and paragraphs, such that whatever reads Markdown shows just that."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join("\\\n".join(map(_escaped_line, paragraph.split("\n"))) for paragraph in paragraphs) or BLANK


def _escaped_line(line: str) -> str:
    line = _ACTIVE.sub(r"\\\g<0>", line.strip())
    return _BEGINS.sub(lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}", line)


def _session(session: ReportedSession) -> Iterator[str]:
    yield f"# {escaped(session.title)}"
    yield ""
    for name, fact in session.facts:
        yield f"- {name}: {escaped(fact)}"
    for chain in session.chains:
        yield ""
        yield from _chain(chain, heading=len(session.chains) > 1)


def _chain(chain: ReportedChain, *, heading: bool) -> Iterator[str]:
    level = "##"
    if heading:
        yield f"## {escaped(chain.question)}"
        yield ""
        level = "###"
    yield escaped(". ".join(filter(None, (chain.leaf, chain.outcome))))
    for title, ideas in (("Pinned and rated", chain.chosen), ("The others" if chain.chosen else "Ideas", chain.others)):
        if ideas:
            yield ""
            yield f"{level} {title}"
        for idea in ideas:
            yield ""
            yield from _idea(idea, f"{level}#")


def _idea(idea: ReportedIdea, level: str) -> Iterator[str]:
    stars = "★" * idea.rating
    marks = ", ".join(filter(None, (escaped(idea.author), "pinned" if idea.pinned else "", stars)))
    yield f"{level} {idea.number}. {marks}"
    yield ""
    yield escaped(idea.text)
    if said := "; ".join(filter(None, (", ".join(idea.scores), idea.verdict, *idea.under))):
        yield ""
        yield f"*{escaped(said)}*"
    for passage in idea.more:
        yield ""
        yield f"**{escaped(passage.name)}:** {escaped(passage.text)}"
