"""Embedding models behind a provider: batched, asked once a text, and never believed blindly."""

import asyncio
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from core.chain import Chain
from core.models import CallFailedError, EmbedderSpec, FailureKind, Usage, Vectors
from core.rules import Rules, judge
from core.scoring.account import Account, Trouble
from core.scoring.remote import REQUEST_TOKENS, RemoteEmbedder
from core.scoring.scorer import ChainScorer
from tests.unit.test_scoring import chain_of

SPEC = EmbedderSpec(name="small", provider="scripted", model="small-3", threshold=0.2)

Row = Callable[[str], object]


def by_letters(text: str) -> list[float]:
    """Two dimensions, so that texts with the same share of the letter a are alike."""
    return [1.0 + text.count("a"), 1.0 + len(text) - text.count("a")]


class ScriptedEmbeddings:
    """Gives what `row` makes of each text; a text of more than `longest` characters fails its request."""

    def __init__(self, row: Row = by_letters, *, longest: int = 10**9, lost: int = 0) -> None:
        self.row = row
        self.longest = longest
        self.lost = lost
        self.requests: list[list[str]] = []
        self.failing: FailureKind | None = None

    async def prepare(self, spec: EmbedderSpec) -> None:
        pass

    async def __call__(self, spec: EmbedderSpec, texts: Sequence[str], account: Account) -> Vectors:
        self.requests.append(list(texts))
        await asyncio.sleep(0)
        if self.failing:
            raise CallFailedError(self.failing, "the server of small says no")
        if any(len(text) > self.longest for text in texts):
            raise CallFailedError("context", "too long")
        usage = Usage(input_tokens=10 * len(texts))
        account.pay(usage, usage.input_tokens / 1000)
        rows = [self.row(text) for text in texts][: len(texts) - self.lost]
        return Vectors(rows, usage)  # type: ignore[arg-type]

    @property
    def sent(self) -> list[str]:
        return [text for request in self.requests for text in request]


def embedder(ask: ScriptedEmbeddings, **settings: object) -> RemoteEmbedder:
    spec = EmbedderSpec(**{"name": "small", "provider": "scripted", "threshold": 0.2, **settings})  # type: ignore[arg-type]
    return RemoteEmbedder(spec, ask)


async def test_texts_become_unit_vectors_in_their_order() -> None:
    one = embedder(ask := ScriptedEmbeddings())
    assert (one.name, one.dims) == ("small", None)
    found = await one.embed(["aaa", "bbb"], Account())
    assert one.dims == 2
    for text, embedding in zip(("aaa", "bbb"), found, strict=True):
        row = np.array(by_letters(text))
        assert embedding.vector == pytest.approx(row / np.linalg.norm(row), abs=1e-6)
        assert embedding.vector is not None
        assert embedding.vector.dtype == np.float32
        assert embedding.chunks == 1
    assert ask.requests == [["aaa", "bbb"]]


async def test_a_length_that_is_set_is_known_before_the_first_answer() -> None:
    assert embedder(ScriptedEmbeddings(), dims=2).dims == 2


async def test_many_texts_go_in_batches_all_at_once() -> None:
    ask = ScriptedEmbeddings()
    most = 0

    class Held(ScriptedEmbeddings):
        under_way = 0

        async def __call__(self, spec: EmbedderSpec, texts: Sequence[str], account: Account) -> Vectors:
            nonlocal most
            self.under_way += 1
            most = max(most, self.under_way)
            try:
                return await super().__call__(spec, texts, account)
            finally:
                self.under_way -= 1

    ask = Held()
    texts = [f"idea {number}" for number in range(100)]
    found = await embedder(ask, batch=8).embed(texts, Account())
    assert [len(request) for request in ask.requests] == [8] * 12 + [4]
    assert sorted(ask.sent) == sorted(texts)
    assert most == 13
    assert len(found) == 100
    alone = await embedder(ScriptedEmbeddings()).embed(texts, Account())
    assert [one.vector.tolist() for one in found if one.vector is not None] == [
        one.vector.tolist() for one in alone if one.vector is not None
    ]


async def test_a_request_holds_no_more_tokens_than_servers_take() -> None:
    ask = ScriptedEmbeddings()
    await embedder(ask, batch=64).embed([f"{number} " + "word " * 5000 for number in range(30)], Account())
    assert max(sum(map(len, request)) for request in ask.requests) <= 3.6 * REQUEST_TOKENS
    assert len(ask.requests) > 1


async def test_each_text_is_sent_once() -> None:
    one = embedder(ask := ScriptedEmbeddings())
    first = await one.embed(["a", "b", "a"], Account())
    again = await one.embed(["b", "c", "a"], Account())
    assert ask.sent == ["a", "b", "c"]
    assert first[0].vector is first[2].vector
    assert again[0].vector is first[1].vector


async def test_a_text_that_two_ask_for_at_once_is_sent_once() -> None:
    one = embedder(ask := ScriptedEmbeddings())
    await asyncio.gather(*(one.embed(["a", "b"], Account()) for _ in range(10)))
    assert ask.sent == ["a", "b"]


async def test_each_request_is_charged_to_whoever_asks_for_it() -> None:
    one, account, other = embedder(ScriptedEmbeddings(), batch=2), Account(), Account()
    await one.embed(["a", "b", "c"], account)
    assert account.usage.input_tokens == 30
    assert account.cost == pytest.approx(0.03)
    await one.embed(["a", "d", "b"], other)
    assert other.usage.input_tokens == 10
    await one.embed(["a", "d"], other)
    assert other.usage.input_tokens == 10


# ── long texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["an idea, " * 31_500, "氷を聞く" * 17_750], ids=["english", "japanese"])
async def test_71_000_tokens_are_embedded_in_pieces_averaged_and_marked(text: str) -> None:
    one = embedder(ask := ScriptedEmbeddings(), longest=8000)
    [embedding] = await one.embed([text], Account())
    assert 9 <= embedding.chunks <= 12
    assert sum(map(len, ask.sent)) <= len(text)
    assert max(len(piece) for piece in ask.sent) <= 8000 * (3.5 if text.isascii() else 1)
    assert embedding.vector is not None
    [short] = await embedder(ScriptedEmbeddings()).embed([text[: len(ask.sent[0])]], Account())
    assert short.vector is not None
    assert float(embedding.vector @ short.vector) == pytest.approx(1, abs=1e-3)


async def test_text_of_mixed_scripts_is_cut_finely_where_it_is_dense() -> None:
    ask = ScriptedEmbeddings()
    [embedding] = await embedder(ask, longest=100).embed(["word " * 200 + "氷" * 500], Account())
    assert max(sum(1 if not letter.isascii() else 1 / 3.5 for letter in piece) for piece in ask.sent) <= 101
    assert embedding.chunks >= 8


async def test_a_text_that_the_server_finds_too_long_is_halved_until_it_fits() -> None:
    """Formulas have more tokens than anyone would estimate."""
    ask = ScriptedEmbeddings(longest=1000)
    text = "x1_" * 1000
    short, long = await embedder(ask).embed(["short", text], Account())
    assert (short.chunks, long.chunks) == (1, 4)
    assert long.vector is not None
    assert max(len(piece) for piece in ask.requests[-1]) <= 1000


async def test_halving_has_an_end() -> None:
    [embedding] = await embedder(ask := ScriptedEmbeddings(longest=3)).embed(["x" * 1000], Account())
    assert embedding.vector is None
    assert len(ask.requests) < 20


# ── what is not believed ──────────────────────────────────────────────────────────────────────────────────────────────

ODD: list[object] = [
    [0.0, 0.0],
    [math.nan, 1.0],
    [math.inf, 1.0],
    [-math.inf, math.inf],
    [1e300, 1e300],
    [1.0, 2.0, 3.0],
    [1.0],
    [],
    None,
    ["one", "two"],
    [None, 1.0],
    [[1.0], [2.0]],
]


@pytest.mark.parametrize("odd", ODD, ids=str)
async def test_a_row_that_is_no_vector_leaves_its_text_unscored_and_the_others_as_they_are(odd: object) -> None:
    one = embedder(ScriptedEmbeddings(lambda text: odd if text == "odd" else by_letters(text)))
    found = await one.embed(["aaa", "odd", "bbb"], Account())
    assert [embedding.vector is None for embedding in found] == [False, True, False]


@pytest.mark.parametrize("odd", ODD[5:7], ids=str)
async def test_a_length_that_the_spec_rules_out_is_refused_from_the_first(odd: object) -> None:
    assert (await embedder(ScriptedEmbeddings(lambda text: odd), dims=2).embed(["a"], Account()))[0].vector is None


async def test_too_few_rows_leave_the_last_texts_without() -> None:
    found = await embedder(ScriptedEmbeddings(lost=2)).embed(["a", "b", "c"], Account())
    assert [embedding.vector is None for embedding in found] == [False, True, True]


async def test_a_piece_without_a_vector_leaves_the_whole_text_without() -> None:
    ask = ScriptedEmbeddings(lambda text: [0.0, 0.0] if "odd" in text else by_letters(text))
    [embedding] = await embedder(ask, longest=16).embed(["a word and another " * 10 + "odd"], Account())
    assert (embedding.vector, embedding.chunks > 1) == (None, True)


async def test_blank_texts_are_not_sent() -> None:
    found = await embedder(ask := ScriptedEmbeddings()).embed(["", "  \n", "a"], Account())
    assert [embedding.vector is None for embedding in found] == [True, True, False]
    assert ask.sent == ["a"]


async def test_what_failed_is_asked_for_anew() -> None:
    ask = ScriptedEmbeddings()
    one = embedder(ask)
    ask.failing = "server"
    assert (await one.embed(["a"], Account()))[0].vector is None
    ask.failing = None
    assert (await one.embed(["a"], Account()))[0].vector is not None


@pytest.mark.parametrize("kind", ["denied", "connection"])
async def test_a_failure_is_told_with_its_kind(kind: FailureKind) -> None:
    ask, account = ScriptedEmbeddings(), Account()
    ask.failing = kind
    found = await embedder(ask, batch=2).embed(["a", "b", "c"], account)
    assert [embedding.lost for embedding in found] == [True] * 3
    assert account.troubles == [Trouble("small", kind, "the server of small says no")] * 2


async def test_one_batch_that_fails_does_not_take_the_others_with_it() -> None:
    class Moody(ScriptedEmbeddings):
        async def __call__(self, spec: EmbedderSpec, texts: Sequence[str], account: Account) -> Vectors:
            if "b" in texts:
                raise CallFailedError("server", "overloaded")
            return await super().__call__(spec, texts, account)

    found = await embedder(Moody(), batch=1).embed(["a", "b", "c"], Account())
    assert [embedding.vector is None for embedding in found] == [False, True, False]


async def test_cancelled_it_can_be_asked_again() -> None:
    one = embedder(ask := ScriptedEmbeddings())
    task = asyncio.create_task(one.embed(["a"], Account()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await one.embed(["a"], Account()))[0].vector is not None
    assert len(ask.requests) <= 2


# ── in a chain ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def verdicts(chain: Chain, one: RemoteEmbedder) -> list[str]:
    scorer = ChainScorer(one)
    return [judge(await scorer.score(chain, idea, Account()), Rules(mechanical=False)).word for idea in chain.ideas]


async def test_an_idea_whose_vector_is_odd_is_unscored_and_never_passes() -> None:
    chain = chain_of("aaaa", "odd", "bbbb", "aaaa aaaa")
    one = embedder(ScriptedEmbeddings(lambda text: [math.nan, 1.0] if text == "odd" else by_letters(text)))
    assert await verdicts(chain, one) == ["passed", "unscored", "passed", "failed"]


async def test_an_idea_is_not_new_where_an_earlier_one_could_not_be_embedded() -> None:
    chain = chain_of("aaaa", "bbbb")
    ask = ScriptedEmbeddings()
    scorer, account = ChainScorer(embedder(ask)), Account()
    ask.failing = "server"
    await scorer.score(chain, chain.ideas[0], account)

    class Half(ScriptedEmbeddings):
        async def __call__(self, spec: EmbedderSpec, texts: Sequence[str], account: Account) -> Vectors:
            if "aaaa" in texts:
                raise CallFailedError("server", "overloaded")
            return await super().__call__(spec, texts, account)

    scorer = ChainScorer(embedder(Half()))
    scores = await scorer.score(chain, chain.ideas[1], account)
    assert (scores.embedding_novelty, scores.missing) == (None, True)
    assert await scorer.novelties(chain, ["cccc"], account) == [None]
    ask.failing = None
    assert (await ChainScorer(embedder(ask)).score(chain, chain.ideas[1], account)).embedding_novelty is not None
