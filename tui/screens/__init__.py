"""One screen a file: setup, live, replay, sessions, and the dialogs over them."""
