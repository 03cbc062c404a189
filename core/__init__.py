"""The engine: sessions, teams, scoring, files. Plain asyncio.

Nothing in here imports Textual, prints, or knows of a screen; `tui` shows what happens here.
"""
