"""`/proc/mdstat`, `mdadm --detail` and the mails of mdadm: arrays of the Linux kernel's own RAID.

They are no pools. A disk that md gave up may serve a pool with another partition, and a host may boot from such an array.
Forms: drivers/md/md.c (md_seq_show), mdadm Detail.c and Monitor.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from agents.domain.wwid import strip_partition
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, plural, refused, unread


@dataclass
class Array:
    """One array. None where the text does not say."""

    name: str
    line: str
    wanted: int | None = None  # disks that it has when it is whole
    serving: int | None = None
    runs: bool = True
    under_way: str = ""  # "resyncing", as its state says
    faulty: dict[str, str] = field(default_factory=dict)  # device -> the line that says so
    kept: list[str] = field(default_factory=list)  # the lines that say what it lacks

    @property
    def lacks(self) -> int:
        return max(0, self.wanted - self.serving) if self.wanted is not None and self.serving is not None else 0


@dataclass(frozen=True)
class Arrays:
    arrays: tuple[Array, ...]
    events: tuple[tuple[str, str, str], ...] = ()  # (event, array, line), where its state is not shown
    stray: tuple[str, ...] = ()


_STAT = re.compile(
    r"(md\w{1,20}) : (active|inactive)(?: \([a-z-]{1,20}\))?(?: (?:raid[0-9]{1,2}|linear|multipath|faulty))?((?: [\w!/-]{2,40}\[[0-9]{1,4}\](?:\([A-Z]\))*)*)$"
)
_FAULTY = re.compile(r" ([\w!/-]{2,40})\[[0-9]{1,4}\](?:\([A-Z]\))*\(F\)")
_COUNT = re.compile(r"[0-9]+ blocks .*\[([0-9]{1,4})/([0-9]{1,4})\] \[[U_]+\]")
_HEAD = re.compile(r"/dev/(md\S{1,40}):$")
_FIELD = re.compile(r"(Raid Devices|Active Devices|State) : (.{1,80})$")
_ROW = re.compile(r"(?:[0-9]{1,4}|-) +[0-9]{1,4} +[0-9]{1,8} +(?:[0-9]{1,4}|-) +(\S.{0,60}?)(?: {1,12}(/dev/\S{1,80}))?$")
_EVENT = re.compile(
    r"(?:.{0,80}mdadm(?:\[[0-9]{1,9}\])?: )?(?:An? )?(\w{3,30}) event (?:had been )?detected on md device (/dev/\S{1,80}?)\.?(?:, component device (?:(/dev/\S{1,80}))?)?(?: {1,2}mismatches found: ([0-9]{1,18})(?: .{1,40})?)?$"
)
_KNOWN = re.compile(
    r"[^A-Za-z0-9]{1,120}$|Personalities :|unused devices:|This is an automatically generated mail|running on |Faithfully yours|P\.S\. The /proc/mdstat|It could be related to component"
    r"|bitmap: |\[[=>.]{5,40}\]|resync=|(?:recovery|resync|check|reshape) *=|Number +Major|[0-9]+ blocks|[A-Z][\w ]{2,30} : |/etc/cron|\S{1,120}:$"
)
_SPARE = "SparesMissing"
_LOST = ("Fail", "FailSpare", "DegradedArray", "DeviceDisappeared")


def parse(lines: Sequence[str]) -> Arrays | Unparsed:
    arrays: list[Array] = []
    events: list[tuple[str, str, str]] = []
    stray: list[str] = []
    for line in _whole_lines(lines):
        array = arrays[-1] if arrays else None
        if stat := _STAT.match(line):
            faulty = {device: line for device in _FAULTY.findall(stat.group(3))}
            arrays.append(Array(stat.group(1), line, runs=stat.group(2) == "active", faulty=faulty))
        elif head := _HEAD.match(line):
            arrays.append(Array(head.group(1), line))
        elif event := _EVENT.match(line):
            events.append((event.group(1), event.group(2).removeprefix("/dev/"), line))
        elif array is None or not _take(array, line):
            stray += [] if _KNOWN.match(line) else [line]
    if not arrays and not events and not any(line.startswith("Personalities :") for line in lines):
        return refused("mdadm", next(iter(lines), ""))
    return Arrays(tuple(arrays), tuple(event for event in events if not arrays or event[0] == _SPARE), tuple(stray))


_REST = re.compile(  # how the rest of a line begins that a mail program has cut; no line of these outputs begins so itself
    r"(?:\[(?:raid|linear|multipath)[0-9]{0,2}\]|[0-9]{1,6}[kK] chunk|level [0-9]|algorithm [0-9]|finish=|speed=|\[[0-9]{1,4}/[0-9]{1,4}\] \[[U_]+\]|\[[U_]{1,400}\]$|(?:[a-z][\w!/-]{1,39}\[[0-9]{1,4}\](?:\([A-Z]\)){0,3} ?)+$)"
)


_EVENT_CUT = re.compile(r" event (?:had been )?detected on md(?: device)?$|mismatches found: [0-9]{1,18} \(on raid$")


def _whole_lines(lines: Sequence[str]) -> list[str]:
    """Without the empty ones, and with those joined again that a mail program has cut."""
    whole: list[str] = []
    before = ""
    for line in map(str.strip, lines):
        if line and before and (_REST.match(line) or _EVENT_CUT.search(before)):
            whole[-1] += f" {line}"
        elif line:
            whole.append(line)
        before = line and whole[-1]
    return whole


def _take(array: Array, line: str) -> bool:
    """Whether the line tells of this array."""
    if count := _COUNT.match(line):
        array.wanted, array.serving = int(count.group(1)), int(count.group(2))
    elif named := _FIELD.match(line):
        name, value = named.groups()
        if name == "State":
            array.under_way = next((word for word in ("resyncing", "recovering", "reshaping", "checking") if word in value), "")
            array.runs = not {"inactive", "Not Started", "FAILED"} & set(map(str.strip, value.split(",")))
        elif value.strip().isdigit():
            array.wanted, array.serving = (int(value), array.serving) if name == "Raid Devices" else (array.wanted, int(value))
    elif row := _ROW.match(line):
        if "faulty" in row.group(1) and row.group(2):
            array.faulty[row.group(2).removeprefix("/dev/")] = line
    else:
        return False
    if count or (named and named.group(1) != "Raid Devices"):
        array.kept.append(line)
    return True


def situations(value: Arrays, where: Where) -> tuple[Situation, ...]:
    return (*_of_disks(value, where), *_of_arrays(value, where), *_of_events(value, where))


_NO_POOL = "md is the RAID of the Linux kernel and no pool: ZFS knows nothing of it, and its disks are cared for by mdadm."


def _of_disks(value: Arrays, where: Where) -> Iterator[Situation]:
    """Each disk once, whichever of its partitions are in which arrays."""
    by_disk: dict[str, list[tuple[Array, str]]] = {}
    for array in value.arrays:
        for device in array.faulty:
            by_disk.setdefault(strip_partition(device)[0], []).append((array, device))
    shared = [array for array in value.arrays if len({strip_partition(device)[0] for device in array.faulty}) >= TOGETHER_MIN]
    yield from (_together(array, where) for array in shared)
    together = {strip_partition(device)[0] for array in shared for device in array.faulty}
    for disk, found in by_disk.items():
        if disk in together:
            continue
        names = ", ".join(f"{device} of {array.name}" for array, device in found)
        member = where.member(disk)
        yield Situation(
            "disk-failing", f"disk-failing:{where.node}:md:{disk}", where.node, "act",
            f"{disk} is faulty, says md ({names})",
            f"md gave up {names}: a write to it failed, or somebody marked it. {_NO_POOL} {member.sentence + ' ' if member else ''}Ask the disk itself, smartctl -x, and see what "
            "the kernel's log says of its cable and port: md gives a disk up at the first write that fails, whatever the cause.",
            where.evidence(*dict.fromkeys(array.faulty[device] for array, device in found)),
            subject={"node": where.node, "disk": disk} | (member.subject if member else {}),
        )  # fmt: skip


TOGETHER_MIN = 3  # disks of one array that md gave up: one cause


def _together(array: Array, where: Where) -> Situation:
    names = ", ".join(array.faulty)
    return Situation(
        "many-disks-offline", f"many-disks-offline:{where.node}:md:{array.name}", where.node, "act",
        f"md gave up {len(array.faulty)} disks of {array.name}",
        f"md gave up {names} of {array.name}. {_NO_POOL} So many disks do not fail by themselves at once: look at what they share, an HBA, a cable, an expander, a shelf, power. "
        "Replace none of them before that is known; the kernel's log says which went first, and of what.",
        where.evidence(*dict.fromkeys(array.faulty.values())),
        subject={"node": where.node, "array": array.name, "names": " ".join(array.faulty)},
        sure=False, gate=True,
    )  # fmt: skip


def _of_arrays(value: Arrays, where: Where) -> Iterator[Situation]:
    for array in value.arrays:
        if array.runs and (not array.lacks or array.faulty):
            continue
        what = f"lacks {array.lacks} of {plural(array.wanted or 0, 'disk')}" if array.runs else "does not run"
        yield Situation(
            "disk-missing", f"disk-missing:{where.node}:md:{array.name}", where.node, "watch" if array.runs else "act",
            f"the md array {array.name} {what}",
            f"{array.name} {what}. {_NO_POOL} `mdadm --detail /dev/{array.name}` shows which disk it misses, and whether it is being rebuilt. Whether a pool misses the same disk "
            "`zpool status -P -p` shows.",
            where.evidence(array.line, *array.kept),
            subject={"node": where.node, "array": array.name},
            sure=False,
        )  # fmt: skip


def _of_events(value: Arrays, where: Where) -> Iterator[Situation]:
    for event, array, line in value.events:
        found = _EVENT.match(line)
        of = f" ({found[3].removeprefix('/dev/')})" if found and found[3] else ""
        if found and int(found[4] or 0):
            yield Situation(
                "unexplained", f"unexplained:{where.node}:md:{array}", where.node, "watch", f"the copies of {array} differ in {found[4]} sectors",
                f"A check of the md array {array} ended and found {found[4]} sectors in which its copies differ; which of them is right md cannot tell. {_NO_POOL} Of a RAID1 or RAID10 with swap or "
                "files that change while they are written some are usual; elsewhere a disk, memory or a power cut is the reason. Ask its disks, smartctl -x; none is to be replaced for this line.",
                where.evidence(line), subject={"node": where.node, "source": "md", "text": line[:200]}, sure=False,
            )  # fmt: skip
        if event == _SPARE:
            yield Situation(
                "spare-unavailable", f"spare-unavailable:{where.node}:md:{array}", where.node, "watch", f"mdadm reports {event} of {array}",
                f"The md array {array} has fewer spares than its line in mdadm.conf names (spares=). {_NO_POOL} `cat /proc/mdstat` shows whether it runs with all its disks; the next disk that "
                "fails has no spare. Either a spare is away, or that line is of an earlier time.",
                where.evidence(line), subject={"node": where.node, "array": array}, sure=False,
            )  # fmt: skip
        elif event in _LOST:
            yield Situation(
                "disk-missing", f"disk-missing:{where.node}:md:{array}", where.node, "watch", f"mdadm reports {event} of {array}{of}",
                f"mdadm reports {event} of {array}{of}, and its state is not shown here. {_NO_POOL} `cat /proc/mdstat` shows how it is now.",
                where.evidence(line), subject={"node": where.node, "array": array}, sure=False,
            )  # fmt: skip


def of_log(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """What mdadm writes into a log that holds the kernel's lines as well."""
    value = parse([line for line in lines if " event detected on md device " in line])
    return () if isinstance(value, Unparsed) else tuple(_of_events(value, where))


def notes(value: Arrays) -> tuple[str, ...]:
    count = plural(len(value.arrays), "md array was", "md arrays were")
    busy = [f"{array.name} is {array.under_way}" for array in value.arrays if array.under_way]
    return (
        *unread(value.stray),
        *((f"{', '.join(busy)}: until that has ended its copies are not all the same.",) if busy else ()),
        f"{count} read; they are no pools, and `zpool status -P -p` shows these.",
    )


READER = Reader(
    name="md",
    first=r"Personalities :|/dev/md\S{1,40}:$|\s{0,8}md\w{1,20} : (?:active|inactive) |This is an automatically generated mail message from mdadm|(?:.{0,80}mdadm: |[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} \S{1,80} mdadm\[[0-9]{1,9}\]: )?(?:An? )?\w{3,30} event (?:had been )?detected on md(?: device|$)",
    tools=("mdadm",),
    asks=lambda tool, rest: bool({"--detail", "-D"} & set(rest)),
    goes_on=r"\s{0,40}(?:md\w{1,20} : |[0-9]+ blocks|\[[=>.]|bitmap:|unused devices|Personalities|[A-Z][\w ]{2,30} : |Number +Major|(?:[0-9]{1,4}|-) +[0-9]+ +[0-9]+ +|/dev/md|P\.S\.|Faithfully|An? \w+ event|It could|running on|mdadm: )",
    open_ended=True,
    inside=frozenset(("kernel_log", "smartd", "zed_mail")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="cat /proc/mdstat",
)  # fmt: skip
