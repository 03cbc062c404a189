"""The public result files, imported: the golden figures come out of the sessions, and every oddity is marked."""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.exchange.importing import ImportedSession, ResultsImported, import_results
from core.exchange.oddities import Oddities
from core.exchange.public import read_public
from core.state import State
from core.store import library
from tests.unit.exchanged import answer, write
from tests.unit.totalled import totals

Public = tuple[Path, list[ResultsImported]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Public:
    """All public files as sessions, the general benchmark's last, and what came of each."""
    if not (folder := os.environ.get("JAGSTORM_PUBLIC_DATA")):
        pytest.skip("JAGSTORM_PUBLIC_DATA is not set")
    sessions = tmp_path_factory.mktemp("public") / "sessions"
    files = sorted((Path(folder) / "sciaidanbench" / "per_model").glob("*.json"))
    files.append(Path(folder) / "aidanbench" / "small_results.json")
    return sessions, [import_results(path, sessions) for path in files]


def states(sessions: Path, results: list[ResultsImported]) -> Iterator[tuple[ImportedSession, State]]:
    for result in results:
        for made in result.sessions:
            yield made, library.load(sessions / made.id).state()


def test_the_sessions_fold_to_the_golden_figures(everything: Public, public_data: Path) -> None:
    sessions, results = everything
    golden = {row["model"]: row for row in csv.DictReader((public_data / "sciaidanbench" / "golden.csv").open())}
    ends = {
        "embedding_dissimilarity_threshold": "embedding_novelty",
        "llm_dissimilarity_threshold": "judged_novelty",
        "coherence_threshold": "coherence",
        "error": "error",
        "content_error": "refused",
    }
    for made, state in states(sessions, results[:-1]):
        row = golden.pop(made.model)
        chains = list(state.chains.values())
        counts = [chain.responses for chain in chains]
        by_leaf: dict[str, list[int]] = {}
        for chain in chains:
            by_leaf.setdefault(f"{chain.domain} / {chain.subdomain}" if chain.subdomain else chain.domain, []).append(
                chain.responses
            )
        assert (str(len(counts)), str(sum(counts))) == (row["questions"], row["responses"])
        assert str(sum(chain.valid for chain in chains)) == row["valid"]
        assert (str(min(counts)), str(max(counts))) == (row["min"], row["max"])
        for column in filter(None, (name.removeprefix("mean ") for name in row if name.startswith("mean "))):
            mean = f"{sum(by_leaf[column]) / len(by_leaf[column]):.4f}" if column in by_leaf else ""
            assert mean == row[f"mean {column}"]
        for stop, reason in ends.items():
            found = [chain for chain in chains if chain.ended and chain.ended.reason == reason and chain.ideas]
            assert str(len(found)) == row[f"stop {stop}"]
        assert str(sum(not chain.ideas for chain in chains)) == row["stop empty"]
        assert all(chain.ended for chain in chains)
    assert not golden


def test_the_small_results_of_the_general_benchmark_fold_to_what_their_reader_counts(
    everything: Public, public_data: Path
) -> None:
    sessions, results = everything
    expected = totals(read_public(public_data / "aidanbench" / "small_results.json"))
    found = {made.model: state.chains.values() for made, state in states(sessions, results[-1:])}
    assert found.keys() == expected.keys()
    for model, own in expected.items():
        assert len(found[model]) == own.questions
        assert sum(chain.responses for chain in found[model]) == own.responses
        assert sum(chain.valid for chain in found[model]) == own.valid


def test_what_is_odd_in_them_is_counted_and_marked(everything: Public) -> None:
    sessions, results = everything
    found = Oddities()
    for result in results[:-1]:
        found.include(result.oddities)
    assert found == Oddities(
        without_answers=1,
        blank=3,
        endless=2,
        tagged=637,
        soft_hyphens=19,
        below_zero=57,
        marked_within=1,
        without_questions=2,
    )
    marked = Oddities()
    longest = 0
    for _, state in states(sessions, results[:-1]):
        for idea in (idea for chain in state.chains.values() for idea in chain.ideas):
            assert idea.score
            marked.add(idea.score.odd)
            longest = max(longest, len(idea.text))
    assert longest == 102_404
    assert (marked.blank, marked.endless, marked.tagged, marked.below_zero, marked.marked_within) == (3, 2, 637, 57, 1)


def test_importing_takes_no_more_memory_than_thrice_the_file(tmp_path: Path, sessions: Path) -> None:
    texts = [f"Idea {number}: {'listen – and then “listen” again. ' * 20}" for number in range(300)]
    asked = {f"Q{number}?": [answer(place, text) for place, text in enumerate(texts, 1)] for number in range(80)}
    path = write(tmp_path / "results.json", {"domains": {"Chemistry": {"models": {"m": {"0.7": asked}}}}})
    code = (
        "import resource, sys; from pathlib import Path; from core.exchange.importing import import_results\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "import_results(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path, sessions],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 3 * path.stat().st_size
