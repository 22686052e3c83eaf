"""`fmadm faulty` and `fmdump` of illumos and Solaris: what the fault manager has diagnosed, with the pool and the vdev by guid."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Cure, Severity, Situation
from workflows.pasted.base import Reader, Where, refused

CLASSES: Mapping[str, tuple[str, Severity, str]] = {  # class of a fault, or its message -> (situation, severity, what it means)
    "fault.fs.zfs.vdev.io": ("disk-faulted", "act", "ZFS gave a member up after too many I/O errors"),
    "fault.fs.zfs.vdev.checksum": ("disk-faulted", "watch", "a member returned too much data whose checksum is wrong"),
    "fault.fs.zfs.vdev.open_failed": ("disk-missing", "act", "ZFS could not open a member"),
    "fault.fs.zfs.vdev.corrupt_data": ("disk-missing", "act", "a member has no label that ZFS can read"),
    "fault.fs.zfs.vdev.no_replicas": ("pool-down", "act", "a vdev lacks too many of its members"),
    "fault.fs.zfs.vdev.bad_guid_sum": ("pool-down", "act", "members of the pool are missing"),
    "fault.fs.zfs.device": ("disk-missing", "act", "ZFS could not open a member"),
    "fault.fs.zfs.pool": ("pool-down", "act", "the pool could not be opened"),
    "fault.fs.zfs.io_failure_wait": ("pool-suspended", "act", "I/O failed and the pool waits"),
    "fault.fs.zfs.io_failure_continue": ("pool-suspended", "act", "I/O failed, and what is written is refused"),
    "fault.fs.zfs.log_replay": ("pool-down", "act", "the intent log could not be read"),
    "fault.io.disk.predictive-failure": ("disk-failing", "act", "a disk predicts its failure"),
    "fault.io.disk.self-test-failure": ("disk-failing", "act", "a disk has failed its self-test"),
    "fault.io.disk.over-temperature": ("disk-hot", "act", "a disk is too hot"),
    "fault.io.disk.device-errors-exceeded": ("disk-failing", "act", "a disk has returned too many errors"),
    "fault.io.disk.ssd-wearout": ("disk-worn", "act", "an SSD is worn out"),
    "fault.io.disk.slow-io": ("slow-disk", "watch", "a disk answers slowly"),
    "fault.io.scsi.cmd.disk.dev.rqs.derr": ("disk-failing", "act", "a disk has answered with errors of its own"),
    "fault.io.scsi.cmd.disk.dev.rqs.merr": ("disk-failing", "act", "a disk has sectors that it cannot read"),
}
FAMILIES: tuple[tuple[str, tuple[str, Severity, str]], ...] = (  # how a class begins, of which there are many; the first that fits counts
    ("defect.sunos.eft.", ("hba-fault", "watch", "hardware reported errors, mostly of PCIe, that the fault manager cannot explain (fmdump -eV lists them)")),
    ("fault.io.pci", ("hba-fault", "act", "a PCIe device, or the link to it, returned errors")),
    ("fault.io.scsi", ("disk-failing", "act", "a disk answered with errors")),
    ("fault.io.disk", ("disk-failing", "act", "a disk reports a fault")),
    ("fault.memory.", ("kernel-errors", "act", "a memory module returned errors")),
    ("fault.cpu.", ("kernel-errors", "act", "a processor, or its cache, returned errors")),
)  # fmt: skip
MESSAGES: Mapping[str, str] = {
    "ZFS-8000-FD": "fault.fs.zfs.vdev.io",
    "ZFS-8000-GH": "fault.fs.zfs.vdev.checksum",
    "ZFS-8000-D3": "fault.fs.zfs.device",
    "ZFS-8000-LR": "fault.fs.zfs.vdev.open_failed",
    "ZFS-8000-CS": "fault.fs.zfs.pool",
    "ZFS-8000-HC": "fault.fs.zfs.io_failure_wait",
    "ZFS-8000-JQ": "fault.fs.zfs.io_failure_continue",
    "ZFS-8000-K4": "fault.fs.zfs.log_replay",
    "DISK-8000-0X": "fault.io.disk.predictive-failure",
    "DISK-8000-12": "fault.io.disk.over-temperature",
    "DISK-8000-2J": "fault.io.disk.self-test-failure",
}
OVER = ("Repaired", "Resolved", "Updated")
_ROW = re.compile(
    r"[A-Z][a-z]{2} [0-9]{2} (?:(?:[0-9]{4} )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?|[0-9]{4}) +([0-9a-f]{8}-[0-9a-f-]{20,30}) +([A-Z0-9]{2,12}-[0-9]{4}-[0-9A-Z]{2,4})(?: +([A-Z][A-Za-z]{3,12}))?"
)
_FIELD = re.compile(r"(Fault class|Problem class|Affects|Problem in|FRU|Host|Description) *: (\S.{0,300})$")
_CLASS = re.compile(r" *[0-9]{1,3}% +((?:fault|defect|upset)\.[\w.-]{3,120})")  # as `fmdump -v` prints it
_ZFS = re.compile(r"zfs://(\S{1,300})")
_RULE = re.compile(r"-{10,} ")
_HEADING = re.compile(r"TIME +(?:EVENT-ID|UUID) +(?:SUNW-)?MSG-ID ")
_KEYS = ("pool", "vdev", "pool_name", "vdev_name")


@dataclass(frozen=True)
class Fault:
    """One diagnosis. `ended` where it was repaired afterwards."""

    id: str
    message: str
    kind: str = ""  # its class
    affects: str = ""
    lines: tuple[str, ...] = ()
    ended: bool = False


@dataclass(frozen=True)
class Faults:
    faults: tuple[Fault, ...]
    is_log: bool = False  # of fmdump, which holds what was repaired long ago too


def parse(lines: Sequence[str]) -> Faults | Unparsed:
    stripped = [line.strip() for line in lines if line.strip()]
    found: dict[str, dict[str, str]] = {}
    kept: dict[str, list[str]] = {}
    now = ""
    for line in stripped:
        row, field = _ROW.match(line), _FIELD.match(line)
        if row:
            now, message, event = row.group(1), row.group(2), row.group(3) or ""
            found.setdefault(now, {"message": message})["event"] = event
            kept.setdefault(now, []).append(line)
        elif now and (of_class := _CLASS.match(line)):
            found[now].setdefault("Fault class", of_class.group(1))
            kept[now].append(line)
        elif field and now:
            name, value = field.groups()
            found[now].setdefault(name, value)
            kept[now].append(line)
    is_log = any(line.startswith("TIME") and "UUID" in line for line in stripped)
    if not found and not any(map(_HEADING.match, stripped)):
        return refused("fmadm faulty", stripped[0] if stripped else "")
    return Faults(tuple(_fault(name, reported, tuple(kept[name])) for name, reported in found.items()), is_log)


def _fault(name: str, fields: Mapping[str, str], lines: tuple[str, ...]) -> Fault:
    kind = (fields.get("Fault class") or fields.get("Problem class") or MESSAGES.get(fields["message"], "")).split()
    where = next(
        (fields[key] for key in ("Affects", "Problem in") if "zfs://" in fields.get(key, "")), fields.get("FRU", fields.get("Affects", ""))
    )
    return Fault(name, fields["message"], kind[0] if kind else "", where.strip('"'), lines, fields.get("event", "") in OVER)


def situations(value: Faults, where: Where) -> tuple[Situation, ...]:
    return tuple(_of_fault(fault, value.is_log, where) for fault in value.faults if not fault.ended and not _has_tree(fault, where))


def _named(fault: Fault) -> dict[str, str]:
    """Pool and vdev of "zfs://pool=…/vdev=…": a pool by its name or its guid in hex, a vdev by its guid in hex."""
    found = _ZFS.search(fault.affects)
    pairs = (part.partition("=") for part in found.group(1).split("/")) if found else ()
    return {key: value for key, _, value in pairs if key in _KEYS and value}


def _has_tree(fault: Fault, where: Where) -> bool:
    """Whether the pool's tree tells how it is now."""
    named = _named(fault)
    pools = [pool for pool in where.facts.pools_read if pool.tops_read] if where.facts is not None else []
    wanted = {named.get("pool_name", ""), named.get("pool", ""), _decimal(named.get("pool", ""))} - {""}
    return any(pool.name in wanted or str(pool.guid) in wanted for pool in pools)


def _decimal(text: str) -> str:
    return str(int(text, 16)) if re.fullmatch(r"[0-9a-f]{8,16}", text) else ""


def _class(fault: Fault) -> tuple[str, Severity, str]:
    """Situation, severity and meaning of its class, else of the family that the class is of."""
    family = next((what for begin, what in FAMILIES if fault.kind.startswith(begin)), None)
    unknown: tuple[str, Severity, str] = (
        "unexplained",
        "watch",
        f"a fault of class {fault.kind or fault.message}, which is not known here",
    )
    return CLASSES.get(fault.kind) or family or unknown


def _of_fault(fault: Fault, is_log: bool, where: Where) -> Situation:
    slug, usual, means = _class(fault)
    severity: Severity = "watch" if is_log else usual
    named = _named(fault)
    pool, vdev = named.get("pool_name") or named.get("pool", ""), _decimal(named.get("vdev", ""))
    of = f" of {pool}" if pool else f" ({fault.affects})" if fault.affects else ""
    member = f", vdev guid {vdev}" if vdev else ""
    then = (
        "The log keeps what was repaired long ago as well; `fmadm faulty` lists what is so now."
        if is_log
        else "It stays listed until it is repaired or cleared."
    )
    subject = {"node": where.node, "pool": pool, "vdev_guid": vdev, "text": "" if slug != "unexplained" else fault.kind or fault.message}
    return Situation(
        slug, f"{slug}:{where.node}:fmadm:{fault.id}", where.node, severity, f"{pool}: {means}" if pool else means[0].upper() + means[1:],
        f"The fault manager has diagnosed {fault.message}{of}{member}: {means}. {then} Which disk that is, and what redundancy is left, stands in the tree of the pool.",
        where.evidence(*fault.lines[:4]), subject={key: text for key, text in subject.items() if text}, sure=False, gate=slug in ("pool-down", "pool-suspended"),
        cures=(Cure("look", "See how it is now: `zpool status -v`, `fmadm faulty`, `iostat -En`."),),
    )  # fmt: skip


def notes(value: Faults) -> tuple[str, ...]:
    if not value.faults:
        return ("It lists no fault.",)
    ended = sum(fault.ended for fault in value.faults)
    return (f"{len(value.faults)} diagnoses of the fault manager were read" + (f", {ended} of them repaired since." if ended else "."),)


READER = Reader(
    name="fmadm",
    first=r"-{15} -{36} +-{14} -{9}|[A-Z][a-z]{2} [0-9]{2} (?:(?:[0-9]{4} )?[0-9:.]{8,18}|[0-9]{4}) +[0-9a-f]{8}-[0-9a-f-]{20,30} +[A-Z0-9]{2,12}-[0-9]{4}-[0-9A-Z]{2,4}\b|TIME +(?:EVENT-ID|UUID) +(?:SUNW-)?MSG-ID ",
    tools=("fmadm", "fmdump"),
    asks=lambda tool, rest: (
        (tool == "fmadm" and rest[:1] == ["faulty"]) or (tool == "fmdump" and not any(word.startswith("-e") for word in rest))
    ),
    goes_on=r" |-{10,} |TIME |[A-Z][a-z]{2} [0-9]{2} |[A-Z][\w ]{2,24} *: ",
    open_ended=True,
    parse=parse,
    situations=situations,
    notes=notes,
    silent=lambda value: not value.faults,
    again="fmadm faulty",
)
