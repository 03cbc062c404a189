"""`jagstorm run` and `resume --headless`: what they print, what they leave, how they end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.store.log import EventLog, read_log
from tests.command.conftest import Jagstorm
from tests.scripted import ScriptedProvider, same

QUESTION = ("--question", "Propose a way to weigh a smell.")


def last(sessions: Path) -> Path:
    return max(path for path in sessions.iterdir() if path.is_dir())


def test_a_run_to_its_cap_says_what_came_and_ends_with_0(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    code, out, err = jagstorm("run", *QUESTION, "--max-ideas", "3")
    assert code == 0
    assert "Reached its cap: 3 of 3 ideas pass." in out
    assert str(last(sessions)) in out
    assert "Propose a way to weigh a smell." in err
    assert "coherence not judged" in err
    assert "\x1b" not in out + err


def test_a_chain_ended_by_a_rule_ends_with_0(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    provider.script = same
    code, out, _ = jagstorm("run", *QUESTION, "--patience", "2", "--random-seed", "3")
    assert code == 0
    assert "The last 2 ideas failed" in out


def test_json_prints_every_event_and_nothing_else(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    code, out, err = jagstorm("run", "--question-id", "shape-memory-ten-uses", "--max-ideas", "2", "--json")
    assert code == 0
    assert err == ""
    events = [json.loads(line) for line in out.splitlines()]
    stored = [event for event in events if event["type"] != "proposal_delta"]
    assert stored == [json.loads(line) for line in (last(sessions) / "events.jsonl").read_text().splitlines()]
    assert events[0]["type"] == "session_started"
    assert events[-1]["type"] == "session_ended"


def test_quiet_prints_the_summary_alone_and_verbose_each_step(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    assert jagstorm("run", *QUESTION, "--max-ideas", "1", "-q").err == ""
    assert "step 1" in jagstorm("run", *QUESTION, "--max-ideas", "1", "-v").err


def test_the_same_seed_draws_the_same(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    def ideas() -> list[str]:
        out = jagstorm("run", *QUESTION, "--max-ideas", "5", "--random-seed", "11", "--json").out
        events = [json.loads(line) for line in out.splitlines()]
        return [event["text"] for event in events if event["type"] == "idea_added"]

    assert ideas() == ideas()


def test_a_question_from_a_file_of_ones_own(jagstorm: Jagstorm, provider: ScriptedProvider, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'domain = "Acoustics"\n[[questions]]\nid = "hear-a-glacier"\ntext = "Propose a way to hear it melt."\n'
    )
    code, _, err = jagstorm("run", "--questions", str(mine), "--question-id", "hear-a-glacier", "--max-ideas", "1")
    assert code == 0
    assert "hear it melt" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "Give either --question TEXT or --question-id ID"),
        (("run", *QUESTION, "--question-id", "x"), "Give either"),
        (("run", "--question", "  "), "The question is empty"),
        (("run", "--question", "x" * 20_001), "20,001 characters; 20,000 is the most"),
        (("run", "--question-id", "shape-memry-ten-uses"), "shape-memory-ten-uses"),
        (("run", *QUESTION, "--max-ideas", "0"), "--max-ideas"),
        (("run", *QUESTION, "--patience", "-1"), "--patience"),
        (("run", *QUESTION, "--max-ideas", "many"), "not a valid integer"),
        (("run", *QUESTION, "--team", "dream"), "there are: embedded, embedded-solo"),
        (("resume", "last", "--headless"), "There are no sessions"),
        (("resume", "nothing-like-it", "--headless"), "No session 'nothing-like-it'"),
        (("fly",), "No such command"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(jagstorm: Jagstorm, words: tuple[str, ...], said: str) -> None:
    code, out, err = jagstorm(*words)
    assert code == 2
    assert out == ""
    assert said in err


@pytest.mark.parametrize(
    ("content", "said"), [(None, "There is no file"), (b"PK\x03\x04 not it", "is not a GGUF file")]
)
def test_a_model_file_that_cannot_be_used_ends_with_3(
    jagstorm: Jagstorm, tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    code, _, err = jagstorm("run", *QUESTION, "--model", str(path))
    assert code == 3
    assert said in err


def test_a_model_that_always_fails_ends_with_3(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    provider.fail_after = 1
    code, _, err = jagstorm("run", *QUESTION)
    assert code == 3
    assert "the server said no" in err


def test_a_refusal_of_the_first_idea_ends_with_3(jagstorm: Jagstorm, provider: ScriptedProvider) -> None:
    provider.reason = "refused"
    code, out, _ = jagstorm("run", *QUESTION)
    assert code == 3
    assert "Refused by the model" in out
    assert len(provider.calls) == 1


def test_a_sessions_folder_that_cannot_be_written_ends_with_5(jagstorm: Jagstorm, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, _, err = jagstorm("run", *QUESTION, "--sessions", str(tmp_path / "file" / "sessions"))
    assert code == 5
    assert "choose another folder with --sessions DIR" in err


def test_a_disk_that_fills_up_ends_with_5(
    jagstorm: Jagstorm, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = EventLog.flush

    def fill(log: EventLog) -> None:
        if len(provider.calls) >= 2:
            from core.errors import StoreError

            raise StoreError(f"No space left on device: {log.folder} can't be written")
        flush(log)

    monkeypatch.setattr(EventLog, "flush", fill)
    code, _, err = jagstorm("run", *QUESTION)
    assert code == 5
    assert "No space left" in err


def test_a_capped_session_resumes_with_a_higher_cap_only(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    jagstorm("run", *QUESTION, "--max-ideas", "2")
    refused = jagstorm("resume", "last", "--headless")
    assert refused.code == 2
    assert "--max-ideas above that" in refused.err
    code, out, _ = jagstorm("resume", "last", "--headless", "--max-ideas", "4")
    assert code == 0
    assert "4 ideas pass" in out
    added = [event for event in read_log(last(sessions)).events if type(event).__name__ == "IdeaAdded"]
    assert len(added) == 4


def test_a_session_that_another_process_writes_is_left_alone(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path
) -> None:
    jagstorm("run", *QUESTION, "--max-ideas", "1")
    log, _ = EventLog.reopen(last(sessions))
    try:
        code, _, err = jagstorm("resume", "last", "--headless", "--max-ideas", "3")
        assert code == 2
        assert "Another jagstorm is writing" in err
        assert '"running"' in jagstorm("sessions", "--json").out
    finally:
        log.close()


def test_when_the_reader_of_the_events_leaves_the_session_ends_cleanly(sessions: Path) -> None:
    """As `jagstorm run --json | head -1` does, on the real model."""
    command = f"{sys.executable} -m tui run --question 'Propose a way to weigh a smell.' --json --sessions {sessions}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], capture_output=True, text=True, timeout=60, check=False
    )
    assert json.loads(done.stdout)["type"] == "session_started"
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert json.loads((last(sessions) / "events.jsonl").read_text().splitlines()[-1])["type"] == "session_ended"


@pytest.mark.parametrize("words", [("run", *QUESTION, "--max-ideas", "2", "--json"), ("questions",)])
def test_output_that_cannot_be_written_is_one_line(sessions: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" > /dev/full', "bash", sys.executable, "-m", "tui", *words],
        env=os.environ | {"JAGSTORM_SESSIONS": str(sessions)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode not in (0, 120)
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


def test_a_bad_model_file_leaves_no_session_behind(jagstorm: Jagstorm, sessions: Path, tmp_path: Path) -> None:
    assert jagstorm("run", *QUESTION, "--model", str(tmp_path / "none.gguf")).code == 3
    assert not sessions.exists()
