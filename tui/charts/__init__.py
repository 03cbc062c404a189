"""Charts: each a pure function from numbers, size and colours to lines."""
