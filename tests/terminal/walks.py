"""What a person does again and again in the app, and what is left of it afterwards."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.terminal.screen import Terminal

QUESTION = "Propose a way to weigh a cloud."

AT_SETUP = "Quit"
"""Shown in the footer of the setup screen."""

MODES = (1000, 1003, 1006, 2004)
"""Private modes that the app sets and must unset: mouse, mouse moves, mouse in SGR, bracketed paste."""


def surroundings(sessions: Path, **more: str | None) -> Mapping[str, str | None]:
    """The environment of an app that keeps its sessions in `sessions`."""
    return {"JAGSTORM_SESSIONS": str(sessions), **more}


def begin(terminal: Terminal, question: str = QUESTION) -> None:
    """From the setup screen to the live screen, with a question of one's own."""
    terminal.wait_for(AT_SETUP)
    terminal.send("n")
    terminal.wait_for("our own question")
    terminal.send(f"{question}\r")
    terminal.wait_for("Pause")


def wait_ideas(terminal: Terminal, count: int) -> None:
    """Until the live screen, or the replay, counts at least so many ideas."""
    terminal.wait_until(lambda: ideas_shown(terminal) >= count, f"{count} ideas")


def pause(terminal: Terminal) -> None:
    """Hold a running session, and wait out the step that was under way."""
    terminal.send(" ")
    terminal.wait_for("paused")
    terminal.wait_gone("after this idea")
    terminal.settle(0.7)  # between two words of a step that had just begun nothing is written for a moment


def ideas_shown(terminal: Terminal) -> int:
    counted = re.search(r"idea (\d+) · \d", terminal.lines[0])
    return int(counted.group(1)) if counted else 0


def is_restored(terminal: Terminal) -> bool:
    """Whether the terminal was given back: screen, cursor, mouse, and the modes of its line."""
    raw = bytes(terminal.raw)
    off = all(_last_is(raw, f"\x1b[?{mode}l", f"\x1b[?{mode}h") for mode in MODES)
    return (
        off
        and _last_is(raw, "\x1b[?1049l", "\x1b[?1049h")
        and _last_is(raw, "\x1b[?25h", "\x1b[?25l")
        and terminal.modes() == terminal.before
    )


def _last_is(raw: bytes, wanted: str, other: str) -> bool:
    return raw.rfind(wanted.encode()) > raw.rfind(other.encode())


def the_session(sessions: Path) -> Path:
    """The folder of the one session there is."""
    [folder] = [path for path in sessions.iterdir() if path.is_dir()]
    return folder


def events(sessions: Path) -> list[dict[str, Any]]:
    """What the log of the one session holds; every line must be whole."""
    content = (the_session(sessions) / "events.jsonl").read_text(encoding="utf-8")
    assert content.endswith("\n")
    return [json.loads(line) for line in content.splitlines()]


def is_closed_by_person(sessions: Path) -> bool:
    """Whether the one session's log ends as it does when a person ends it."""
    *_, question_ended, session_ended = events(sessions)
    return (question_ended["type"], question_ended["reason"], session_ended["type"]) == (
        "question_ended",
        "person",
        "session_ended",
    )
