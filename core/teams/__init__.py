"""Teams of models: strategies for producing the next idea.

`strategy.py` says what a strategy is, `written.py` how a team is written, and `data/teams.toml` has those that come
with Jagstorm. `results.py` knows how members did before; weights and a router's table are made of that.
"""
