"""How a team produces the next idea: one strategy a file, each short enough to read.

`strategy.py` says what a strategy is; `presets.py` has the teams that need no set-up.
"""
