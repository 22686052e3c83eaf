"""What the fleet pages show, made from facts: rows with a tone, never a bare colour.

A tone is one of `judging.TONES`. Pure functions, so that a page's words are tested without a page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from app.fleet.pages.judging import OfDisks, worse
from workflows.analysis import redundancy
from workflows.analysis.judgement import Concern, Judgement, judge_pool, not_current
from workflows.analysis.pool_fate import Verdict as FateVerdict
from workflows.analysis.pool_fate import is_suspended, losses, losses_left
from workflows.facts import BayFacts, DiskFacts, FleetFacts, NodeFacts, PoolFacts, Unknown, VdevFacts, known, size
from workflows.facts.read.source_states import SILENT_SECONDS, source_states

TONES = {
    "ONLINE": "good",
    "AVAIL": "good",
    "INUSE": "info",
    "DEGRADED": "watch",
    "OFFLINE": "watch",
    "FAULTED": "bad",
    "UNAVAIL": "bad",
    "REMOVED": "bad",
    "SUSPENDED": "bad",
    "SPLIT": "bad",
}
STALE_SECONDS = SILENT_SECONDS
LAST_READ = "when last read: "
NOT_COUNTED = ("", "")  # what is below a top-level vdev, a spare or a cache has no redundancy of its own


def tone(state: str) -> str:
    return TONES.get(state, "idle")


def tone_of(vdev: VdevFacts) -> str:
    """Of a suspended pool the tree stands still: what it calls ONLINE may be gone, or stand over disks that are."""
    gone = [leaf.gone for leaf in vdev.leaves()]
    if not all(one is False for one in gone):
        return "bad" if True in gone else "watch"
    return "watch" if tone(vdev.state) == "good" and errors_of(vdev) else tone(vdev.state)


def errors_of(vdev: VdevFacts) -> str:
    """In words; "" where none is counted."""
    counted = vdev.errors if known(vdev.errors) else ()
    return f"errors {' / '.join(map(str, counted))} (read / write / checksum)" if any(counted) else ""


def text_of(value: object) -> str:
    """A fact for the page; what is not known says so."""
    return f"not known: {value.reason}" if isinstance(value, Unknown) else str(value)


def short_of(value: object) -> str:
    """A fact among others in one line. A source that failed is listed with its reason further down on the page."""
    return "not known" if isinstance(value, Unknown) else str(value)


def ago(seconds: float) -> str:
    """How long ago, as coarse as a page may be old: a page that says the same is not made again."""
    return "just now" if seconds < 60 else f"{seconds / 60:.0f} min ago" if seconds < 5400 else f"{seconds / 3600:.0f} h ago"


def margin_words(value: int | Unknown) -> tuple[str, str]:
    """How many further disks may be lost, in words and as a tone."""
    if isinstance(value, Unknown):
        return f"redundancy not known: {value.reason}", "watch"
    if value < 0:
        return "data is missing", "bad"
    if value == 0:
        return "no redundancy left", "bad"
    return redundancy.survival(value), ("watch" if value == 1 else "good")


def left_words(state: str, value: int | Unknown) -> tuple[str, str]:
    """The same of a pool or vdev in this state: a healthy mirror of two is as whole as it can be."""
    words, how = margin_words(value)
    return words, "good" if state == "ONLINE" and value == 1 else how


# What `workflows.analysis.pool_fate` says that a pool does for its users, in words for its page
FATE_WORDS: dict[FateVerdict, str] = {
    "serving": "",  # the state says it already
    "reduced": "it serves with less redundancy than it was made with",
    "hung": "commands about it do not return",
    "suspended": "its I/O is suspended",
    "down": "it is down",
    "held": "another host has it too",
    "moved": "its members are there under other names",
    "unknown": "what it does for its users is not known",
}
FATE_TONES: dict[FateVerdict, str] = {
    "serving": "good",
    "reduced": "watch",
    "hung": "bad",
    "suspended": "bad",
    "down": "bad",
    "held": "bad",
    "moved": "bad",
    "unknown": "watch",
}


def as_last_read(words: str, how: str) -> tuple[str, str]:
    """The same where what was read may not be so any more: never green."""
    return f"{LAST_READ}{words.removeprefix(LAST_READ)}", worse(how, "unknown")


def left_of_top(pool: PoolFacts, role: str, top: VdevFacts) -> tuple[str, str]:
    """The same of a top-level vdev. Where a line of the pool was not understood, that line may be a member that is lost.

    The tree of a suspended pool is of the moment in which it was suspended: never green.
    """
    left = losses(pool, top) if known(pool.tops) else pool.tops
    if role == "log" and known(left) and left < 0:
        return "out of service; no data of the pool is missing", "watch"
    if role == "log" and known(left) and left == 0:
        return ("one device; no pool data lost with it alone", "info") if not top.children else ("no redundancy left", "watch")
    words, how = left_words(top.state, left)
    return words, worse(how, "watch") if is_suspended(pool) else how


@dataclass(frozen=True)
class VdevRow:
    """One line of the vdev tree."""

    depth: int
    vdev: VdevFacts
    label: str
    tone: str
    names: tuple[str, ...] = ()  # kernel names today, found by label
    disk: str | None = None  # WWID, for the link
    bay: str = ""
    group: str = ""  # class of a top-level vdev other than data
    left: str = ""
    left_tone: str = ""
    marks: tuple[str, ...] = field(default_factory=tuple)

    @property
    def guid(self) -> str:
        """The guid, unless the name is the guid already, as it is for a lost member."""
        guid = text_of(self.vdev.guid)
        return "" if guid == self.label else guid

    @property
    def anchor(self) -> str:
        """What a link to this line leads to; of one whose guid is not known, nowhere."""
        return f"vdev-{self.vdev.guid}" if known(self.vdev.guid) else ""

    @property
    def errors(self) -> str:
        """Read, write and checksum errors."""
        return " / ".join(map(str, self.vdev.errors)) if known(self.vdev.errors) else "not known"

    @property
    def faultless(self) -> bool:
        return known(self.vdev.errors) and not any(self.vdev.errors)

    @property
    def row_class(self) -> str:
        if self.depth == 1 and self.vdev.children:
            return "top"
        if self.vdev.resilvering or self.vdev.awaiting_resilver:
            return "moving"
        return "lost" if tone_of(self.vdev) == "bad" and not self.vdev.children else ""


def vdev_rows(pool: PoolFacts, node: NodeFacts, rule: OfDisks) -> tuple[VdevRow, ...]:
    """The pool's tree as far as it was understood, line by line, with the losses that each top-level vdev survives."""
    rows: list[VdevRow] = []
    is_old = bool(not_current(node, rule.states[node.node]))
    tree = _Tree(pool, node, rule, is_old)
    for group, top in pool.tops_read:
        left = left_of_top(pool, group, top)
        rows += _branch(top, 1, tree, as_last_read(*left) if is_old else left, "" if group == "data" else group)
    for vdev in pool.spares:
        rows += _branch(vdev, 1, tree, NOT_COUNTED, "spare")
    for vdev in pool.caches:
        rows += _branch(vdev, 1, tree, NOT_COUNTED, "cache")
    return tuple(rows)


@dataclass(frozen=True)
class _Tree:
    """What the lines of one pool's tree are made with."""

    pool: PoolFacts
    node: NodeFacts
    rule: OfDisks
    is_old: bool  # its states were not read lately


def _branch(vdev: VdevFacts, depth: int, tree: _Tree, left: tuple[str, str], group: str) -> Iterator[VdevRow]:
    disk = disk_of(tree.node, vdev)
    marks = [text for on, text in ((vdev.resilvering, "resilvering"), (vdev.awaiting_resilver, "awaiting resilver")) if on]
    if vdev.note and not marks:
        marks.append(vdev.note)
    if vdev.gone is not False:  # of a suspended pool, whose tree says what was so before
        marks.append("its disk is gone" if vdev.gone is True else "whether its disk is still there is not known")
    words, how = by_the_rule("", tone_of(vdev), tree.rule.disk(tree.node, disk, tree.pool), brief=True) if disk else ("", tone_of(vdev))
    how = worse(how, "unknown") if tree.is_old else how
    marks += [words] if words else []
    yield VdevRow(
        depth=depth,
        vdev=vdev,
        label=short_name(vdev.name),
        tone=how,
        names=disk.names if disk else (),
        disk=disk.wwid if disk and known(disk.wwid) else None,
        bay=bay_words(disk.bay) if disk else "",
        group=group,
        left=left[0],
        left_tone=left[1],
        marks=tuple(marks),
    )
    for child in vdev.children:
        yield from _branch(child, depth + 1, tree, NOT_COUNTED, "")


def short_name(name: str) -> str:
    return name.removeprefix("/dev/disk/by-id/").removeprefix("/dev/")


def disk_of(node: NodeFacts, vdev: VdevFacts) -> DiskFacts | None:
    """The disk whose label carries this vdev's guid; names play no part."""
    if not known(node.disks) or not known(vdev.wwid):
        return None
    return next((disk for disk in node.disks if disk.wwid == vdev.wwid), None)


def bay_words(bay: BayFacts | Unknown) -> str:
    return f"bay {bay.slot}" if known(bay) else ""


@dataclass(frozen=True)
class DiskRow:
    """One physical disk on a node's page."""

    disk: DiskFacts
    names: str
    size: str
    bay: str
    use: str
    tone: str
    also: tuple[str, ...] = ()  # other nodes that see it: one disk, however many see it

    @property
    def serial(self) -> str:
        return self.disk.serial if known(self.disk.serial) else ""

    @property
    def linked(self) -> bool:
        """Whether the disk has an identity, and so a page."""
        return known(self.disk.wwid)


def disk_rows(node: NodeFacts, rule: OfDisks, fleet: FleetFacts | None = None) -> tuple[DiskRow, ...]:
    if not known(node.disks):
        return ()
    owners, others = members(node), _seen_elsewhere(node, fleet) if fleet is not None else {}
    rows = [replace(_disk_row(node, disk, owners, rule), also=others.get(disk.wwid, ()) if known(disk.wwid) else ()) for disk in node.disks]
    return tuple(sorted(rows, key=lambda row: (row.tone == "good", row.disk.bay.slot if known(row.disk.bay) else -1, row.names)))


def _seen_elsewhere(node: NodeFacts, fleet: FleetFacts) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for other in fleet.nodes.values():
        for disk in other.disks if other.node != node.node and known(other.disks) else ():
            if known(disk.wwid):
                found[disk.wwid] = (*found.get(disk.wwid, ()), other.node)
    return found


def members(node: NodeFacts) -> dict[str, tuple[PoolFacts, VdevFacts]]:
    """WWID -> the pool and vdev that disk is, on this node."""
    pools = node.pools if known(node.pools) else ()
    return {vdev.wwid: (pool, vdev) for pool in pools for vdev in pool_leaves(pool) if known(vdev.wwid)}


def pool_leaves(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    tops = tuple(top for _, top in pool.tops) if known(pool.tops) else ()
    return tuple(leaf for top in (*tops, *pool.spares, *pool.caches) for leaf in top.leaves())


def _disk_row(node: NodeFacts, disk: DiskFacts, owners: dict[str, tuple[PoolFacts, VdevFacts]], rule: OfDisks) -> DiskRow:
    owner = owners.get(disk.wwid) if known(disk.wwid) else None
    judged = rule.disk(node, disk, owner[0] if owner is not None else None)
    use, how = by_the_rule(*use_of(disk, owner), judged, brief=True)
    return DiskRow(disk, " ".join(disk.names), size(disk.size_bytes), bay_words(disk.bay), use, how)


def use_of(disk: DiskFacts, owner: tuple[PoolFacts, VdevFacts] | None) -> tuple[str, str]:
    if owner is not None:
        pool, vdev = owner
        errors = f", {errors_of(vdev)}" if errors_of(vdev) else ""
        return f"{pool.name}, vdev {text_of(vdev.guid)}, {vdev.state}{errors}", tone_of(vdev)
    if not known(disk.labels):
        return f"labels not known: {disk.labels.reason}", "watch"
    if disk.labels:
        label = disk.labels[0]
        return f"label of {label.pool_name or 'a pool without a name'} (vdev {label.guid}), not imported here", "watch"
    if not known(disk.in_use):
        return f"use not known: {disk.in_use.reason}", "watch"
    if disk.in_use:
        return ", ".join(disk.in_use), "idle"
    ill = illness(disk)
    if ill is not None:
        return f"no label, not in use, failing: {ill[0]}", "bad"
    return "no label, not in use", "info"


def by_the_rule(use: str, how: str, judged: Judgement, brief: bool = False) -> tuple[str, str]:
    """The same words and tone with what the rule of all pages says of the disk: what its pool calls ONLINE is not good by that alone.

    `brief` where many disks stand in one list and what is not known of all of them is shown above it.
    """
    if judged.tone == "good":
        return use, how
    words = "health not known" if brief and judged.tone == "unknown" else judged.words
    if (reason := use.partition(": ")[2]) and reason in words:
        return use, worse(how, judged.tone)
    return f"{use}; {words}" if use else words, worse(how, judged.tone)


def illness(disk: DiskFacts) -> tuple[str, str] | None:
    """What a disk says against itself, in words, and its tone; None when nothing is found. The situations of disks judge the same way."""
    found = disk.condition.findings if known(disk.condition) else ()
    if found:
        return found[0].words, "bad" if found[0].severity == "act" else "watch"
    if known(disk.health) and not disk.health.passed:
        return disk.health.text, "watch"
    return None


@dataclass(frozen=True)
class PoolRow:
    pool: PoolFacts
    tone: str
    left: str
    left_tone: str
    scan: str
    percent: str | None


def pool_rows(node: NodeFacts, about: Sequence[Concern]) -> tuple[PoolRow, ...]:
    """Every pool that was understood; `about` are the open situations of the node."""
    states = source_states(node)
    is_old = bool(not_current(node, states))
    return tuple(pool_row(pool, judge_pool(node, pool, about, states), is_old) for pool in node.pools_read)


def pool_row(pool: PoolFacts, judged: Judgement, is_old: bool = False) -> PoolRow:
    """Its colour is the worse of its state and of what the rule says of it. `is_old` where its state was not read lately."""
    words, how = left_words(pool.state, losses_left(pool))
    if is_old:
        words, how = as_last_read(words, how)
    running = [scan for scan in pool.scans if scan.state == "running"] if known(pool.scans) else []
    text = running[0].text if running else ""
    return PoolRow(pool, worse(tone(pool.state), judged.tone), words, how, text, running[0].percent if running else None)


def find_disk(fleet: FleetFacts, wwid: str) -> tuple[tuple[NodeFacts, DiskFacts], ...]:
    """Every node that sees this disk; two nodes on one JBOD see one disk."""
    return tuple((node, disk) for node in fleet.nodes.values() for disk in (node.disks if known(node.disks) else ()) if disk.wwid == wwid)


def why_unknown(value: object) -> str:
    """The reason when `value` is not known, else an empty text."""
    return value.reason if isinstance(value, Unknown) else ""


def owner_of(node: NodeFacts, disk: DiskFacts) -> tuple[PoolFacts, VdevFacts] | None:
    """The pool and vdev that a disk is, on this node."""
    return members(node).get(disk.wwid) if known(disk.wwid) else None
