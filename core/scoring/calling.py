"""How judges and embedders are asked: through the layer that every call goes through."""

from collections.abc import Sequence
from functools import partial

from core.errors import ModelUnavailableError
from core.models import CallFailedError, EmbedderSpec, EmbeddingProvider, ModelSpec, Prompt, Usage, Vectors
from core.providers.calls import Call, Caller
from core.scoring.account import Account
from core.scoring.judge import Reply


class CallJudge:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def prepare(self, spec: ModelSpec) -> None:
        await self._caller.provider_for(spec.provider).prepare(spec)

    async def __call__(self, spec: ModelSpec, prompt: Prompt, account: Account) -> Reply:
        call = Call(self._caller, spec, prompt, on_retry=partial(account.on_retry, spec.name))
        try:
            outcome = await call.run()
        finally:
            account.pay(call.usage, call.cost)
        if outcome == "failed":
            raise CallFailedError(call.kind, call.message)
        return Reply(outcome, call.text)


class CallEmbedder:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def prepare(self, spec: EmbedderSpec) -> None:
        provider = self._caller.provider_for(spec.provider)
        if not hasattr(provider, "embed"):
            raise ModelUnavailableError(f"{spec.name} can't embed: {spec.provider} serves no embedding models")
        embedding: EmbeddingProvider = provider  # type: ignore[assignment]
        await embedding.prepare(spec)

    async def __call__(self, spec: EmbedderSpec, texts: Sequence[str], account: Account) -> Vectors:
        provider = self._caller.provider_for(spec.provider)

        def pay(usage: Usage) -> None:
            account.pay(usage, provider.cost(spec, usage))

        return await self._caller.embed(spec, texts, on_retry=partial(account.on_retry, spec.name), on_used=pay)
