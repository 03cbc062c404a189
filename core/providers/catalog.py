"""What can be used here: a provider by its name, made when first asked for, one for the life of the process."""

from core.errors import ModelUnavailableError
from core.models import Provider


class Providers:
    def __init__(self) -> None:
        self._made: dict[str, Provider] = {}

    def get(self, name: str) -> Provider:
        """Raises `ModelUnavailableError` for a name that this version does not know."""
        if name not in self._made:
            self._made[name] = _make(name)
        return self._made[name]

    async def close(self) -> None:
        for provider in self._made.values():
            await provider.close()
        self._made.clear()


def _make(name: str) -> Provider:
    if name == "embedded":
        from core.providers.embedded import EmbeddedProvider

        return EmbeddedProvider()
    raise ModelUnavailableError(f"This version has no provider {name!r}; it has: embedded")
