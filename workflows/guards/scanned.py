"""What a scanner or a thumb makes of what is printed on a disk or beside a bay, and what it names.

Nothing is guessed off a scan: the check character of a Code 39 label and the data identifier S of a shipping label are known only
beside the serial number that they belong to, so a scan is compared with a serial number and never shortened by itself.
"""

import re

from agents.domain.wwid import normalise
from workflows.facts import DiskFacts, known

CODE_39 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%"  # in the order in which its check character counts them
SYMBOLOGY = re.compile(r"\][A-Za-z][0-9A-Za-z]")  # which kind of bar code it was, as scanners put it in front
PREFIX = re.compile(r"(?:S/N|\(S\))\s*[:#.]?\s*|(?:SERIAL(?:\s+(?:NO|NUMBER))?|SN)\s*(?:\.\s*)?[:# ]\s*", re.IGNORECASE)
WWN_PREFIX = re.compile(r"(?:WWN|WWID|LU)\s*[:# ]\s*", re.IGNORECASE)
LABEL_DIGITS_MIN, WITH_LOT_DIGITS_MIN = 8, 16  # some disks say their serial number with the lot behind it; the label prints it without
BAY = re.compile(r"(?:(?:BAY|SLOT)\s*(?:[:#]\s*)?|#\s*)?([0-9]{1,3})\.?", re.IGNORECASE)


def serial_of(scanned: str) -> str:
    """A serial number as typed or scanned, in upper case and without what stands around it."""
    text = SYMBOLOGY.sub("", scanned.strip(), count=1) if SYMBOLOGY.match(scanned.strip()) else scanned.strip()
    text = text.strip("*").strip()
    text = text[match.end() :] if (match := PREFIX.match(text)) else text
    return "".join(text.split()).strip("*").upper()


def wwid_of(scanned: str) -> str:
    """The WWID that was scanned; "" when it is none."""
    text = scanned.strip().strip("*").strip()
    text = text[match.end() :] if (match := WWN_PREFIX.match(text)) else text
    return normalise("".join(text.split())) or ""


def bay_of(scanned: str) -> str:
    """The number of a bay as its enclosure counts it: "Bay 03" is 3; "" when it is none."""
    found = BAY.fullmatch(scanned.strip())
    return str(int(found.group(1))) if found else ""


def same_serial(scanned: str, serial: str) -> bool:
    """Whether a scan is this serial number: alone, with what a bar code carries beside it, or without the lot that a disk appends."""
    one, other = serial_of(scanned), serial_of(serial)
    shortened = len(one) >= LABEL_DIGITS_MIN and len(other) >= WITH_LOT_DIGITS_MIN and other.startswith(one)
    return bool(other) and (shortened or one in (other, f"S{other}", other + check_character(other)))


def may_be(scanned: str) -> tuple[str, ...]:
    """The serial numbers that this scan may stand for, for looking them up."""
    one = serial_of(scanned)
    without_check = one[:-1] if len(one) > 1 and check_character(one[:-1]) == one[-1] else ""
    found = (one, without_check, one.removeprefix("S"))
    return tuple(dict.fromkeys(form for upper in found if upper for form in (upper, upper.lower())))


def check_character(serial: str) -> str:
    """What a Code 39 label prints behind a serial number; "" where that holds a character it has not."""
    if any(letter not in CODE_39 for letter in serial):
        return ""
    return CODE_39[sum(map(CODE_39.index, serial)) % len(CODE_39)]


def names(scanned: str, disk: DiskFacts) -> bool:
    """Whether what was scanned off a label names this disk."""
    return (known(disk.serial) and same_serial(scanned, disk.serial)) or (known(disk.wwid) and wwid_of(scanned) == disk.wwid)
