"""Whether AWS is set up here, without asking AWS."""

import os
from pathlib import Path

_VARIABLES = (
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)

_SIGNS_IN = {"aws_access_key_id", "sso_session", "sso_start_url", "role_arn", "credential_process", "login_session"}
"""Keys of a profile with which one can sign in."""


def aws_settings() -> str:
    """Where AWS's settings were found: a variable, or a file in the home folder. "" if nowhere."""
    for name in _VARIABLES:
        if os.environ.get(name):
            return name
    for variable, usual in (("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config")):
        given = os.environ.get(variable)
        path = Path(given) if given else Path.home() / ".aws" / usual
        if _has_profile(path):
            return variable if given else f"~/.aws/{usual}"
    return ""


def _has_profile(path: Path) -> bool:
    import configparser

    profiles = configparser.ConfigParser(interpolation=None, strict=False, default_section="no default section")
    try:
        profiles.read_string(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, configparser.Error):
        return False
    return any(_SIGNS_IN & set(profiles[name]) for name in profiles.sections())
