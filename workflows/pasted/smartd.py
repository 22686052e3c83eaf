"""What `smartd` says of disks: its lines in the system's log, its mails, and the same sentences as a storage appliance repeats them.

A disk is judged once, by the newest of what was said of each matter; what it said has ended counts no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agents.collectors._attributes import LIFE_LEFT
from agents.collectors._log_stamps import stamped
from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise
from workflows.engine.core import Situation
from workflows.facts.read import thresholds
from workflows.pasted.base import Reader, Sight, Where, plural, refused, whole

Severity = Literal["act", "watch"]


@dataclass(frozen=True)
class Entry:
    """One sentence about one disk. `matter` is what it is about: a later one of the same matter takes its place."""

    matter: str
    slug: str
    severity: Severity
    words: str
    line: str


@dataclass
class DiskLog:
    """What was said of one disk, by what it is about. Model, serial and WWID stand in mails alone."""

    device: str  # "sda", or "bus/0 [megaraid_disk_02]" where one device stands for many
    entries: dict[str, Entry] = field(default_factory=dict)
    model: str | None = None
    serial: str | None = None
    wwid: str | None = None
    watched: bool = True  # whether smartd looks at it at all


@dataclass(frozen=True)
class Notices:
    disks: tuple[DiskLog, ...]
    unknown: tuple[tuple[str, str], ...] = ()  # (device, line) of sentences about trouble that are not in the table
    host: str = ""  # that a mail names
    test: bool = False  # it is a mail that was sent to try the way


_Words = Callable[[re.Match[str]], tuple[Severity, str]]


def _always(severity: Severity, words: str) -> _Words:
    return lambda found: (severity, words)


def _sectors(what: str) -> _Words:
    def parts(found: re.Match[str]) -> tuple[Severity, str]:
        count = whole(found.group(1)) or 0
        return ("act" if count >= thresholds.PENDING_ACT else "watch"), f"{plural(count, 'sector')} that {what}"

    return parts


_FORMS: tuple[tuple[str, str, re.Pattern[str], _Words], ...] = (  # matter, situation, the sentence behind the device, what it means
    ("verdict", "disk-failing", re.compile(r"FAILED SMART self-check"), _always("act", "it failed its own SMART check: it expects to fail")),
    ("verdict", "disk-failing", re.compile(r"SMART Failure: (.{1,120})"), lambda found: ("act", f"it predicts its failure ({found.group(1).strip()})")),
    ("warning", "disk-failing", re.compile(r"Critical Warning \(0x[0-9a-fA-F]{2}\): (.{1,120})"), lambda found: ("act", f"it raises a critical warning ({found.group(1).strip()})")),
    # what only counts age or wear, and heat, is no defect: smartd calls all of them usage attributes
    ("age", "disk-worn", re.compile(r"Failed SMART usage Attribute: [0-9]+ (Power_On_\w{1,20}|Start_Stop_Count|Power_Cycle_Count|Load_Cycle_Count|Load-?_?Unload\w{0,20}|Power-Off_Retract_Count|Head_Flying_Hours|Total_LBAs_\w{1,20})\b"), lambda found: ("watch", f"its {found.group(1)}, which counts age and use, is beyond the threshold of its maker")),
    ("age", "disk-worn", re.compile(rf"Failed SMART usage Attribute: [0-9]+ ({'|'.join(LIFE_LEFT)})\b"), lambda found: ("act", f"its life is used up, by {found.group(1)}")),
    ("temperature", "disk-hot", re.compile(r"Failed SMART usage Attribute: [0-9]+ (\w{0,20}Temperature\w{0,20})\b"), lambda found: ("watch", f"it is at the threshold of its maker for heat ({found.group(1)})")),
    ("attribute", "disk-failing", re.compile(r"Failed SMART usage Attribute: [0-9]+ ([\w-]+)"), lambda found: ("act", f"its attribute {found.group(1)} is below the threshold of its maker")),
    ("pending", "disk-failing", re.compile(r"([0-9]{1,9}) (?:Currently|Total) unreadable \(pending\) sectors"), _sectors("it cannot read and has not replaced yet")),
    ("uncorrectable", "disk-failing", re.compile(r"([0-9]{1,9}) (?:Total o|O)ffline uncorrectable sectors"), _sectors("it gave up when it looked at itself")),
    ("self-test", "disk-failing", re.compile(r"Self-Test Log error count increased from ([0-9]+) to ([0-9]+)"), _always("act", "one of its self-tests failed")),
    ("self-test", "disk-failing", re.compile(r"new Self-Test Log error at hour timestamp ([0-9]+)"), lambda found: ("act", f"one of its self-tests failed, at hour {found.group(1)} of its life")),
    ("ata-errors", "disk-errors", re.compile(r"ATA error count increased from ([0-9]+) to ([0-9]+)"), lambda found: ("watch", f"its count of ATA errors went from {found.group(1)} to {found.group(2)}")),
    ("nvme-errors", "disk-errors", re.compile(r"(?:number of Error Log entries|NVMe error count) increased from ([0-9]+) to ([0-9]+)"), lambda found: ("watch", f"its count of errors went from {found.group(1)} to {found.group(2)}")),
    ("temperature", "disk-hot", re.compile(r"Temperature ([0-9]{1,3}) Celsius reached critical limit of ([0-9]{1,3})"), lambda found: ("watch", f"it is at {found.group(1)} degrees; the limit that smartd was given is {found.group(2)}")),
    ("open", "disk-missing", re.compile(r"unable to open (?:\w+ )?device|open\(\) failed"), _always("watch", "smartd cannot open it")),
    ("removed", "disk-missing", re.compile(r"removed \w+ device: |\w+ device still removed: "), _always("watch", "smartd says that it was removed")),
    ("reading", "disk-errors", re.compile(r"(?:failed to read (?:SMART|NVMe SMART)|[Rr]ead (?:SMART|Self-[Tt]est|NVMe|Summary SMART|Extended).{0,60} [Ff]ailed|not capable of SMART self-check)"), _always("watch", "it did not answer when it was asked for its health")),
)  # fmt: skip
# What ends a matter: the condition is over.
_ENDS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"No more (?:Currently|Total) unreadable"), ("pending",)),
    (re.compile(r"No more (?:Total o|O)ffline uncorrectable"), ("uncorrectable",)),
    (re.compile(r"Self-Test Log does no longer report errors"), ("self-test",)),
    (re.compile(r"Temperature [0-9]+ Celsius dropped below"), ("temperature",)),
    (re.compile(r"open of \w+ device worked again|reconnected \w+ device"), ("open", "removed")),
    (re.compile(r"[Rr]ead .{1,60} worked again"), ("reading",)),
)
_LINE = re.compile(
    r"(?:.{0,160}?(?:\bsmartd(?:\[[0-9]{1,10}\])?: +|[\"“'`](?=Device: )))?[\s>*•-]{0,8}Device:? (/dev/[^\s,:\[]{1,200})(?: \[([^\]]{1,60})\])?(?: \[([^\]]{1,60})\])?[,:]? +(\S.*)"
)
# Sentences that are no trouble but for a reader who looks for these words in them.
_QUIET = re.compile(
    r"is SMART capable|opened|found in smartd database|not found in smartd database|SMART (?:Usage|Prefailure) Attribute: |state (?:read|written)|same identity|"
    r"(?:Self-Test|Error) Log error count decreased|previous self-test completed without error|initial Temperature|Temperature changed|enabled|disabled|"
    r"lacks SMART|not available|ignoring|ignored|skip|can't monitor|could not|no SMART|SMART health: passed|is in .* mode|is back in|starting scheduled|self-test in progress"
)
_LEFT_OUT = re.compile(r"skip(?:ping)? device|not available|lacks SMART|can't monitor|ignored|ignoring")
_TROUBLE = re.compile(r"fail|error|unable|critical|warning|uncorrect|unread|bad |lost", re.IGNORECASE)
_INFO = re.compile(r"(\S.{0,80}?), (?:S/N|SN|S/N ):? ?([A-Za-z0-9_-]{4,32})(?:, WWN: ?([0-9a-f-]{15,24}))?")
_HOST = re.compile(r" *host name: +([\w.-]{1,120})$")
WRAPPED_AT = 55  # characters; mail wraps at 65 to 78, before a word that does not fit
_TEST = re.compile(r"(?:.*smartd.*: )?TEST EMAIL from smartd for device: ")


def parse(lines: Sequence[str]) -> Notices | Unparsed:
    """Every disk that something was said of; Unparsed where smartd said nothing of any."""
    disks: dict[str, DiskLog] = {}
    unknown: list[tuple[str, str]] = []
    host, last = "", ""
    test = False
    for line in _unwrapped(lines):
        found = _LINE.match(line[:600])
        test = test or bool(_TEST.match(line[:300]))
        if found:
            last = _name(found.group(1), found.group(2))
            disk = disks.setdefault(last, DiskLog(last))
            if not _hear(disk, found.group(4), line):
                unknown.append((last, line.strip()))
        elif named := _HOST.match(line[:200]):
            host = host or named.group(1)
        elif last and (info := _INFO.match(line.strip()[:200])):
            _identify(disks[last], info)
    if not disks and not test:
        return refused("smartd", next(iter(lines), ""))
    return Notices(tuple(disks.values()), tuple(unknown), host, test)


def _unwrapped(lines: Sequence[str]) -> list[str]:
    """A line without a stamp below one of smartd's in a log is the rest of it, where mail wrapped it at its edge."""
    out: list[str] = []
    wrapped = ""
    for line in lines:
        if wrapped and len(wrapped) >= WRAPPED_AT and line[:1].strip() and stamped(line) is None and not _LINE.match(line[:600]):
            out[-1] += f" {line.strip()}"
            wrapped = line if len(line) >= WRAPPED_AT else ""
        else:
            out.append(line)
            wrapped = line if stamped(line) is not None and "smartd" in line else ""
    return out


def _name(path: str, kind: str | None) -> str:
    """Behind a RAID controller one device stands for many, and the number behind it says which."""
    name = path.removeprefix("/dev/")
    return f"{name} [{kind}]" if kind and re.search(r"megaraid|cciss|3ware|areca|aacraid|disk_[0-9]", kind) else name


def _hear(disk: DiskLog, sentence: str, line: str) -> bool:
    """Keep what the sentence says. False where it tells of trouble in words that nobody here knows."""
    for form, matters in _ENDS:
        if form.search(sentence):
            for matter in matters:
                disk.entries.pop(matter, None)
            return True
    for matter, slug, form, words in _FORMS:
        if found := form.search(sentence):
            severity, text = words(found)
            disk.entries[matter] = Entry(matter, slug, severity, text, line.strip())
            return True
    disk.watched = disk.watched and not _LEFT_OUT.search(sentence)
    return bool(_QUIET.search(sentence)) or not _TROUBLE.search(sentence)


def _identify(disk: DiskLog, info: re.Match[str]) -> None:
    disk.model, disk.serial = info.group(1), info.group(2)
    wwn = (info.group(3) or "").replace("-", "")
    disk.wwid = normalise(wwn) if len(wwn) == 16 else None


def situations(value: Notices, where: Where) -> tuple[Situation, ...]:
    found = [_situation(disk, slug, sentences, where) for disk in value.disks for slug, sentences in _by_slug(disk).items()]
    return (*found, *(_unexplained(device, line, where) for device, line in value.unknown))


def of_log(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """What smartd says in a log that holds the kernel's lines as well."""
    value = parse([line for line in _unwrapped(lines) if "smartd" in line])
    return () if isinstance(value, Unparsed) else situations(value, where)


def _by_slug(disk: DiskLog) -> Mapping[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for sentence in disk.entries.values():
        found.setdefault(sentence.slug, []).append(sentence)
    return found


_THEN = {
    "disk-failing": "Ask the disk itself: smartctl -x. See that its vdev has redundancy left, and plan its replacement: attach the new disk before "
    "this one is taken out.",
    "disk-errors": "A cable, a port or the disk may be the reason: see `zpool status -P -p`, the kernel's log of that time and smartctl -x before "
    "anything is replaced.",
    "disk-worn": "Age is no defect: plan its replacement at leisure, and see first what else it counts, smartctl -x.",
    "disk-hot": "Look at the airflow of its bay and at the fans of the enclosure.",
    "disk-missing": "It was pulled, lost its power or its link, or hangs. Look at its bay, cable and the kernel's log; see `zpool status -P -p` whether "
    "a pool misses it.",
}


def _situation(disk: DiskLog, slug: str, sentences: Sequence[Entry], where: Where) -> Situation:
    worst = sorted(sentences, key=lambda one: one.severity != "act")
    member = where.member(disk.device, disk.wwid, disk.serial)
    known = [part for part in (disk.model, f"serial {disk.serial}" if disk.serial else "", disk.wwid) if part]
    name = f"{disk.device} ({', '.join(known)})" if known else disk.device
    subject = {"node": where.node, "disk": disk.device, "wwid": disk.wwid, "serial": disk.serial}
    return Situation(
        slug, f"{slug}:{where.node}:{disk.wwid or disk.serial or disk.device}", where.node, worst[0].severity,
        f"{name}: {worst[0].words}",
        f"smartd says of {name}: {'; '.join(one.words for one in worst)}. {member.sentence + ' ' if member else ''}{_THEN[slug]} "
        f"{disk.device} is its name of that time and may belong to another disk today: compare the serial number.",
        where.evidence(*(one.line for one in worst)),
        subject={key: text for key, text in subject.items() if text} | (member.subject if member else {}),
        sure=slug != "disk-missing",
    )  # fmt: skip


def _unexplained(device: str, line: str, where: Where) -> Situation:
    return Situation(
        "unexplained", f"unexplained:{where.node}:smartd:{device}:{line[-60:]}", where.node, "watch",
        f"smartd says of {device} what is not known here",
        f"smartd prints: {line[:200]}. Nothing here says what it means, and it is not taken for good. Ask the disk itself: smartctl -x.",
        where.evidence(line),
        subject={"node": where.node, "disk": device, "source": "smartd", "text": line},
        sure=False,
    )  # fmt: skip


def _sights(value: Notices) -> Iterator[Sight]:
    for disk in value.disks:
        if disk.serial and " " not in disk.device:
            yield Sight(disk.device, disk.wwid, disk.serial, None, disk.model)


def notes(value: Notices) -> tuple[str, ...]:
    quiet = [disk.device for disk in value.disks if not disk.entries and disk.watched]
    left_out = [disk.device for disk in value.disks if not disk.watched]
    of = f" of {value.host}" if value.host else ""
    return (
        *(("It is a mail that smartd sent to try the way; it reports no trouble.",) if value.test else ()),
        f"smartd{of} speaks of {', '.join(entry.device for entry in value.disks[:12]) or 'no disk'}"
        + (f"; of {', '.join(quiet[:12])} no trouble." if quiet else "."),
        *((f"smartd does not watch {', '.join(left_out[:12])}: of these it reports nothing.",) if left_out else ()),
        "It says only what changed: that it is silent about a disk says nothing of its health (smartctl -x does).",
    )


READER = Reader(
    name="smartd",
    first=r" {1,8}host name: {1,8}\S{1,120}$|This (?:message|email) was generated by the smartd daemon|The following warning/error was logged by the smartd daemon|.{0,160}?\bsmartd(?:\[[0-9]{1,10}\])?: |"
    r"(?:[ >*•-]{0,8}|.{0,160}?[\"“'`])Device:? /dev/[^\s,:]{1,200}(?: \[[^\]]{1,60}\]){0,2}[,:] |TEST EMAIL from smartd",
    goes_on=r".{0,160}?\bsmartd(?:\[[0-9]{1,10}\])?: |[ >*•-]{0,8}Device:? /dev/| +(?:host name|DNS domain|NIS domain): |The following warning/error|Device info:|TEST EMAIL from|"
    r".{1,80}, S/N:|For details see|You can also use|The original (?:message|email)|Another (?:message|email)|No additional (?:messages|email)",
    parse=parse,
    situations=situations,
    notes=notes,
    sights=lambda value: tuple(_sights(value)),
    inside=frozenset(("kernel_log", "alerts", "smart")),
    again="smartctl -x DEVICE",
)  # fmt: skip
