"""What can be used here: a provider by its name, made when first asked for, one for the life of the process."""

from collections.abc import Mapping
from typing import get_args

from core.errors import ModelUnavailableError
from core.models import Provider, ProviderName
from core.providers.calls import Caller
from core.text import clean_line


class Providers:
    """`made` are providers that are there already, by name."""

    def __init__(self, made: Mapping[str, Provider] | None = None) -> None:
        self._made: dict[str, Provider] = dict(made or {})
        self.caller = Caller(self.get)
        """Through which everybody calls them, so that all share each server's limits."""

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
    match name:
        case "embedded":
            from core.providers.embedded import EmbeddedProvider

            return EmbeddedProvider()
        case "openai":
            from core.providers.openai import OpenAIProvider

            return OpenAIProvider()
        case "azure":
            from core.providers.azure import AzureProvider

            return AzureProvider()
        case "anthropic":
            from core.providers.anthropic import AnthropicProvider

            return AnthropicProvider()
        case "bedrock":
            from core.providers.bedrock import BedrockProvider

            return BedrockProvider()
        case "ollama":
            from core.providers.ollama import OllamaProvider

            return OllamaProvider()
        case "recorded":
            from core.providers.recorded import RecordedProvider

            return RecordedProvider()
    known = ", ".join(get_args(ProviderName))
    raise ModelUnavailableError(f"This version has no provider {clean_line(name, 60)!r}; it has: {known}")
