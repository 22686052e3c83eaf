"""Rounded numbers as ZFS and sysstat print them for people: good for comparing, never exact."""

from __future__ import annotations

import re

_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
_TIMES_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1000.0}
_SIZE = re.compile(r"([0-9]{1,20}(?:[.,][0-9]{1,6})?)([BKMGTPE]?)i?B?")
_TIME = re.compile(r"([0-9]{1,20}(?:[.,][0-9]{1,6})?)(ns|us|ms|s)")


def about(text: str) -> float | None:
    """ "9.08M" as about 9521070; None for a dash and whatever is no number."""
    found = _SIZE.fullmatch(text)
    return float(found.group(1).replace(",", ".")) * _UNITS[found.group(2)] if found else None


def milliseconds(text: str) -> float | None:
    """ "164ms" as 164.0; None for a dash. A bare number is nanoseconds, as -p prints it."""
    found = _TIME.fullmatch(text)
    if found:
        return float(found.group(1).replace(",", ".")) * _TIMES_MS[found.group(2)]
    return int(text) / 1e6 if text.isascii() and text.isdigit() and len(text) <= 20 else None


def percent(text: str) -> float | None:
    """ "90%", "3,91%" or "44.8" as a number; None for a dash."""
    found = re.fullmatch(r"([0-9]{1,4}(?:[.,][0-9]{1,4})?)%?", text)
    return float(found.group(1).replace(",", ".")) if found else None
