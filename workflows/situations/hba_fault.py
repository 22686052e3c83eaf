"""An HBA failed and was reset, or it resets its disks again and again. Every disk behind it looks bad then, and none need be.

    fault_state, FAULT, lockup, "Command Timeout", "issue target reset", a host or bus reset     the HBA itself
    "Power-on or device reset occurred" of several disks, which were not just attached          a link, an expander, power or the HBA
    "scsi target0:0:15: handle(0x0019), sas_addr(0x…)"     mpt3sas found its disks again, which it looks for after a reset only
    log_info(0x31…) and nothing else                        the HBA notes events of its links: what they are and how many is shown

Lines of the first minute after boot say nothing: drivers reset their adapters when they start. But that one gave an adapter up counts.
"""

import re
from bisect import bisect_left as bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.collectors.block import RUNNING
from agents.collectors.kernel_log import KernelEvent
from agents.domain.wwid import strip_partition
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, known, lookup
from workflows.facts.read.past import SECOND
from workflows.situations import _cures, _hba_notes, _words
from workflows.situations._log import Log, all_well, logs

SLUG = "hba-fault"
GATES = True
MANUALS: tuple[str, ...] = ("many-disks-offline", "sas-link-triage")
CHATTER = re.compile(r"log_info\(0x\w+\)|Recovered from IOC FAULT")  # an HBA notes single events of its links so; few of them are trouble
RECOVERED = "Recovered from IOC FAULT"  # mptbase finds the chip so when it is loaded, or one is plugged in
GIVEN_UP = re.compile(r"failure at \S+:\d+/\w+\(\)")  # mpt3sas says so where an adapter did not start, or was not attached
_OF_LINK = re.compile(r"LOOP DOWN detected|LIP reset occurred|[Ll]ink [Dd]own [Ee]vent")  # of Fibre Channel: a cable, an SFP or the switch
_OF_EXPANDER = re.compile(r"SMP command sent to the expander|transport_port_remove: removed")
STORM_US = 60 * SECOND
BURST_MAX = 50
STORM_LINES, STORM_DISKS, STORM_OF_ONE = 5, 3, 3
HIT = (
    "rejected",
    "command-failed",
    "io-error",
    "unblocked",
    "killed",
    "offlined",
    "task-abort-begun",
    "reset-occurred",
    "device-reset",
    "handle-removed",
)
LOSING = tuple(kind for kind in HIT if kind not in ("reset-occurred", "unblocked"))  # kinds by which a disk lost commands, or itself
LIST_OF_DISKS = "block"  # the source that lists which disks the kernel has
DISK = re.compile(r"sd[a-z]+|nvme\d+n\d+")
HOST_RESET = ("host", "bus", "target")


@dataclass(frozen=True)
class Fault:
    log: Log
    hba: str  # "mpt3sas_cm0"; "SCSI host 6" where only its disks are named; "" where neither is
    host: str  # "6": the number in H:C:T:L, where the lines name one only
    lines: tuple[KernelEvent, ...]  # of the HBA
    hit: tuple[KernelEvent, ...]  # of the disks, around that time

    @property
    def disks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(hctl for event in self.hit if (hctl := event.field("hctl"))))


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for log in logs(fleet) for found in _of_log(log))


def _of_log(log: Log) -> Iterator[Situation]:
    faults = tuple(_faults(log))
    yield from map(_situation, faults) if faults else _hba_notes.situations(log, HIT)


def explains(cause: Situation, other: Situation) -> bool:
    """Whether `other` is what the log says of one disk behind it: of the same host, or of no host that is known."""
    if (
        other.slug != "kernel-errors"
        or other.node != cause.node
        or other.subject.get("why") not in ("io", "link", "gone", "dropped", "timeout")
    ):
        return False
    host = other.subject.get("host", "")
    return not host or not cause.subject.get("host") or host == cause.subject["host"]


def _faults(log: Log) -> Iterator[Fault]:
    recovered = {(e.field("hba"), e.at_us // STORM_US + more) for e in log.recent("hba") if RECOVERED in e.line for more in (-1, 0)}
    failed = [
        e
        for e in (*_given_up(log), *log.recent("hba", "hba-other", "found-again"))
        if not CHATTER.search(e.line) and not ("FAULT" in e.line and (e.field("hba"), e.at_us // STORM_US) in recovered)
    ]
    resets = [e for e in failed if _is_reset(e)] + [
        e for e in log.recent("device-reset") if e.field("what") in HOST_RESET and "ttempting" in e.line
    ]
    failed = [e for e in failed if not _is_reset(e)]
    stormy = _storm(log) if _may_have_taken_disks(log) and not _is_of_one_disk(log) else ()
    if not failed and not stormy and not _of_several(log, resets):
        return
    names = dict.fromkeys(e.field("hba") or "" for e in failed)
    moments = sorted(e.at_us for e in (*failed, *resets, *stormy))
    hit = tuple(e for e in log.recent(*HIT) if _near(e, moments))
    hosts = dict.fromkeys(hctl.split(":")[0] for e in hit if (hctl := e.field("hctl")))
    hosts |= dict.fromkeys(target.split(":")[0] for e in failed if (target := e.field("target")))
    host = next(iter(hosts)) if len(hosts) == 1 else ""
    for name in names or {"": None}:
        mine = tuple(e for e in failed if (e.field("hba") or "") == name)
        yield Fault(log, name or (f"SCSI host {host}" if host else ""), host, (*mine, *resets), hit or stormy)


def _given_up(log: Log) -> tuple[KernelEvent, ...]:
    """Of the time when the kernel started."""
    return tuple(e for e in log.log.events if e.kind == "hba" and not log.is_reported(e) and GIVEN_UP.search(e.line))


def _is_reset(event: KernelEvent) -> bool:
    """What the kernel tries when a command of a disk does not come back; the HBA may be well."""
    return "host reset" in event.line and "FAULT" not in event.line


def _of_several(log: Log, resets: list[KernelEvent]) -> bool:
    """Whether a reset of the whole host came of commands of more than one disk: of one, that disk is the cause."""
    whole = [e for e in resets if _is_reset(e) or e.field("what") in ("host", "bus")]
    moments = sorted(e.at_us for e in whole)
    begun = {e.field("hctl") or e.field("disk") for e in log.recent("task-abort-begun", "rejected", "offlined") if _near(e, moments)}
    return len(begun - {None}) > 1


def _near(event: KernelEvent, moments: list[int]) -> bool:
    """Whether it was printed within five minutes of one of these moments, which are in order."""
    i = bisect(moments, event.at_us - 5 * STORM_US)
    return i < len(moments) and moments[i] <= event.at_us + 5 * STORM_US


def _storm(log: Log) -> tuple[KernelEvent, ...]:
    """Resets of disks that were not being attached, if they are many: of several disks within a minute, or of one again and again."""
    attached: dict[str, list[int]] = {}
    for event in log.log.events:
        if event.kind == "attached":
            attached.setdefault(event.field("hctl") or "", []).append(event.at_us)
    own = [e for e in log.recent("reset-occurred") if not _is_attach(e, attached.get(e.field("hctl") or "", []))]
    for i, first in enumerate(own):
        burst = [e for e in own[i : i + BURST_MAX] if e.at_us - first.at_us <= STORM_US]
        disks = [e.field("hctl") for e in burst]
        several = len(burst) >= STORM_LINES and len(set(disks)) >= STORM_DISKS
        if several or disks.count(disks[0]) >= STORM_OF_ONE:
            return tuple(burst)
    return ()


def _is_attach(reset: KernelEvent, attached: list[int]) -> bool:
    """A disk that is attached reports that it was powered on, first of all."""
    return any(0 <= at - reset.at_us <= STORM_US for at in attached)


def _situation(fault: Fault) -> Situation:
    log, well = fault.log, all_well(fault.log.node)
    acute = not well and _may_have_taken_disks(log)
    name = fault.hba or "An HBA"
    started = not any(GIVEN_UP.search(line.line) for line in fault.lines)
    what = ("failed and was reset" if started else "did not start") if fault.lines else "resets its disks"
    if fault.lines and all(_OF_EXPANDER.search(line.line) for line in fault.lines):
        what = "does not reach an expander"
    elif _is_of_link(fault):
        what = "lost its link"
    shown = (*fault.lines[:3], *fault.hit[:5])
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{log.node.node}:{fault.hba or 'unnamed'}",
        node=log.node.node,
        severity="act" if acute else "info" if well else "watch",
        title=f"{name} {what}" + (f"; {_words.plural(len(fault.disks), 'disk')} named with it" if fault.disks else ""),
        meaning=" ".join(_meaning(fault, name, acute, well)),
        evidence=log.evidence(tuple(sorted(shown, key=lambda e: e.at_us))),
        subject={"node": log.node.node, "hba": fault.hba} | ({"host": fault.host} if fault.host else {}),
        sure=bool(fault.lines),
        cures=_cures_of(log),
        gate=acute,
    )


def _meaning(fault: Fault, name: str, acute: bool, well: bool) -> Iterator[str]:
    first = fault.lines[0] if fault.lines else fault.hit[0]
    when = f" at {first.printed}" if first.printed else ""
    yield f"The kernel log says{when}: {first.line.strip()}."
    if fault.disks:
        where = f" of SCSI host {fault.host}" if fault.host else ""
        yield f"{_words.plural(len(fault.disks), 'disk')}{where} went offline, were reset or lost commands at the same time ({', '.join(fault.disks[:8])})."
    if _is_of_link(fault):
        yield f"As long as the link of {name} is down nothing behind it answers: a cable, an SFP, a port of the switch or the device at its other end. No disk is proven bad."
    else:
        yield f"While {name} is reset nothing behind it answers, so every disk behind it is suspect, and none is proven bad."
    if acute:
        yield "Replace none of them. If nothing is done, the next reset can take enough disks away at once to stop a pool."
    elif not well:
        yield "It has recovered, and at most one member is lost now, so that one is judged by itself. If it comes again it can stop a pool."
    else:
        yield "All pools of this node are ONLINE without errors now, so it recovered. If it comes again it can stop a pool."


def _is_of_link(fault: Fault) -> bool:
    """Whether all that its lines say is that its link went down."""
    return bool(fault.lines) and all(_OF_LINK.search(line.line) for line in fault.lines)


def _may_have_taken_disks(log: Log) -> bool:
    """Whether more than one member is lost today, or how many is not known."""
    if not _trees_known(log):
        return True
    assert known(log.node.pools)
    leaves = [leaf for pool in log.node.pools if known(pool.tops) for _, top in pool.tops for leaf in top.leaves()]
    return not log.node.pools or sum(lookup.serves_nothing(leaf) for leaf in leaves) > 1


def _trees_known(log: Log) -> bool:
    return known(log.node.pools) and all(known(pool.tops) for pool in log.node.pools)


def _is_of_one_disk(log: Log) -> bool:
    """Whether no tree shows what is lost, and by the log and the kernel's list of disks it is one disk at most: a tray that was pulled.

    The others said that they were reset, once the link was set up anew, and are there. Where the list was asked for and did not come, only
    what the log says counts: that a disk is not known to be there is no fault of the HBA, and that the list failed is reported by itself.
    """
    lost, was_asked = _lost_disks(log), known(log.node.disks) or LIST_OF_DISKS in log.node.failures
    return not _trees_known(log) and (lost == 1 or (lost == 0 and was_asked))


def _lost_disks(log: Log) -> int:
    """How many disks of the log the kernel has no more, or has and cannot use, or has seen losing commands; of an unknown list the last alone."""
    paths = [path for disk in (log.node.disks if known(log.node.disks) else ()) for path in disk.paths]
    addresses = {path.name: path.hctl for path in paths if path.hctl}
    here = {path.hctl or path.name for path in paths}
    named = {one for event in log.recent(*HIT) if (one := _disk_of(event, addresses))}
    struck = {one for event in log.recent(*LOSING) if (one := _disk_of(event, addresses))}
    if not known(log.node.disks):
        return _least_count(struck)
    unusable = {path.hctl or path.name for path in paths if known(path.state) and path.state not in RUNNING}
    return len((struck | unusable) & here) + _least_count(named - here)


def _least_count(disks: set[str]) -> int:
    """How many there are at least: nothing shows which name a disk had whose address is given, so each may be counted twice."""
    by_address = sum(":" in one for one in disks)
    return max(by_address, len(disks) - by_address)


def _disk_of(event: KernelEvent, addresses: Mapping[str, str]) -> str:
    """The address of the disk that an event names; "" of what is none, such as a floppy drive."""
    name = strip_partition(event.field("disk") or "")[0]
    return event.field("hctl") or addresses.get(name, name if DISK.fullmatch(name) else "")


def _cures_of(log: Log) -> tuple[Cure, ...]:
    lost = [
        (pool, leaf)
        for pool in log.node.pools_read
        for _, top in pool.tops_read
        for leaf in top.leaves()
        if leaf.state in ("FAULTED", "REMOVED", "UNAVAIL")
    ]
    back = tuple(command for pool, leaf in lost for command in _cures.command(pool, leaf, "online"))
    return (
        Cure("look", "See whether all lost disks share one HBA, cable, expander or power supply: `lsscsi -v` and /sys/class/sas_host show it.", (("lsscsi", "-v"), ("dmesg",))),
        Cure("reseat", "Check the temperature of the HBA, reseat it and its cables, and compare its firmware with the other nodes'."),
        Cure("online", "When the disks are back and quiet, bring each member online by its guid; ZFS fills in only what it missed.", back, needs="The HBA has been quiet for some minutes, and no pool is suspended."),
        Cure("clear", "Clear the error counters only after that, and scrub.", save_first="`zpool clear` wipes the error counters: keep `zpool status -v` first."),
    )  # fmt: skip
