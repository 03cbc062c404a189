"""A server on loopback that speaks every provider's wire format and goes wrong in every way there is.

`server.py` is the server, `wire.py` what a wire format must be able to say; one file per format beside them.
"""
