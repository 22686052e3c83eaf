"""What the kernel's log alone shows: errors of one disk, of the memory, and of ZFS itself. ZFS may not have noticed yet, or was not asked.

Lines of the last 24 hours count, by the log's own newest stamp where no clock is known. Of a disk whose member is ONLINE today without an
error counted they are watched; a pool that repaired a block has no need of a new disk at night.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agents.collectors.kernel_log import KernelEvent
from agents.domain.wwid import strip_partition
from workflows.engine.core import Cure, Severity, Situation
from workflows.facts import FleetFacts, PoolFacts, known, lookup
from workflows.facts.read.hanging_disks import hanging
from workflows.facts.read.past import last_suspension
from workflows.situations import _words
from workflows.situations._ata_ports import ATA_PORT, without_empty_ports, without_woken_ports
from workflows.situations._fma import OF_IDS, OF_WHOLE_POOL
from workflows.situations._kernel_of_nodes import OF_NODES
from workflows.situations._kernel_whys import DATA, OPTIONAL, is_empty_drive, is_of_way, why_of
from workflows.situations._kernel_words import CURES, ERROR_NUMBERS, MEANINGS, OF_DISKS
from workflows.situations._log import DAY_US, Log, all_well, event_text, logs, serves_well
from workflows.situations._usb import ports

SLUG = "kernel-errors"
MANUALS: tuple[str, ...] = ("slow-disk-triage", "sas-link-triage", "blink-and-replace")
CORRECTED_MANY = 10
WATCHED = (
    "raid",
    "import-refused",
    "import-unit",
    "fma",
    "vdev",
    "kernel",
    "zed-spare",
    "zed-lost",
    "zed-case",
    "zed-changed",
    "blocked",
    "pcie",
)
OF_ITSELF = ("medium", "hardware", "locked", "optional", "optical", "empty")  # what a disk answers by itself, whatever stands between
PCIE_LOST = re.compile(r"severity=(?!Corrected)|Uncorrect|recovery failed|can't recover")
TOGETHER_MIN = 3
DISKS_NAMED = 8
USB = "usb "  # before the port of a device that the log does not call by a disk's name
NO_DISK = re.compile(r"(?:fd|loop|ram|zram|zd)[0-9]+")  # floppies, files, memory, and volumes of ZFS itself


@dataclass(frozen=True)
class Sick:
    """One disk of the log, under the name of that moment."""

    log: Log
    name: str
    lines: tuple[KernelEvent, ...]  # the gravest kind
    why: str
    count: int  # of all its lines
    of_way: bool = False  # whether some of them find the link wrong, so that no new disk helps


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        found
        for log in logs(fleet)
        for found in (*_disks(log), *_volumes(log), *_memory(log), *_zfs(log), *_once_suspended(log), *_zed(log))
    )


def _disks(log: Log) -> Iterator[Situation]:
    usb = ports(log.log.events)
    reported = [
        (why, event)
        for event in map(usb.of_disk, filter(usb.counts, log.log.events))
        if (why := "empty" if is_empty_drive(log.log.events, event) else why_of(event))
        and (log.is_reported(event) or _holds_at_boot(log, why, event))
        and not _is_waited_for(log, why, event)
        and not _has_more(log, event)
    ]
    recent = [(why, event) for why, event in reported if event.at_us >= log.now_us - DAY_US]
    if recent:  # nearly never
        yield from _of_these(log, recent)
    if not known(log.fleet.at) and len(recent) < len(reported):
        yield from _older(log, recent, [(why, event) for why, event in reported if not log.is_recent(event)])


def _holds_at_boot(log: Log, why: str, event: KernelEvent) -> bool:
    """Whether a line tells of trouble also while the kernel starts: resets of links and adapters belong to that time, failed reads do not.

    Where the pools were read, these say which disk is not there any more.
    """
    return why in ("medium", "hardware", "unready", "locked", "protection", "optical") or (
        (
            event.kind in ("io-error", "buffer-error", "path-down", "path-none")
            or (event.kind == "ata-gone" and _NO_MORE.search(event.line) is not None)
        )
        and not log.node.pools_read
    )


_NO_MORE = re.compile(r"qc timeout|disabled|disable device|failed to (?:IDENTIFY|set xfermode)")
_WAITS = re.compile(r"edium not present|standby state|not accessible|becoming ready|nitializing command required|in progress")


def _is_waited_for(log: Log, why: str, event: KernelEvent) -> bool:
    """Whether a disk that is not ready need not be: an empty drive, the passive path of an array, a disk that starts."""
    hctl = event.field("hctl")
    return why == "unready" and any(
        e.kind == ("cam-sense" if event.kind == "cam-sense" else "sense-detail")
        and e.field("hctl") == hctl
        and (hctl or e.field("disk") == event.field("disk"))
        and _WAITS.search(e.field("detail") or "")
        for e in log.log.events
    )


def _has_more(log: Log, event: KernelEvent) -> bool:
    """Whether other lines say what became of this command of FreeBSD's, which is printed for every one that did not succeed at once."""
    if event.kind != "cam-command":
        return False
    of_disk = [e for e in log.log.events if e.kind in ("cam-sense", "cam-failed") and e.field("disk") == event.field("disk")]
    refused = any(OPTIONAL.search(e.line) for e in of_disk)  # to read or to write is nothing that a disk may refuse
    return bool(of_disk) and not (refused and DATA.search(event.line))


def _older(log: Log, recent: list[tuple[str, KernelEvent]], older: list[tuple[str, KernelEvent]]) -> Iterator[Situation]:
    """Where no clock is known, what is old is old by another line only: of disks that are named in no later line it is told, one by one."""
    disks = {e.field("hctl"): e.field("disk") or "" for e in log.log.events if e.field("disk") and e.field("hctl")}
    later = {disks.get(name) or name for name in (_name(event) for _, event in recent)}
    grouped: dict[str, list[tuple[str, KernelEvent]]] = {}
    for why, event in older:
        name = disks.get(_name(event)) or _name(event)
        if name not in later:
            grouped.setdefault(name, []).append((why, event))
    ago = "Its last line is more than a day older than the newest of this log; whether it is so today is not known."
    for events in grouped.values():
        yield from (replace(one, severity="watch", meaning=f"{one.meaning} {ago}") for one in _of_these(log, events))


def _name(event: KernelEvent) -> str:
    if event.kind == "usb-link" and not event.field("disk"):
        return f"{USB}{event.field('usb') or event.field('port')}"
    name = event.field("disk") or event.field("hctl") or event.field("vdev") or event.field("ata") or ""
    return strip_partition(name.rsplit("/", 1)[-1])[0]


def _of_these(log: Log, recent: list[tuple[str, KernelEvent]]) -> Iterator[Situation]:
    hangs = {name for one in hanging(log.node) for name in (one.name, *(a.hctl for a in one.aborts))}
    alias = _addresses(log)
    names = {hctl: disk for disk, hctl in alias.items()}
    grouped: dict[str, list[tuple[str, KernelEvent]]] = {}
    named = any(
        not _name(event).startswith("dm-") and KERNEL_NAME.match(_name(event)) for _, event in recent
    )  # what lies below is named too
    for why, event in recent:
        base = _name(event)
        if base and not NO_DISK.fullmatch(base) and not (base.startswith("dm-") and named):
            grouped.setdefault(_port(names.get(base) or base, grouped), []).append((why, event))
    optical = {name: events for name, events in grouped.items() if any(why == "optical" for why, _ in events)}
    woken = without_woken_ports(log, {name: events for name, events in grouped.items() if name not in optical})
    grouped = _as_one_disk(without_empty_ports(woken)) | optical
    sick = [_sick(log, name, events) for name, events in grouped.items()]
    others = [one for one in sick if one.why in OF_ITSELF or not (names_of(one, alias) & hangs or _is_covered(log, one.name, one.why))]
    shared = [one for one in others if one.why not in OF_ITSELF]
    below_port = [one for one in shared if _layer(one.name) != "port"]  # a port and its disk are two names of one thing
    many = len(below_port or shared)
    if many >= TOGETHER_MIN:
        yield _together(log, shared, _disks_at_least(one.name for one in shared))
    yield from (_of_disk(one) for one in others if one.why in OF_ITSELF or many < TOGETHER_MIN)


_ADDRESS = re.compile(r"(?:sd|scsi) (\d+:\d+:\d+:\d+): \[(sd[a-z]{1,3})\]")


def _addresses(log: Log) -> dict[str | None, str | None]:
    """Kernel name of a disk -> its address, as any line of the log has both."""
    named = {e.field("disk"): e.field("hctl") for e in log.log.events if e.field("disk") and e.field("hctl")}
    printed = {found.group(2): found.group(1) for e in log.log.events if (found := _ADDRESS.match(e.line))}
    return printed | named


NVME = re.compile(r"^(nvme\d+)(?:c\d+)?n\d+$")
KERNEL_NAME = re.compile(r"(?:sd[a-z]+|hd[a-z]|nvme\w+|a?da\d+|nda\d+|nvd\d+|\d+:\d+:\d+:\d+)$")


def _port(name: str, others: Iterable[str]) -> str:
    """The name under which a port, or the device behind it, has lines already: an ATA port, or the controller of an NVMe disk.

    Two devices behind a port multiplier are two.
    """
    base = _behind(name)
    return next((other for other in others if _behind(other) == base and (other == name or base in (name, other))), name)


def _behind(name: str) -> str:
    return NVME.sub(r"\1", ATA_PORT.sub(r"\1", name))


def _layer(name: str) -> str:
    """Who calls a disk so: the driver of its port, the block layer, or ZFS. One failed command is printed by each of them."""
    return (
        "port"
        if name.startswith(USB) or re.fullmatch(r"ata\d+(?:\.\d+)?|(?:ahci|siis|mvs)ch\d+", name)
        else "disk"
        if KERNEL_NAME.match(name)
        else "vdev"
    )


def _disks_at_least(names: Iterable[str]) -> int:
    """How many disks these names are of, at least."""
    return max(Counter(map(_layer, names)).values(), default=0)


def _as_one_disk(grouped: dict[str, list[tuple[str, KernelEvent]]]) -> dict[str, list[tuple[str, KernelEvent]]]:
    """Under one name, where each layer names one thing only: that is one disk, called by its kernel name if it stands there."""
    layers = Counter(map(_layer, grouped))
    if len(layers) < 2 or set(layers.values()) != {1}:
        return grouped
    called = next((name for layer in ("disk", "vdev") for name in grouped if _layer(name) == layer), "")
    return {called: sorted((pair for events in grouped.values() for pair in events), key=lambda pair: pair[1].at_us)}


def names_of(sick: Sick, alias: Mapping[str | None, str | None]) -> set[str | None]:
    return {sick.name, alias.get(sick.name)}


def _sick(log: Log, name: str, events: list[tuple[str, KernelEvent]]) -> Sick:
    """By its gravest lines."""
    whys = {why for why, _ in events}
    worst = "optical" if "optical" in whys else next(each for each in OF_DISKS if each in whys)
    if worst == "gone" and any(event.kind in ("path-down", "path-none") for _, event in events):
        worst = "link"  # one of several paths to a disk: what it loses is the path, and the disk may serve by another
    if worst in ("gone", "link") and any(why == "usb" and "USB disconnect" in event.line for why, event in events):
        worst = "usb"  # with its port it lost its commands
    return Sick(
        log, name, tuple(event for why, event in events if why == worst), worst, len(events), any(is_of_way(event) for _, event in events)
    )


def _together(log: Log, sick: list[Sick], many: int) -> Situation:
    """Errors of the way to many disks at once: one cause, and not as many bad disks."""
    lines = tuple(sorted((one.lines[0] for one in sick), key=lambda e: e.at_us))
    well, hosts = all_well(log.node), dict.fromkeys(h.split(":")[0] for e in lines if (h := e.field("hctl")))
    names = ", ".join(one.name for one in sick[:DISKS_NAMED])
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{log.node.node}:together",
        node=log.node.node,
        severity="watch" if well else "act",
        title=f"{many} disks have errors in the kernel log at once",
        meaning=(
            f"The kernel log complains of {names}{' and more' if len(sick) > DISKS_NAMED else ''} within a day, first: {event_text(lines[0])}. None of them reports "
            "a fault of its own, so look at what they share: an HBA, a cable, an expander, a backplane, power. Replace none of them before that is "
            "known: a new disk in the same place has the same errors."
        ),
        evidence=log.evidence(lines),
        subject={"node": log.node.node, "why": "io", "names": " ".join(one.name for one in sick)}
        | ({"host": next(iter(hosts))} if len(hosts) == 1 else {}),
        sure=False,
        cures=(CURES["link"][0], Cure("look", "`lsscsi -v` and the counters of the SAS links show which path the disks share.")),
        gate=not well,
    )


def _is_covered(log: Log, name: str, why: str) -> bool:
    """Whether the pool does without it already, which is a situation of its own; or the kernel's list of disks shows how it is today."""
    if why in ("gone", "dropped") and ((known(log.node.disks) and log.node.disks) or all_well(log.node)):
        return True  # it is there again, another has its name, or it is missing, which the pools show
    found = log.leaf(name)
    if found is not None:
        return lookup.serves_nothing(found[1])
    if why in ("gone", "dropped") and any(
        lookup.serves_nothing(leaf) for pool in log.node.pools_read for _, top in pool.tops_read for leaf in top.leaves()
    ):
        return True  # that member, as far as a name of the past can say
    return known(log.node.disks) and bool(log.node.disks) and log.disk(name) is None and known(log.node.pools)


def _of_disk(sick: Sick) -> Situation:
    count = sick.count
    log, found, disk = sick.log, sick.log.leaf(sick.name), sick.log.disk(sick.name)
    well = (found is not None and serves_well(found[1])) or (found is None and all_well(log.node))
    place = log.place(sick.lines, sick.name)
    hctl = next((h for e in sick.lines if (h := e.field("hctl"))), "")
    subject = {"node": log.node.node, "why": sick.why, "name": sick.name} | ({"host": hctl.split(":")[0]} if hctl else {})
    subject |= {"wwid": disk.wwid} if disk is not None and known(disk.wwid) else {}
    if found is not None:
        subject |= _words.subject(log.node, found[0], None, found[1])
    sectors = list(dict.fromkeys(s for e in sick.lines if (s := e.field("sector"))))
    meaning = [
        f"The kernel log says of {sick.name}{place}: {sick.lines[0].line.strip()}"
        + (f" (and {count - 1} more)." if count > 1 else "."),
        f"Sector {', '.join(sectors[:6])}." if sectors else "",
        *_errors(sick.lines),
        MEANINGS[sick.why],
        "Whether a disk hangs at that port the log does not show: `lsusb -t` does." if sick.name.startswith(USB) else "",
        f"{sick.name} is the name of that moment; find the disk by its WWID or serial number before anybody touches it." if disk is None else f"Today that name leads to {_words.where(disk)}.",
        "Its member is ONLINE today and no error is counted of it, so nothing need be done at once." if well and found is not None else "",
        "Whether it is a member of a pool is not known from here: `zpool status -P -p` and `lsscsi -i` show it." if found is None and not well else "",
    ]  # fmt: skip
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{log.node.node}:{subject.get('wwid', sick.name)}",
        node=log.node.node,
        severity="info"
        if sick.why in ("optional", "optical", "empty")
        else "watch"
        if well
        or sick.name.startswith(USB)
        or all(e.kind == "cam-command" for e in sick.lines)
        or sick.why == "locked"
        or (sick.why == "io" and not any(map(log.is_reported, sick.lines)))
        else "act",
        title=f"{sick.name} {OF_DISKS[sick.why]}" + (f", sector {sectors[0]}" if sectors and sick.why == "medium" else ""),
        meaning=" ".join(part for part in meaning if part),
        evidence=log.evidence(sick.lines),
        subject=subject,
        sure=sick.why in ("medium", "hardware"),
        cures=tuple(cure for cure in CURES[sick.why] if not (sick.of_way and sick.why == "gone" and cure.kind == "replace")),
    )


def _errors(lines: tuple[KernelEvent, ...]) -> Iterator[str]:
    """What the numbers in lines of ZFS mean."""
    numbers = dict.fromkeys(e.field("error") for e in lines if e.kind in ("zio-error", "vdev-io-failure"))
    texts = [f"error {n} is: {ERROR_NUMBERS[n]}" for n in numbers if n in ERROR_NUMBERS]
    if texts:
        yield f"In ZFS's own lines {'; '.join(texts)}."


VOLUME = re.compile(r"zd[0-9]+(?:p[0-9]+)?")


def _volumes(log: Log) -> Iterator[Situation]:
    """Errors of a volume that ZFS itself serves: the pool could not read or write it."""
    lines = tuple(e for e in log.recent("io-error", "buffer-error") if VOLUME.fullmatch(e.field("disk") or ""))
    if lines:
        names = ", ".join(dict.fromkeys(e.field("disk") or "" for e in lines))
        yield _node_wide(
            log, "volume", "act", f"Volumes of ZFS on {log.node.node} have I/O errors: {names}", lines,
            "A zd device is a volume of a pool and no disk: its pool could not read or write that block, as its data is damaged, the volume is full, or the pool is "
            "suspended. No disk is to be replaced for this line.",
            (Cure("look", "See which: `zpool status -v -P -p` lists damaged data and the state of the pool, and `zfs list -t volume -o space` the room."),),
        )  # fmt: skip


def _memory(log: Log) -> Iterator[Situation]:
    lines = log.recent("memory")
    fatal = any(e.field("ecc") == "UE" or "ncorrect" in e.line or "fatal" in e.line for e in lines)
    if not lines:
        return
    many = fatal or len(lines) >= CORRECTED_MANY
    yield _node_wide(
        log, "memory", "act" if many and not (all_well(log.node) and not fatal) else "watch", f"The memory of {log.node.node} reports errors", lines,
        "Bad memory corrupts data after ZFS computed its checksum or before it did, so it shows as checksum errors on many disks at once, and no disk "
        "is at fault. Replace no disk for such errors. " + ("Some were not corrected: stop writing to this node's pools until the module is changed." if fatal else "The errors were corrected so far; they tend to become more."),
        (Cure("look", "Find the module: `edac-util -v`, `ras-mc-ctl --errors`, `mcelog` or the BMC's event log name the slot."),
         Cure("other", "Change that module in a planned stop of the node, run a memory test, then scrub every pool twice.")),
        gate=fatal,
    )  # fmt: skip


ZED_REPORTS = frozenset(
    (
        *("io", "checksum", "data", "delay", "deadman", "probe_failure", "authentication", "dio_verify_rd", "dio_verify_wr"),
        *(
            "vdev.unknown",
            "vdev.open_failed",
            "vdev.corrupt_data",
            "vdev.no_replicas",
            "vdev.bad_label",
            "vdev.bad_guid_sum",
            "vdev.too_small",
        ),
    )
)
ZED_GRAVE = frozenset(("data", "deadman", "probe_failure", "authentication"))


def _zed(log: Log) -> Iterator[Situation]:
    """Errors that zed wrote into the system log; what it writes of the state of a member is reported as that."""
    lines = tuple(e for e in log.recent("zed") if (e.field("class") or "").removeprefix("ereport.fs.zfs.") in ZED_REPORTS)
    if not lines:
        return
    members = list(dict.fromkeys(vdev for e in lines if (vdev := e.field("vdev"))))
    classes = dict.fromkeys(e.field("class") or "" for e in lines)
    shared = len(members) >= TOGETHER_MIN
    well = all_well(log.node)
    yield _node_wide(
        log, "zed", "act" if not well and (shared or not ZED_GRAVE.isdisjoint(classes)) else "watch",
        f"zed on {log.node.node} reports {_words.plural(len(lines), 'error')} of {_words.plural(len(members), 'member') if members else _pools_of(lines)}",
        lines,
        f"They are of the class {', '.join(classes)}. How the members are today, the log does not say. " + (
            "Errors on so many members at once have one cause: memory, HBA, cable, expander or power. Replace no disk for them before that is known."
            if shared else "A few errors that do not come back need no new disk: look at cable, port and HBA first, then at the disk's SMART."
        ),
        (Cure("look", "See how it is today: `zpool status -v -P -p`, and the kernel's own lines at the time of the first of these."),),
        gate=shared,
    )  # fmt: skip


def _pools_of(lines: tuple[KernelEvent, ...]) -> str:
    """The pools that these name, where none of them names a member: the data could not be read whichever disk was asked."""
    pools = dict.fromkeys(pool.strip("'") for e in lines if (pool := e.field("pool")))
    return f"the pool {', '.join(pools)}" if pools else "a pool that the lines do not name"


def _once_suspended(log: Log) -> Iterator[Situation]:
    """A pool that its own rows show in service, and that was suspended a while ago. What stopped it may come again."""
    for pool in log.node.pools_read:
        lines = tuple(one for one in last_suspension(log.node.kernel_log, pool.name) if log.is_recent(one))
        if lines and known(pool.suspended) and not pool.suspended and _hides_suspension(log, pool):
            yield _node_wide(
                log, "suspended-or-not", "act", f"{pool.name} was suspended, and its `zpool status` cannot say whether it serves again", lines,
                "While a resilver is under way `zpool status` names that and not the suspension, and before 0.7.10 its state is printed as if nothing were "
                "the matter. The kernel's last word is that the pool is suspended. If it is, the resilver stands still, writes hang, and no command for it returns.",
                (Cure("look", "See whether it is suspended now: `cat /proc/spl/kstat/zfs/POOL/state`, or whether the resilver goes on in two outputs of `zpool status`."),
                 Cure("reseat", "If it is: find the disks that did not answer, by the log's lines before this one; bring back power, cable and HBA before `zpool clear`.")),
                gate=True,
            )  # fmt: skip
        elif lines and known(pool.suspended) and not pool.suspended:
            yield _node_wide(
                log, "once-suspended", "watch", f"{pool.name} was suspended, and serves again", lines,
                "Its writes stopped then, because disks did not answer or its multihost writes did not get through. `zpool status` shows it in service, so it was "
                "cleared or imported since, or it was looked at before. What stopped it is not gone by that.",
                (Cure("look", "Find what failed right before these lines: a disk, its cable, the HBA or power."), Cure("scrub", "Scrub the pool when the cause is mended.")),
            )  # fmt: skip


_RESILVERS = re.compile(r"One or more devices (?:is|are) currently being resilvered")


def _hides_suspension(log: Log, pool: PoolFacts) -> bool:
    """Whether a suspended pool would print the same: check_status() looks for a resilver first. Not with an agent, nor from 0.8 on: these read the state."""
    resilvers = _RESILVERS.match(" ".join(pool.status.split())) is not None
    module = log.node.zfs_module if known(log.node.zfs_module) else ""
    reported = (
        known(log.fleet.at)
        or (known(log.node.kstats) and log.node.kstats.pool(pool.name) is not None)
        or re.match(r"(?:0\.[89]|[1-9])", module)
    )
    return resilvers and pool.state != "SUSPENDED" and not reported


def _zfs(log: Log) -> Iterator[Situation]:
    suspended = bool(log.events("suspended", "multihost-suspended"))
    for kinds, why, title, meaning, cures in OF_NODES:
        lines = tuple(e for e in log.log.events if e.kind in kinds) if why == "pcie" and log.is_young else log.recent(*kinds)
        if why == "blocked" and (log.recent("hung-task") or all_well(log.node)):
            continue  # ZFS itself waits as well, or it does not concern the pools
        if lines and why == "fma":
            yield from _of_fault_manager(log, lines, meaning, cures, suspended)
        elif lines:
            explained = why == "hung" and (suspended or all_well(log.node))
            lost = why == "pcie" and any(map(PCIE_LOST.search, (e.line for e in lines))) and not all_well(log.node)
            severity: Severity = "watch" if (why in WATCHED and not lost) or explained else "act"
            yield _node_wide(log, why, severity, title.format(node=log.node.node), lines, meaning, cures, gate=why == "panic")


def _of_fault_manager(
    log: Log, lines: tuple[KernelEvent, ...], meaning: str, cures: tuple[Cure, ...], suspended: bool
) -> Iterator[Situation]:
    """One for each message id. What it says of a whole pool cannot wait, unless the kernel's own lines say it already or the pools are shown to be well."""
    for each in dict.fromkeys(e.field("id") or "" for e in lines):
        reported, means = OF_IDS.get(each, ("a fault", meaning))
        grave = each in OF_WHOLE_POOL and not suspended and not all_well(log.node)
        title = f"The fault manager of {log.node.node} reports {reported}"
        of_id = tuple(e for e in lines if e.field("id") == each)
        one = _node_wide(log, "fma", "act" if grave else "watch", title, of_id, means, cures, grave)
        yield replace(one, key=f"{SLUG}:{log.node.node}:fma:{each}")


def _node_wide(
    log: Log,
    why: str,
    severity: Severity,
    title: str,
    lines: tuple[KernelEvent, ...],
    meaning: str,
    cures: tuple[Cure, ...],
    gate: bool = False,
) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{log.node.node}:{why}:{lines[0].kind}",
        node=log.node.node,
        severity=severity,
        title=title,
        meaning=f"The kernel log says: {event_text(lines[0])}" + (f" (and {len(lines) - 1} more lines of the kind). " if len(lines) > 1 else " ") + meaning,
        evidence=log.evidence(lines),
        subject={"node": log.node.node, "why": why} | ({"pool": pool.strip("'")} if (pool := lines[0].field("pool")) else {}),
        cures=cures,
        gate=gate and severity == "act",
    )  # fmt: skip
