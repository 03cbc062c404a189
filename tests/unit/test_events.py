"""Events as lines of JSON: a contract with people's scripts."""

import json
import math
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import events as ev
from core.levers import Every, Hand, Seed
from core.lines import cleaned, decode, encode
from core.models import Budget, Usage
from tests.conftest import scripted_team

STAMP: dict[str, Any] = {"seq": 7, "t": 1.5, "at": "2026-03-01T10:00:00.000+01:00"}
WHERE: dict[str, Any] = {"question": "q", "step": 2, "member": "anna"}

ONE_OF_EACH: tuple[ev.Event, ...] = (
    ev.SessionStarted(**STAMP, version="0.1.0"),
    ev.SessionEnded(**STAMP, how="interrupted", message="SIGTERM"),
    ev.QuestionStarted(**STAMP, question="q", text="Propose a test.", domain="Physics", subdomain="Fundamental"),
    ev.StepStarted(**STAMP, question="q", step=2, members=("anna",), seeds=("tides",), steers=("cheaper",)),
    ev.ProposalStarted(
        **STAMP, **WHERE, shown=(1, 3), style="concept", persona="a poet", concept="tides", random_seed=5
    ),
    ev.ProposalDelta(t=1.5, **WHERE, text="Use", thoughts="hm"),
    ev.ProposalFinished(
        **STAMP,
        **WHERE,
        text="Use ice.",
        raw="1. Use ice.",
        thoughts="hm",
        usage=Usage(input_tokens=9, output_tokens=4, seconds=0.5),
        cost=0.25,
        trace=((0, 3), (60, 11)),
    ),
    ev.ProposalFailed(**STAMP, **WHERE, outcome="failed", kind="timeout", message="too slow", text="Use", cost=0.0),
    ev.ProposalChosen(**STAMP, question="q", step=2, order=("bert", "anna"), pick="anna", by="selector", why="bold"),
    ev.DirectionsNamed(**STAMP, question="q", step=2, member="anna", directions=("by ear", "by light"), cost=0.1),
    ev.AsideFailed(**STAMP, question="q", step=2, model="picker", outcome="failed", kind="server", message="no"),
    ev.StepDropped(**STAMP, question="q", step=2, why="the last idea failed", usage=Usage(input_tokens=9)),
    ev.PipeliningSet(**STAMP, on=False, by="you"),
    ev.IdeaAdded(**STAMP, question="q", idea=1, step=2, text="Use ice.", author="you"),
    ev.IdeaScored(
        **STAMP,
        question="q",
        idea=2,
        coherence=80.0,
        embedding_novelty=0.14,
        judged_novelty=0.5,
        nearest=1,
        verdict="failed",
        failed_rule="embedding_novelty",
        detail="near",
        judges=("j",),
        votes=(ev.Vote(judge="j", prompt_version=1, coherence=80, similarity=50, unreadable=1),),
        coherence_spread=3.0,
        compared=1,
        embedder="wordllama",
        chunks=2,
        usage=Usage(input_tokens=400, output_tokens=20),
        cost=0.01,
    ),
    ev.Forked(**STAMP, session="20261130-120000-ice-1234", question="q", idea=2),
    ev.OwnIdeasFirst(**STAMP, question="q", minutes=5.0, shown=False),
    ev.ChoiceOffered(**STAMP, question="q", step=2, order=("bert", "anna"), until=61.5),
    ev.ChoiceHandedOver(**STAMP, question="q", step=2, to="novel"),
    ev.TeamWanted(**STAMP, team=scripted_team("anna"), by="you"),
    ev.IdeaEdited(**STAMP, question="q", idea=1, old="Use ice.", new="Use old ice.", by="ada"),
    ev.IdeaRemoved(**STAMP, question="q", idea=1, undoes=7),
    ev.IdeaRestored(**STAMP, question="q", idea=1),
    ev.IdeaPinned(**STAMP, question="q", idea=1, old=False, new=True),
    ev.IdeaRated(**STAMP, question="q", idea=1, old=0, new=5),
    ev.IdeaCommented(**STAMP, question="q", idea=1, old="", new="try this"),
    ev.SeedInjected(
        **STAMP, question="q", id="s1", seed=Seed(name="tides", text="Tides turn.", source="bank"), steps=None, step=3
    ),
    ev.SeedWithdrawn(**STAMP, question="q", id="s1"),
    ev.SeedPolicySet(**STAMP, question="q", old=Hand(), new=Every(steps=3, distance="near")),
    ev.SteerAdded(**STAMP, question="q", id="g1", text="cheaper"),
    ev.SteerWithdrawn(**STAMP, question="q", id="g1"),
    ev.TaskGiven(**STAMP, question="q", id="t1", task="merge", ideas=(1, 2)),
    ev.TaskDone(**STAMP, question="q", id="t1", text="Use both.", member="anna", thoughts="hm", cost=0.1),
    ev.TaskFailed(**STAMP, question="q", id="t1", member="anna", outcome="failed", kind="server", message="no"),
    ev.JudgingPaid(
        **STAMP,
        question="q",
        idea=3,
        given=(ev.Given(judge="j", prompt_version=1, against=2, score=40),),
        usage=Usage(input_tokens=100, estimated=True),
        cost=0.01,
    ),
    ev.ScoringProgress(t=1.5, question="q", idea=2, done=3, total=9),
    ev.ControlScored(**STAMP, question="q", judge="j", kind="duplicate", score=97.0, passed=True, cost=None),
    ev.TeamChanged(**STAMP, team=scripted_team("anna", "bert"), by="you"),
    ev.ContextTrimmed(**STAMP, **WHERE, ideas=40, shown=12, why="full"),
    ev.RetryScheduled(**STAMP, **WHERE, why="429", until=9.5),
    ev.Notice(**STAMP, text="line 3 is damaged", question="q"),
    ev.Paused(**STAMP, by="you", why="tea"),
    ev.Resumed(**STAMP, by="you", max_ideas=20, budget=Budget(max_cost=2.0)),
    ev.QuestionEnded(**STAMP, question="q", reason="cap", censored=True, responses=5, valid=4, message="enough"),
)

# DESIGN §4: these names and fields are a contract. Fields may be added here, none renamed or removed.
CONTRACT = {
    "session_started": {"version"},
    "session_ended": {"how"},
    "question_started": {"question", "text", "domain", "subdomain"},
    "forked": {"session", "question", "idea"},
    "own_ideas_first": {"question", "minutes", "shown"},
    "choice_offered": {"question", "step", "order", "until"},
    "choice_handed_over": {"question", "step", "to"},
    "team_wanted": {"team", "by"},
    "idea_edited": {"question", "idea", "old", "new", "by"},
    "idea_removed": {"question", "idea", "by"},
    "idea_restored": {"question", "idea", "by"},
    "idea_pinned": {"question", "idea", "old", "new", "by"},
    "idea_rated": {"question", "idea", "old", "new", "by"},
    "idea_commented": {"question", "idea", "old", "new", "by"},
    "seed_injected": {"question", "id", "seed", "steps", "step", "by", "why"},
    "seed_withdrawn": {"question", "id", "by"},
    "seed_policy_set": {"question", "old", "new", "by"},
    "steer_added": {"question", "id", "text", "by"},
    "steer_withdrawn": {"question", "id", "by"},
    "task_given": {"question", "id", "task", "ideas", "by"},
    "task_done": {"question", "id", "text", "member", "thoughts", "usage", "cost"},
    "task_failed": {"question", "id", "member", "outcome", "kind", "message", "usage", "cost"},
    "step_started": {"question", "step", "members", "seeds", "steers"},
    "proposal_started": {"question", "step", "member"},
    "proposal_delta": {"question", "step", "member", "text", "thoughts"},
    "proposal_finished": {"question", "step", "member", "text", "thoughts", "usage", "cost", "trace", "outcome"},
    "proposal_failed": {"question", "step", "member", "text", "usage", "cost", "outcome"},
    "proposal_chosen": {"question", "step", "order", "pick", "by", "why"},
    "directions_named": {"question", "step", "member", "directions", "usage", "cost"},
    "aside_failed": {"question", "step", "model", "outcome", "usage", "cost"},
    "step_dropped": {"question", "step", "why", "usage"},
    "pipelining_set": {"on", "by"},
    "idea_added": {"question", "idea", "step", "text", "author"},
    "idea_scored": {
        "question",
        "idea",
        "coherence",
        "embedding_novelty",
        "judged_novelty",
        "nearest",
        "verdict",
        "failed_rule",
        "judges",
    },
    "judging_paid": {"question", "idea", "given", "usage", "cost"},
    "scoring_progress": {"question", "idea", "done", "total"},
    "control_scored": {"question", "judge", "kind", "score", "passed"},
    "team_changed": {"team", "by"},
    "context_trimmed": {"question", "why"},
    "retry_scheduled": {"question", "why", "until"},
    "notice": {"text"},
    "paused": {"by"},
    "resumed": {"by"},
    "question_ended": {"question", "reason", "censored", "responses", "valid"},
}


def table(event: ev.Event) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(encode(event))
    return decoded


def test_there_is_one_of_each() -> None:
    assert {type(event) for event in ONE_OF_EACH} == set(get_args(ev.Known))


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: type(event).__name__)
def test_an_event_is_read_back_as_it_was(event: ev.Event) -> None:
    line = encode(event)
    assert b"\n" not in line
    assert decode(line) == event
    assert cleaned(event) is event


def test_names_and_fields_stand_by_the_contract() -> None:
    found = {table(event)["type"]: set(table(event)) for event in ONE_OF_EACH}
    assert set(found) == set(CONTRACT)
    missing = {name: (fields | {"type", "seq", "t", "at"}) - found[name] for name, fields in CONTRACT.items()}
    assert {name: fields for name, fields in missing.items() if fields} == {}


def test_a_score_nobody_gave_is_null_and_there() -> None:
    line = table(ev.IdeaScored(question="q", idea=1, verdict="unscored"))
    assert [line[name] for name in ("coherence", "embedding_novelty", "judged_novelty", "nearest")] == [None] * 4
    assert line["failed_rule"] is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_line_ever_holds_a_number_that_is_none(value: float) -> None:
    line = encode(ev.IdeaScored(question="q", idea=1, coherence=value, embedding_novelty=value, verdict="unscored"))
    assert b'"coherence":null,"embedding_novelty":null' in line
    scored = decode(line)
    assert isinstance(scored, ev.IdeaScored)
    assert scored.embedding_novelty is None


def test_no_line_ever_holds_half_a_surrogate_pair() -> None:
    event = cleaned(ev.Notice(text="half \ud83d and whole 😀"))
    assert encode(event).decode() == (
        '{"type":"notice","seq":-1,"t":0.0,"at":"","text":"half \ufffd and whole 😀","question":null}'
    )


# ── what other versions and other hands write ─────────────────────────────────────────────────────────────────────────


def test_an_event_of_a_newer_version_is_kept_byte_for_byte() -> None:
    line = b'{ "type":"idea_praised" , "seq":12, "t":3.25,"at":"then","idea":1,"praise":{"warm":[1,2.50,true,null]}}'
    event = decode(line)
    assert event == ev.Unknown(seq=12, t=3.25, at="then", name="idea_praised", raw=line)
    assert encode(event) == line


def test_fields_of_a_newer_version_are_ignored() -> None:
    assert decode(b'{"type":"paused","by":"you","mood":"tired","why":"tea"}') == ev.Paused(by="you", why="tea")


def test_fields_that_an_older_version_had_not_are_filled_in() -> None:
    line = b'{"type":"proposal_finished","question":"q","step":1,"member":"a","text":"Use ice."}'
    assert decode(line) == ev.ProposalFinished(question="q", step=1, member="a", text="Use ice.")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\x00\x00\x00",
        b"[]",
        b"3",
        b"null",
        b"{}",
        b'{"seq":3}',
        b'{"type":3}',
        b'{"type":"idea_added"}',
        b'{"type":"idea_added","question":"q","idea":"one","step":1,"text":"","author":"a"}',
        b'{"type":"question_ended","question":"q","reason":"boredom","censored":true,"responses":1,"valid":1}',
        b'{"type":"notice","text":"a","t":NaN}',
        b'{"type":"notice","text":"a","t":1e999}',
        b'{"type":"notice","text":"a","seq":99999999999999999999999}',
        b'{"type":"idea_added","question":"q","idea":-1,"step":1,"text":"","author":"a"}',
        b'{"type":"notice","text":"\xff\xfe"}',
        b'{"type":"\xff","text":"a"}',
        b'{"type":"notice","text":"\xed\xa0\x80"}',
        b'{"type":"notice","text":"\\ud800"}',
        b'{"type":"notice","text":"\x1b[2J"}',
        b'{"type":"notice","text":"a","b":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"notice","text":"\\u001b","b":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"new","b":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=lambda line: str(line[:60]),
)
def test_what_is_no_event_is_said_to_be_none(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(line)


@given(st.binary())
def test_any_bytes_are_an_event_or_no_event(line: bytes) -> None:
    try:
        assert isinstance(decode(line), ev.Event)
    except msgspec.DecodeError:
        pass


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 2**70), st.floats(), st.sampled_from(["", "a", "passed", "cap", "\x1b"])
)
JSON = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2))


@given(
    st.sampled_from([*sorted(CONTRACT), "idea_praised"]),
    st.dictionaries(st.sampled_from(sorted(set.union(*CONTRACT.values()))), JSON, max_size=8),
)
def test_any_object_is_an_event_or_no_event(name: str, fields: dict[str, Any]) -> None:
    try:
        event = decode(json.dumps({"type": name, **fields}).encode())
    except msgspec.DecodeError:
        return
    assert isinstance(event, ev.Event)
    assert decode(encode(event)) == event
