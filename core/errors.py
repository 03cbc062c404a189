"""What can go wrong for a person, as one family: a title, a message that says what to do, an exit code."""

from core.text import clean

EXIT_ENDED, EXIT_USAGE, EXIT_MODEL, EXIT_INTERRUPTED, EXIT_STORE = 0, 2, 3, 4, 5
"""How the command ends: by a rule or a cap, wrong usage, no usable model, interrupted and resumable, not saved."""


class JagstormError(Exception):
    """A fault that a person can understand and act on. Shown as a dialog or as one line, never as a traceback."""

    title = "Something went wrong"
    exit_code = 1

    @property
    def message(self) -> str:
        """What to tell a person: clean, for it may quote a file's or a server's words."""
        return clean(str(self))


class UsageError(JagstormError):
    """What was asked for can't be done as it was asked."""

    title = "That can't be done"
    exit_code = EXIT_USAGE


class ModelUnavailableError(JagstormError):
    """A model can't be used; the message says why and what to do."""

    title = "A model can't be used"
    exit_code = EXIT_MODEL


class NotPulledError(ModelUnavailableError):
    """A server could have the model and does not; `name` is what `jagstorm models pull` fetches."""

    title = "A model is not there yet"

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class TeamIncompleteError(ModelUnavailableError):
    """A team is made of models that are found here, and there are too few."""

    title = "A team lacks models"


class StoreError(JagstormError):
    """A session could not be written."""

    title = "The session can't be saved"
    exit_code = EXIT_STORE


class SessionUnreadableError(JagstormError):
    """A session's files can't be read; the message names the file and the reason."""

    title = "The session can't be read"
    exit_code = EXIT_USAGE


class SessionBusyError(JagstormError):
    """Another process writes this session."""

    title = "The session is in use"
    exit_code = EXIT_USAGE
