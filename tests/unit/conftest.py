"""What several of these tests begin with."""

from pathlib import Path

import pytest

from core.scoring.embeddings import WordLlamaEmbedder
from tests.unit.judged import House, Make, Situation


@pytest.fixture
def situation(sessions: Path, embedder: WordLlamaEmbedder) -> Make:
    """A session with a judge, unless the plan is to say otherwise."""

    def make(house: House | None = None, **plan: object) -> Situation:
        return Situation(sessions, house or House(), embedder, **plan)  # type: ignore[arg-type]

    return make
