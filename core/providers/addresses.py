"""Whose server an address is, and what a person calls it."""

import ipaddress
import re
from urllib.parse import urlsplit

from core.text import clean_line

_LOCAL_ENDINGS = (".local", ".localhost", ".localdomain", ".lan", ".internal", ".home.arpa")

_SECRET_QUERY = re.compile(r"(?:^|&)[^=&]*(?:key|token|secret|sig)[^=&]*=", re.IGNORECASE)


def host_of(base_url: str) -> str:
    """The host in an address, in lower case; "" if there is none to be read."""
    try:
        return (urlsplit(base_url if "://" in base_url else f"http://{base_url}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def holds_secret(base_url: str) -> bool:
    """Whether a password, or what may be a key, is in an address."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        return "@" in base_url
    return "@" in parts.netloc or _SECRET_QUERY.search(parts.query) is not None


def server_of(base_url: str) -> str:
    """Host and port, as a person can be shown them: nothing else that may be in an address, no port that goes without
    saying."""
    host = host_of(base_url)
    try:
        parts = urlsplit(base_url if "://" in base_url else f"http://{base_url}")
        port = None if (parts.scheme, parts.port) in (("http", 80), ("https", 443)) else parts.port
    except ValueError:
        port = None
    host = f"[{host}]" if ":" in host else host
    return clean_line(f"{host}:{port}" if port else host, 200)


def is_loopback(base_url: str) -> bool:
    """Whether it is this machine."""
    host = host_of(base_url)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def goes_direct(base_url: str) -> bool:
    """Whether a request never goes by way of a proxy: this machine's own are no business of one, nor are their keys.

    Who else is reached without the proxies of the environment is for its NO_PROXY to say: a machine on a private
    network may well be reached through one alone.
    """
    return is_loopback(base_url)


def is_local(base_url: str) -> bool:
    """Whether it is this machine or one on a private network: a bare name such as `gpu07` is one too."""
    host = host_of(base_url)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_LOCAL_ENDINGS))
    return address.is_private or address.is_loopback or address.is_link_local
