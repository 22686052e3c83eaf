"""How a line of a log begins: with its time and level. The journal of systemd keeps a time of its own, so what it reads has none."""

from __future__ import annotations

import logging
import os
import time


class Line(logging.Formatter):
    """`2026-11-25T12:41:28.042Z WARNING what is said`; `named` adds which part says it."""

    converter = staticmethod(time.gmtime)
    default_time_format, default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"

    def __init__(self, named: bool = False) -> None:
        when = "" if is_read_by_the_journal(2) else "%(asctime)s "
        super().__init__(f"{when}%(levelname)s {'%(name)s: ' if named else ''}%(message)s")


def is_read_by_the_journal(descriptor: int) -> bool:
    """systemd says which stream it reads, and children that write elsewhere inherit what it said."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def begin() -> None:
    """The log of a program goes to stderr, from here on."""
    handler = logging.StreamHandler()
    handler.setFormatter(Line())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
