"""Where the `jagstorm` command begins."""

import signal


def main() -> None:
    """Run the command. Until there is something to end cleanly, Ctrl+C just ends it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tui.cli import run_command

    run_command()


if __name__ == "__main__":
    main()
