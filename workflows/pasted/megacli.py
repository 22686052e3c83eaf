"""`MegaCli -PDList`, `-LDInfo`, `-LdPdInfo` and `-AdpBbuCmd`: drives, volumes and the battery of an older MegaRAID controller."""

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
from workflows.pasted.base import NOT_PROSE, Reader, Where, refused, whole

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


BATTERY_WELL = frozenset(("optimal", "operational", "ok", "none", ""))
BATTERY_ILL = {  # what the battery says of itself when all is not well: name -> in words
    "Battery Pack Missing": "it is missing",
    "Battery Replacement required": "it must be replaced",
    "Remaining Capacity Low": "it holds too little",
    "Pack is about to fail & should be replaced": "it is about to fail",
    "I2c Errors Detected": "the controller cannot talk to it without errors",
    "No space to cache offload": "it has no room for what the cache holds",
}
BATTERY_PARTS = ("Voltage", "Temperature", "Learn Cycle Status")


@dataclass(frozen=True)
class Drives:
    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...] = ()
    parts: tuple[Part, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()  # of -AdpAllInfo: what is not 0 and should be, in words, with its line


_BEGINS = r"(?:Enclosure Device ID:|(?:CacheCade )?Virtual (?:Drive|Disk): ?[0-9]|BBU (?:status|Capacity Info|Design Info|Properties) for Adapter|Physical Disk: [0-9]|PD: [0-9])"
_EMPTY = re.compile(
    r"Adapter #?[0-9]+(?:: (?:No Virtual Drive Configured|Get BBU .{1,40} Failed)|$)|Number of Virtual Disks: 0$|Exit Code: 0x0"
)


_KEYS = "Enclosure Device ID|Slot Number|Device Id|WWN|Media Error Count|Other Error Count|Predictive Failure Count|PD Type|Raw Size|Coerced Size|Firmware state|Inquiry Data|Drive Temperature"
_JOINED = re.compile(rf"(?<=\S) (?=(?:{_KEYS}) ?:)")
_REMARK = re.compile(r" {2,200}(?:#|---).*$")


def _each_alone(lines: Sequence[str]) -> Iterator[str]:
    """One field a line: some list a drive in one line, by xargs, and some write a remark behind a field."""
    for line in lines:
        yield from _JOINED.split(_REMARK.sub("", line)) if ":" in line else (line,)


def parse(lines: Sequence[str]) -> Drives | Unparsed:
    lines = tuple(_each_alone(lines))
    each = list(sections(lines, _BEGINS))
    drives = tuple(drive for section in each if section.title.startswith("Enclosure") and (drive := _drive(section)).slot is not None)
    drives = drives or tuple(_by_counts(lines))
    volumes = tuple(_volume(section) for section in each if "Virtual" in section.title and "State" in section.values)
    parts = tuple(_battery(section, lines) for section in each if section.title.startswith("BBU status"))
    parts += tuple(part for section in each if "Virtual" in section.title for part in _write_cache(section))
    counts = tuple(_counted(lines))
    if not (drives or volumes or parts or counts) and not any(map(_EMPTY.match, map(str.strip, lines))):
        return refused("MegaCli -PDList", lines[0] if lines else "")
    return Drives(drives, volumes, parts, counts)


_OF_DRIVE = ("Media Error Count", "Other Error Count", "Predictive Failure Count", "Firmware state")


def _by_counts(lines: Sequence[str]) -> Iterator[Drive]:
    """Drives of a list from which somebody kept a few kinds of lines: a kind that comes again is of the next drive, and which bay it is in is not known."""
    each: list[dict[str, tuple[str, str]]] = []
    for line in lines:
        name, _, value = (part.strip() for part in line.partition(":"))
        if name in _OF_DRIVE:
            if not each or name in each[-1]:
                each.append({})
            each[-1][name] = (value, line.strip())
    for number, found in enumerate(each, 1):
        media, other, predicted = (whole(found.get(name, ("",))[0]) for name in _OF_DRIVE[:3])
        kept = tuple(line for name, (value, line) in found.items() if name == "Firmware state" or value != "0")
        state = found.get("Firmware state", ("",))[0].partition(",")[0].strip() or None
        yield Drive(f"place {number} of the list", state=state, media_errors=media, predicted=predicted, other_errors=other, lines=kept)


COUNTS = {  # as -AdpAllInfo counts them -> (in words, severity)
    "Degraded": "volumes that are degraded",
    "Offline": "volumes that are offline",
    "Critical Disks": "drives that predict their failure",
    "Failed Disks": "drives that failed",
    "Memory Correctable Errors": "errors of its own memory that it corrected",
    "Memory Uncorrectable Errors": "errors of its own memory that it could not correct",
}


def _counted(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, colon, value = line.partition(":")
        count = whole(value.strip()) if colon and name.strip() in COUNTS else None
        if count:
            yield f"{count} {COUNTS[name.strip()]}", line.strip()


def _volume(section: Section) -> Volume:
    number = re.search("[0-9]+", section.title)
    return Volume(number.group() if number else section.title, _volumes.state(section.first("State")), section.line("State"))


def _write_cache(section: Section) -> Iterator[Part]:
    """What the volume was set to do with writes, and what it does now: without a charged battery the controller writes through."""
    wanted, now = (section.first(f"{which} Cache Policy") or "" for which in ("Default", "Current"))
    number = _volume(section).number
    if wanted.startswith("WriteBack") and now.startswith("WriteThrough"):
        yield Part(
            f"write cache of volume {number}", ("it is set to WriteBack and writes through",), (section.line("Current Cache Policy"),)
        )
    elif now.startswith("WriteBack") and now.endswith("Write Cache OK if Bad BBU"):
        yield Part(
            f"write cache of volume {number}", ("it is used without a charged battery too",), (section.line("Current Cache Policy"),)
        )


def _battery(section: Section, lines: Sequence[str]) -> Part:
    """Voltage and temperature are printed as figures first and as a verdict behind them; the later counts."""
    last = {
        name.strip(): (value.strip(), line.strip())
        for line in lines
        if (name := line.partition(":")[0]) != line
        for value in [line.partition(":")[2]]
    }
    faults = [(words, last[name][1]) for name, words in BATTERY_ILL.items() if last.get(name, ("",))[0].lower() == "yes"]
    faults += [
        (f"its {name.lower()} is {last[name][0]}", last[name][1])
        for name in BATTERY_PARTS
        if name in last and not re.match(r"OK$|-?[0-9]", last[name][0])
    ]
    named = next((name for name in ("Battery State", "Battery state") if last.get(name, ("",))[0]), "")
    if named and last[named][0].lower() not in BATTERY_WELL:
        faults.insert(0, (f"its state is {last[named][0]}", last[named][1]))
    if last.get("isSOHGood", ("",))[0].lower() == "no":
        faults.append(("its state of health is not good", last["isSOHGood"][1]))
    return Part("battery", tuple(words for words, _ in faults), tuple(line for _, line in faults))


def _drive(section: Section) -> Drive:
    enclosure, slot = section.first("Enclosure Device ID"), whole(section.first("Slot Number"))
    state = (section.first("Firmware state") or "").partition(",")[0].strip() or None
    foreign = section.first("Foreign State") == "Foreign"
    counts = [whole(section.first(name)) for name in ("Media Error Count", "Predictive Failure Count", "Other Error Count")]
    alert = {"yes": True, "no": False}.get((section.first("Drive has flagged a S.M.A.R.T alert") or "").lower())
    inquiry = (section.first("Inquiry Data") or "").split()
    keys = ["Foreign State" if foreign else "Firmware state"]
    keys += [name for name, count in zip(("Media Error Count", "Predictive Failure Count"), counts, strict=False) if count]
    keys += ["Drive has flagged a S.M.A.R.T alert"] if alert else []
    return Drive(
        f"{enclosure}:{section.first('Slot Number')}", enclosure, slot, "foreign" if foreign else state,
        " ".join(inquiry[:-1]) or None,
        _serial(inquiry, section.first("Device Firmware Level") or ""),
        _drives.wwid(section.first("WWN")), None, counts[0], counts[1], alert, counts[2],
        lines=tuple(section.line(name) for name in keys),
    )  # fmt: skip


def _serial(inquiry: Sequence[str], firmware: str) -> str | None:
    """The last word of the inquiry data; on SAS drives the firmware revision stands glued before it."""
    word = inquiry[-1].removeprefix(firmware.strip()) if len(inquiry) > 1 else ""
    return word if re.fullmatch(r"[A-Z0-9-]{6,32}", word) else None


def situations(value: Drives, where: Where) -> tuple[Situation, ...]:
    found = (*_drives.judged(value.drives, STATES, where, "The RAID controller"), *_volumes.situations(value.volumes, value.parts, where))
    return (*found, *_of_counts(value, where))


def _of_counts(value: Drives, where: Where) -> Iterator[Situation]:
    if value.counts:
        words = ", ".join(words for words, _ in value.counts)
        yield Situation(
            "hba-fault", f"hba-fault:{where.node}:megacli", where.node, "act", f"The RAID controller counts {value.counts[0][0]}",
            f"Of itself and what is behind it the controller counts {words}. Which they are stands in `MegaCli64 -PDList -aALL` and `-LDInfo -Lall -aALL`.",
            where.evidence(*(line for _, line in value.counts)), subject={"node": where.node},
        )  # fmt: skip


def notes(value: Drives) -> tuple[str, ...]:
    """What it tells of; the other lists of the tool tell the rest."""
    of_drives = _drives.notes(value.drives) if value.drives else ("It shows no drive; `MegaCli64 -PDList -aALL` does.",)
    return (*of_drives, *_volumes.notes(value.volumes, value.parts))


READER = Reader(
    name="megacli",
    first=r" *Enclosure Device ID: | *Adapter #?[0-9]+(?: -- Virtual Drive Information:|: (?:No Virtual Drive|Get BBU)|$)| *BBU status for Adapter: [0-9]| *(?:CacheCade )?Virtual (?:Drive|Disk): [0-9]+ \([Tt]arget [Ii]d",
    tools=("megacli", "megacli64", "MegaCli", "MegaCli64", "MegaCLI", "CmdTool2"),
    asks=lambda tool, rest: any(
        word.lower().lstrip("-") in ("pdlist", "ldpdinfo", "pdinfo", "ldinfo", "adpbbucmd", "adpallinfo") for word in rest
    ),
    goes_on=NOT_PROSE,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.drives or any(drive.state is None or drive.other_errors for drive in value.drives),
    doubt=lambda value: _drives.doubt(value.drives, "MegaCli64 -PDList -aALL"),
    notes=notes,
    again="MegaCli64 -PDList -aALL",
    always=(r"\s*(?:Adapter #?[0-9]|BBU status for Adapter)", r"\s*Exit Code: 0x"),
)
