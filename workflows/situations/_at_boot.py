"""Whether a pool of this node was too early at boot: its import ran before its disks were there.

    the cache file names it                 -> the boot imports it: an export takes it out of the file (spa_export_common in module/zfs/spa.c)
    systemd's import unit failed            -> the import ran, and did not get it
    a disk of it was attached after that    -> the import was too early

zfs-import-cache.service runs `zpool import -c FILE -aN` after systemd-udev-settle, once, and never again in this boot
(etc/systemd/system/zfs-import-cache.service.in, read at 2.3.4). Only the kernel's log is read: systemd writes there while there is no journal, or where
it is told to. A pasted journal has its lines.
"""

from dataclasses import dataclass

from agents.collectors.kernel_log import KernelEvent, KernelLog
from workflows.engine.core import Cure, Evidence
from workflows.facts import known
from workflows.facts.read.past import SECOND
from workflows.situations import _words
from workflows.situations._blocked import Blocked
from workflows.situations._log import event_text

UNIT, ATTACHED = "import-unit", "attached"
LINES_SHOWN = 4
WAIT_FOR_DISKS = Cure(
    "other",
    "So that the next boot finds it: have the import unit wait for the disks, by a drop-in with `ExecStartPre=` that waits until they are there. A longer "
    "start of that unit delays the boot by as much.",
    (("systemctl", "edit", "zfs-import-cache.service"),),
    needs="The pool is imported here at boot on purpose, and by no cluster manager.",
)


@dataclass(frozen=True)
class AtBoot:
    sentences: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    failed: bool = False  # the unit that imports pools at boot failed
    too_early: bool = False  # and a disk of the pool was attached after that


def seen(one: Blocked) -> AtBoot:
    """What the cache file and the log show. Nothing is concluded from what they do not show."""
    cached = known(one.node.cached) and any(pool.guid == one.guid for pool in one.node.cached)
    log = one.node.kernel_log
    units = tuple(event for event in log.events if event.kind == UNIT) if known(log) else ()
    late = _late(one, log, units[-1].at_us) if units and known(log) else ()
    evidence = (
        *((_words.evidence(one.node, "zdb_config", f"{one.name}: pool_guid {one.guid}"),) if cached else ()),
        *(_words.evidence(one.node, "kernel_log", event_text(event)) for event in (*units[-LINES_SHOWN:], *late[-LINES_SHOWN:])),
    )
    if cached or units:
        return AtBoot(_sentences(one, cached, units, late), evidence, bool(units), bool(late))
    return AtBoot()


def _late(one: Blocked, log: KernelLog, failed_us: int) -> tuple[KernelEvent, ...]:
    """The lines with which the kernel first attached disks of the pool, after the unit had failed, where all times count from one boot.

    A disk that was attached before too was there: it was pulled and put back.
    """
    if not log.since_boot:
        return ()
    paths = {name for row in one.table for path in row.disk.paths for name in (path.hctl, path.name) if name}
    first: dict[str, KernelEvent] = {}
    for event in log.events:
        if event.kind == ATTACHED and event.field("hctl") in paths and event.field("disk") in (None, *paths):
            first.setdefault(event.field("hctl") or "", event)
    return tuple(event for event in first.values() if event.at_us > failed_us)


def _sentences(one: Blocked, cached: bool, units: tuple[KernelEvent, ...], late: tuple[KernelEvent, ...]) -> tuple[str, ...]:
    names = f"The cache file of {one.node.node} names {one.name}, so its boot imports it" if cached else ""
    if late:
        ran, came = (event.at_us / SECOND for event in (units[-1], late[-1]))
        disks = len({event.field("hctl") for event in late})
        when = f"the import unit failed {ran:.0f} s after the boot began, and {_words.plural(disks, 'disk')} of it came later, the last one at {came:.0f} s"
        return (
            f"It was too early at boot: {when}.",
            f"{names}; that is tried once in a boot." if names else "The unit tries that once in a boot.",
        )
    here = not one.lost
    if units:
        failed = (
            f"{names}, and the unit that does so failed." if names else f"The unit that imports pools at boot failed on {one.node.node}."
        )
        return (
            failed,
            *(("All its disks are here now. They may have come too late for it; the log does not show when they came.",) if here else ()),
        )
    late_disks = " Its disks are here now, and may have come too late for it." if here else ""
    return (f"{names}: that did not work, or did not run. The log does not say which.{late_disks}",)
