"""What went wrong with a call to Bedrock, in words for a person."""

import re

from msgspec import Struct

from core.models import CallFailedError
from core.providers import faults
from core.providers.access import TOO_LATE
from core.providers.wire.claude import THINKING_WORDS, refused_parameter
from core.providers.wire.parameters import Json

# What Bedrock calls an error, in a response or inside a stream, as the status that it amounts to.
_STATUSES = {
    "throttling": 429,
    "toomanyrequests": 429,
    "validation": 400,
    "modeltimeout": 408,
    "resourcenotfound": 404,
    "internalserver": 500,
    "modelerror": 500,
    "modelstreamerror": 500,
    "serviceunavailable": 503,
    "modelnotready": 503,
    "servicequotaexceeded": 402,
}

# What answers call a parameter, and what requests call it.
_WORDS = THINKING_WORDS | {
    "thinking.enabled": "budget_tokens",
    "temperature": "temperature",
    "top_p": "topP",
    "topp": "topP",
    "stop_sequences": "stopSequences",
    "stopsequences": "stopSequences",
    "outputconfig.effort": "effort",
    "effort": "effort",
    "reasoning_effort": "reasoning_effort",
    "outputconfig": "outputConfig",
    "output_config": "outputConfig",
    "output_format": "outputConfig",
    "output format": "outputConfig",
    "structured output": "outputConfig",
    "system": "system",
}

_ON_DEMAND = re.compile(r"on-demand throughput isn.t supported", re.IGNORECASE)
_NO_MODEL = ("model identifier is invalid", "model id is invalid")

_LOOK_AT = "check the network, the region and base_url"
_SIGN_IN = "run `aws configure` or `aws sso login`, or name another profile with aws_profile"


class Place(Struct, frozen=True):
    """Who is asked, in words for a person."""

    server: str
    model: str = "its models"
    region: str = ""
    signed: bool = True
    """Whether requests carry AWS's credentials."""


def failure(error: Exception, asked: Place, sent: Json | None = None) -> Exception:
    """What boto3 raised as a `CallFailedError`; `sent` is the request.

    What only a fault of this program can raise comes back as it is.
    """
    import msgspec
    from botocore import eventstream, exceptions, parsers
    from urllib3 import exceptions as urllib3

    match error:
        case CallFailedError():
            return error
        case exceptions.ClientError():
            return _said(error.response, asked, sent or {})
        case exceptions.ConnectTimeoutError():
            return faults.no_connection(asked.server, TOO_LATE, _LOOK_AT)
        case exceptions.ReadTimeoutError() | urllib3.ReadTimeoutError():
            return faults.too_slow(asked.server)
        case exceptions.ConnectionError() | exceptions.ConnectionClosedError() | exceptions.HTTPClientError():
            return faults.no_connection(asked.server, faults.root_cause(error), _LOOK_AT)
        case exceptions.BotoCoreError():
            return _not_set_up(error, asked)
        case urllib3.HTTPError() | eventstream.ParserError() | parsers.ResponseParserError():
            return faults.broke_off(asked.server, error)
        case msgspec.ValidationError() | ValueError() | OSError():
            return faults.broke_off(asked.server, error)
    return error


def set_up_failure(error: Exception, asked: Place) -> CallFailedError:
    """What boto3 raised when it was told whom to ask, and as whom."""
    from botocore import exceptions

    if isinstance(error, exceptions.BotoCoreError):
        return _not_set_up(error, asked)
    return CallFailedError("address", f"{asked.server} can't be asked: {faults.quoted(error)}")


def _not_set_up(error: Exception, asked: Place) -> CallFailedError:
    """No credentials, no region, or a request that can't be made."""
    from botocore import exceptions

    said = faults.quoted(error)
    match error:
        case exceptions.ProfileNotFound():
            return CallFailedError("denied", f"{said}: `aws configure list-profiles` says which there are")
        case exceptions.NoRegionError():
            todo = "set region for this model, or AWS_REGION, or run `aws configure`"
            return CallFailedError("request", f"{asked.server} needs a region: {todo}")
        case exceptions.SSOError() | exceptions.TokenRetrievalError() | exceptions.LoginError():
            return CallFailedError("denied", f"The AWS sign-in has run out: run `aws sso login` ({said})")
        case exceptions.NoCredentialsError() | exceptions.PartialCredentialsError() | exceptions.NoAuthTokenError():
            return CallFailedError("denied", f"{asked.server} needs AWS credentials ({said}): {_SIGN_IN}")
        case exceptions.CredentialRetrievalError():
            return CallFailedError("denied", f"AWS credentials could not be had ({said}): {_SIGN_IN}")
    return CallFailedError("request", f"{asked.server} can't be asked: {said}")


def _said(response: Json, asked: Place, sent: Json) -> CallFailedError:
    """An error that Bedrock itself sent."""
    error, about = response.get("Error", {}), response.get("ResponseMetadata", {})
    code, said = str(error.get("Code", "")), str(error.get("Message", ""))
    kind = code.rpartition("#")[2].casefold().removesuffix("exception")
    status = _STATUSES.get(kind) or _status(about.get("HTTPStatusCode"))
    if faults.is_filtered(status, said):
        return faults.FilteredError(asked.server)
    if status in (401, 403) and not faults.looks_like_html(said):
        return _denied(kind, said, asked)
    if status == 400 and _ON_DEMAND.search(said):
        return _on_demand(asked)
    if status == 400 and any(words in said.casefold() for words in _NO_MODEL):
        status = 404
    return faults.from_status(
        status,
        said,
        server=asked.server,
        model=asked.model,
        headers=about.get("HTTPHeaders"),
        parameter=refused_parameter(said, _WORDS, sent) if status == 400 else "",
    )


def _status(given: object) -> int:
    """Of a response; an error inside a stream, which has none, is the server's own."""
    return given if isinstance(given, int) and given >= 300 else 500


def _denied(kind: str, said: str, asked: Place) -> CallFailedError:
    words = f" ({faults.quoted(said)})" if said else ""
    if not asked.signed:
        todo = "name the AWS profile to sign requests with as aws_profile"
        return CallFailedError("denied", f"{asked.server} wants to know who asks: {todo}{words}")
    if kind == "accessdenied":
        todo = "ask for access to it in the Bedrock console, or name another profile with aws_profile"
        return CallFailedError("denied", f"{asked.server} does not let you use {asked.model}: {todo}{words}")
    if kind.startswith("expiredtoken"):
        return CallFailedError("denied", f"The AWS sign-in has run out: run `aws sso login`, or renew the keys{words}")
    return CallFailedError("denied", f"{asked.server} does not accept the AWS credentials: {_SIGN_IN}{words}")


def _on_demand(asked: Place) -> CallFailedError:
    """Newer models are reached through inference profiles alone."""
    name = asked.model.rpartition("/")[2]
    area = {"us": "us", "eu": "eu", "ap": "apac"}.get(asked.region.partition("-")[0], "global")
    return CallFailedError(
        "missing",
        f"{asked.server} serves {name} through an inference profile only: as the model, name `{area}.{name}`, or "
        f"whichever profile `jagstorm models` lists for your region",
    )
