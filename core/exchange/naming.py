"""Names of files that are made of what others call things."""

import re


def slug(text: str, longest: int = 40) -> str:
    """The words of `text` in small letters with dashes between them; "" if it has none."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:longest].strip("-")
