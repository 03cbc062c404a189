"""How far seeds are from a question, and which of them count as near and far."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.levers import Distance, Seed
from core.scoring.account import Account
from core.scoring.embeddings import Embedding, WordLlamaEmbedder
from core.seeds import ranking
from core.seeds.bank import SeedBank
from core.seeds.ranking import among, ranked, thirds
from core.seeds.sources import of_bank
from tests.conftest import QUESTION

DIRECTIONS = {"ask": (1, 0), "same": (2, 0), "aslant": (1, 1), "across": (0, 1), "away": (-1, 0)}


class Compass:
    """Words are directions; others have none. It counts what it is asked."""

    name = "compass"

    def __init__(self, lost: Sequence[str] = ()) -> None:
        self.asked: list[str] = []
        self.lost = list(lost)

    async def prepare(self) -> None:
        pass

    async def embed(self, texts: Sequence[str], account: Account) -> list[Embedding]:
        self.asked += texts
        return [self._embedding(text) for text in texts]

    def _embedding(self, text: str) -> Embedding:
        word = text.partition(".")[0]
        if word in self.lost:
            return Embedding(None, lost=True)
        if word not in DIRECTIONS:
            return Embedding(None)
        vector = np.array(DIRECTIONS[word], dtype=np.float32)
        return Embedding(vector / np.linalg.norm(vector))


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_vectors", {})


def seeds(*names: str, field: str = "") -> list[Seed]:
    return [Seed(name=name, field=field) for name in names]


async def test_the_distance_is_one_less_the_cosine_and_the_nearest_come_first() -> None:
    found = await ranked("ask", seeds("away", "across", "same", "aslant"), Compass())
    assert [seed.name for seed in found] == ["same", "aslant", "across", "away"]
    assert [seed.distance for seed in found] == pytest.approx([0, 1 - 0.5**0.5, 1, 2])


async def test_what_has_no_direction_comes_last_without_a_distance() -> None:
    found = await ranked("ask", seeds("nowhere", "away", "neither", "same"), Compass())
    assert [(seed.name, seed.distance is None) for seed in found] == [
        ("same", False),
        ("away", False),
        ("nowhere", True),
        ("neither", True),
    ]


async def test_a_question_without_a_direction_leaves_all_in_their_order() -> None:
    found = await ranked("?", seeds("away", "same"), Compass())
    assert found == seeds("away", "same")


async def test_name_and_mechanism_are_embedded_together_and_only_once() -> None:
    compass = Compass()
    bank = [Seed(name="same", text="It goes on"), *seeds("away")]
    await ranked("ask", bank, compass)
    await ranked("ask", bank, compass)
    await ranked("across", bank, compass)
    assert compass.asked == ["ask", "same. It goes on", "away", "across"]


async def test_one_whose_call_failed_is_asked_for_again() -> None:
    compass = Compass(lost=["away"])
    [_, lost] = await ranked("ask", seeds("same", "away"), compass)
    assert lost.distance is None
    compass.lost = []
    [_, found] = await ranked("ask", seeds("same", "away"), compass)
    assert found.distance == pytest.approx(2)


@pytest.mark.parametrize(
    ("distance", "names"), [("near", "ab"), ("far", "de"), ("any", "abcde")], ids=["near", "far", "any"]
)
def test_near_and_far_are_thirds(distance: Distance, names: str) -> None:
    five = [Seed(name=name, distance=place / 10) for place, name in enumerate("abcde")]
    assert "".join(seed.name for seed in among(five, distance)) == names


def test_a_third_of_a_field_is_of_its_own_seeds() -> None:
    mixed = [Seed(name=str(place), field="AB"[place >= 6], distance=place / 10) for place in range(9)]
    assert [seed.name for seed in among(mixed, "far", "A")] == ["4", "5"]
    assert among(mixed, "far", "C") == []


def test_without_distances_all_are_taken_and_those_without_one_are_neither_near_nor_far() -> None:
    assert among(seeds("a", "b"), "far") == seeds("a", "b")
    some = [Seed(name="a", distance=0.5), Seed(name="b")]
    assert [seed.name for seed in among(some, "far")] == ["a"]
    assert among(some, "any") == some


def test_thirds_are_told_by_their_ends() -> None:
    six = [Seed(name=str(place), distance=place / 10) for place in range(6)]
    assert thirds(six) == (0.1, 0.4)
    assert thirds(seeds("a")) == thirds([]) == (float("-inf"), float("inf"))


async def test_with_the_real_embedder_what_is_of_the_question_is_near(embedder: WordLlamaEmbedder) -> None:
    found = await ranked(QUESTION.text, of_bank(SeedBank.built_in().seeds), embedder)
    names = [seed.name for seed in found]
    assert names.index("Vortex pinning") < 20
    assert all(0 <= (seed.distance or 0) <= 2 for seed in found)
    assert len(among(found, "far")) == -(-len(found) // 3)
