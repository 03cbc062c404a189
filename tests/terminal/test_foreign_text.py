"""Text from outside is shown as it is: it never acts on the terminal, and never as markup."""

from pathlib import Path

from tests.terminal.foreign import C1, CLEAR, FOREIGN, MARKUP, OVERRIDE, quoted, record_foreign
from tests.terminal.screen import JAGSTORM, SCRIPTED, Terminal
from tests.terminal.walks import AT_SETUP, ideas_shown, surroundings

FORBIDDEN = (b"aGk=\x07", CLEAR.encode() + b" ", C1.encode(), OVERRIDE.encode())


def assert_never_acted(terminal: Terminal) -> None:
    for payload in FORBIDDEN:
        assert payload not in terminal.raw
    assert b"]52;" not in terminal.raw.replace(b"[/x]", b"").replace(b" ]52;c;aGk= ", b"")


def test_a_question_of_escapes_and_markup_is_shown_literally_all_the_way(sessions: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'[[questions]]\nid = "odd"\ntext = {quoted(FOREIGN + " gravimeter")}\n', encoding="utf-8")
    with Terminal([*SCRIPTED, "--questions", str(file)], 120, 40, env=surroundings(sessions)) as terminal:
        terminal.wait_for(AT_SETUP)
        terminal.send("/")
        terminal.settle()
        terminal.send("gravimeter")
        terminal.wait_for("[bold]x[/bold] [/x]")
        terminal.send("\r")
        terminal.settle()
        terminal.send("\r")
        terminal.wait_for("Pause")
        terminal.wait_until(lambda: ideas_shown(terminal) > 0, "an idea")
        assert MARKUP in terminal.lines[0]
        terminal.send("?")
        terminal.wait_for("Esc close")
        terminal.send("\x03\x03")
        assert terminal.wait_exit() == 4
        assert_never_acted(terminal)


def test_a_replay_of_escapes_and_markup_shows_them_literally(tmp_path: Path) -> None:
    folder = record_foreign(tmp_path / "sessions" / "odd")
    env = surroundings(tmp_path / "sessions")
    with Terminal([JAGSTORM, "replay", str(folder)], 120, 40, env=env) as terminal:
        terminal.wait_for("at the end")
        assert MARKUP in terminal.text
        terminal.send("\r")
        terminal.wait_for("Idea 2 of 2")
        assert MARKUP in terminal.text
        terminal.send("\x1b")
        terminal.wait_gone("Idea 2 of 2")
        terminal.send("y")
        terminal.wait_for("Copied")
        copied = bytes(terminal.raw).rpartition(b"\x1b]52;c;")
        assert copied[1]
        terminal.send("\x11")
        assert terminal.wait_exit() == 0
        assert FORBIDDEN[0] not in copied[0]
        for payload in FORBIDDEN[1:]:
            assert payload not in terminal.raw
