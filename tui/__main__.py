"""Where the `jagstorm` command begins."""

import os
import signal


def main() -> None:
    """Run the command. Until there is something to end cleanly, Ctrl+C just ends it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Matrices here are small: several threads only wait for each other, ten times as long where others work too.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tui.cli import run_command

    run_command()


if __name__ == "__main__":
    main()
