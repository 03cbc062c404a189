"""Models on Amazon Bedrock, through boto3."""

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from core.errors import ModelUnavailableError
from core.keys import read_key
from core.models import CallFailedError, Chunk, ModelSpec, Parameter, Prompt, Sent, Served, Usage
from core.providers import faults
from core.providers.access import CONNECT_SECONDS
from core.providers.addresses import goes_direct, host_of, server_of
from core.providers.faults import FilteredError
from core.providers.prices import cost_of
from core.providers.tokens import estimate_tokens
from core.providers.wire.bedrock_call import ConverseAnswer, Exchange, Runtime
from core.providers.wire.bedrock_faults import Place, failure, set_up_failure
from core.providers.wire.claude import conversation, effort, stops, strict_schema, takes, thinking, thinking_rule
from core.providers.wire.parameters import Json, flat
from core.text import clean_line

READ_SECONDS = 600
"""How long a call that was given up before its first word may go on waiting for it, in its thread: nobody can hang up
before. The layer above gives up long before that."""

MOST_CONNECTIONS = 256
"""That are kept, to one account and region."""

TOKEN = "AWS_BEARER_TOKEN_BEDROCK"  # noqa: S105
"""The variable that holds a Bedrock API key, which boto3 prefers to all other credentials."""

_AWS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


class Account(Struct, frozen=True):
    """Who asks, and where; "" for what AWS's own settings say."""

    profile: str
    region: str
    base_url: str

    @property
    def signed(self) -> bool:
        """Whether requests carry credentials: to somebody else's server only those that were named for it."""
        return bool(self.profile) or not self.base_url or host_of(self.base_url).endswith(_AWS)


class BedrockProvider:
    """One client of boto3 for each profile, region and address. Belongs to one event loop."""

    def __init__(self) -> None:
        self._runtimes: dict[Account, Runtime] = {}
        self._under_way: set[Exchange] = set()
        self._connecting = asyncio.Lock()

    async def prepare(self, spec: ModelSpec) -> None:
        """Raises `ModelUnavailableError` with what to do."""
        if not spec.model:
            raise ModelUnavailableError(f"{spec.name} names no model: `jagstorm models` lists what there is")
        if rule := thinking_rule(spec):
            raise ModelUnavailableError(rule)
        try:
            await self._runtime(spec)
        except CallFailedError as error:
            raise ModelUnavailableError(str(error)) from None

    def endpoint(self, spec: Served) -> str:
        account = _account(spec)
        if account.base_url:
            return server_of(account.base_url)
        region = f" in {account.region}" if account.region else ""
        return clean_line(f"Bedrock{region}{f' as {account.profile}' if account.profile else ''}", 200)

    async def stream(self, spec: ModelSpec, prompt: Prompt, random_seed: int) -> AsyncGenerator[Chunk, None]:
        """Bedrock takes no seed. Raises `CallFailedError`."""
        if rule := thinking_rule(spec):
            raise CallFailedError("request", rule)
        runtime = await self._runtime(spec)
        request = _request(spec, prompt)
        yield Sent(_parameters(request))
        answer = ConverseAnswer(prompt)
        exchange = Exchange(runtime, request, replace(runtime.place, model=clean_line(spec.model, 200)))
        self._under_way.add(exchange)
        try:
            async with aclosing(exchange.events()) as events:
                async for event in events:
                    for chunk in answer.take(event):
                        yield chunk
        except FilteredError:
            answer.reason = "refused"
        finally:
            self._under_way.discard(exchange)
            await exchange.stop()
        if answer.reason is None:
            raise faults.broke_off(self.endpoint(spec))
        yield answer.finish()

    async def models(self, spec: Served) -> list[str]:
        """Inference profiles, then models that can be called by their own names. Raises `CallFailedError`."""
        account, place = _account(spec), self._place(spec)
        return await asyncio.to_thread(_models, account, place)

    async def count_tokens(self, spec: ModelSpec, text: str) -> int:
        return estimate_tokens(text)

    def cost(self, spec: Served, usage: Usage) -> float | None:
        return cost_of(spec, usage)

    async def close(self) -> None:
        """Ends the calls that run, with `CallFailedError`. The provider can be used again."""
        for exchange in list(self._under_way):
            await exchange.stop()
        runtimes, self._runtimes = list(self._runtimes.values()), {}
        for runtime in runtimes:
            await asyncio.to_thread(runtime.client.close)

    async def _runtime(self, spec: Served) -> Runtime:
        """Raises `CallFailedError` if there are no credentials, or no region."""
        account = _account(spec)
        async with self._connecting:
            if account not in self._runtimes:
                self._runtimes[account] = await asyncio.to_thread(_connect, account, self._place(spec))
            return self._runtimes[account]

    def _place(self, spec: Served) -> Place:
        return Place(self.endpoint(spec), signed=_account(spec).signed)


def _account(spec: Served) -> Account:
    # All of AWS's tools but boto3 know AWS_REGION.
    region = spec.region or os.environ.get("AWS_REGION", "") or os.environ.get("AWS_DEFAULT_REGION", "")
    return Account(spec.aws_profile, region, spec.base_url.rstrip("/"))


def _session(account: Account) -> Any:
    import boto3

    # In full detail it logs what requests are signed with.
    for name in ("boto3", "botocore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return boto3.Session(profile_name=account.profile or None, region_name=account.region or None)


def _client(session: Any, account: Account, service: str) -> Any:
    from botocore import UNSIGNED
    from botocore.config import Config

    # Named in code, a way to sign is kept to: else a key in the environment would go before a profile.
    signature = UNSIGNED if not account.signed else "v4" if account.profile else None
    settings = Config(
        signature_version=signature,
        retries={"total_max_attempts": 1},
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        max_pool_connections=MOST_CONNECTIONS,
        tcp_keepalive=True,
    )
    region = session.region_name or (None if account.signed else "us-east-1")

    def client(settings: Any) -> Any:
        return session.client(service, region_name=region, endpoint_url=account.base_url or None, config=settings)

    made = client(settings)
    # Which address it is, AWS's own settings may say too.
    return client(settings.merge(Config(proxies={}))) if goes_direct(made.meta.endpoint_url) else made


def _connect(account: Account, place: Place) -> Runtime:
    """Blocks: boto3 takes half a second to import, and may ask around for credentials. Raises `CallFailedError`."""
    from botocore.exceptions import BotoCoreError, NoCredentialsError

    try:
        session = _session(account)
        client = _client(session, account, "bedrock-runtime")
        credentials = session.get_credentials() if account.signed else None
        keyed = bool(read_key(TOKEN)) and not account.profile
        if account.signed and credentials is None and not keyed:
            raise NoCredentialsError
    except (BotoCoreError, ValueError) as error:
        raise set_up_failure(error, place) from None
    return Runtime(client, None if keyed else credentials, replace(place, region=client.meta.region_name))


def _models(account: Account, place: Place) -> list[str]:
    """Blocks. Raises `CallFailedError`."""
    from botocore.exceptions import BotoCoreError

    try:
        client = _client(_session(account), account, "bedrock")
    except (BotoCoreError, ValueError) as error:
        raise set_up_failure(error, place) from None
    try:
        pages = client.get_paginator("list_inference_profiles").paginate()
        profiles = [profile["inferenceProfileId"] for page in pages for profile in page["inferenceProfileSummaries"]]
        listed = client.list_foundation_models(byOutputModality="TEXT", byInferenceType="ON_DEMAND")
        own = [model["modelId"] for model in listed["modelSummaries"]]
        return [clean_line(name, 300) for name in itertools.chain(profiles, own)]
    except KeyError:
        raise faults.wrong_address(place.server) from None
    except Exception as error:
        raise failure(error, place) from None
    finally:
        client.close()


def _request(spec: ModelSpec, prompt: Prompt) -> Json:
    system, turns = conversation(spec, prompt)
    stop, hard, more = stops(prompt), effort(spec), _own_fields(spec)
    settings: Json = {}
    if takes(spec, "max_tokens", "maxTokens"):
        settings["maxTokens"] = spec.max_tokens
    # Claude takes neither while it thinks.
    if more.get("thinking", {}).get("type") not in ("enabled", "adaptive"):
        if spec.temperature is not None and takes(spec, "temperature"):
            settings["temperature"] = spec.temperature
        if spec.top_p is not None and takes(spec, "top_p", "topP"):
            settings["topP"] = spec.top_p
    if stop and takes(spec, "stop", "stopSequences"):
        settings["stopSequences"] = stop
    # Turns of one speaker are one message: some models insist that speakers take turns.
    grouped = itertools.groupby(turns, key=lambda turn: turn[0])
    request: Json = {
        "modelId": spec.model,
        "messages": [{"role": role, "content": [{"text": text} for _, text in said]} for role, said in grouped],
        "inferenceConfig": settings,
    }
    if system:
        request["system"] = [{"text": system}]
    if more:
        request["additionalModelRequestFields"] = more
    form: Json = {"effort": hard} if hard and "reasoning_effort" not in more else {}
    if prompt.json_schema and takes(spec, "response_format", "json_schema"):
        schema = msgspec.json.encode(strict_schema(prompt)).decode()
        form["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": {"schema": schema, "name": "answer"}}}
    if form and takes(spec, "outputConfig", "output_config"):
        request["outputConfig"] = form
    return request


def _own_fields(spec: ModelSpec) -> Json:
    """What models want to be told in their own way, and Bedrock passes on as it is."""
    name = (spec.base_model or spec.model).casefold()
    if "gpt-oss" in name:
        return {"reasoning_effort": effort(spec)} if effort(spec) else {}
    how = thinking(spec) if "claude" in name or spec.thinking_tokens else None
    return {"thinking": how} if how else {}


def _parameters(request: Json) -> dict[str, Parameter]:
    """By the names that the model knows them by, wherever Bedrock wants them."""
    inner = {**request["inferenceConfig"], **request.get("additionalModelRequestFields", {})}
    return flat({**inner, "outputConfig": request.get("outputConfig", {})})
