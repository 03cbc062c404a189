"""Which chains were imported before, from whatever file: a digest of each, kept beside the session that it is in."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from core.exchange.public import PublicChain
from core.files import read_file, write_private
from core.store.library import session_folders

CHAINS_FILE = "chains.txt"
"""One digest a line."""


class NewChains:
    """Lets through the chains that no session has yet, and counts what it sees."""

    def __init__(self, sessions: Path) -> None:
        self._known = set(_kept(sessions))
        self.answers = 0
        """Of all chains, those that are left out too."""
        self.left_out = 0
        """Chains."""

    def of(self, chains: Iterable[PublicChain]) -> Iterator[tuple[PublicChain, str]]:
        """The new ones, each with its digest."""
        for chain in chains:
            self.answers += chain.responses
            digest = digest_of(chain)
            if digest in self._known:
                self.left_out += 1
            else:
                yield chain, digest


def digest_of(chain: PublicChain) -> str:
    """The same for the same ideas of the same model on the same question: SHA-256, in hex."""
    ideas = [answer.text for answer in chain.answers]
    return hashlib.sha256(
        msgspec.json.encode((chain.model, chain.temperature, chain.leaf, chain.question, ideas))
    ).hexdigest()


def keep_digests(folder: Path, digests: Iterable[str]) -> None:
    """Beside the session in `folder`. Raises OSError."""
    write_private(folder / CHAINS_FILE, "".join(f"{digest}\n" for digest in digests))


def _kept(sessions: Path) -> Iterator[str]:
    for folder in session_folders(sessions):
        try:
            yield from read_file(folder / CHAINS_FILE).decode("ascii", "replace").split()
        except OSError:
            continue  # nothing was imported there
