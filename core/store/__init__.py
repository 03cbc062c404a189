"""A session on disk: `log.py` appends and recovers, `library.py` makes, lists and finds, `replay.py` plays back."""
