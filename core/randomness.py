"""Every random choice of a session, from the one random seed in its plan."""

from zlib import crc32

from numpy.random import Generator, default_rng


def generator(random_seed: int, question: str, *place: int | str) -> Generator:
    """The generator for one place in a session (a step, a member in a step).

    It depends on the place alone, not on what was drawn before: a resumed session draws what an uncut one would have.
    """
    words = [crc32(part.encode()) if isinstance(part, str) else part for part in (question, *place)]
    return default_rng([random_seed, *words])
