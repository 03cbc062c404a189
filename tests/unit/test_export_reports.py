"""What people read: Markdown and HTML say who wrote what under which seed, what is best first, and text stays text."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from core import events as ev
from core.config import Origin
from core.exchange.markdown import escaped, markdown
from core.exchange.web_page import web_page
from core.store.library import StoredSession
from core.text import clean
from tests.unit.exchanged import Q, ended, idea, scored, seed, told, whole

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/x.png) [y](javascript:alert(1))",
    "# Heading\n\n- item\n1. one\n> quote\n\n    code\n\n```\nfence\n```",
    "Title\n===\n\nOther\n---",
    "a | b\n--|--\nc | d",
    "https://evil.example www.evil.example me@evil.example <https://evil.example>",
    "*bold* __bold__ ~~gone~~ `code` $x$ &lt; &#60; \\* [^1]",
    "</title></style></p></article><h1>",
    "[ref]: http://evil.example 'x'",
]


def rich() -> StoredSession:
    """Five ideas with all that a person can do to them."""
    return told(
        *idea(1, "Listen to the film."),
        seed("error-correcting codes"),
        *idea(2, "Encode it redundantly.", "bert", seeds=("s1",), thoughts="Codes have distance."),
        *idea(3, "Weigh it.", "cleo"),
        *idea(
            4, "Weigh it again.", embedding_novelty=0.1, verdict="failed", failed_rule="embedding_novelty", nearest=3
        ),
        ev.IdeaAdded(question=Q, idea=5, step=4, text="Ask the cat.", author="you"),
        scored(5, coherence=None, judged_novelty=None, verdict="unscored", why="the judge is gone"),
        ev.IdeaPinned(question=Q, idea=2, old=False, new=True),
        ev.IdeaRated(question=Q, idea=3, old=0, new=4),
        ev.IdeaRated(question=Q, idea=1, old=0, new=5),
        ev.IdeaCommented(question=Q, idea=2, old="", new="Try this first."),
        ev.IdeaEdited(question=Q, idea=3, old="Weigh it.", new="Weigh it twice."),
        ev.IdeaRemoved(question=Q, idea=5),
        *ended(ideas=5, valid=3),
    )


# ── Markdown ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def sections(text: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


def test_pinned_and_rated_ideas_come_first() -> None:
    text = whole(markdown([rich()]))
    assert sections(text) == [
        "Propose a way to see a single vortex in a superconducting film.",
        "Pinned and rated",
        "2. bert (model-bert), pinned",
        "1. anna (model-anna), ★★★★★",
        "3. cleo (model-cleo), ★★★★",
        "The others",
        "4. anna (model-anna)",
        "5. you",
    ]


def test_it_says_whose_ideas_were_thought_well_of() -> None:
    assert "Pinned and rated: 1 by anna (33%), 1 by bert (33%), 1 by cleo (33%)" in whole(markdown([rich()]))


def test_an_idea_says_its_scores_its_seed_and_what_became_of_it() -> None:
    text = whole(markdown([rich()]))
    assert "*novelty 0.42, coherence 88, judged novelty 0.30; seed: error-correcting codes*" in text
    assert "*novelty 0.10, coherence 88, judged novelty 0.30; failed: too like an earlier idea (3)*" in text
    assert "*novelty 0.42; taken out; unscored (the judge is gone)*" in text
    assert "**Comment:** Try this first." in text
    assert "Weigh it twice.\n" in text
    assert "**Before it was edited:** Weigh it." in text
    assert "Physics / Condensed Matter. 5 ideas, 3 valid; the last failed: too like an earlier idea" in text


def test_what_a_session_is_stands_at_its_top() -> None:
    session = rich()
    origin = Origin(file="model.json", digest="00", layout="sciaidanbench", model="a/b:7b", temperature="0.7")
    text = whole(markdown([replace(session, plan=replace(session.plan, origin=origin))]))
    assert "- Team: scripted (sample): anna (model-anna), bert (model-bert), cleo (model-cleo)" in text
    assert "- Imported from: model.json (a/b:7b, temperature 0.7)" in text
    assert "- Session: 20260101-120000-vortex-00aa" in text


def test_several_sessions_follow_each_other() -> None:
    text = whole(markdown([rich(), told(*idea(1, "Alone."))]))
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 2
    assert "1 idea, 1 valid; not finished" in text


def test_an_unfinished_session_without_ideas_is_a_report_too() -> None:
    assert "0 ideas, 0 valid; not finished" in whole(markdown([told()]))
    assert "0 ideas, 0 valid; not finished" in whole(web_page([told()]))


def rendered(text: str) -> tuple[str, set[str]]:
    """The text that a reader of Markdown shows, and the kinds of things that are in it."""
    tokens = MarkdownIt("gfm-like", {"linkify": True, "html": True}).parse(text)
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or []}
    shown = "\n".join(
        "".join("\n" if child.type.endswith("break") else child.content for child in token.children or [])
        for token in tokens
        if token.type == "inline"
    )
    return shown, kinds


PLAIN = {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "hardbreak"}


@pytest.mark.parametrize("text", NASTY)
def test_nothing_in_an_idea_is_markdown(text: str) -> None:
    shown, kinds = rendered(escaped(text))
    assert kinds <= PLAIN
    assert shown.split() == text.split()


@given(st.text(st.sampled_from("ab1 \n\t#*_-+=`~[](){}<>|&\\!.:/@$^\"'ü・"), max_size=60))
@example("a\n\n\n  b")
@example("1.\n2)")
@example("::: x")
def test_whatever_is_written_is_shown_as_it_is(text: str) -> None:
    shown, kinds = rendered(escaped(text))
    assert kinds <= PLAIN
    assert shown.split() == (text.split() or ["(blank)"])


def test_line_breaks_and_paragraphs_stay() -> None:
    assert rendered(escaped("one\ntwo\n\nthree"))[0] == "one\ntwo\nthree"
    assert escaped("one\n\n\n\ntwo") == "one\n\ntwo"


# ── HTML ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Page(HTMLParser):
    """What a browser makes of it."""

    VOID = frozenset({"meta", "br", "img", "hr", "input", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "elements are closed in order"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def test_a_page_says_what_the_report_says_and_in_the_same_order() -> None:
    page = Page(whole(web_page([rich()])))
    assert not page.open
    headers = [text for text in page.texts if re.match(r"\d\. ", text)]
    assert headers == [
        "2. bert (model-bert)",
        "1. anna (model-anna)",
        "3. cleo (model-cleo)",
        "4. anna (model-anna)",
        "5. you",
    ]
    for text in (
        "Encode it redundantly.",
        "seed: error-correcting codes",
        "Codes have distance.",
        "★★★★★",
        "Try this first.",
    ):
        assert any(text in each for each in page.texts)


def test_a_page_needs_nothing_from_anywhere() -> None:
    page = Page(whole(web_page([rich(), rich()])))
    assert not {"script", "link", "img", "iframe", "object", "form", "base"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")} | ({"src", "style"} & names)
    assert all(value and value.startswith("#") for name, value in page.attributes if name == "href")
    text = whole(web_page([rich()]))
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "url(" not in text
    assert "@import" not in text


@given(st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=60)))
def test_texts_of_others_are_nothing_but_text(text: str) -> None:
    text = clean(text)
    plain = Page(whole(web_page([told(*idea(1, "plain", thoughts="plain"))])))
    page = Page(whole(web_page([told(*idea(1, text, thoughts=text or "plain"))])))
    assert (page.tags, page.attributes) == (plain.tags, plain.attributes)
    assert not text or page.texts.count(text) == 2 or text.isspace()


def test_a_page_of_many_questions_begins_with_where_they_are() -> None:
    session = rich()
    second = ev.QuestionStarted(question="q2", text="Why <b>?", domain="Own")
    page = Page(whole(web_page([told(*idea(1, "One."), second, plan=session.plan)])))
    links = [value for name, value in page.attributes if name == "href"]
    anchors = [f"#{value}" for name, value in page.attributes if name == "id"]
    assert links == anchors == ["#q1", "#q2"]
