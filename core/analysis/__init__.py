"""Numbers about results: pure functions over arrays. Nothing here reads a file or knows a session."""
