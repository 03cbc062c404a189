"""What the tests of Bedrock's provider share: a server, a provider, AWS's settings, and what came of a call."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from core.models import (
    CallFailedError,
    Chunk,
    Finish,
    Message,
    ModelSpec,
    Parameter,
    Prompt,
    Sent,
)
from core.providers.bedrock import BedrockProvider
from tests.faults.bedrock_wire import BedrockWire
from tests.faults.server import FaultServer

WIRE = BedrockWire()

PROMPT = Prompt(messages=(Message("system", "Be brief."), Message("user", "Name a colour.")))

SCHEMA = '{"type": "object", "properties": {"score": {"type": "integer", "minimum": 0}}, "required": ["score"]}'

SECRET = "planted-secret-0123456789-abcdefghij"

TOKEN = "planted-session-token-0123456789"

CONFIG = """\
[profile lab]
aws_access_key_id = AKIAPLANTEDACCESSKEY
aws_secret_access_key = planted-secret-0123456789-abcdefghij
aws_session_token = planted-session-token-0123456789
region = eu-west-3
[profile empty]
region = us-east-1
[profile nowhere]
aws_access_key_id = AKIAPLANTEDACCESSKEY
aws_secret_access_key = planted-secret-0123456789-abcdefghij
[profile sso]
sso_start_url = https://example.invalid
sso_region = us-east-1
sso_account_id = 123456789012
sso_role_name = Reader
region = us-east-1
"""


@pytest.fixture
async def provider() -> AsyncIterator[BedrockProvider]:
    provider = BedrockProvider()
    yield provider
    await provider.close()


@pytest.fixture
def spec(server: FaultServer) -> ModelSpec:
    return WIRE.spec(server)


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Settings of AWS's own with profiles, and nothing from the machine that the tests run on."""
    for name in ("PROFILE", "REGION", "DEFAULT_REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "config").write_text(CONFIG)


async def ask(provider: BedrockProvider, spec: ModelSpec, prompt: Prompt = PROMPT) -> list[Chunk]:
    async with aclosing(provider.stream(spec, prompt, 1)) as chunks:
        return [chunk async for chunk in chunks]


async def fail(provider: BedrockProvider, spec: ModelSpec) -> CallFailedError:
    with pytest.raises(CallFailedError) as failed:
        await ask(provider, spec)
    assert "\n" not in str(failed.value)
    return failed.value


def finish_of(chunks: list[Chunk]) -> Finish:
    assert isinstance(chunks[-1], Finish)
    return chunks[-1]


def sent(chunks: list[Chunk]) -> dict[str, Parameter]:
    assert isinstance(chunks[0], Sent)
    return chunks[0].parameters
