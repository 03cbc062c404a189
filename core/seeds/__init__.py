"""Seeds: outside content that pushes a chain somewhere new.

`bank.py` reads the bank, `sources.py` has all the places that seeds come from, `ranking.py` says how far they are from
a question, and `policy.py` when one comes by itself.
"""
