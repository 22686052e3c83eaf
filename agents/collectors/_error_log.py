"""The error log of an ATA disk: which of its last errors were reads that failed on the disk itself, and how long ago.

The log keeps the last five errors or some more, of any age, and gives the disk's hours in use in a field of 16 bits (ACS-3, A.7 and A.8; ataprint.cpp of smartmontools).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

HEAD = r"\s{0,8}Error [0-9]{1,6} (?:\[[0-9]{1,4}\] )?occurred at disk power-on lifetime: ([0-9]{1,9}) hours"
WHY = r".{0,200}\bError: ([A-Z][A-Z0-9, ]{1,40}?)(?: (?:[0-9]{1,6} sectors )?at LBA = 0x[0-9a-f]{1,16} = ([0-9]{1,20}))?\s*$"
UNREADABLE = ("UNC", "IDNF", "AMNF")  # uncorrectable data, no such sector, no address mark
_TURN = 1 << 16
_WORD = re.compile(r"[A-Z]{2,5}")


@dataclass(frozen=True)
class Unreadable:
    """Reads that failed, as far as the log goes back. `age` is of the newest, in hours of use before now; None where that is not known."""

    count: int
    age: int | None


def unreadable(entries: Iterable[tuple[int, str]], now: int | None) -> Unreadable | None:
    """Of (hours, what smartctl says of the error) pairs, and the disk's hours of use now; None where no read failed."""
    failed = [hours for hours, why in entries if not set(UNREADABLE).isdisjoint(_WORD.findall(why))]
    if not failed:
        return None
    if not now:
        return Unreadable(len(failed), None)
    ages = [(now - hours) % _TURN if now >= _TURN else now - hours for hours in failed]
    newest = min(ages)
    return Unreadable(len(failed), newest if newest >= 0 else None)  # an error of the future: one of the two counts no hours
