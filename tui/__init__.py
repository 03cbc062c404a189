"""Everything that faces a person in a terminal: the command, the app, its screens and charts.

It shows what `core` does and sends commands to it; it never calls an SDK and keeps nothing that matters.
"""
