"""`jagstorm run --own`: ideas of a person's own before the team's, without a screen."""

from pathlib import Path

import pytest

from core.state import fold
from core.store.log import read_log
from tests.command.conftest import Jagstorm
from tests.command.test_run import QUESTION, last
from tests.scripted import ScriptedProvider

OWN = "Let a trained moth vote with its antennae.\n\n  Freeze the vapour and weigh the frost.  \n"


def prompts(provider: ScriptedProvider) -> str:
    return "\n".join(message.text for prompt in provider.calls for message in prompt.messages)


@pytest.mark.parametrize("hidden", [False, True])
def test_they_come_first_are_scored_and_are_shown_to_the_team_or_not(
    jagstorm: Jagstorm, provider: ScriptedProvider, sessions: Path, tmp_path: Path, hidden: bool
) -> None:
    (tmp_path / "own.txt").write_text(OWN, encoding="utf-8")
    options = ["--own", str(tmp_path / "own.txt"), *(["--own-hidden"] if hidden else [])]
    code, out, _ = jagstorm("run", *QUESTION, "--max-ideas", "4", *options)
    assert code == 0
    assert "Reached its cap" in out
    [chain] = fold(read_log(last(sessions)).events).chains.values()
    assert [idea.text for idea in chain.ideas[:2]] == [line.strip() for line in OWN.splitlines() if line.strip()]
    assert [idea.author for idea in chain.ideas[:2]] == ["you", "you"]
    assert all(idea.score for idea in chain.ideas)
    assert ("moth" in prompts(provider)) is not hidden


@pytest.mark.parametrize(
    ("content", "said"), [(None, "can't be read"), (b"", "holds no idea"), (b"\xff\xfe\xff", "not UTF-8")]
)
def test_a_file_that_gives_none_is_said_and_nothing_is_begun(
    jagstorm: Jagstorm, sessions: Path, tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "own.txt"
    if content is not None:
        path.write_bytes(content)
    code, _, err = jagstorm("run", *QUESTION, "--own", str(path))
    assert code == 2
    assert said in err
    assert not sessions.exists() or not list(sessions.iterdir())
