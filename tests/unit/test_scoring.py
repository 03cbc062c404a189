"""Embedding novelty: against every earlier idea, and never a pass without a direction."""

import asyncio
import math
from collections.abc import Sequence
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import events as ev
from core.chain import Chain
from core.rules import WORDLLAMA_THRESHOLD, Rules, Verdict, judge
from core.scoring.account import Account
from core.scoring.embeddings import Embedding, Vectors, WordLlamaEmbedder, average, split, unit
from core.scoring.novelty import Novelty, VectorStore
from core.scoring.scorer import ChainScorer
from core.state import State, apply


def chain_of(*texts: str) -> Chain:
    state = State()
    apply(state, ev.QuestionStarted(question="q", text="Propose a way to hear ice.", domain="Own"))
    for number, text in enumerate(texts, 1):
        apply(state, ev.IdeaAdded(question="q", idea=number, step=number, text=text, author="anna"))
    assert state.chain
    return state.chain


class ScriptedEmbedder:
    """Gives the vectors of a script, whatever they are: an embedder that does not keep its word."""

    name = "scripted"
    dims = 2

    def __init__(self, script: dict[str, Sequence[float] | None]) -> None:
        self.script = script
        self.asked: list[str] = []

    async def prepare(self) -> None:
        pass

    async def embed(self, texts: Sequence[str], account: Account) -> list[Embedding]:
        self.asked += texts
        vectors = [self.script[text] for text in texts]
        return [Embedding(None if vector is None else np.array(vector, dtype=np.float32)) for vector in vectors]


def angle(degrees: float) -> tuple[float, float]:
    return (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))


# ── a chain, idea by idea ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_first_idea_is_wholly_new() -> None:
    scores = await ChainScorer(ScriptedEmbedder({"a": angle(10)})).score(
        chain := chain_of("a"), chain.ideas[0], Account()
    )
    assert (scores.embedding_novelty, scores.nearest) == (1.0, None)
    assert (scores.coherence, scores.judged_novelty, scores.embedder) == (None, None, "scripted")


async def test_novelty_is_one_minus_the_likeness_to_the_nearest_of_all_earlier() -> None:
    embedder = ScriptedEmbedder({"a": angle(0), "b": angle(90), "c": angle(30)})
    scorer, chain = ChainScorer(embedder), chain_of("a", "b", "c")
    scores = [await scorer.score(chain, idea, Account()) for idea in chain.ideas]
    assert [score.nearest for score in scores] == [None, 1, 1]
    assert [score.embedding_novelty for score in scores] == pytest.approx([1, 1, 1 - math.cos(math.pi / 6)], abs=1e-6)


async def test_a_failing_idea_counts_as_earlier_too() -> None:
    embedder = ScriptedEmbedder({"a": angle(0), "failing": angle(1), "c": angle(2)})
    scorer, chain = ChainScorer(embedder), chain_of("a", "failing", "c")
    await scorer.score(chain, chain.ideas[0], Account())
    chain.ideas[1] = type(chain.ideas[1])(
        number=2,
        step=2,
        text="failing",
        author="anna",
        score=ev.IdeaScored(question="q", idea=2, verdict="failed", failed_rule="embedding_novelty"),
    )
    await scorer.score(chain, chain.ideas[1], Account())
    assert (await scorer.score(chain, chain.ideas[2], Account())).nearest == 2


async def test_a_resumed_chain_is_scored_as_an_uncut_one() -> None:
    script: dict[str, Sequence[float] | None] = {name: angle(20 * place) for place, name in enumerate("abcdef")}
    uncut, chain = ChainScorer(ScriptedEmbedder(script)), chain_of(*"abcdef")
    wanted = [await uncut.score(chain, idea, Account()) for idea in chain.ideas]
    for cut in range(6):
        resumed = ChainScorer(ScriptedEmbedder(script))
        assert [await resumed.score(chain, idea, Account()) for idea in chain.ideas[cut:]] == wanted[cut:]


async def test_each_text_is_embedded_once() -> None:
    embedder = ScriptedEmbedder({name: angle(20 * place) for place, name in enumerate("abc")})
    scorer, chain = ChainScorer(embedder), chain_of(*"abc")
    for idea in chain.ideas:
        await scorer.score(chain, idea, Account())
    list(await scorer.most_different(chain, Account()))
    assert embedder.asked == ["a", "b", "c"]


async def test_an_idea_is_never_compared_with_itself_or_a_later_one() -> None:
    """A prompt may want the vectors of all ideas while the newest still waits for its scores."""
    scorer = ChainScorer(ScriptedEmbedder({"a": angle(0), "own": angle(90), "c": angle(91)}))
    chain = chain_of("a", "own", "c")
    list(await scorer.most_different(chain, Account()))
    scores = await scorer.score(chain, chain.ideas[1], Account())
    assert scores.nearest == 1
    assert scores.embedding_novelty == pytest.approx(1, abs=1e-6)
    assert (await scorer.score(chain, chain.ideas[2], Account())).nearest == 2


@pytest.mark.parametrize("vector", [None, (0.0, 0.0), (math.nan, 1.0), (math.inf, 0.0), (-math.inf, math.inf)], ids=str)
async def test_a_text_without_a_direction_is_unscored_and_never_passes(vector: Sequence[float] | None) -> None:
    scorer = ChainScorer(ScriptedEmbedder({"a": angle(0), "odd": vector, "c": angle(60)}))
    chain = chain_of("a", "odd", "c")
    _, odd, third = [await scorer.score(chain, idea, Account()) for idea in chain.ideas]
    assert (odd.embedding_novelty, odd.nearest) == (None, None)
    assert judge(odd, Rules()) == Verdict("unscored")
    assert third.nearest == 1
    assert third.embedding_novelty == pytest.approx(0.5, abs=1e-6)

    alone = ChainScorer(ScriptedEmbedder({"odd": vector}))
    [only] = chain_of("odd").ideas
    assert (await alone.score(chain_of("odd"), only, Account())).embedding_novelty is None, "not even as the first"


async def test_vectors_of_any_length_are_compared_by_direction() -> None:
    scorer = ChainScorer(ScriptedEmbedder({"a": (1e-30, 0), "b": (1e30, 1e30)}))
    chain = chain_of("a", "b")
    scores = [await scorer.score(chain, idea, Account()) for idea in chain.ideas]
    assert scores[1].embedding_novelty == pytest.approx(1 - math.sqrt(0.5), abs=1e-6)


async def test_the_same_words_have_no_novelty_and_it_is_not_negative(embedder: WordLlamaEmbedder) -> None:
    texts = [f"Drum on floe {number} and time the echo." for number in range(20)]
    chain = chain_of(*texts, *texts)
    scorer = ChainScorer(embedder)
    scores = [await scorer.score(chain, idea, Account()) for idea in chain.ideas]
    again = [score.embedding_novelty for score in scores[20:]]
    assert all(novelty is not None and 0 <= novelty < 1e-6 for novelty in again)
    assert {score.mechanical is not None for score in scores[20:]} == {True}


async def test_the_real_embedder_tells_a_new_thought_from_an_old_one(embedder: WordLlamaEmbedder) -> None:
    chain = chain_of(
        "Freeze microphones into the ice in autumn and listen to it crack in spring.",
        "Freeze hydrophones into the ice in autumn, and listen to it cracking in the spring.",
        "Train seals to carry magnetometers and map how currents below change.",
    )
    scorer = ChainScorer(embedder)
    _, near, far = [await scorer.score(chain, idea, Account()) for idea in chain.ideas]
    assert near.embedding_novelty is not None
    assert far.embedding_novelty is not None
    assert near.embedding_novelty < WORDLLAMA_THRESHOLD < far.embedding_novelty


# ── vectors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_long_text_is_embedded_in_pieces_and_marked(embedder: WordLlamaEmbedder) -> None:
    short = "Listen to the ice with a hydrophone. "
    [one, many, blank] = await embedder.embed([short, short * 1000, ""])
    assert (one.chunks, blank.vector) == (1, None)
    assert many.chunks == math.ceil(37_000 / 4000)
    assert one.vector is not None
    assert many.vector is not None
    assert float(one.vector @ many.vector) == pytest.approx(1, abs=1e-2)
    assert [vector.shape == (256,) and vector.dtype == np.float32 for vector in (one.vector, many.vector)] == [True] * 2
    chain = chain_of(short * 1000)
    assert (await ChainScorer(embedder).score(chain, chain.ideas[0], Account())).chunks == many.chunks


@given(st.text(st.sampled_from("ab \n"), max_size=60), st.integers(1, 12))
def test_pieces_put_together_are_the_text(text: str, longest: int) -> None:
    pieces = list(split(text, longest))
    assert "".join(pieces) == text
    assert max(len(piece) for piece in pieces) <= longest


def test_a_text_is_cut_between_words_where_it_has_any() -> None:
    assert list(split("one two three", 8)) == ["one two ", "three"]
    assert list(split("日本語日本語", 4)) == ["日本語日", "本語"]


def test_pieces_count_by_their_length() -> None:
    vectors = np.array([[5.0, 0.0], [0.0, 1.0], [math.nan, 0.0]], dtype=np.float32)
    assert average(vectors, [300, 100, 900]) == pytest.approx(np.array([3.0, 1.0]) / math.sqrt(10), abs=1e-6)
    assert average(np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32), [1, 1]) is None


@pytest.mark.parametrize("vector", [[0, 0], [math.nan, 0], [math.inf, 1]])
def test_what_has_no_direction_has_no_unit_vector(vector: list[float]) -> None:
    assert unit(np.array(vector, dtype=np.float32)) is None


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=40))
def test_the_growing_matrix_gives_what_each_pair_gives(numbers: list[list[float]]) -> None:
    vectors = [unit(np.array(row, dtype=np.float32)) for row in numbers]
    store = VectorStore()
    for idea, vector in enumerate(vectors, 1):
        earlier = [other for other in vectors[: idea - 1] if other is not None]
        if vector is not None:
            greatest = max((float(other.astype(np.float64) @ vector) for other in earlier), default=0.0)
            assert store.novelty(vector, idea).value == pytest.approx(max(0.0, 1 - greatest), abs=1e-6)
            assert (store.novelty(vector, idea).nearest is None) == (not earlier)
        store.add(idea, vector)
        store.add(idea, unit(np.array([1, 2, 3], dtype=np.float32)))  # known already: stays as it is
        assert idea in store
    assert len(store) == sum(vector is not None for vector in vectors)


def test_farthest_first_starts_at_the_newest_and_names_each_once() -> None:
    store = VectorStore()
    for idea, degrees in enumerate([0, 1, 2, 90, 180, 3], 1):
        store.add(idea, np.array(angle(degrees), dtype=np.float32))
    order = list(store.farthest())
    assert order[0] == 6
    assert order[1:3] == [5, 4], "the opposite, then what is between"
    assert sorted(order) == [1, 2, 3, 4, 5, 6]
    assert list(VectorStore().farthest()) == []


def test_one_idea_against_two_thousand_of_three_thousand_dimensions() -> None:
    rng = np.random.default_rng(1)
    rows: Vectors = rng.standard_normal((2000, 3072), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store = VectorStore()
    for idea, row in enumerate(rows, 1):
        store.add(idea, row)
    near = rows[1234] + 0.5 * rows[77]
    vector: Vectors = near / np.linalg.norm(near)
    began = perf_counter()
    for _ in range(20):
        novelty = store.novelty(vector, 2001)
    print(f"novelty of one idea against 2,000 × 3,072: {(perf_counter() - began) * 50:.2f} ms")
    assert novelty.nearest == 1235
    assert novelty.value == pytest.approx(1 - float((rows.astype(np.float64) @ vector).max()), abs=1e-5)
    assert store.novelty(rows[0], 1) == Novelty(1.0, None)


async def test_many_texts_are_embedded_while_everything_else_goes_on(embedder: WordLlamaEmbedder) -> None:
    texts = [f"Listen to the ice, time number {number}." for number in range(2000)]
    turns = 0

    async def live() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    living = asyncio.create_task(live())
    many = await embedder.embed(texts)
    living.cancel()
    assert turns > 10
    [one] = await embedder.embed(texts[-1:])
    assert np.array_equal(np.asarray(many[-1].vector), np.asarray(one.vector))
    assert len(many) == len(texts)
