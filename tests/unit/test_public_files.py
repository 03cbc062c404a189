"""The public benchmarks' result files: whatever is odd in them comes through, and what is broken is refused whole."""

import csv
import json
import os
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import UsageError
from core.exchange.oddities import Oddities
from core.exchange.public import NoResultsError, PublicChain, read_public
from tests.unit.totalled import oddities, totals


def answer(number: int, text: str = "Listen to the bubbles.", **more: Any) -> dict[str, Any]:
    scores = {"embedding_dissimilarity_score": 0.5, "coherence_score": 80, "llm_dissimilarity_score": 0.4}
    return {
        "answer_num": number,
        "answer": text,
        **scores,
        "processing_time": 1.5,
        "stopping_condition": None,
        **more,
    }


def models(*answers: dict[str, Any], model: str = "a/b:7b", question: str = "How to hear ice?") -> dict[str, Any]:
    return {"models": {model: {"0.7": {question: list(answers)}}}}


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def read(tmp_path: Path, content: Any) -> list[PublicChain]:
    return read_public(write(tmp_path / "results.json", content))


def one(tmp_path: Path, *answers: dict[str, Any]) -> PublicChain:
    [chain] = read(tmp_path, {"domains": {"Chemistry": models(*answers)}})
    return chain


# ── the layouts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_domains_with_and_without_subdomains(tmp_path: Path) -> None:
    content = {
        "domains": {
            "Physics": {"Fundamental": models(answer(1)), "Astrophysics": models(answer(1), model="other")},
            "Chemistry": models(answer(1), answer(2, stopping_condition="coherence_threshold")),
        }
    }
    chains = read(tmp_path, content)
    assert [(chain.leaf, chain.model, chain.responses, chain.valid) for chain in chains] == [
        ("Physics / Fundamental", "a/b:7b", 1, 1),
        ("Physics / Astrophysics", "other", 1, 1),
        ("Chemistry", "a/b:7b", 2, 1),
    ]
    assert (chains[0].domain, chains[0].subdomain) == ("Physics", "Fundamental")
    assert (chains[2].domain, chains[2].subdomain, chains[2].temperature) == ("Chemistry", None, "0.7")


def test_the_layout_of_aidanbench_has_no_domains_and_marks_no_stop(tmp_path: Path) -> None:
    def plain(number: int, **scores: float) -> dict[str, Any]:
        more: dict[str, Any] = {"embedding_dissimilarity_score": 0.5, "coherence_score": 60.0, **scores}
        return {"answer_num": number, "answer": "Sing to it.", "processing_time": 1.0, **more}

    content = {
        "models": {
            "one": {"0.7": {"Q1": [plain(1), plain(2, embedding_dissimilarity_score=0.149)]}},
            "two": {
                "0.7": {
                    "Q1": [plain(1), plain(2, coherence_score=15.0, embedding_dissimilarity_score=0.1)],
                    "Q2": [plain(1), plain(2, embedding_dissimilarity_score=0.15, coherence_score=15.5)],
                }
            },
        }
    }
    chains = read(tmp_path, content)
    assert [(chain.model, chain.question, chain.stop, chain.responses, chain.valid) for chain in chains] == [
        ("one", "Q1", "embedding_dissimilarity_threshold", 2, 1),
        ("two", "Q1", "coherence_threshold", 2, 1),
        ("two", "Q2", "", 2, 2),
    ]
    assert {(chain.domain, chain.subdomain, chain.leaf) for chain in chains} == {("", None, "")}


def test_what_an_answer_holds_comes_through(tmp_path: Path) -> None:
    more: dict[str, Any] = {
        "thoughts": "Bubbles ring.",
        "reasoning_tokens": 64,
        "llm_dissimilarity_score": 0.15000000000000002,
        "final_stopping_condition": "error",
        "error_message": "invalid literal: 'fifty'",
        "nobody_knows_this": {"yet": []},
    }
    [found] = one(tmp_path, answer(1, **more)).answers
    assert (found.number, found.text, found.thoughts) == (1, "Listen to the bubbles.", "Bubbles ring.")
    assert (found.coherence, found.embedding_novelty, found.judged_novelty) == (80, 0.5, 0.15000000000000002)
    assert (found.seconds, found.reasoning_tokens) == (1.5, 64)
    assert (found.mark, found.final_mark, found.error) == (None, "error", "invalid literal: 'fifty'")


def test_a_team_s_answer_says_who_wrote_it_and_what_the_others_offered(tmp_path: Path) -> None:
    offered = [
        {"model": "left", "answer": "Tap it.", "thoughts": "…", "original_position": 0, "shuffled_position": 2},
        {"model": "right", "answer": "Wait.", "thoughts": None, "original_position": 1, "shuffled_position": 1},
    ]
    chosen = {"all_responses": offered, "selected_model": "right", "selection_judge": "judge"}
    chain = one(tmp_path, answer(1, "Wait.", model="right", parallel_experiment=chosen))
    [found] = chain.answers
    assert chain.is_of_team
    assert found.author == "right"
    assert found.choice
    assert [(each.model, each.text, each.shuffled_position) for each in found.choice.proposals] == [
        ("left", "Tap it.", 2),
        ("right", "Wait.", 1),
    ]
    assert (found.choice.selected_model, found.choice.selection_judge) == ("right", "judge")
    assert not one(tmp_path, answer(1)).is_of_team


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(models(answer(1))).encode())
    assert len(read_public(path)) == 1


# ── what is odd ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chain_without_answers_is_a_chain(tmp_path: Path) -> None:
    chain = one(tmp_path)
    assert (chain.responses, chain.valid, chain.stop) == (0, 0, "empty")
    assert totals([chain])["a/b:7b"].fewest == 0


@pytest.mark.parametrize(
    ("stop", "valid"),
    [
        ("coherence_threshold", 1),
        ("embedding_dissimilarity_threshold", 1),
        ("llm_dissimilarity_threshold", 1),
        ("error", 2),
        ("content_error", 2),
        (None, 2),
    ],
)
def test_only_a_threshold_takes_the_last_answer_from_the_valid_ones(
    tmp_path: Path, stop: str | None, valid: int
) -> None:
    chain = one(tmp_path, answer(1), answer(2, stopping_condition=stop))
    assert (chain.stop, chain.responses, chain.valid) == (stop or "", 2, valid)


def test_an_error_in_the_midst_of_a_chain_is_kept_and_does_not_end_it(tmp_path: Path) -> None:
    chain = one(tmp_path, answer(1), answer(2, stopping_condition="content_error"), answer(3))
    assert [each.mark for each in chain.answers] == [None, "content_error", None]
    assert (chain.stop, chain.valid) == ("", 3)
    assert oddities([chain]).marked_within == 1


def test_odd_answers_are_kept_and_counted(tmp_path: Path) -> None:
    chain = one(
        tmp_path,
        answer(1, "  \n"),
        answer(2, "x" * 102_404),
        answer(3, "<answer>Ring it.</answer>"),
        answer(4, "Micro\u00adphones.", embedding_dissimilarity_score=-2e-16),
        answer(7, ""),
    )
    assert [len(each.text) for each in chain.answers] == [3, 102_404, 25, 13, 0]
    assert chain.answers[3].text == "Micro\u00adphones."
    assert oddities([chain]) == Oddities(blank=2, endless=1, tagged=1, soft_hyphens=1, below_zero=1, misnumbered=1)
    assert oddities([one(tmp_path)]) == Oddities(without_answers=1)


def test_what_a_terminal_would_obey_does_not_come_through(tmp_path: Path) -> None:
    content = {
        "domains": {"Che\x1b[2Jmistry": models(answer(1, "a\x07b\u202ec"), model="m\x1b]0;x\x07", question="Q\x9b1m?")}
    }
    [chain] = read(tmp_path, content)
    said = (chain.domain, chain.model, chain.question, chain.answers[0].text)
    assert said == ("Che[2Jmistry", "m]0;x", "Q1m?", "abc")


# ── what is broken ────────────────────────────────────────────────────────────────────────────────────────────────────


def pieces() -> Iterator[Any]:
    whole = json.dumps({"domains": {"Physics": {"Optics": models(answer(1), answer(2, "Möwe"))}}}, indent=1)
    yield from (whole[:place] for place in range(0, len(whole), 7))


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    for piece in pieces():
        path.write_text(piece)
        with pytest.raises(UsageError):
            read_public(path)


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"models": {\n "a": {\n  "0.7": {oops}}}}')
    with pytest.raises(UsageError, match=r"results\.json is broken: JSON is malformed.*line 3$"):
        read_public(path)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (answer(1, answer=7), "answer 2: answer: expected `str`, got `int`"),
        (answer(1, answer=None), "answer 2: answer: expected `str`, got `null`"),
        (answer(1, coherence_score="high"), "answer 2: coherence_score: expected `float | null`, got `str`"),
        ({"answer_num": 1}, "answer 2: object missing required field `answer`"),
        ("text", "answer 2: expected `object`, got `str`"),
    ],
)
def test_a_wrong_answer_is_refused_with_its_place(tmp_path: Path, broken: Any, said: str) -> None:
    content = {"domains": {"Physics": {"Optics": models(answer(1), broken)}}}
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert caught.value.message.endswith(f"results.json: Physics / Optics, a/b:7b, 0.7, 'How to hear ice?', {said}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"domains": {"Physics": {"Optics": {}}}}, "Physics / Optics: has no `models`"),
        ({"domains": {"Physics": []}}, "Physics: expected `object`, got `array`"),
        ({"domains": 3}, "domains: expected `object`, got `int`"),
        ({"models": {"m": {"0.7": {"Q": {}}}}}, "m, 0.7, 'Q': expected `array`, got `object`"),
        ({"models": {"m": []}}, "m: expected `object`, got `array`"),
    ],
)
def test_a_wrong_layout_is_refused_with_its_place(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert caught.value.message.endswith(f"results.json: {said}")


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(json.dumps(models(answer(1, "XX"))).encode().replace(b"XX", b"\xff\xfe"))
    with pytest.raises(UsageError, match=r"a/b:7b, 0\.7, 'How to hear ice\?', answer 1: "):
        read_public(path)


@pytest.mark.parametrize("content", [{"Physics": ["Why?"]}, ["models"], 3, {}])
def test_a_file_of_another_kind_is_told_apart(tmp_path: Path, content: Any) -> None:
    with pytest.raises(NoResultsError, match="holds no results of SciAidanBench or AidanBench"):
        read(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no\.json can't be read: No such file"):
        read_public(tmp_path / "no.json")


# ── the real ones ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def real_files() -> list[Path]:
    folder = os.environ.get("JAGSTORM_PUBLIC_DATA")
    if not folder:
        pytest.skip("JAGSTORM_PUBLIC_DATA is not set")
    return sorted((Path(folder) / "sciaidanbench" / "per_model").glob("*.json"))


@pytest.fixture(scope="module")
def real(real_files: list[Path]) -> list[PublicChain]:
    return [chain for path in real_files for chain in read_public(path)]


def test_the_public_results_come_to_the_golden_figures(real: list[PublicChain], public_data: Path) -> None:
    golden = list(csv.DictReader((public_data / "sciaidanbench" / "golden.csv").open()))
    ours = totals(real)
    assert ours.keys() == {row["model"] for row in golden}
    for row in golden:
        own = ours[row["model"]]
        found = {
            "model": own.model,
            "questions": str(own.questions),
            "responses": str(own.responses),
            "valid": str(own.valid),
            "mean_responses": f"{own.mean_responses:.4f}",
            "mean_valid": f"{own.mean_valid:.4f}",
            "min": str(own.fewest),
            "max": str(own.most),
        }
        for column in row:
            if column.startswith("mean ") and (leaf := column.removeprefix("mean ")):
                found[column] = f"{own.by_leaf[leaf]:.4f}" if leaf in own.by_leaf else ""
            elif column.startswith("stop "):
                found[column] = str(own.stops.get(column.removeprefix("stop "), 0))
        assert found == row
        assert sum(own.stops.values()) == own.questions


def test_what_is_odd_in_the_public_results_is_all_there(real: list[PublicChain]) -> None:
    assert oddities(real) == Oddities(
        without_answers=1, blank=3, endless=2, tagged=637, soft_hyphens=19, below_zero=57, marked_within=1
    )
    assert max(len(answer.text) for chain in real for answer in chain.answers) == 102_404
    [team] = {chain.model for chain in real if chain.is_of_team}
    assert team == "top-5-parallel"
    assert sum(answer.thoughts is not None for chain in real for answer in chain.answers) == 13_439
    assert len({chain.question for chain in real}) == 157


def test_they_are_read_in_no_time(real_files: list[Path]) -> None:
    began = time.monotonic()
    for path in real_files[:5]:
        read_public(path)
    size = sum(path.stat().st_size for path in real_files[:5])
    assert time.monotonic() - began < 6 * size / 47e6


def test_reading_takes_no_more_than_thrice_the_file(tmp_path: Path) -> None:
    texts = [f"Idea {number}: {'listen — and then – listen again. ' * 20}" for number in range(3000)]
    path = write(tmp_path / "results.json", models(*(answer(place, text) for place, text in enumerate(texts, 1))))
    tracemalloc.start()
    read_public(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * path.stat().st_size


def test_a_file_of_aidanbench(public_data: Path) -> None:
    chains = read_public(public_data / "aidanbench" / "small_results.json")
    ours = totals(chains)
    assert len(ours) == 5
    assert {model: own.questions for model, own in ours.items() if own.questions != 10} == {"gpt-4-turbo": 9}
    assert sum(own.responses for own in ours.values()) == 1161
    assert sum(own.valid for own in ours.values()) == 1161 - 49, "each ended by a threshold of its own"
