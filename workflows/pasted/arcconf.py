"""`arcconf getconfig`: drives behind an Adaptec or Microchip controller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._sections import Section, sections
from workflows.pasted._volumes import Part, Volume
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
    "defunct": lost("its state is Defunct: the controller does not use it"),
    "rebuilding": busy("it is being rebuilt by the controller"),
}


WELL = re.compile(
    r"(?:ZMM |Battery )?(?:Optimal|Okay|OK|Ready|Enabled|Not Installed|Not Present|not installed|Ok|Charged|Charging|In Progress)",
    re.IGNORECASE,
)  # of a battery


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    status: tuple[str, str] | None = None  # (as printed, line)
    volumes: tuple[Volume, ...] = ()
    parts: tuple[Part, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()  # of volumes and drives that are not well, by the controller: (in words, line)

    @property
    def is_useful(self) -> bool:
        return bool(self.drives or self.status or self.volumes or self.counts)


_STATUS = re.compile(r" *Controller Status +: (\S.*)")
_OPERATION = re.compile(r" *Current operation +: |Command completed successfully|No (?:logical|physical) (?:devices|drives)", re.IGNORECASE)
_COUNTS = re.compile(r" *Logical (?:devices|drives)/(?:Failed/Degraded|Offline/Critical) +: [0-9]+/([0-9]+)/([0-9]+)$")
_DEFUNCT = re.compile(r" *Defunct disk drive count +: ([0-9]+)$")


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    each = list(sections(lines, r"(?:Device #[0-9]+|-{5,}|Logical [Dd](?:evice|rive) number [0-9]+|Controller Information)"))
    drives = tuple(_drive(section) for section in each if _is_drive(section))
    volumes = tuple(_volume(section) for section in each if re.match("Logical [Dd](?:evice|rive) number", section.title))
    volumes += tuple(_rebuilt(lines))
    status = next(((state.group(1), line.strip()) for line in lines if (state := _STATUS.match(line))), None)
    found = Controller(drives, status, volumes, tuple(_parts(lines)), tuple(_counted(lines)))
    return found if found.is_useful or any(map(_OPERATION.match, lines)) else refused("arcconf getconfig", lines[0] if lines else "")


def _volume(section: Section) -> Volume:
    names = [name for name in section.values if name.lower() in ("status of logical device", "status of logical drive")]
    return Volume(section.title.rpartition(" ")[2], _volumes.state(section.first(*names)), section.line(*names))


_TASK_OF = re.compile(r" *Logical [Dd](?:evice|rive) +: ([0-9]{1,4})$")
_REBUILDS = re.compile(r" *Current operation +: (?:Rebuild|Reconstruct)")


def _rebuilt(lines: Sequence[str]) -> Iterator[Volume]:
    """Of `getstatus`: the volume that a task is of. To build and to verify is no trouble of it."""
    number = ""
    for line in lines:
        if of := _TASK_OF.match(line):
            number = of.group(1)
        elif number and _REBUILDS.match(line):
            yield Volume(number, "Rebuilding", line.strip())


def _parts(lines: Sequence[str]) -> Iterator[Part]:
    """The battery or the flash module: the first Status below its heading."""
    heading = ""
    for line in lines:
        if re.match(r" *Controller .{0,20}(?:Battery|ZMM|Cache Backup).{0,20} Information$", line):
            heading = "battery or cache module"
        elif heading and (found := re.match(r" *Status +: (\S.*)", line)):
            yield Part(heading, () if WELL.match(found.group(1)) else (f"its status is {found.group(1)}",), (line.strip(),))
            heading = ""


def _counted(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        volumes, drives = _COUNTS.match(line), _DEFUNCT.match(line)
        if volumes and (int(volumes.group(1)) or int(volumes.group(2))):
            yield f"it counts {volumes.group(1)} volumes that failed and {volumes.group(2)} that are degraded", line.strip()
        elif drives and int(drives.group(1)):
            yield f"it counts {drives.group(1)} drives that are defunct", line.strip()


def _is_drive(section: Section) -> bool:
    """Enclosures and expanders are devices there too; only a drive has a state and is no enclosure."""
    return section.title.startswith("Device #") and "State" in section.values and "Enclosure ID" not in section.values


def _drive(section: Section) -> Drive:
    place = re.match(r"Enclosure ([0-9]+), Slot ([0-9]+)", section.first("Reported Location") or "")
    warnings = whole(section.first("S.M.A.R.T. warnings", "SMART Warning Count"))
    media = whole(section.first("Medium Error Count", "Media Error Count"))
    alert = {"yes": True, "no": False}.get((section.first("S.M.A.R.T.", "PFA") or "").lower())
    device = section.first("Disk Name", "OS Device Name", "Device Name")
    keys = ["State", *(["S.M.A.R.T. warnings", "SMART Warning Count"] if warnings else []), *(["S.M.A.R.T.", "PFA"] if alert else [])]
    keys += ["Medium Error Count"] if media else []
    return Drive(
        section.title.lower(), place.group(1) if place else None, whole(place.group(2)) if place else None,
        section.first("State"), section.first("Model"), section.first("Serial number"), _drives.wwid(section.first("World-wide name")),
        device.removeprefix("/dev/") if device and device.startswith("/dev/") else None, media, warnings, alert,
        whole(section.first("Link Failures")),
        lines=tuple(section.lines[name] for name in keys if name in section.lines),
    )  # fmt: skip


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    found = (*_drives.judged(value.drives, STATES, where, "The RAID controller"), *_volumes.situations(value.volumes, value.parts, where))
    return (*found, *_of_controller(value, where), *(_of_counts(value, where) if not found else ()))


def _of_counts(value: Controller, where: Where) -> Iterator[Situation]:
    """What the controller counts, where the volumes and drives themselves were not pasted."""
    for words, line in value.counts:
        yield Situation(
            "hba-fault", f"hba-fault:{where.node}:arcconf:{words}", where.node, "act", f"The RAID controller is not well: {words}",
            f"Of itself the controller says: {words}. Which ones stands in `arcconf getconfig 1`: paste it whole.",
            where.evidence(line), subject={"node": where.node},
        )  # fmt: skip


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
    of_drives = _drives.notes(value.drives) if value.drives else ("It shows no drive; `arcconf getconfig 1` does.",)
    return (*of_drives, *_volumes.notes(value.volumes, value.parts))


_OF_CONTROLLER = re.compile(r" *Controller (?:Status|Model) +: ")


def _is_sure(lines: Sequence[str], i: int) -> bool:
    """Whether a heading that other tools print, too, is of arcconf, by what stands below it."""
    head, below = lines[i].strip(), lines[i + 1 : i + 7]
    if head.startswith("Controller information"):
        return any(map(_OF_CONTROLLER.match, below))
    return not head.startswith("Device #") or any("Device is a" in line for line in below[:2])


READER = Reader(
    name="arcconf",
    first=r"Controllers [Ff]ound: [0-9]+|(?:Controller|Physical Device|Logical [Dd](?:evice|rive)) information$| *Device #[0-9]+$| *Logical [Dd](?:evice|rive) number [0-9]+$",
    confirm=_is_sure,
    inside=frozenset(("sas_ircu",)),
    tools=("arcconf",),
    asks=lambda tool, rest: any(word.lower() in ("getconfig", "getstatus") for word in rest),
    goes_on=r" |-{5,}|Controller|Logical |Physical |Device |Command completed|Connector |MaxCache |Array |Segment |Group |No |[A-Z][\w /.()#-]{2,60} +: ",
    parse=parse,
    situations=situations,
    silent=lambda value: not value.drives,
    doubt=lambda value: _drives.doubt(value.drives, "arcconf getconfig 1"),
    notes=notes,
    again="arcconf getconfig 1",
    always=(r"Controllers [Ff]ound: ", r"Command completed successfully"),
)
