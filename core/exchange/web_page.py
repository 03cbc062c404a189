"""Sessions as one HTML file that needs nothing else: no scripts, no fonts, no pictures from anywhere."""

from collections.abc import Iterable, Iterator
from itertools import count
from xml.etree.ElementTree import Element, tostring

from core.exchange.report import BLANK, ReportedChain, ReportedIdea, ReportedSession, reported
from core.store.library import StoredSession

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Whatever a text might try: a browser loads nothing for this page and runs nothing in it."""

STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1b1b1b; --dim: #5f5f5f; --paper: #fdfdfb; --line: #dcdcd6; --accent: #0b6e63;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e4e0; --dim: #a0a09a; --paper: #16181a; --line: #33373a; --accent: #6fc7b7; }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 46rem; color: var(--ink); background: var(--paper);
  font: 1.05rem/1.6 Georgia, 'Times New Roman', serif;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: 2.5rem 0 1rem; }
h1:first-child { margin-top: 0; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 2rem 0 0.5rem; }
h3, dl, nav, header, summary, .said { font-family: system-ui, sans-serif; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; font-size: 0.85rem; color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
nav { font-size: 0.9rem; border-block: 1px solid var(--line); padding: 0.75rem 0; }
nav ol { margin: 0; padding-left: 2rem; }
a { color: var(--accent); }
article { border-top: 1px solid var(--line); padding: 0.9rem 0; break-inside: avoid-page; }
article.chosen { border-left: 3px solid var(--accent); padding-left: 1rem; }
article.fallen > p { color: var(--dim); }
header {
  display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: center; font-size: 0.85rem; color: var(--dim);
}
header b { color: var(--ink); }
.marks { color: var(--accent); }
p { margin: 0.4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.said { font-size: 0.85rem; color: var(--dim); }
meter { width: 4rem; height: 0.7rem; }
details { font-size: 0.9rem; color: var(--dim); }
summary { cursor: pointer; font-size: 0.85rem; }
@media print {
  :root { color-scheme: light; --ink: #000; --dim: #444; --paper: #fff; --line: #bbb; --accent: #000; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
}
"""


def web_page(sessions: Iterable[StoredSession]) -> Iterator[str]:
    """Piece by piece. What others wrote gets into it only through elements, which escape it."""
    anchors = (f"q{number}" for number in count(1))
    for number, session in enumerate(sessions):
        report = reported(session)
        if not number:
            yield f'<!DOCTYPE html>\n<html lang="en">\n{_written(_head(report.title))}<body>\n<main>\n'
        yield from map(_written, _session(report, anchors))
    yield "</main>\n</body>\n</html>\n"


def _written(element: Element) -> str:
    return f"{tostring(element, encoding='unicode', method='html')}\n"


def _element(tag: str, *inside: Element | str, **attributes: str) -> Element:
    """`class_` is the attribute class."""
    element = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    for each in inside:
        if not isinstance(each, str):
            element.append(each)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + each
        else:
            element.text = (element.text or "") + each
    return element


def _head(title: str) -> Element:
    return _element(
        "head",
        _element("meta", charset="utf-8"),
        _element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        _element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        _element("meta", name="generator", content="Jagstorm"),
        _element("title", title),
        _element("style", STYLE),
    )


def _session(session: ReportedSession, anchors: Iterator[str]) -> Iterator[Element]:
    yield _element("h1", session.title)
    facts = [_element(tag, text) for fact in session.facts for tag, text in zip(("dt", "dd"), fact, strict=True)]
    yield _element("dl", *facts)
    if len(session.chains) == 1:
        yield from _chain(session.chains[0])
        return
    named = [(next(anchors), chain) for chain in session.chains]
    entries = [_element("li", _element("a", chain.question, href=f"#{anchor}")) for anchor, chain in named]
    yield _element("nav", _element("ol", *entries))
    for anchor, chain in named:
        yield _element("h2", chain.question, id=anchor)
        yield from _chain(chain)


def _chain(chain: ReportedChain) -> Iterator[Element]:
    yield _element("p", ". ".join(filter(None, (chain.leaf, chain.outcome))), class_="said")
    if chain.chosen:
        yield _element("h3", "Pinned and rated")
        yield from (_idea(idea, "chosen") for idea in chain.chosen)
        if chain.others:
            yield _element("h3", "The others")
    yield from (_idea(idea, "" if idea.stands else "fallen") for idea in chain.others)


def _idea(idea: ReportedIdea, kind: str) -> Element:
    marks = " ".join(filter(None, ("pinned" if idea.pinned else "", "★" * idea.rating)))
    article = _element(
        "article",
        _element(
            "header",
            _element("b", f"{idea.number}. {idea.author}"),
            *([_element("span", marks, class_="marks")] if marks else []),
            *_scores(idea),
        ),
        _element("p", idea.text or BLANK),
        **({"class_": kind} if kind else {}),
    )
    if said := "; ".join(filter(None, (idea.verdict, *idea.under))):
        article.append(_element("p", said, class_="said"))
    for passage in idea.more:
        article.append(_element("p", _element("b", f"{passage.name}: "), passage.text))
    if idea.thoughts:
        article.append(_element("details", _element("summary", "Thoughts"), _element("p", idea.thoughts)))
    return article


def _scores(idea: ReportedIdea) -> list[Element]:
    spans = [_element("span", score) for score in idea.scores]
    if idea.novelty is not None:
        novelty = f"{min(max(idea.novelty, 0.0), 1.0):.3f}"
        spans.insert(0, _element("meter", value=novelty, min="0", max="1", aria_hidden="true"))
    return spans
