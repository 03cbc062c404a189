"""How many tokens a text is, where nobody can be asked."""


def estimate_tokens(text: str) -> int:
    """Rather more than fewer: 3.5 characters a token in ASCII, one token a character elsewhere."""
    ascii_only = len(text.encode("ascii", "ignore"))
    return round(ascii_only / 3.5) + len(text) - ascii_only
