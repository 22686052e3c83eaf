"""The forms in which the ledger holds values, and the errors it raises. Pure.

Whole numbers are decimal strings, times are UTC with six digits, text is NFC; a float has no form here.
"""

import re
import unicodedata
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeAlias, overload

Plain: TypeAlias = "bool | str | list[Plain] | dict[str, Plain] | None"
DIGEST = re.compile(r"[0-9a-f]{64}\Z")


class LedgerDown(RuntimeError):
    """The ledger cannot be written or is not as it was made, so nothing may be changed."""


class KeyLost(Exception):
    """A key of the data folder cannot be used. The text says which, and what to do; nothing was changed."""


def moment(at: datetime) -> str:
    """A time as the ledger writes it: UTC, always six digits of a second, so that text order is time order."""
    if at.tzinfo is None:
        raise TypeError(f"{at} has no time zone; the ledger writes UTC only")
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def in_words(moment: str) -> str:
    """Such a time as a sentence says it, to the second."""
    return f"{moment[:10]} {moment[11:19]} UTC"


@overload
def plain(value: dict[str, Any]) -> dict[str, Plain]: ...
@overload
def plain(value: object) -> Plain: ...
def plain(value: object) -> Plain:
    """`value` with nothing in it but objects, lists, NFC strings, booleans and null."""
    match value:
        case None | bool():
            return value
        case str():
            return clean(value)
        case int() | uuid.UUID():
            return str(value)
        case datetime():
            return moment(value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    raise TypeError(f"The ledger has no form for {type(value).__name__}: {value!r}.")


def clean(text: str) -> str:
    """NFC, and what neither UTF-8 nor PostgreSQL can hold is made visible: a lone surrogate, a NUL."""
    visible = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return unicodedata.normalize("NFC", visible)


def digests(value: Plain) -> Iterable[str]:
    if isinstance(value, str):
        if DIGEST.match(value):
            yield value
    elif isinstance(value, dict):
        yield from digests(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from digests(item)
