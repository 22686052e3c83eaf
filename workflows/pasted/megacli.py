"""`MegaCli -PDList` and `-LdPdInfo`: drives behind an older MegaRAID controller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.core import Situation
from workflows.pasted import _drives
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._sections import Section, sections
from workflows.pasted.base import Reader, Where, refused, whole

STATES = {
    "online": GOOD,
    "jbod": GOOD,
    "hotspare": GOOD,
    "unconfigured(good)": GOOD,
    "unconfigured(bad)": lost("its state is Unconfigured(bad)"),
    "failed": lost("its state is Failed"),
    "offline": lost("its state is Offline"),
    "missing": lost("its state is Missing: the controller does not see it"),
    "rebuild": busy("it is being rebuilt by the controller"),
    "copyback": busy("its content is being copied back"),
    "foreign": lost("it holds a foreign configuration: the controller does not use it"),
}


@dataclass(frozen=True)
class Drives:
    drives: tuple[Drive, ...]


def parse(lines: Sequence[str]) -> Drives | Unparsed:
    found = tuple(_drive(each) for each in sections(lines, r"Enclosure Device ID:"))
    found = tuple(drive for drive in found if drive.slot is not None)
    return Drives(found) if found else refused("MegaCli -PDList", lines[0] if lines else "")


def _drive(said: Section) -> Drive:
    enclosure, slot = said.first("Enclosure Device ID"), whole(said.first("Slot Number"))
    state = (said.first("Firmware state") or "").partition(",")[0].strip() or None
    foreign = said.first("Foreign State") == "Foreign"
    counts = [whole(said.first(name)) for name in ("Media Error Count", "Predictive Failure Count", "Other Error Count")]
    alert = {"yes": True, "no": False}.get((said.first("Drive has flagged a S.M.A.R.T alert") or "").lower())
    inquiry = (said.first("Inquiry Data") or "").split()
    telling = ["Foreign State" if foreign else "Firmware state"]
    telling += [name for name, count in zip(("Media Error Count", "Predictive Failure Count"), counts, strict=False) if count]
    telling += ["Drive has flagged a S.M.A.R.T alert"] if alert else []
    return Drive(
        f"{enclosure}:{said.first('Slot Number')}", enclosure, slot, "foreign" if foreign else state,
        " ".join(inquiry[:-1]) or None,
        _serial(inquiry, said.first("Device Firmware Level") or ""),
        _drives.wwid(said.first("WWN")), None, counts[0], counts[1], alert, counts[2],
        lines=tuple(said.line(name) for name in telling),
    )  # fmt: skip


def _serial(inquiry: Sequence[str], firmware: str) -> str | None:
    """The last word of the inquiry data; on SAS drives the firmware revision stands glued before it."""
    word = inquiry[-1].removeprefix(firmware.strip()) if len(inquiry) > 1 else ""
    return word if re.fullmatch(r"[A-Z0-9-]{6,32}", word) else None


def situations(value: Drives, where: Where) -> tuple[Situation, ...]:
    return _drives.judged(value.drives, STATES, where, "The RAID controller")


READER = Reader(
    name="megacli",
    first=r"Enclosure Device ID: ",
    tools=("megacli", "megacli64", "MegaCli", "MegaCli64", "MegaCLI"),
    asks=lambda tool, rest: any(word.lower().lstrip("-") in ("pdlist", "ldpdinfo", "pdinfo") for word in rest),
    parse=parse,
    situations=situations,
    notes=lambda value: _drives.notes(value.drives),
    again="MegaCli64 -PDList -aALL",
)
