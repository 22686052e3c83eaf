"""The attribute table of a SATA disk: which of its rows have a meaning that vendors agree on.

Number and name must both fit, because one number means different things to different vendors: 197 is "Current_Pending_Sector" of most
disks and "Current_Pending_ECC_Cnt" of some SSDs, where it comes and goes. All other rows are the vendor's own, and count only where
the disk itself says that they are at their threshold. Numbers and names are those of smartmontools' drivedb.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Attribute:
    """One row. None where it is not said; `now` means that its value is at or below its threshold."""

    number: int
    name: str
    value: int | None  # normalised: it falls towards the threshold
    raw: int | None
    prefail: bool  # at the threshold the disk fails; else it is only used up
    now: bool


# number -> what it counts, and how its name may begin or what it may hold; a row without a name is taken by its number
COUNTED = {
    5: ("reallocated", ("Realloc",)),
    184: ("end-to-end errors", ("End-to-End", "IOEDC")),
    187: ("reported uncorrectable", ("Reported_U", "Uncorrectable_Err")),
    197: ("pending", ("Pending_Sector",)),
    198: ("offline uncorrectable", ("Offline_Unc", "Uncorrectable_Sector")),
    199: ("CRC errors of the link", ("CRC",)),
}
DAMAGE = (184, 187)
# Names of rows whose normalised value is the percentage of the SSD's life that is left.
LIFE_LEFT = (
    "Media_Wearout_Indicator", "SSD_Life_Left", "Percent_Lifetime_Remain", "Percent_Lifetime_Used", "Percent_Life_Remaining",
    "Remaining_Lifetime_Perc", "Perc_Rated_Life_Remain", "Wear_Leveling_Count", "SSD_Remaining_Life", "Drive_Life_Remaining",
)  # fmt: skip
HEAT = "Temperature"
_FROM_100 = frozenset((5, 171, 172, 181, 182, 187, 196, 197, 198, 199))  # counts of errors: as long as there are none the value is full


def counts(table: Iterable[Attribute]) -> tuple[tuple[str, int], ...]:
    """("pending", 8) for each row that counts something known."""
    found: dict[str, int] = {}
    for row in table:
        what, names = COUNTED.get(row.number, ("", ()))
        if what and row.raw is not None and (not row.name or any(name in row.name for name in names)):
            found.setdefault(what, row.raw)
    return tuple(found.items())


def life(table: Iterable[Attribute]) -> tuple[str, int] | None:
    """The row that says how much of an SSD's life is left, and the percentage. The lowest where several say it.

    A firmware that gives no row a value writes 0 everywhere: where a count of 0 has the value 0 as well, that 0 says nothing.
    """
    rows = tuple(table)
    least = 1 if any(row.value == row.raw == 0 and row.number in _FROM_100 for row in rows) else 0
    values = [(row.value, row.name) for row in rows if row.name in LIFE_LEFT and row.value is not None and least <= row.value <= 100]
    return (min(values)[1], min(values)[0]) if values else None


def failing(table: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(row.name or f"attribute {row.number}" for row in table if row.now and _is_of_failure(row) and HEAT not in row.name)


def exhausted(table: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(row.name or f"attribute {row.number}" for row in table if row.now and not _is_of_failure(row) and HEAT not in row.name)


def _is_of_failure(row: Attribute) -> bool:
    """Whether its threshold is one of failure: so the vendor says, or it counts data that was damaged or lost, which no use wears off."""
    return row.prefail or (row.number in DAMAGE and any(name in row.name for name in COUNTED[row.number][1]))


def too_hot(table: Iterable[Attribute]) -> bool:
    return any(row.now and HEAT in row.name for row in table)


def leading(text: str) -> int | None:
    """The number that a raw value begins with: 31 of "31 (Min/Max 20/45)", 30542 of "30542h+12m". None where it begins with none."""
    found = re.match(r"[0-9]{1,18}(?![0-9a-fx])", text)
    return int(found.group()) if found else None
