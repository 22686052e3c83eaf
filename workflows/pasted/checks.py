"""One line of a monitoring plugin about disks or pools, in the form that Nagios asks of all of them: a status word, a sentence, and figures behind a bar.

Forms: check_smart.pl, check_smart_attributes, check_zpools.sh, check_zfs.py and others of the kind. The status word is by the plugin's own
thresholds, so OK says nothing that could be taken for good here; what a line names of trouble counts under any word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors import kernel_log
from agents.collectors._log_stamps import stamped
from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.facts.read import thresholds
from workflows.pasted import notices, statements
from workflows.pasted.base import Reader, Where, refused, whole
from workflows.pasted.notices import Notices
from workflows.pasted.zpool_list_text import FILL

POOL_STATES = {"DEGRADED": "vdev-degraded", "SUSPENDED": "pool-suspended", "FAULTED": "pool-down", "UNAVAIL": "pool-down"}


@dataclass(frozen=True)
class Check:
    status: str  # "OK", "WARNING", "CRITICAL", "UNKNOWN"
    text: str  # without the figures for graphs
    line: str


@dataclass(frozen=True)
class Checks:
    checks: tuple[Check, ...]
    unread: tuple[str, ...] = ()


LINE_MAX = 4000
_SHORT = {"WARN": "WARNING", "CRIT": "CRITICAL"}  # as Checkmk calls them
_LINE = re.compile(
    r" {0,8}(?:[A-Z][A-Za-z_/ ]{0,30}?[ :-]{1,3})?\[?(OK|WARN(?:ING)?|CRIT(?:ICAL)?|UNKNOWN|ALARM)(?=\]?:| ?[:|\[-]| [A-Z]{3})[\] :|-]{0,4}(.{0,4000})"
)
_ABOUT = re.compile(
    r"\[/dev/|\bDrive +\S.{0,80} S/N |\bZPOOLS?\b|\bzpools?\b|\bZFS\b|\b[Pp]ools? \S|\bSMART\b|\b[A-Z]\w{3,40} is non-zero \([0-9]|\b(?:Reallocated|Current_Pending|UDMA_CRC|Offline|Reported|Media)_|\bpending sectors|\bRAID\b|\bSmart Array\b|(?i:\b(?:physical|logical|virtual) (?:drive|disk)s?\b)|\bmd[0-9]{1,3}: |\b[Rr]eallocated sectors: |\b(?:mega(?:cli|raid)|sas[23]ircu|arcconf|hp(?:acu|ssa)cli|ssacli|tw_cli|storcli|perccli|areca|mpt):\["
)
_DISK = re.compile(r"\[(?P<path>/dev/[^\]\s]{1,120})\]|\bDrive +(?P<model>\S.{0,80}?) S/N +(?P<serial>[A-Za-z0-9_-]{4,40})")
_PENDING = re.compile(
    r"(?:Current_Pending_Sector|Total_Pending_Sectors)(?: is non-zero \(|: ?)([0-9]{1,9})(?![0-9.])|([0-9]{1,9}) (?:current )?pending sectors?",
    re.IGNORECASE,
)
_COUNTED = (
    (re.compile(r"(?:Reallocated_Sector_Ct|Reallocated_Event_Count|Reallocated sectors)(?: is non-zero \(|: ?)([0-9]{1,9})(?![0-9.])|([0-9]{1,9}) reallocated sectors?", re.IGNORECASE), "sectors that it replaced"),
    (re.compile(r"(?:Offline_Uncorrectable|Uncorrectable_Error_Cnt|Reported_Uncorrect)(?: is non-zero \(|: ?)([0-9]{1,9})(?![0-9.])|([0-9]{1,9}) (?:offline )?uncorrectable(?: sectors| errors)?", re.IGNORECASE), "errors that it could not correct"),
    (re.compile(r"ATA[ _]Errors?(?: Count: | is non-zero \(|=)([0-9]{1,9})|([0-9]{1,9}) ATA errors", re.IGNORECASE), "errors in its own log"),
    (re.compile(r"(?:Runtime_Bad_Block|Program_Fail_Cnt_Total|Erase_Fail_Count_Total|Media_Errors?|Grown_Defects?)(?: is non-zero \(|: ?)([0-9]{1,9})(?![0-9.])|([0-9]{1,9}) (?:grown defects?|media errors?)", re.IGNORECASE), "blocks or operations that failed"),
)  # fmt: skip
_CRC = re.compile(r"(?:UDMA_)?CRC_Error_Count(?: is non-zero \(|: ?)([0-9]{1,9})(?![0-9.])")
_FAILS = re.compile(
    r"[Hh]ealth (?:status|check)[: ]{1,3}(?:is )?(?:FAIL|fail|bad)|SMART (?:overall )?(?:health|status)[^.|]{0,30}FAIL|FAILING_NOW|[Ss]elf-?test (?:has )?failed|failure predict",
    re.IGNORECASE,
)
_POOL = re.compile(
    r"(?:^|[ ,;\[(:'\"])(?P<pool>[A-Za-z][\w.-]{0,80})['\"]? ?(?:is|state|health(?: is)?|status)?[ :=]{1,3}(?P<state>DEGRADED|SUSPENDED|FAULTED|UNAVAIL)(?:\b|(?=POOL ))"
)
_RAID = re.compile(
    r"\bRAID\b(?! ?[0-9])|\bmd[0-9]{1,3}: |\bSmart Array\b|(?i:\b(?:physical|logical|virtual) (?:drive|disk)s?\b)|\b(?:mega(?:cli|raid)|sas[23]ircu|arcconf|hp(?:acu|ssa)cli|ssacli|tw_cli|storcli|perccli|areca|mpt):\["
)
_ILL = re.compile(
    r"(?i)degrad|fail|predict|offline|missing|rebuild|recover|\bbad\b|\berror|not ok|\bDGRD|\bUBad|\bOffln|\bPdgd|\[U*_[U_]*\]|:U*_[U_]*\b|inactive|crashed|needs attention|\bcritical\b"
)  # without one of these words the plugin may only not have got an answer
_OF_MD = re.compile(r"(?i)\bmdstat\b|\bmd[0-9]{1,3}\b|\bArray \".{1,80}\" is in state")
_PREDICTS = re.compile(r"\b[Pp]redictive?\b")
_MEMBERS = re.compile(r"<[^<>]{0,600}>")
_USAGE = re.compile(
    r"(?i:pool) ['\"]?(?P<pool>[A-Za-z][\w.-]{0,80})['\"]?,? (?:usage|capacity|is|used)[ :]{1,3}(?:is )?(?:[A-Z]{2,8} )?\(?(?P<percent>[0-9]{1,3}) ?%"
)
_UNHEALTHY = re.compile(r"has unhealthy disk (?P<disk>\S{1,120}) with state (?P<state>[A-Z]{4,12}?)(?=POOL|\b)")
_IS_MEMBER = re.compile(  # of a pool, as ZFS and the systems name one
    r"(?:mirror|raidz[1-3]?|draid[1-3]?|replacing|spare)-[0-9]{1,4}|(?:sd|hd|vd)[a-z]{1,3}[0-9]{0,3}|nvme[0-9]{1,3}(?:n[0-9]{1,3}(?:p[0-9]{1,3})?)?|(?:a?da|nda|nvd)[0-9]{1,4}(?:p[0-9]{1,3})?"
    r"|c[0-9]{1,3}(?:t[0-9A-F]{1,20})?d[0-9]{1,4}(?:s[0-9]{1,2})?|(?:wwn|ata|scsi|nvme|usb)-[\w.:+-]{4,100}"
)
_NO_POOL = frozenset(("pool", "state", "health", "status", "is", "ZPOOL", "zpool", "ZFS"))


def parse(lines: Sequence[str]) -> Checks | Unparsed:
    found, stray = [], []
    for line in filter(str.strip, lines):
        match = _LINE.match(line[:LINE_MAX])
        if match is None:
            stray.append(line)
        else:
            found.append(Check(_SHORT.get(match.group(1), match.group(1)), match.group(2).partition("|")[0].strip(), line))
    return Checks(tuple(found), tuple(stray)) if found else refused("a monitoring plugin", next(iter(lines), ""))


def _begins(lines: Sequence[str], i: int) -> bool:
    line = lines[i][:LINE_MAX]
    return _ABOUT.search(line) is not None and stamped(line) is None and not kernel_log.begins(line)


def situations(value: Checks, where: Where) -> tuple[Situation, ...]:
    return tuple(found for check in value.checks for found in _of_check(check, where))


def _of_check(check: Check, where: Where) -> Iterator[Situation]:
    found = [one for part in check.text.split(" --- ") for one in (*_of_disk(part, check, where), *_of_link(part, check, where))]
    found += [*_of_pools(check, where), *_usage(check, where)]
    if not found and check.status != "OK" and _RAID.search(check.line) and _ILL.search(check.text):
        found = [_of_controller(check, where)]
    if not found and check.status != "OK" and (stated := statements.notice(check.text, check.line)):
        found = list(notices.situations(Notices((stated,)), where))  # by the words that any alert has
    yield from found
    if not found and check.status != "OK":
        yield Situation(
            "unexplained", f"unexplained:{where.node}:checks:{check.text[:80]}", where.node, "watch",
            f"a check says {check.status}, for a reason that is not known here",
            f"A monitoring plugin says {check.status}: {check.text[:300]} Nothing here says what it means, and it is not taken for good. See `zpool status -P -p` and smartctl -x.",
            where.evidence(check.line[:300]),
            subject={"node": where.node, "source": "checks", "text": check.text[:200]},
            sure=False,
        )  # fmt: skip


def _of_controller(check: Check, where: Where) -> Situation:
    """What a check of a RAID controller finds, whichever tool it asked: the words for states are those of the tool."""
    predicts = _PREDICTS.search(check.text) is not None
    of_md = not predicts and _OF_MD.search(check.text) is not None
    return Situation(
        "disk-failing" if predicts else "vdev-degraded" if of_md else "hba-fault", f"raid-check:{where.node}:{check.text[:80]}", where.node, "act" if check.status == "CRITICAL" else "watch",
        "a drive of the RAID controller predicts its failure" if predicts else f"a check of arrays says {check.status}" if of_md else f"a check of the RAID controller says {check.status}",
        f"A monitoring plugin says {check.status}: {check.text[:300]} Ask the controller's own tool which drive or volume it is, and by which serial number; ZFS sees a "
        "volume as one disk and cannot tell which drive behind it is ill.",
        where.evidence(check.line[:300]),
        subject={"node": where.node, "text": check.text[:200]},
        sure=False,
    )  # fmt: skip


def _count(found: re.Match[str] | None) -> int:
    return whole(next(filter(None, found.groups()), "")) or 0 if found else 0


def _of_disk(part: str, check: Check, where: Where) -> Iterator[Situation]:
    pending, fails = _count(_PENDING.search(part)), _FAILS.search(part)
    counted = [(count, what) for form, what in _COUNTED if (count := _count(form.search(part)))]
    if not pending and not fails and not counted:
        return
    disk = _DISK.search(part) or _DISK.search(check.text)
    name = (
        (disk.group("path") or f"{disk.group('model')} (serial {disk.group('serial')})") if disk else "a disk that the check does not name"
    )
    serial = disk.group("serial") if disk else None
    severity: Severity = "act" if fails or pending >= thresholds.PENDING_ACT else "watch"
    sentences = ["its own test says that it fails"] if fails else []
    sentences += [f"{pending} sectors that it cannot read and has not replaced yet"] if pending else []
    sentences += [f"{count} {what}" for count, what in counted]
    member = where.member(serial, (disk.group("path") or "").rsplit("/", 1)[-1] or None) if disk else None
    yield Situation(
        "disk-failing", f"disk-failing:{where.node}:{serial or name}", where.node, severity,
        f"{name}: {sentences[0]}",
        f"A monitoring plugin says of {name}: {'; '.join(sentences)}. {member.sentence + ' ' if member else ''}Ask the disk itself: smartctl -x. See that its vdev "
        "has redundancy left before anything is taken out; a kernel name in such a line is that of its moment.",
        where.evidence(check.line[:300]),
        subject={"node": where.node, "disk": name} | ({"serial": serial} if serial else {}) | (member.subject if member else {}),
        sure=bool(disk),
    )  # fmt: skip


def _of_link(part: str, check: Check, where: Where) -> Iterator[Situation]:
    count = _count(_CRC.search(part))
    if count:
        disk = _DISK.search(part) or _DISK.search(check.text)
        name = (disk.group("path") or f"serial {disk.group('serial')}") if disk else "a disk that the check does not name"
        yield Situation(
            "link-crc", f"link-crc:{where.node}:{name}", where.node, "watch",
            f"{name}: {count} transfers came damaged over its cable",
            f"A monitoring plugin counts {count} transfers that came damaged over the cable of {name} (UDMA_CRC_Error_Count). The count never goes back, so only its growth tells of today. "
            "Reseat or change the cable and compare; the disk need not be at fault, and none is to be replaced for it.",
            where.evidence(check.line[:300]),
            subject={"node": where.node, "disk": name},
            sure=False,
        )  # fmt: skip


def _of_pools(check: Check, where: Where) -> Iterator[Situation]:
    """Where the tree of the pool was pasted as well, that tells more."""
    named = list(_POOL.finditer(_MEMBERS.sub(" ", check.text)))
    of_members = [found for found in named if _IS_MEMBER.fullmatch(found.group("pool"))] if len(named) > 1 else []
    ill = (*_UNHEALTHY.findall(check.text), *(found.group("pool", "state") for found in of_members))
    members = " ".join((*_MEMBERS.findall(check.text), *(f"{disk} {state}" for disk, state in ill)))
    for found in (each for each in named if each not in of_members):
        name, state = found.group("pool"), found.group("state")
        read = where.facts is not None and any(pool.name == name and pool.tops_read for pool in where.facts.pools_read)
        if name in _NO_POOL or read:
            continue
        slug = POOL_STATES[state]
        yield Situation(
            slug, f"{slug}:{where.node}:{name}", where.node, "act",
            f"{name} is {state}",
            f"A monitoring plugin says that the pool {name} is {state}{f', and of its members {members}' if members else ''}. It does not say which member by its guid, nor what is "
            f"under way: run `zpool status -P -p {name}` before anything is replaced.",
            where.evidence(check.line[:300]),
            subject={"node": where.node, "pool": name, "state": state},
            gate=slug in ("pool-suspended", "pool-down"),
        )  # fmt: skip


def _usage(check: Check, where: Where) -> Iterator[Situation]:
    for found in _USAGE.finditer(check.text):
        name, percent = found.group("pool"), int(found.group("percent"))
        severity = next((severity for least, severity in FILL if percent >= least), None)
        if severity is not None:
            yield Situation(
                "pool-filling", f"pool-filling:{where.node}:{name}", where.node, severity,
                f"{name} is {percent} % full",
                f"A monitoring plugin says that the pool {name} is {percent} % full. The fuller it is, the longer writes and a resilver take; when it is full, writes fail.",
                where.evidence(check.line[:300]),
                subject={"node": where.node, "pool": name, "percent": str(percent)},
            )  # fmt: skip


def notes(value: Checks) -> tuple[str, ...]:
    return (
        "The words of a monitoring plugin: OK is by its own thresholds, and says nothing of what it did not look at (smartctl -x and `zpool status -P -p` do).",
    )


READER = Reader(
    name="checks",
    first=r" {0,8}(?!Solaris: )(?:[A-Z][A-Za-z_/ ]{0,30}?[ :-]{1,3})?\[?(?:OK|WARN(?:ING)?|CRIT(?:ICAL)?|UNKNOWN|ALARM)(?=\]?:| ?[:|\[-]| [A-Z]{3})",
    confirm=_begins,
    goes_on=r" {0,8}(?:[A-Z][A-Za-z_/ ]{0,30}?[ :-]{1,3})?\[?(?:OK|WARN(?:ING)?|CRIT(?:ICAL)?|UNKNOWN)\b",
    strict=True,
    open_ended=True,
    inside=frozenset(("kernel_log", "alerts", "smart", "smartd", "zpool_status", "zpool_status_guid", "zpool_import", "areca", "arcconf")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="smartctl -x DEVICE",
)  # fmt: skip
