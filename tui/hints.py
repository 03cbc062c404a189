"""What a person can type next."""

import shlex
from pathlib import Path

from core.config import sessions_folder
from core.text import shown


def resume_command(folder: Path) -> str:
    """What to type to go on with a session, from here."""
    return _on("resume", folder)


def attach_command(folder: Path) -> str:
    """What to type to see a session that runs, from here."""
    return _on("attach", folder)


def _on(command: str, folder: Path) -> str:
    where = "" if folder.parent == sessions_folder(None) else f" --sessions {shlex.quote(shown(folder.parent))}"
    return f"jagstorm {command} {shown(folder.name)}{where}"
