"""What the README tells people to type."""

import re
import shlex
from pathlib import Path

import click
import pytest

from core.store.library import example_folder
from tests.command.conftest import Jagstorm
from tui.cli import cli

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8").replace("\\\n", " ")
TYPED = re.findall(r"(?m)^ {4,}(jagstorm .+)$|`(jagstorm [^`]+)`", README)
COMMANDS = sorted({re.split(r"#|\||>>", block or inline)[0].strip() for block, inline in TYPED})


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that is meant, and what follows its name."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


def test_there_are_commands_in_it() -> None:
    assert len(COMMANDS) > 25


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_in_it_can_be_typed(line: str) -> None:
    command, words = command_of(shlex.split(line)[1:])
    context = click.Context(command, info_name="jagstorm", resilient_parsing=False)
    _, left, _ = command.make_parser(context).parse_args(words)
    assert not any(word.startswith("--") for word in left), line
    assert (
        not left or isinstance(command, click.Group) or any(isinstance(each, click.Argument) for each in command.params)
    )


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("jagstorm profile")])
def test_every_profile_in_it_is_shown(line: str, jagstorm: Jagstorm, tmp_path: Path) -> None:
    words = [str(tmp_path / word) if word.endswith(".svg") else word for word in shlex.split(line)[1:]]
    code, _, err = jagstorm(*words[:1], str(example_folder()), *words[1:])
    assert (code, "jagstorm:" in err) == (0, False), err
