"""`arcconf getconfig`: drives behind an Adaptec or Microchip controller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.core import Situation
from workflows.pasted import _drives
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._sections import Section, sections
from workflows.pasted.base import Reader, Where, refused, whole

STATES = {
    "online": GOOD,
    "ready": GOOD,
    "optimal": GOOD,
    "online (jbod)": GOOD,
    "raw (pass through)": GOOD,
    "pass through": GOOD,
    "hot spare": GOOD,
    "hot-spare": GOOD,
    "global hot-spare": GOOD,
    "dedicated hot-spare": GOOD,
    "jbod": GOOD,
    "failed": lost("its state is Failed"),
    "failed - media error": lost("its state is Failed, by a media error"),
    "offline": lost("its state is Offline"),
    "missing": lost("its state is Missing: the controller does not see it"),
    "inconsistent": lost("its state is Inconsistent"),
    "rebuilding": busy("it is being rebuilt by the controller"),
}


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    status: tuple[str, str] | None = None  # (as printed, line)


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    drives = tuple(_drive(each) for each in sections(lines, r"(?:Device #[0-9]+|-{5,}|Logical [Dd]evice)") if _is_drive(each))
    status = next(((found.group(1), line.strip()) for line in lines if (found := re.match(r" *Controller Status +: (\S.*)", line))), None)
    return Controller(drives, status) if drives or status else refused("arcconf getconfig", lines[0] if lines else "")


def _is_drive(said: Section) -> bool:
    """Enclosures and expanders are devices there too; only a drive has a state and is no enclosure."""
    return said.title.startswith("Device #") and "State" in said.values and "Enclosure ID" not in said.values


def _drive(said: Section) -> Drive:
    place = re.match(r"Enclosure ([0-9]+), Slot ([0-9]+)", said.first("Reported Location") or "")
    warnings = whole(said.first("S.M.A.R.T. warnings", "SMART Warning Count"))
    media = whole(said.first("Medium Error Count", "Media Error Count"))
    alert = {"yes": True, "no": False}.get((said.first("S.M.A.R.T.") or "").lower())
    device = said.first("Disk Name", "OS Device Name", "Device Name")
    telling = ["State", *(["S.M.A.R.T. warnings", "SMART Warning Count"] if warnings else []), *(["S.M.A.R.T."] if alert else [])]
    telling += ["Medium Error Count"] if media else []
    return Drive(
        said.title.lower(), place.group(1) if place else None, whole(place.group(2)) if place else None,
        said.first("State"), said.first("Model"), said.first("Serial number"), _drives.wwid(said.first("World-wide name")),
        device.removeprefix("/dev/") if device and device.startswith("/dev/") else None, media, warnings, alert,
        whole(said.first("Link Failures")),
        lines=tuple(said.lines[name] for name in telling if name in said.lines),
    )  # fmt: skip


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    return (*_drives.judged(value.drives, STATES, where, "The RAID controller"), *_of_controller(value, where))


def _of_controller(value: Controller, where: Where) -> Iterator[Situation]:
    if value.status is None or value.status[0].lower() in ("optimal", "okay", "ok"):
        return
    yield Situation(
        "hba-fault", f"hba-fault:{where.node}:controller", where.node, "watch",
        f"The RAID controller says of itself: {value.status[0]}",
        f"Controller Status is {value.status[0]}. Look at its log, temperature and battery. Every disk behind it is suspect before one is replaced.",
        where.evidence(value.status[1]),
        subject={"node": where.node},
    )  # fmt: skip


def notes(value: Controller) -> tuple[str, ...]:
    return _drives.notes(value.drives) if value.drives else ("It tells of no drive; `arcconf getconfig 1 pd` does.",)


READER = Reader(
    name="arcconf",
    first=r"Controllers found: [0-9]+|Physical Device information$| *Device #[0-9]+$",
    confirm=lambda lines, i: not lines[i].strip().startswith("Device #") or any("Device is a" in line for line in lines[i + 1 : i + 3]),
    tools=("arcconf",),
    asks=lambda tool, rest: any(word.lower() == "getconfig" for word in rest),
    parse=parse,
    situations=situations,
    notes=notes,
    again="arcconf getconfig 1 pd",
)
