"""Ways to reach models: one file per SDK, each a `core.models.Provider`.

A provider knows nothing of sessions, and its SDK is imported when it is first used.
"""
