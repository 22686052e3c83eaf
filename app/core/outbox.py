"""Putting what may have to be sent as a notice into the outbox, in the transaction that makes it so.

Apps that do not know `notices` call this. Nothing is worded or sent here, and nothing here can make the change fail by a bad
address: the worker reads the outbox, and what was rolled back was never in it.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.module_loading import import_string


class Happening(NamedTuple):
    """One thing that happened. `key` names it for ever: put twice, it is there once."""

    kind: str  # a key of app.notices.kinds.KINDS
    key: str
    node: str = ""
    run: int | None = None
    details: dict[str, Any] = {}


def put(happenings: Iterable[Happening]) -> None:
    if listed := list(happenings):
        import_string(settings.OUTBOX)(listed)
