"""Text that would act on a terminal, or as markup, and a recorded session full of it."""

import json
from pathlib import Path

CLIPBOARD = "\x1b]52;c;aGk=\x07"
CLEAR = "\x1b[2J"
C1 = "\x9d52;c;aGk=\x9c"
OVERRIDE = "\u202e"
MARKUP = "[bold]x[/bold] [/x] [@click=app.quit]y[/]"
# No joined emoji here: pyte drops what comes after a joiner.
FOREIGN = f"{MARKUP} {CLIPBOARD} {CLEAR} {C1} {OVERRIDE}🧪 量子の泡 שלום مرحبا e\u0301"


def quoted(text: str) -> str:
    """`text` as a TOML string, its control characters as escapes."""
    return json.dumps(text, ensure_ascii=False)


def record_foreign(folder: Path) -> Path:
    """A session whose every text is foreign, written by hand, controls JSON-escaped."""
    folder.mkdir(parents=True)
    plan = f"""
format = 1
id = "odd"
created = "2026-01-01T00:00:00+00:00"
random_seed = 1
questions = [{{ id = "odd", text = {quoted(FOREIGN)}, domain = {quoted(FOREIGN)} }}]
rules = {{ patience = 3 }}
[team]
name = {quoted(FOREIGN)}
strategy = "solo"
[[team.members]]
name = {quoted(FOREIGN)}
model = {{ name = {quoted(FOREIGN)} }}
"""
    (folder / "session.toml").write_text(plan, encoding="utf-8")
    lines: list[dict[str, object]] = [
        {"type": "session_started", "version": FOREIGN},
        {"type": "question_started", "question": "odd", "text": FOREIGN, "domain": FOREIGN},
        {"type": "idea_added", "question": "odd", "idea": 1, "step": 1, "text": FOREIGN, "author": FOREIGN},
        {"type": "idea_added", "question": "odd", "idea": 2, "step": 2, "text": FOREIGN, "author": FOREIGN},
        {
            "type": "idea_scored",
            "question": "odd",
            "idea": 2,
            "embedding_novelty": 0.0,
            "nearest": 1,
            "verdict": "failed",
            "failed_rule": "mechanical",
            "detail": FOREIGN,
        },
        {"type": FOREIGN, "text": FOREIGN},
        {"type": "notice", "text": FOREIGN},
        {
            "type": "question_ended",
            "question": "odd",
            "reason": "error",
            "censored": True,
            "responses": 2,
            "valid": 1,
            "message": FOREIGN,
        },
        {"type": "session_ended", "how": "error", "message": FOREIGN},
    ]
    stamped = [{"seq": seq, "t": 0.1 * seq, "at": "", **line} for seq, line in enumerate(lines)]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in stamped))
    return folder
