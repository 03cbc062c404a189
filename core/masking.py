"""Text that is safe to paste in public: without keys, names of people, and names of machines."""

import getpass
import re
import socket
from collections.abc import Iterable
from pathlib import Path

from core.keys import scrub
from core.providers.addresses import host_of, is_loopback
from core.providers.known import public_hosts

NOBODYS = {"root", "user", "admin", "home", "ubuntu", "docker", "debian", "linux", "localhost"}
"""Names of users and machines that say nothing about anybody."""

_ADDRESS = re.compile(r"\b\w+://[^\s/'\",;)]+|\b\d{1,3}(?:\.\d{1,3}){3}\b")


class Mask:
    """The same host gets the same number, so that a text still makes sense."""

    def __init__(self, addresses: Iterable[str] = (), accounts: Iterable[str] = ()) -> None:
        """`addresses` are those of servers whose hosts may turn up by name alone, `accounts` names of accounts."""
        self._public = public_hosts()
        self._hosts: dict[str, str] = {}
        for name in (socket.gethostname().casefold(), *map(host_of, addresses)):
            self._number(name)
        names = dict.fromkeys(filter(None, accounts), "<account>") | dict.fromkeys(_users(), "<user>")
        self._names = {name: names[name] for name in sorted(names.keys() - NOBODYS, key=len, reverse=True)}
        self._homes = sorted({str(Path.home()), str(Path.home().resolve())} - {"/"}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        text = scrub(text)
        for home in self._homes:
            text = re.sub(rf"{re.escape(home)}(?=/|\W|$)", "~", text)
        for address in _ADDRESS.findall(text):
            self._number(host_of(address))
        for host, mask in sorted(self._hosts.items(), key=lambda each: -len(each[0])):
            text = re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", mask, text, flags=re.IGNORECASE)
        for name, mask in self._names.items():
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mask, text)
        return text

    def _number(self, host: str) -> None:
        if not host or host in self._public | self._hosts.keys() | NOBODYS or is_loopback(host):
            return
        label = host.partition(".")[0]
        mask = self._hosts.get(label) or f"<host {len(set(self._hosts.values())) + 1}>"
        self._hosts[host] = mask
        if not label.isdigit():
            self._hosts[label] = mask


def _users() -> set[str]:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # nobody, in a container
        name = ""
    return {each for each in (name, Path.home().name) if len(each) > 1}
