"""Events as lines of `events.jsonl`, and back."""

import re
from typing import Annotated, get_args

import msgspec
from msgspec import Meta, Struct

from core.events import Event, Known, Unknown
from core.text import clean_all

EVENTS_FILE = "events.jsonl"
"""In the folder of a session."""

_TYPES = frozenset(str(cls.__struct_config__.tag) for cls in get_args(Known))
_decoder = msgspec.json.Decoder(Known)
_encoder = msgspec.json.Encoder()


# What an editor's hand, or somebody else's file, may hold that our own lines never do: escapes for controls, controls
# themselves, bidirectional overrides. Such a line is cleaned before it is believed.
_SUSPECT = re.compile(rb"\\[ubfr]|\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


class _Header(Struct):
    type: str
    seq: Annotated[int, Meta(ge=-1, le=2**53)] = -1
    t: float = 0.0
    at: str = ""


_header_decoder = msgspec.json.Decoder(_Header)


def encode(event: Event) -> bytes:
    """One line of JSON, without its newline. Text must have passed `core.text.clean`."""
    if isinstance(event, Unknown):
        return event.raw
    return _encoder.encode(event)


def cleaned(event: Event) -> Event:
    """`event` as it will be read back: its texts clean, whoever forgot to clean them."""
    return with_line(event)[0]


def with_line(event: Event) -> tuple[Event, bytes]:
    """`event` as it will be read back, its texts clean, whoever forgot to clean them; and its line."""
    try:
        line = encode(event)
        if not _SUSPECT.search(line):
            return event, line
    except UnicodeEncodeError:  # a lone surrogate
        pass
    event = msgspec.convert(clean_all(msgspec.to_builtins(event)), type(event))
    return event, encode(event)


def decode(line: bytes) -> Event:
    """The event of one line, its texts clean; `Unknown` if its type is.

    Raises `msgspec.DecodeError` if it is no event at all.
    """
    try:
        return _decode(line)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"not UTF-8 text: {error.reason}") from None
    except RecursionError:
        raise msgspec.DecodeError("nested too deeply") from None


def _decode(line: bytes) -> Event:
    if _SUSPECT.search(line):
        line = _encoder.encode(clean_all(msgspec.json.decode(line)))
    try:
        event: Event = _decoder.decode(line)
    except msgspec.ValidationError:
        header = _header_decoder.decode(line)
        if header.type in _TYPES:
            raise
        return Unknown(seq=header.seq, t=header.t, at=header.at, name=header.type, raw=bytes(line))
    return event
