"""What every test stands on: no config of the person's own, no colour wishes, folders of its own."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core import keys
from core.config import Plan
from core.models import Member, ModelSpec, Provider, TeamSpec
from core.providers import calls
from core.questions import Question
from core.rules import Rules
from core.scoring.embeddings import WordLlamaEmbedder, _load
from core.scoring.scorer import ChainScorer
from core.session import Session
from core.state import State
from core.store import library
from tests.scripted import ScriptedProvider, calling, varied

QUESTION = Question(
    "vortex-in-a-film", "Propose a way to see a single vortex in a superconducting film.", "Physics", "Condensed Matter"
)


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "JAGSTORM_SESSIONS", "TEXTUAL", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(keys, "_known", set())  # another test's key would hold back the letters that it begins with


@pytest.fixture(autouse=True)
def _hasty_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are tried again at once: a test that is about waiting holds the clock itself."""
    monkeypatch.setattr(calls, "PERSISTENCE", calls.Persistence(first_wait=0.001))


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def scripted_team(*names: str, strategy: str = "sample", context: int = 8192) -> TeamSpec:
    models = [ModelSpec(name=f"model-{name}", provider="scripted", max_tokens=96, context=context) for name in names]
    members = tuple(Member(name=name, model=model) for name, model in zip(names, models, strict=True))
    return TeamSpec(name="scripted", strategy=strategy, members=members)  # type: ignore[arg-type]


def make_plan(
    *, max_ideas: int | None = None, patience: int = 3, team: TeamSpec | None = None, question: Question = QUESTION
) -> Plan:
    rules = Rules(embedding_novelty=0.185, patience=patience, max_ideas=max_ideas)
    return library.new_plan((question,), team or scripted_team("anna", "bert", "cleo"), rules, random_seed=7)


Open = Callable[..., Session]


@pytest.fixture(scope="session")
def embedder() -> WordLlamaEmbedder:
    """The real one, loaded once."""
    embedder = WordLlamaEmbedder()
    embedder._model = _load()
    return embedder


@pytest.fixture
def open_session(sessions: Path, embedder: WordLlamaEmbedder) -> Open:
    """Begins a session on a scripted provider, by default one that says something new each time."""

    def begin(plan: Plan | None = None, provider: Provider | None = None, **options: object) -> Session:
        plan = plan or make_plan(max_ideas=6)
        scripted = provider or ScriptedProvider(varied)
        log = library.create(sessions, plan)
        scorer = options.pop("scorer", None) or ChainScorer(embedder)
        return Session(plan, log, calling(scripted), scorer, **options)  # type: ignore[arg-type]

    return begin


@pytest.fixture
def public_data() -> Path:
    """The public result files, where there are any."""
    folder = os.environ.get("JAGSTORM_PUBLIC_DATA")
    if not folder:
        pytest.skip("JAGSTORM_PUBLIC_DATA is not set")
    return Path(folder)


def texts(state: State) -> list[str]:
    assert state.chain is not None
    return [idea.text for idea in state.chain.ideas]
