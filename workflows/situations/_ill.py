"""Disks that say something of their health, and what each of them is to a pool. What the numbers mean is in
`workflows.facts.read.disk_health`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from agents.domain.wwid import by_id_path, normalise, strip_partition
from workflows.analysis import redundancy
from workflows.analysis.pool_fate import fate
from workflows.engine.core import Answer, Cure, Evidence, Severity, Situation
from workflows.facts import ConditionFacts, DiskFacts, FleetFacts, NodeFacts, PoolFacts, ReportFacts, VdevFacts, known, lookup
from workflows.facts.read.disk_health import Finding, Kind
from workflows.situations import _cures, _pools, _words
from workflows.situations._lost import Lost

SERIAL_LETTERS = 6  # a serial number this long in a vdev's name is that disk


@dataclass(frozen=True)
class Seat:
    """The leaf that a disk serves as. `line` is the leaf with all above it."""

    pool: PoolFacts
    role: str  # "data", "special", "dedup", "log", "spare", "cache"
    line: tuple[VdevFacts, ...]

    @property
    def leaf(self) -> VdevFacts:
        return self.line[-1]

    @property
    def top(self) -> VdevFacts:
        return self.line[0]


@dataclass(frozen=True)
class Ill:
    """A disk with its report. `disk` is None where no list of block devices has it; then `report` names it as far as it does."""

    node: NodeFacts
    disk: DiskFacts | None
    report: ReportFacts | None
    condition: ConditionFacts

    def of(self, kind: Kind) -> tuple[Finding, ...]:
        return tuple(one for one in self.condition.findings if one.kind == kind)

    @property
    def name(self) -> str:
        """Short, for a title."""
        if self.disk is not None:
            return _words.named(self.disk)
        report = self.report
        if report is None:
            return "a disk"
        named = report.serial or report.wwid
        looked = report.asked if not report.asked.startswith(UNNAMED) and report.asked != report.wwid else ""
        return looked or (f"disk {named}" if named else "a disk that the report does not name")

    @property
    def described(self) -> str:
        """With all that names it: "sde (naa:5000…), serial number ZA21ABCD, bay 4 of enclosure 0x5006…"."""
        if self.disk is not None:
            return _words.where(self.disk)
        report = self.report
        parts = [report.model or "", f"serial number {report.serial}" if report.serial else "", report.wwid or ""] if report else []
        text = ", ".join(part for part in parts if part)
        return f"{self.name} ({text})" if text else self.name

    @property
    def identity(self) -> str:
        """For the situation's key: what does not change with a name, as far as there is such a thing."""
        if self.disk is not None:
            return self.disk.wwid if known(self.disk.wwid) else self.disk.names[0]
        return (self.report.wwid or self.report.serial or self.report.asked) if self.report else ""

    @property
    def source(self) -> str:
        if self.report is not None:
            return self.report.source
        names = self.disk.names if self.disk is not None else ()
        return next((f"smart/{name}" for name in names if f"smart/{name}" in self.node.digests), "smart")

    def evidence(self, kind: Kind) -> tuple[Evidence, ...]:
        return tuple(_words.evidence(self.node, self.source, one.line) for one in self.of(kind))

    @cached_property
    def seat(self) -> Seat | None:
        """What it is to a pool of this node; None when it is no member, or that is not known."""
        return next((seat for seat in seats(self.node) if self._sits(seat.leaf)), None)

    def _sits(self, leaf: VdevFacts) -> bool:
        if self.disk is not None:
            if known(leaf.wwid):
                return leaf.wwid == self.disk.wwid
            return _words.disk_behind(self.node, leaf) is self.disk or _is_named(leaf, self.disk.wwid, self.disk.serial, self.disk.names)
        report = self.report
        if report is None:
            return False
        if known(leaf.wwid):
            return leaf.wwid == report.wwid
        return normalise(strip_partition(leaf.name)[0]) in report.names or _is_named(leaf, report.wwid, report.serial, (report.asked,))

    def subject(self) -> dict[str, str]:
        seat = self.seat
        named = _words.subject(self.node, seat.pool, seat.top, seat.leaf) if seat is not None else {"node": self.node.node}
        wwid = self.disk.wwid if self.disk is not None else self.report.wwid if self.report else None
        serial = self.disk.serial if self.disk is not None else self.report.serial if self.report else None
        model = self.disk.model if self.disk is not None else self.report.model if self.report else None
        bay = self.disk.bay if self.disk is not None and known(self.disk.bay) else None
        fields = {"wwid": wwid, "serial": serial, "model": model, "disk": self.name}
        named |= {name: value for name, value in fields.items() if isinstance(value, str) and value}
        return named | ({"enclosure": bay.enclosure_id, "slot": str(bay.slot)} if bay is not None else {})

    def place(self) -> str:
        """What it is to a pool, as a sentence."""
        seat = self.seat
        if seat is None:
            return "It is no member of a pool that is imported here." if self.free else "Whether it is a member of a pool is not known."
        guid = f" {seat.leaf.guid}" if known(seat.leaf.guid) else f" {seat.leaf.name}"
        if seat.role in ("spare", "cache"):
            return f"It is the {'hot spare' if seat.role == 'spare' else 'cache device'}{guid} of {seat.pool.name}."
        of = f"{seat.top.name} of {seat.pool.name}" if len(seat.line) > 1 else seat.pool.name
        return f"It is the member{guid} of {of}."

    @property
    def free(self) -> bool:
        """Whether it is certain that no pool of this node has it: its labels name no leaf, or every leaf is known to be another disk."""
        if self.seat is not None or not known(self.node.pools):
            return False
        leaves = [seat.leaf for seat in seats(self.node)]
        if self.disk is not None and known(self.disk.labels):
            carried = {label.guid for label in self.disk.labels}
            return not any(known(leaf.guid) and leaf.guid in carried for leaf in leaves)
        return all(known(leaf.wwid) for leaf in leaves)

    def margin_sentence(self) -> str:
        seat = self.seat
        if seat is None or seat.role in ("spare", "cache") or self.gated:  # what is down survives nothing
            return ""
        return _words.margin_sentence(seat.pool, seat.top)

    @property
    def bare(self) -> bool:
        """Whether one more loss beside it loses data: it holds data that no other disk has."""
        seat = self.seat
        if seat is None or seat.role in ("spare", "cache"):
            return False
        margin = redundancy.top_margin(seat.pool, seat.top)
        return known(margin) and margin <= 0

    @property
    def gated(self) -> bool:
        """Whether the state of its pool forbids replacing any member for now."""
        return self.seat is not None and fate(self.node, self.seat.pool).gates

    @property
    def serves(self) -> bool:
        """Whether it is in service, so that ZFS has not given it up by itself."""
        return self.seat is not None and not lookup.serves_nothing(self.seat.leaf)

    @property
    def leaving(self) -> bool:
        """Whether something takes its place already: a new half, or a hot spare."""
        return self.seat is not None and any(vdev.kind in ("replacing", "spare") for vdev in self.seat.line[:-1])

    @property
    def aside(self) -> bool:
        """Whether its pool loses nothing by it: it is a hot spare or a cache device, has been given up, or is on its way out."""
        return self.seat is not None and (self.seat.role in ("spare", "cache") or not self.serves or self.leaving)

    def lost(self) -> Lost | None:
        """Its leaf as the other situations handle one; None for what has no redundancy."""
        seat = self.seat
        return None if seat is None or seat.role in ("spare", "cache") else Lost(self.node, seat.pool, seat.role, seat.line)


UNNAMED = "unnamed"  # a report without a name is filed under this and a number


def ills(fleet: FleetFacts, kind: Kind) -> Iterator[Ill]:
    """Every disk of which something of this kind was found."""
    for node in fleet.nodes.values():
        yield from reported(node, lambda stated: bool(stated.findings) and any(found.kind == kind for found in stated.findings))


def reported(node: NodeFacts, wanted: Callable[[ConditionFacts], bool]) -> Iterator[Ill]:
    """Every disk of a node whose report is wanted. Most disks of a fleet are well, and cost a look at their numbers only."""
    for disk in node.disks if known(node.disks) else ():
        if known(disk.condition) and wanted(disk.condition):
            yield Ill(node, disk, None, disk.condition)
    for report in node.loose_reports:
        if wanted(report.condition):
            yield Ill(node, None, report, report.condition)


def seats(node: NodeFacts) -> Iterator[Seat]:
    """Every leaf of every imported pool that was read, spares and cache devices last."""
    for pool in node.pools_read:
        for role, top in pool.tops_read:
            yield from (Seat(pool, role, line) for line in lookup.lineages(top) if not line[-1].children)
        yield from (Seat(pool, "spare", (leaf,)) for leaf in pool.spares)
        yield from (Seat(pool, "cache", (leaf,)) for leaf in pool.caches)


def _is_named(leaf: VdevFacts, wwid: object, serial: object, names: tuple[str, ...]) -> bool:
    """Whether the leaf is called by what names this disk: its WWID, its serial number, or the kernel name it was asked by just now."""
    base = strip_partition(leaf.was or leaf.name)[0].rsplit("/", 1)[-1]
    if isinstance(wwid, str) and normalise(base) == wwid:
        return True
    if isinstance(serial, str) and len(serial) >= SERIAL_LETTERS and serial in base:
        return True
    controller = re.fullmatch("(nvme[0-9]{1,4})n[0-9]{1,4}", base)  # smartctl may be asked by the controller's name
    return not lookup.serves_nothing(leaf) and (base in names or (controller is not None and controller.group(1) in names))


def situation(
    ill: Ill, slug: str, kind: Kind, *, severity: Severity, title: str, next_: str, cures: tuple[Cure, ...], words: str = "", line: str = ""
) -> Situation:
    """What the situations of one disk have in common: who it is, what was found, what it is to a pool, what happens next.

    `words` and `line` stand where nothing of this kind was found by the disk's numbers alone.
    """
    words = words or "; ".join(one.words for one in ill.of(kind))
    seat = ill.seat
    lines = (f"{ill.described}: {words}.", ill.place(), next_, ill.margin_sentence())
    return Situation(
        slug=slug,
        key=f"{slug}:{ill.node.node}:{ill.identity}",
        node=ill.node.node,
        severity=severity,
        title=f"{seat.pool.name}: {title}" if seat is not None else title,
        meaning=" ".join(part for part in lines if part),
        evidence=ill.evidence(kind) or (_words.evidence(ill.node, ill.source, line),),
        subject=ill.subject(),
        cures=cures,
    )


def scrub_first(ill: Ill) -> Cure | None:
    """To know whether the others can rebuild what it holds, before it is needed."""
    seat = ill.seat
    if seat is None or seat.role in ("spare", "cache") or ill.gated:
        return None
    return Cure(
        "scrub",
        f"See when {seat.pool.name} was scrubbed last. If that is long ago, scrub it now: it reads everything, and shows whether the other "
        "disks can rebuild what this one holds.",
        argv=(("zpool", "scrub", seat.pool.name),),
        needs="No resilver runs.",
    )


def find_it(ill: Ill) -> Cure | None:
    """Where its report is not known to be a member's, nor of a free disk."""
    if ill.seat is not None or ill.free:
        return None
    return Cure(
        "look", "Find out which member it is: compare its serial number or WWID with `zpool status -P` and `ls -l /dev/disk/by-id`."
    )


def pool_first(ill: Ill) -> Cure | None:
    """Where the pool does not serve, or many of its members fail."""
    if ill.seat is None or not ill.gated:
        return None
    return Cure(
        "look", f"Bring {ill.seat.pool.name} back to serving first. Keep this disk in its place: it may hold the only copy of something."
    )


def self_test(ill: Ill) -> Cure:
    device = by_id_path(ill.identity) or "the disk"
    argv = (("smartctl", "-t", "long", device),) if device != "the disk" else ()
    return Cure("look", f"Run its long self-test (`smartctl -t long`) and read the result with `smartctl -l selftest {device}`.", argv=argv)


def replaced_beside(ill: Ill) -> tuple[Answer, ...]:
    """The runbook that fills a blank disk of the node while this one serves, where there is one."""
    lost = ill.lost()
    return lost.beside() if lost is not None and not ill.gated and not ill.leaving else ()


def replace_beside(ill: Ill) -> Cure | None:
    """The replacement while the disk still serves; none while its pool must not be touched, or where it is no member."""
    seat = ill.seat
    if seat is None or ill.gated or ill.leaving or not ill.serves:
        return None
    if seat.role in ("spare", "cache"):
        return Cure(
            "replace",
            f"Take the {'hot spare' if seat.role == 'spare' else 'cache device'} out of {seat.pool.name} and put a sound disk there. No data is lost with it.",
            _pools.of(seat.pool, seat.leaf, "remove", "POOL", "VDEV"),
            needs=_pools.guid_needed(seat.leaf),
        )
    margin = redundancy.top_margin(seat.pool, seat.top)
    needs = "The new disk is at least as large, carries no label of a pool, and is well itself."
    if known(margin) and margin < 0:
        return None
    return Cure(
        "replace",
        f"Replace it while it still serves: put the new disk into a free bay, replace {_cures.guid(seat.leaf)} by its guid, and pull it only when the "
        "resilver has ended. Then its vdev has all its redundancy all the time.",
        needs=needs,
        runbook=_cures.BESIDE_IT,
    )
