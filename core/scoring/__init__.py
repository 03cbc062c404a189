"""What an idea is worth: embedding novelty, the mechanical checks, and judges.

`scorer.py` runs all of them at once for one idea; the rules that turn scores into a verdict are in `core.rules`.
"""
