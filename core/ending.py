"""How chains and sessions end, as events."""

from core import commands as cmd
from core import events as ev
from core.chain import Chain
from core.errors import JagstormError


def question_ended(chain: Chain, reason: ev.EndReason, message: str = "") -> ev.QuestionEnded:
    """How a chain ended, by its reason."""
    return ev.QuestionEnded(
        question=chain.question,
        reason=reason,
        censored=reason in ("cap", "budget", "person", "refused", "error"),
        responses=chain.responses,
        valid=chain.valid,
        message=message,
    )


def cut_short(stop: cmd.Stop | None, fault: JagstormError | None) -> ev.SessionEnded:
    """How a session ends with something left to do: by a fault, or because somebody or a signal stopped it."""
    if fault:
        return ev.SessionEnded(how="error", message=fault.message)
    assert stop
    by_signal = stop.by.startswith("SIG")
    return ev.SessionEnded(how="interrupted" if by_signal else "stopped", message=stop.by)
