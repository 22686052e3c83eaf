"""The answer of a disk to INQUIRY as sg_inq prints it with -vv, and how long it took as `time` prints it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.facts.read.inquiries import Inquiry

_BEGINS = re.compile(r"\s{0,8}(?:inquiry cdb: |inquiry: pass-through |standard INQUIRY:|VPD INQUIRY:)")
_SHORT = re.compile(r"\s{0,8}inquiry: pass-through requested (\d{1,6}) bytes but got (\d{1,6}) bytes")
_REAL = re.compile(r"real\s{1,20}(?:(\d{1,5})m)?(\d{1,6}(?:[.,]\d{1,9})?)s?")
_ELAPSED = re.compile(r".{0,120}\b(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:\.\d{1,3})?)elapsed\b")
_NAMED = re.compile(r"\s{0,8}(Vendor identification|Product identification|Unit serial number): {0,8}(\S.{0,60})?")


def inquiry(lines: Sequence[str], command: str) -> Inquiry | None:
    """None where these lines are no answer to INQUIRY."""
    if not any(map(_BEGINS.match, lines)):
        return None
    short = [(int(found.group(1)), int(found.group(2))) for line in lines if (found := _SHORT.match(line))]
    named = {found.group(1): (found.group(2) or "").strip() for line in lines if (found := _NAMED.match(line))}
    device = next((word for word in reversed(command.split()) if word.startswith("/dev/")), "")
    return Inquiry(
        device,
        _seconds(lines),
        tuple(short),
        named.get("Unit serial number", ""),
        tuple(line.strip() for line in lines if _SHORT.match(line) or line.startswith("real")),
    )


def _seconds(lines: Sequence[str]) -> float | None:
    for line in lines:
        if found := _REAL.fullmatch(line.strip()):
            return 60 * int(found.group(1) or 0) + float(found.group(2).replace(",", "."))
        if found := _ELAPSED.match(line):
            return 3600 * int(found.group(1) or 0) + 60 * int(found.group(2)) + float(found.group(3))
    return None
