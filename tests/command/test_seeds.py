"""`jagstorm seeds`, and seeds as options of `jagstorm run`."""

import json
from pathlib import Path

import pytest

from core.config import read_plan
from core.levers import Each, Every, Hand, Off, Plateau, SeedPolicy
from core.seeds.bank import SeedBank
from core.store import library
from tests.command.conftest import Jagstorm
from tests.scripted import ScriptedProvider
from tests.unit.test_seed_effect import injected, session

QUESTION = "shape-memory-ten-uses"
RUN = ("run", "--question-id", QUESTION, "--max-ideas", "2", "-q")


def only_folder(sessions: Path) -> Path:
    [folder] = sessions.iterdir()
    return folder


# ── list ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_seeds_stand_under_their_fields(jagstorm: Jagstorm) -> None:
    code, out, err = jagstorm("seeds", "list")
    assert (code, err) == (0, "")
    assert out.startswith("Physics / Fundamental\n  ")
    assert out.count("\nBiology\n") == 1
    assert len(out.splitlines()) == 2 * len(SeedBank.built_in()) + len(SeedBank.built_in().leaves())


def test_a_field_and_words_leave_what_fits(jagstorm: Jagstorm) -> None:
    out = jagstorm("seeds", "list", "--field", "chemistry", "--search", "oscillator", "--json").out
    found = [json.loads(line) for line in out.splitlines()]
    assert {seed["field"] for seed in found} == {"Chemistry"}
    assert "Belousov-Zhabotinsky oscillator" in [seed["name"] for seed in found]


@pytest.mark.parametrize(("option", "sign"), [("--near", 1), ("--far", -1)])
def test_by_distance_from_a_question(jagstorm: Jagstorm, option: str, sign: int) -> None:
    out = jagstorm("seeds", "list", option, QUESTION, "--json").out
    distances = [sign * json.loads(line)["distance"] for line in out.splitlines()]
    assert len(distances) == len(SeedBank.built_in())
    assert distances == sorted(distances)
    first = jagstorm("seeds", "list", option, QUESTION).out.splitlines()[0]
    assert first.startswith(f"{sign * distances[0]:.2f}  ")


def test_ones_own_seeds_are_listed_and_what_is_wrong_with_a_file_is_said(jagstorm: Jagstorm, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "jagstorm" / "seeds"
    folder.mkdir(parents=True)
    (folder / "own.toml").write_text('domain = "Caves"\n[[seeds]]\nname = "Drip clock"\ntext = "Drops."\n[[seeds]]\n')
    code, out, err = jagstorm("seeds", "list", "--field", "caves")
    assert code == 0
    assert out == "Caves\n  Drip clock\n    Drops.\n"
    assert "own.toml:5: a seed needs `name" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--field", "alchemy"), "There is no field 'alchemy': there are Physics / Fundamental"),
        (("list", "--near", "nothing"), "No question has the id 'nothing'"),
        (("list", "--near", QUESTION, "--far", QUESTION), "--near and --far exclude each other"),
        (("effect", "nothing"), "No session 'nothing'"),
        (("effect",), "There are no sessions in"),
        (("effect", "--svg", "picture.png"), "name a file that ends in .svg"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(jagstorm: Jagstorm, words: tuple[str, ...], said: str) -> None:
    code, out, err = jagstorm("seeds", *words)
    assert (code, out) == (2, "")
    assert said in err


# ── effect ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def store(sessions: Path, seeded: range, policy: SeedPolicy, name: str = "") -> Path:
    """A session of 14 ideas, some of them under seeds."""
    from msgspec.structs import replace

    from tests.conftest import make_plan

    log = library.create(sessions / name, replace(make_plan(), seeds=policy))
    for event in session(
        {number: injected(f"seed {number}", set_before=isinstance(policy, Every | Each)) for number in seeded}, last=14
    ).events:
        log.append(event)
    log.close()
    return log.folder


def test_it_says_what_it_rests_on_and_when_no_difference_is_seen(jagstorm: Jagstorm, sessions: Path) -> None:
    store(sessions, range(3, 14, 3), Every(steps=3))
    store(sessions, range(3, 14, 3), Every(steps=3))
    code, out, _ = jagstorm("seeds", "effect")
    assert code == 0
    for said in (
        "8 pairs in 2 chains on 1 question",
        "Novelty: no difference seen (8 pairs",
        "Judged novelty: not judged",
        "tests at once (Holm 1979)",
    ):
        assert said in out
    assert "flatter" not in out, "these seeds came at steps set before"
    assert "\x1b" not in out


def test_seeds_that_came_because_of_how_ideas_went_are_named(jagstorm: Jagstorm, sessions: Path) -> None:
    store(sessions, range(3, 14, 3), Plateau())
    assert "In 4 pairs the seed came because of how ideas went" in jagstorm("seeds", "effect").out.replace("\n", " ")


def test_json_and_a_picture(jagstorm: Jagstorm, sessions: Path, tmp_path: Path) -> None:
    folder = store(sessions, range(3, 14, 3), Every(steps=3))
    found = json.loads(jagstorm("seeds", "effect", folder.name, "--json").out)
    assert (found["pairs"], found["seeded"]) == (4, 4)
    assert found["contrasts"][0]["measure"] == "embedding_novelty"
    assert found["contrasts"][0]["verdict"] == "too few to tell"
    picture = tmp_path / "effect.svg"
    assert jagstorm("seeds", "effect", "--svg", str(picture)).code == 0
    assert "Novelty" in picture.read_text()


def test_a_folder_of_sessions_stands_for_all_in_it(jagstorm: Jagstorm, sessions: Path) -> None:
    store(sessions, range(0), Off(), "compare-1")
    store(sessions, range(2, 15), Each(), "compare-1")
    store(sessions, range(0), Hand())
    inside = json.loads(jagstorm("seeds", "effect", "compare-1", "--json").out)
    assert (inside["pairs"], inside["apart"]) == (13, 0)
    assert json.loads(jagstorm("seeds", "effect", "--json").out)["pairs"] == 13


def test_without_seeds_it_says_how_to_have_some(jagstorm: Jagstorm, sessions: Path) -> None:
    store(sessions, range(0), Hand())
    assert "No idea here was written under a seed" in jagstorm("seeds", "effect").out


def test_seeds_without_anything_beside_them_say_how_to_have_that(jagstorm: Jagstorm, sessions: Path) -> None:
    store(sessions, range(2, 15), Each())
    out = jagstorm("seeds", "effect").out.replace("\n", " ")
    assert "13 ideas under a seed found no partner" in out
    assert "--seeds every:4" in out


def test_a_damaged_session_is_named_and_left_out(jagstorm: Jagstorm, sessions: Path) -> None:
    store(sessions, range(3, 14, 3), Every(steps=3))
    broken = sessions / "20000101-000000-broken-0000"
    broken.mkdir()
    (broken / "session.toml").write_text("[")
    code, out, err = jagstorm("seeds", "effect")
    assert code == 0
    assert "4 pairs" in out
    assert "session.toml is damaged" in err


# ── run ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "policy"),
    [
        ((), Hand()),
        (("--seeds", "off"), Off()),
        (("--seeds", "every:3"), Every(steps=3)),
        (
            ("--seeds", "plateau", "--seed-distance", "near", "--seed-field", "chemistry", "--seed-style", "mention"),
            Plateau(distance="near", field="Chemistry", style="mention"),
        ),
        (("--seeds", "each"), Each()),
        (("--seeds", "each:vortex pinning"), Each(seed="Vortex pinning")),
    ],
)
def test_run_puts_the_policy_into_the_plan(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path, words: tuple[str, ...], policy: SeedPolicy
) -> None:
    assert jagstorm(*RUN, *words).code == 0
    assert read_plan(only_folder(sessions)).seeds == policy


def test_a_seed_in_each_step_is_in_its_prompt(jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path) -> None:
    assert jagstorm(*RUN, "--seeds", "each:Vortex pinning").code == 0
    state = library.load(only_folder(sessions)).state()
    assert [len(idea.seeds) for chain in state.chains.values() for idea in chain.ideas] == [1, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seeds", "sometimes"), "off, hand, every:N"),
        (("--seeds", "every:0"), "off, hand, every:N"),
        (("--seeds", "every:"), "off, hand, every:N"),
        (("--seeds", "plateau:3"), "off, hand, every:N"),
        (("--seeds", "each:Vortex pining"), "There is no seed 'Vortex pining'; the nearest: Vortex pinning"),
        (("--seeds", "each", "--seed-field", "alchemy"), "There is no field 'alchemy'"),
        (("--seeds", "each", "--seed-distance", "middling"), "'middling' is not one of"),
        (("--seed-style", "mention"), "--seed-style needs --seeds every:N, plateau or each"),
        (("--seeds", "hand", "--seed-distance", "near"), "--seed-distance needs --seeds"),
    ],
)
def test_wrong_seeds_end_before_anything_began(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path, words: tuple[str, ...], said: str
) -> None:
    code, out, err = jagstorm(*RUN, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert not sessions.exists()


# ── compare ───────────────────────────────────────────────────────────────────────────────────────────────────────────

COMPARE = ("compare", "--question-id", QUESTION, "--team", "embedded", "--budget", "calls", "5", "-q")


def test_policies_are_compared_on_the_same_draws_and_the_same_budget(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    code, out, _ = jagstorm(*COMPARE, "--seeds", "off,far,near", "--repeats", "2", "--json")
    assert code == 0
    found = json.loads(out)
    assert [team["standing"]["team"] for team in found["report"]["teams"]] == ["seeds off", "seeds far", "seeds near"]
    assert [pair["other"] for pair in found["report"]["pairs"]] == ["seeds far", "seeds near"]
    assert found["report"]["members"] == []
    assert {run["calls"] for run in found["runs"]} == {5}
    plans = [read_plan(folder) for folder in only_folder(sessions).iterdir()]
    assert {plan.team.name for plan in plans} == {"embedded"}
    by_draw: dict[int, list[SeedPolicy]] = {}
    for plan in plans:
        by_draw.setdefault(plan.random_seed, []).append(plan.seeds)
    assert all(
        sorted(map(repr, policies)) == sorted(map(repr, [Off(), Each(), Each(distance="near")]))
        for policies in by_draw.values()
    )


def test_what_it_leaves_can_be_looked_at_idea_by_idea(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    out = jagstorm(*COMPARE, "--seeds", "off,far").out
    assert "seeds off next to seeds far: " in out
    folder = only_folder(sessions)
    assert f"jagstorm seeds effect {folder}" in out
    found = json.loads(jagstorm("seeds", "effect", str(folder), "--json").out)
    assert (found["pairs"], found["apart"], found["called"]) == (4, 0, 0)
    assert {each["measure"] for each in found["contrasts"]} == {"embedding_novelty", "passed"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seeds", "off"), "two or more of off, far, near and any"),
        (("--seeds", "off,often"), "two or more of off, far, near and any"),
        (("--seeds", "off,far", "--team", "embedded-solo"), "--seeds is about one team"),
    ],
)
def test_policies_that_cannot_be_compared_say_why(
    jagstorm: Jagstorm, provider: ScriptedProvider, words: tuple[str, ...], said: str
) -> None:
    code, out, err = jagstorm(*COMPARE, *words)
    assert (code, out) == (2, "")
    assert said in err
