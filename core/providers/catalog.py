"""What can be used here: a provider by its name, made when first asked for, one for the life of the process."""

from collections.abc import Mapping

from core.errors import ModelUnavailableError
from core.models import Provider


class Providers:
    """`made` are providers that are there already, by name."""

    def __init__(self, made: Mapping[str, Provider] | None = None) -> None:
        self._made: dict[str, Provider] = dict(made or {})

    def get(self, name: str) -> Provider:
        """Raises `ModelUnavailableError` for a name that this version does not know."""
        if name not in self._made:
            self._made[name] = _make(name)
        return self._made[name]

    async def close(self) -> None:
        for provider in list(self._made.values()):
            await provider.close()
        self._made.clear()


def _make(name: str) -> Provider:
    if name == "embedded":
        from core.providers.embedded import EmbeddedProvider

        return EmbeddedProvider()
    raise ModelUnavailableError(f"This version has no provider {name!r}; it has: embedded")
