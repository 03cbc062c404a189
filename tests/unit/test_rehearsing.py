"""Teams of recorded members, made of public result files."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from core import events as ev
from core.comparing import Comparison, Contest
from core.errors import UsageError
from core.models import ModelSpec, Prompt
from core.providers.catalog import Providers
from core.rehearsing import Remembering, rehearsal
from core.rules import Rules
from core.scoring.account import Account
from core.scoring.embeddings import Embedding, WordLlamaEmbedder
from core.store import library
from tests.scripted import varied


def idea(model: str, question: int, number: int) -> str:
    seed = hash((len(model), question, number)) % 27_000
    return varied(ModelSpec(name=""), Prompt(messages=()), seed * 31 + number)


def public_file(path: Path, lengths: dict[str, int], questions: int = 30) -> Path:
    """Models with so many answers to each question; the questions are of two domains."""
    domains: dict[str, dict[str, object]] = {"Chemistry": {}, "Biology": {}}
    for model, length in lengths.items():
        for domain, own in domains.items():
            numbers = range(questions) if domain == "Chemistry" else range(100, 100 + questions)
            answers = {
                f"Propose way {number}?": [
                    {"answer_num": place, "answer": idea(model, number, place)} for place in range(1, length + 1)
                ]
                for number in numbers
            }
            own[model] = {"0.7": answers}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"domains": {name: {"models": own} for name, own in domains.items()}}))
    return path


def test_a_rehearsal_is_made_of_the_models_and_questions_that_are_there(tmp_path: Path) -> None:
    public_file(tmp_path / "deep" / "a.json", {"short": 2, "long": 6})
    public_file(tmp_path / "b.json", {"third": 4})
    (tmp_path / "other.json").write_text('{"Biology": ["Why?"]}')
    made = rehearsal(tmp_path, 20)
    assert (made.members, made.shared, made.held_out, len(made.questions)) == (3, 60, True, 20)
    assert [question.domain for question in made.questions] == ["Biology"] * 10 + ["Chemistry"] * 10
    assert [team.name for team in made.teams] == [
        "sample, all",
        "inverted, all",
        "bandit, all",
        "parallel, all",
        "router",
        "router that has seen the questions",
    ]
    weights = {member.name: member.weight for member in made.teams[0].members}
    assert weights == {"short": 2.0, "long": 6.0, "third": 4.0}
    assert made.teams[-1].routes == {"Biology": "long", "Chemistry": "long"}
    assert made.teams[-2].routes["*"] == "long"
    [left_out] = made.left_out
    assert "other.json holds no results" in left_out
    assert rehearsal(tmp_path, 20) == made
    assert rehearsal(tmp_path, 20, 1).questions != made.questions


def test_of_many_models_the_best_five_are_teams_too(tmp_path: Path) -> None:
    lengths = {f"model {number}": number for number in range(1, 8)}
    made = rehearsal(public_file(tmp_path / "a.json", lengths), 4)
    five = next(team for team in made.teams if team.name == "sample, best 5")
    assert {member.name for member in five.members} == {f"model {number}" for number in range(3, 8)}


async def test_models_of_any_name_can_be_members(tmp_path: Path, sessions: Path, embedder: WordLlamaEmbedder) -> None:
    made = rehearsal(public_file(tmp_path / "a.json", {"lab/one": 1, "lab-one": 2, "you": 3, "": 2, "·": 2}), 1)
    names = [member.name for member in made.teams[0].members]
    assert names == ["lab-one", "lab-one-2", "you-2", "nameless", "-"]
    assert set(made.teams[-1].routes.values()) == {"you-2"}
    rules = Rules(embedding_novelty=0.0, mechanical=False, patience=1)
    compared = Comparison(teams=made.teams, questions=made.questions, limit=None, rules=rules)
    runs = await Contest(compared, sessions, Providers(), embedder).run(8, lambda run: None)
    assert {(run.team, run.valid) for run in runs} >= {("lab-one", 1), ("lab-one-2", 2), ("you-2", 3), ("nameless", 2)}


def test_with_few_questions_nothing_is_held_out_and_that_is_said(tmp_path: Path) -> None:
    made = rehearsal(public_file(tmp_path / "a.json", {"one": 1, "two": 2}, questions=6), 12)
    assert not made.held_out
    assert made.teams[-1].name == "router"


def test_a_broken_file_or_too_few_models_are_refused(tmp_path: Path) -> None:
    path = public_file(tmp_path / "a.json", {"only": 3})
    with pytest.raises(UsageError, match="results of 1 model: a rehearsal needs two or more"):
        rehearsal(path, 5)
    (tmp_path / "b.json").write_text('{"models": {')
    with pytest.raises(UsageError, match=r"b\.json is broken"):
        rehearsal(tmp_path, 5)


async def test_recorded_members_end_with_their_records_and_teams_go_on(
    tmp_path: Path, sessions: Path, embedder: WordLlamaEmbedder
) -> None:
    made = rehearsal(public_file(tmp_path / "a.json", {"short": 2, "long": 5}), 2)
    rules = Rules(embedding_novelty=0.0, mechanical=False, patience=1)
    compared = Comparison(teams=made.teams, questions=made.questions, limit=None, rules=rules)
    runs = await Contest(compared, sessions, Providers(), embedder).run(8, lambda run: None)
    assert len(runs) == compared.chains
    found = {(run.team, run.valid, run.ended) for run in runs}
    assert {("short", 2, "exhausted"), ("long", 5, "exhausted"), ("router", 5, "exhausted")} <= found
    assert {("sample, all", 7, "exhausted"), ("parallel, all", 7, "exhausted")} <= found
    sampled = next(run for run in runs if run.team == "sample, all")
    assert (sampled.calls, sampled.by) == (7, {"long": 5, "short": 2})
    stored = library.load(next(folder for folder in sessions.iterdir() if "sample" in folder.name))
    [notice] = [event.text for event in stored.record.events if isinstance(event, ev.Notice)]
    assert notice == "Recorded: the ideas of short, long were not written for this chain"


async def test_a_text_is_embedded_once(embedder: WordLlamaEmbedder) -> None:
    class Counting(WordLlamaEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[str] = []

        async def embed(self, texts: Sequence[str], account: Account | None = None) -> list[Embedding]:
            self.asked += texts
            return await embedder.embed(texts)

    counting = Counting()
    remembering = Remembering(counting)
    first = await remembering.embed(["a bell", "a glacier", "a bell"], Account())
    second = await remembering.embed(["a glacier", "a comet"], Account())
    assert counting.asked == ["a bell", "a glacier", "a comet"]
    assert first[0] is first[2]
    assert second[0] is first[1]
    assert remembering.name == embedder.name
