"""Where an Ollama server is, from all the ways in which people write it."""

import ipaddress
import os
import re

from core.text import clean_line

DEFAULT = "http://127.0.0.1:11434"

PORT = 11434

OWN_KEY = "OLLAMA_API_KEY"
"""The variable that holds the key for Ollama's own servers, and for nobody else's."""

# What is often copied along with the address.
_API_PATH = re.compile(r"/(?:v1|api)(?:/(?:chat|chat/completions|generate|tags|embed|embeddings|models))?$")
_HOST = re.compile(r"[\w.%:-]+")


def server_url(base_url: str = "") -> str:
    """The address of the server that `base_url` means, or else $OLLAMA_HOST, or else this machine's.

    The same forms as Ollama itself takes: `gpu07`, `gpu07:11434`, `:11434`, `::1`, `0.0.0.0` (where a server listens on
    every address, a client is on the same machine), with or without `http://` (which changes the port: 80 then) and a
    path. Gives scheme, host and port, and a path if there is one; never a user name or a password.
    Raises ValueError with the reason.
    """
    text = (base_url or os.environ.get("OLLAMA_HOST", "")).strip().strip("\"'").strip()
    if not text:
        return DEFAULT
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    scheme = scheme.casefold()
    if scheme not in ("http", "https"):
        raise ValueError("it must begin with http:// or https://")
    location, _, path = rest.partition("/")
    host, port = _host_and_port(location.rpartition("@")[2])
    if host == "ollama.com" and not separator:
        scheme, separator = "https", "://"
    usual = {"http": 80, "https": 443}[scheme] if separator else PORT
    return f"{scheme}://{host}:{_number(port, usual)}{_without_api(path)}"


def is_own(url: str) -> bool:
    """Whether the server is the one that Ollama's makers run; `url` is as `server_url` gives it."""
    return re.match(r"https://(?:[\w.-]+\.)?ollama\.com:443(?:/|$)", url) is not None


def _host_and_port(location: str) -> tuple[str, str]:
    """The host, an IPv6 address in brackets, and what stands after its colon."""
    if location.startswith("["):
        host, _, rest = location[1:].partition("]")
        port = rest.removeprefix(":")
    elif location.count(":") > 1:
        host, port = location, ""
    else:
        host, _, port = location.partition(":")
    host = host.casefold() or "127.0.0.1"
    if not _HOST.fullmatch(host):
        raise ValueError("no host can be read from it")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host, port
    if address.is_unspecified:
        return ("[::1]" if address.version == 6 else "127.0.0.1"), port
    return (f"[{host}]" if address.version == 6 else host), port


def _number(port: str, usual: int) -> int:
    if not port:
        return usual
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("a port is a number from 1 to 65535")
    return int(port)


def _without_api(path: str) -> str:
    path = _API_PATH.sub("", "/" + path.strip("/"))
    return path.rstrip("/")


def pull_name(model: str, base_url: str) -> str:
    """What `jagstorm models pull` takes to fetch `model` to the server at `base_url`."""
    return f"ollama/{clean_line(model, 100)}{f'@{clean_line(base_url, 200)}' if base_url else ''}"


def split_pull_name(name: str) -> tuple[str, str]:
    """The model and the base_url that a name as `pull_name` gives it means."""
    model, _, base_url = name.removeprefix("ollama/").partition("@")
    return model, base_url
