"""Prints the figures that the project holds itself to: all of them, or of the subjects named on the command line."""

import importlib
import os
import sys
from tempfile import TemporaryDirectory

SUBJECTS = ("start", "calls", "pace", "novelty", "big_session", "profiles", "charts", "wire", "keys")


def main() -> None:
    subjects = [word for word in sys.argv[1:] if not word.startswith("--")] or SUBJECTS
    if unknown := set(subjects) - set(SUBJECTS):
        sys.exit(f"No benchmark {', '.join(unknown)}; there are: {', '.join(SUBJECTS)}")
    with TemporaryDirectory() as compiled:
        # A warm start has compiled modules, also where an environment forbids to write them beside the sources.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does
        for subject in subjects:
            importlib.import_module(f"tests.benchmarks.{subject}").main()


if __name__ == "__main__":
    main()
