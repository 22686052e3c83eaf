"""A pool is suspended: its writes stopped, and every command that would change it waits or fails.

    errors of I/O            ->  ZFS-8000-HC, ZFS-8000-JQ   too many disks did not answer; `zpool clear` resumes it once they do
    multihost (MMP) writes   ->  ZFS-8000-MM                no proof of life reached a disk in time; another host may take the pool

The kernel's own state shows it when `zpool` hangs; the text of `zpool status`, the kernel's log and its events say which of the two.
What `zpool clear` does to a multihost suspension differs by release, and in one of them it can destroy the pool.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors.kernel_log import KernelEvent
from agents.domain.wwid import normalise, strip_partition
from agents.zfs_releases import BLIND, LOOKS, REFUSES, clear_of_multihost
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, Unknown, known, lookup, release, release_numbers, title
from workflows.facts.read.past import SECOND, Place, disks_in_trouble, last_suspension, places
from workflows.situations import _cures, _words
from workflows.vocabulary.happenings import RESUMED

SLUG = "pool-suspended"
MANUALS: tuple[str, ...] = ("suspended-pool", "many-disks-offline")
GATES = True
BEFORE_US = 300 * SECOND  # how far back the log is searched for the disk that began it
AFTER_US = 5 * SECOND
DISKS_NAMED = 4

MMP, IO, UNSURE = "mmp", "io", ""
TITLES = {MMP: "its multihost writes did not get through", IO: "too many of its disks did not answer", UNSURE: "its writes stopped"}


@dataclass(frozen=True)
class Suspended:
    node: NodeFacts
    pool: PoolFacts
    kind: str  # MMP, IO, or UNSURE
    log: tuple[KernelEvent, ...]  # the lines that say so
    fleet: FleetFacts

    def evidence(self, source: str, line: str) -> Evidence:
        return Evidence(self.node.node, source, self.node.digests.get(source, ""), line)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(found) for node in fleet.nodes.values() for found in _suspended(fleet, node))


def _suspended(fleet: FleetFacts, node: NodeFacts) -> Iterator[Suspended]:
    for pool in node.pools_read:
        log = last_suspension(node.kernel_log, pool.name)
        if pool.suspended if known(pool.suspended) else log:
            yield Suspended(node, pool, _kind(pool, log), log, fleet)
    for name in dict.fromkeys((*_in_log(node), *_in_events(node))) if not known(node.pools) else ():
        if all(pool.name != name for pool in node.pools_read):
            log = last_suspension(node.kernel_log, name)
            pool = PoolFacts(name, UNREAD, "SUSPENDED", True, UNREAD, UNREAD)
            yield Suspended(node, pool, _kind(pool, log), log, fleet)


UNREAD = Unknown("`zpool status` of it was not read.")


def _in_log(node: NodeFacts) -> Iterator[str]:
    """Pools that the kernel's log calls suspended and not resumed since. It counts where no tree says how they are now."""
    for event in node.kernel_log.events if known(node.kernel_log) else ():
        if event.kind in ("suspended", "multihost-suspended") and (name := event.field("pool")) and last_suspension(node.kernel_log, name):
            yield name


def _in_events(node: NodeFacts) -> Iterator[str]:
    """The same of ZFS's events: an `io_failure` after which the pool was not cleared or imported."""
    stopped: dict[str, bool] = {}
    for event in node.events if known(node.events) else ():
        name = event.text("pool") or ""
        if event.kind == "ereport.fs.zfs.io_failure":
            stopped[name] = True
        elif event.kind in RESUMED:
            stopped[name] = False
    yield from (name for name, now in stopped.items() if now and name)


def kind_of(node: NodeFacts, pool: PoolFacts) -> str:
    """MMP, IO or UNSURE, of a pool that is suspended."""
    return _kind(pool, last_suspension(node.kernel_log, pool.name))


def _kind(pool: PoolFacts, log: tuple[KernelEvent, ...]) -> str:
    """The status text is surest. Up to 2.2.3 the log has both lines for a multihost suspension, so the line of multihost decides.

    Where none of them shows it, a pool with multihost off can only have been suspended by I/O: mmp_thread() writes for no other pool.
    """
    if "multihost writes failed or were delayed" in pool.status:
        return MMP
    if any(event.kind == "multihost-suspended" for event in log):
        return MMP
    if log or "in response to IO failures" in pool.status or "I/O failures" in pool.status or multihost(pool) == "off":
        return IO
    return UNSURE


def _situation(found: Suspended) -> Situation:
    node, pool = found.node, found.pool
    subject = {"node": node.node, "pool": pool.name, "kind": found.kind or "not known"}
    subject |= {"pool_guid": str(pool.guid)} if known(pool.guid) else {}
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="act",
        title=f"{pool.name} is suspended: {TITLES[found.kind]}",
        meaning=" ".join(_meaning(found)),
        evidence=tuple(_evidence(found)),
        answers=_answers(found),
        subject=subject,
        sure=bool(found.kind),
        cures=tuple(_cures_of(found)),
        gate=True,
    )


def _answers(found: Suspended) -> tuple[Answer, ...]:
    """I/O errors are mended at the cables; anything else is taken for multihost."""
    if found.kind == IO:
        why = "It finds what the disks share, waits until they are back and quiet, clears once, and scrubs."
        return _words.pool_answers(found.node, found.pool, "many-disks-offline", why)
    why = "It names the sick disk, proves that no other host has the pool, and resumes it where this release does that safely."
    return _words.pool_answers(found.node, found.pool, "suspended-pool", why)


def _meaning(found: Suspended) -> Iterator[str]:
    yield f"{found.pool.name} on {found.node.node} takes no writes, and commands that change it hang or fail. Reads may still work."
    yield WHY[found.kind]
    if found.pool.tops is UNREAD:
        yield "The kernel's own log or its events say so; `zpool status` was not looked at, so whether it is still so is to be seen there."
    elif not known(found.pool.tops) and found.pool.tops_read:
        yield "Not every line of its `zpool status` was understood, so the disks that it is about may be more than those that are named."
    elif not known(found.pool.tops):
        yield "`zpool status` gives no answer, so which disks it is about is not known from there; the kernel alone says this."
    yield _named(found)
    yield _clear(found)
    if found.kind != IO:
        yield _others(found)
    yield "Export, destroy and unloading the module hang while it is suspended. Rebooting takes every other pool of the node down too."


WHY = {
    MMP: (
        "With multihost on, a pool must write a sign of life to some disk in time, so that no other host takes it over. None got through: "
        "one sick disk can do that, by holding up its whole HBA."
    ),
    IO: "An I/O could not be finished by any copy. Look for what the lost disks share first: HBA, cable, expander, power.",
    UNSURE: "Whether errors of I/O or the multihost protection did it is not known. Until it is, take it for multihost.",
}


def _named(found: Suspended) -> str:
    """Which disk the log and the multihost history complain of."""
    names = [*_by_history(found), *_by_log(found)]
    if names:
        return f"Suspicious are {'; '.join(names[:DISKS_NAMED])}. Names in the log are those of that moment."
    if not known(found.node.kernel_log):
        return f"Which disk began it is not known: {found.node.kernel_log.reason}"
    return "Neither the kernel log nor the multihost history names a disk."


def _by_history(found: Suspended) -> Iterator[str]:
    """`zfs_multihost_history` is 0 by default, and then there is nothing."""
    kstats = found.node.kstats
    for write in kstats.troubled(found.pool.name) if known(kstats) else ():
        if write.vdev_guid is not None:
            how = f"failed with error {write.error}" if write.error else f"took {write.duration_ns // 1_000_000} ms"
            yield f"the member {write.vdev_guid} ({write.path or 'without a path'}), whose multihost write {how}"


def _by_log(found: Suspended) -> Iterator[str]:
    if not found.log:
        return
    at = found.log[0].at_us
    for name, lines in disks_in_trouble(found.node.kernel_log, at - BEFORE_US, at + AFTER_US).items():
        yield f"{name}{_today(found.node, name)}, named in {len(lines)} {'line' if len(lines) == 1 else 'lines'} of the kernel log"
    for address, place in _places(found, at):
        yield f"the disk at {address} in bay {place.slot} of enclosure {place.enclosure_id}, whose commands were aborted"


def _places(found: Suspended, at: int) -> Iterator[tuple[str, Place]]:
    """Bays that the HBA's driver named shortly before."""
    log = found.node.kernel_log
    recent = {e.field("sas_address") for e in (log.events if known(log) else ()) if e.kind == "target" and at - BEFORE_US <= e.at_us <= at}
    yield from ((address, place) for address, place in places(log).items() if address in recent)


def _today(node: NodeFacts, name: str) -> str:
    """What stands under a name of the log today; "" when it is the WWID itself, or nothing does."""
    wwid = normalise(strip_partition(name)[0].rsplit("/", 1)[-1]) if name.startswith("/dev/disk/") else None
    disk = lookup.at_path(node, name if name.startswith("/") else f"/dev/{name}") if wwid is None else None
    if disk is None or isinstance(disk, Unknown):
        return ""
    return f" (today {title(disk)})"


def _clear(found: Suspended) -> str:
    """What `zpool clear` means here."""
    pool = found.pool.name
    if found.kind == IO and _clear_is_refused(found):
        return (
            f"`zpool clear {pool}` does not help here, although the disks answer again: multihost is on, and OpenZFS {release(found.node.zfs_module)} refuses it after any "
            "suspension. The node must be rebooted. Afterwards only a scrub that ends with 0 errors says that the data is whole."
        )
    if found.kind == IO:
        return (
            f"Once the disks answer again, `zpool clear {pool}` resumes it; if that hangs, something is still broken. "
            "Afterwards only a scrub that ends with 0 errors says that the data is whole."
        )
    numbers = release_numbers(found.node.zfs_module)
    if not known(numbers):
        return f"What `zpool clear` would do depends on the release of ZFS, which is not known. Do not try it: {numbers.reason}"
    name = release(found.node.zfs_module)
    if clear_of_multihost(numbers) == BLIND:
        return f"Do not use `zpool clear`: OpenZFS {name} resumes the pool without looking whether another host has imported it meanwhile."
    if clear_of_multihost(numbers) == REFUSES:
        return (
            f"`zpool clear` does not help: OpenZFS {name} refuses it after any suspension while multihost is on. The node must be rebooted."
        )
    return (
        f"OpenZFS {name} lets `zpool clear {pool}` resume it after a look whether another host writes to the pool. It may be tried once, when "
        "the sick disk is out and no other host has the pool; it can refuse without reason, and then the node must be rebooted."
    )


KEEP = "What `zpool status -P -p -v`, `zpool status -g -p` and `dmesg` print now: the counters and the cause are gone afterwards."
NO_OTHER_HOST = "No other host has the pool, and the automatic import of its partner is stopped."


def multihost(pool: PoolFacts) -> str:
    """ "on" or "off" as the pool's property says; "" where it was not read."""
    return pool.properties.get("multihost", "") if known(pool.properties) else ""


def _clear_is_refused(found: Suspended) -> bool:
    """Whether this release is known to refuse `zpool clear` of this pool, whatever suspended it."""
    numbers = release_numbers(found.node.zfs_module)
    return known(numbers) and clear_of_multihost(numbers) == REFUSES and multihost(found.pool) == "on"


def _cures_of(found: Suspended) -> Iterator[Cure]:
    """The path first, then what resumes it on this release. Where another host has the pool, nothing does."""
    pool = found.pool.name
    yield _cures.look(
        "Keep what the tree, ZFS's events and the kernel say now: they name the disk that began it.",
        ("zpool", "status", "-P", "-p", "-v", pool),
        ("zpool", "events", "-v", pool),
        ("dmesg",),
    )
    if _holders(found)[0]:
        yield Cure(
            "other", f"Another host has {pool} imported: do not resume it here. Fence this node: switch it off, so that it writes nothing."
        )
        return
    yield _cures.reseat("the disks that did not answer", *(leaf for _, top in found.pool.tops_read for leaf in top.leaves()))
    yield from _resuming_after_io(found) if found.kind == IO else _resuming_after_multihost(found)
    yield _cures.scrub(found.pool, f"When {pool} serves again, scrub it: only a scrub that ends with 0 errors says that its data is whole.")


def _resuming_after_io(found: Suspended) -> Iterator[Cure]:
    """By the pool's multihost property, where it was read: with it on, what `zpool clear` does differs by release."""
    if _clear_is_refused(found):
        yield _reboot(found, "Reboot")
        return
    pool, reading = found.pool.name, multihost(found.pool)
    refused = {
        "off": "",
        "on": f" As multihost is on, 0.7 does not look whether another host has {pool} by now, and 0.8.0 to 2.2.3 refuse it (invalid argument).",
        "": " From 0.8.0 to 2.2.3 it is refused (invalid argument) where multihost is on: then the node must be rebooted.",
    }[reading if not _looks_first(found) else "off"]
    yield Cure(
        "clear",
        f"When the disks are there again and quiet, resume {pool}, once: what was waiting is written then. If the command hangs, something is still broken.{refused}",
        (("zpool", "clear", pool),),
        needs=f"The path to the disks is mended, and no link error was added for ten minutes. {NO_OTHER_HOST}{UNGUARDED[reading]}",
        save_first=KEEP,
    )


UNGUARDED = {
    "off": " Multihost is off: only your own look at the other hosts shows whether one has.",
    "on": "",
    "": " With multihost on, 0.7 does not look whether one has.",
}


def _looks_first(found: Suspended) -> bool:
    numbers = release_numbers(found.node.zfs_module)
    return known(numbers) and clear_of_multihost(numbers) == LOOKS


def _resuming_after_multihost(found: Suspended) -> Iterator[Cure]:
    """What is said of a suspension whose cause is not known, too."""
    pool, numbers = found.pool.name, release_numbers(found.node.zfs_module)
    if not known(numbers):
        yield _cures.look(
            "Learn the release of the module that runs: what `zpool clear` does depends on it. Until then do not use it.",
            ("cat", "/sys/module/zfs/version"),
        )
    if _looks_first(found):
        yield Cure(
            "clear",
            f"When the sick disk answers again or is out, resume {pool}, once: this release looks first whether another host writes to it.",
            (("zpool", "clear", pool),),
            releases="2.2.4 and newer",
            needs=NO_OTHER_HOST,
            save_first=KEEP,
        )
    yield _reboot(found, "If that is refused, reboot" if _looks_first(found) else "Reboot")


def _reboot(found: Suspended, how: str) -> Cure:
    return Cure(
        "other",
        f"{how} this node, and then import {found.pool.name} on one host only. A clean shutdown can hang on it: then switch the node off.",
        needs=f"{NO_OTHER_HOST} The other pools of this node may go down with it.",
        save_first=KEEP,
    )


def _holders(found: Suspended) -> tuple[list[str], list[str]]:
    """Other nodes that have the pool, and those of which that is not known."""
    holders, silent = [], []
    for name, node in found.fleet.nodes.items():
        if name == found.node.node:
            continue
        if not known(node.pools):
            silent.append(name)
        elif any(_is_same(pool, found.pool) for pool in node.pools):
            holders.append(name)
    return holders, silent


def _others(found: Suspended) -> str:
    """Whether another node has the pool, as far as nodes report."""
    holders, silent = _holders(found)
    if holders:
        return f"{' and '.join(holders)} has {found.pool.name} imported: do not resume it here, fence this node."
    if silent:
        return f"Whether {' and '.join(silent)} has imported it is not known. Prove that no partner has, and stop its automatic import."
    return "No other node that reports has imported it. Stop the automatic import of its partner before anything else."


def _is_same(pool: PoolFacts, other: PoolFacts) -> bool:
    """By guid; by name where a guid is not known, which errs towards caution."""
    return pool.guid == other.guid if known(pool.guid) and known(other.guid) else pool.name == other.name


def _evidence(found: Suspended) -> Iterator[Evidence]:
    pool, kstats = found.pool, found.node.kstats
    kernel = kstats.pool(pool.name) if known(kstats) else None
    if kernel is not None:
        yield found.evidence("kstat_pools", f"{pool.name}/state: {kernel.state}")
    if known(pool.tops) and pool.status:  # without one it was read while all was well
        yield found.evidence("zpool_status", f"state: {pool.state}. {pool.status}")
    for event in found.log:
        yield found.evidence("kernel_log", event.line)
    if known(kstats):
        for write in kstats.troubled(pool.name)[-3:]:
            what = f"error {write.error}" if write.vdev_guid else f"{write.skipped} writes skipped, reason {write.error}"
            line = f"multihost: txg {write.txg}, {what}, {write.duration_ns} ns, {write.path or 'no disk'}"
            yield found.evidence(f"kstat_txgs/{pool.name}", line)
    for posted in found.node.events if known(found.node.events) else ():
        if posted.kind == "ereport.fs.zfs.io_failure" and posted.text("pool") == pool.name:
            yield found.evidence("zpool_events", f"{posted.kind} of {pool.name}, eid {posted.eid}")
