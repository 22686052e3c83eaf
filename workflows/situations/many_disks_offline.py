"""Several members were lost together: a cable, an expander, an HBA, a shelf or its power. The disks themselves are mostly well.

They belong together when everything behind one thing is lost, when they went within a minute, or when they sit in bays side by
side. Sharing the node's only HBA is no sign by itself.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agents.collectors.block import RUNNING
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, VdevFacts, known, lookup
from workflows.facts.lookup import wwid_of
from workflows.situations import _cures, _words
from workflows.situations._lost import Lost, disk_by_wwid, gone_leaves, is_distributed, lost_leaves, seat_of

SLUG = "many-disks-offline"
MANUALS: tuple[str, ...] = ("many-disks-offline",)
GATES = True
RUNBOOK = "many-disks-offline"
TOGETHER_SECONDS = 60
LEAVES_MIN = 2
UNRELATED_MIN = 3  # lost in one minute without anything in common that we know
ROW_MIN = 3  # bays side by side
SHARE_OF_POOL = 4  # every fourth member of a pool is more than chance
KINDS = ("HBA", "expander", "enclosure")  # the farther up, the earlier

SUSPECTS = {
    "HBA": "Everything behind this HBA is gone: the HBA itself, its driver, its slot, or the cable to the first shelf.",
    "expander": "Everything behind this expander is gone: the expander, its I/O module, or the cable that leads to it.",
    "enclosure": "Everything in this enclosure is gone: its power, both I/O modules, or the cable that leads to it.",
    "bays": "They sit side by side: a segment of the backplane, or the power rail that feeds it.",
    "pool": (
        "What they share is not in this text. Three disks rarely fail at once: power, a cable, an expander, an HBA, or names that moved are more likely than as "
        "many broken disks. When each of them went, `zpool events -v` and the kernel's log say."
    ),
    "moment": "They went in the same minute: power, a cable, an expander or an HBA.",
}


@dataclass(frozen=True)
class Thing:
    """What several disks hang on."""

    kind: str
    key: str

    @property
    def words(self) -> str:
        return f"{self.kind} {self.key}"


@dataclass(frozen=True)
class Group:
    """Lost leaves that have one cause."""

    thing: Thing
    lost: tuple[Lost, ...]
    whole: bool  # nothing behind the thing works any more
    at_once: bool  # they went within a minute
    also: tuple[Thing, ...] = ()  # other things that fit as well


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    by_node: dict[str, list[Lost]] = {}
    for lost in left(fleet):
        by_node.setdefault(lost.node.node, []).append(lost)
    return tuple(
        _situation(group) for lost in by_node.values() if len(lost) >= LEAVES_MIN for group in (*groups(lost), *_of_one_pool(lost))
    )


def left(fleet: FleetFacts) -> Iterator[Lost]:
    """Members that went by themselves; OFFLINE is a person's command. Of a suspended pool also those that its tree still calls ONLINE."""
    yield from (lost for lost in lost_leaves(fleet) if lost.leaf.state != "OFFLINE" and not _moved(lost) and not is_distributed(lost.leaf))
    yield from gone_leaves(fleet)


def _moved(lost: Lost) -> bool:
    """Whether it was not found under its old name when the pool was imported, and its own disk runs under another one: names moved over a boot,
    and all whose names did are called lost in the moment of the import. No cable is to blame for that."""
    own, now = lost.carrier(), lookup.at_path(lost.node, lost.path)
    if lost.leaf.was is None or own is None or not _runs(own) or not known(now):
        return False
    return now is None or (known(now.wwid) and now.wwid != own.wwid)


def explains(cause: Situation, other: Situation) -> bool:
    """Whether `other` is about one of the members that were lost together, or about a pool that their loss took down or suspended: what it
    could not write then it counts as damaged."""
    if other.slug == "data-errors":
        return other.node == cause.node and other.subject["pool"] in cause.subject["suspended"].split(" ")
    if other.slug in ("pool-down", "vdev-degraded"):
        follows = other.slug == "vdev-degraded" or other.subject.get("why") == "members"
        return other.node == cause.node and follows and other.subject["pool"] in cause.subject["pools"].split(" ")
    if other.slug == "pool-suspended":
        # A multihost suspension has other causes, and its dangers are its own.
        here = other.node == cause.node and other.subject["kind"] != "mmp"
        return here and other.subject["pool"] in cause.subject["pools"].split(" ")
    if other.slug == "label-corrupt" and other.subject["damage"] == "unread":
        return other.node == cause.node and other.subject.get("wwid", "") in cause.subject["wwids"].split(" ")
    guid = other.subject.get("vdev_guid")
    return other.node == cause.node and guid is not None and guid in cause.subject["vdev_guids"].split(" ")


def groups(lost: list[Lost]) -> Iterator[Group]:
    """The largest group first; a leaf is in one group only."""
    left = list(lost)
    while len(left) >= LEAVES_MIN:
        found = _largest(left)
        if found is None:
            return
        yield found
        left = [each for each in left if each not in found.lost]


def _of_one_pool(lost: list[Lost]) -> Iterator[Group]:
    """Many lost of one pool, of which nothing shows what they share or when they went: of a pasted text, most often.

    Never a group for a runbook, which needs to know what is to be mended; for advice it is enough.
    """
    grouped = {id(each) for group in groups(lost) for each in group.lost}
    for name in dict.fromkeys(each.pool.name for each in lost):
        rest = [each for each in lost if each.pool.name == name and id(each) not in grouped and not each.replacement_serves()]
        held = [each for each in lost if each.pool.name == name and id(each) not in grouped and each.by_spare and each.leaf.counted]
        if max((sum(other.top is each.top for other in (*rest, *held)) for each in held), default=0) >= UNRELATED_MIN:
            rest += held  # counted since the pool came in: the spares that stand in hide how many were lost together, and do not mend why
        leaves = sum(len(top.leaves()) for _, top in rest[0].pool.tops_read) if rest else 0
        of_one_vdev = max((sum(other.top is each.top for other in rest) for each in rest), default=0)
        if of_one_vdev >= UNRELATED_MIN or (len(rest) >= UNRELATED_MIN and len(rest) * SHARE_OF_POOL >= leaves):
            yield Group(Thing("pool", name), tuple(rest), False, False)


def _largest(lost: list[Lost]) -> Group | None:
    node = lost[0].node
    candidates = [*_shared(node, lost), *_side_by_side(node, lost), *_at_one_moment(node, lost)]
    if not candidates:
        return None
    best = max(candidates, key=lambda group: (len(group.lost), group.whole))  # of equals the first: farthest up
    also = (g.thing for g in candidates if g is not best and g.whole and set(map(id, g.lost)) == set(map(id, best.lost)))
    return Group(best.thing, best.lost, best.whole, best.at_once, tuple(also))


def _shared(node: NodeFacts, lost: list[Lost]) -> Iterator[Group]:
    """Lost leaves behind one thing, when nothing behind it works, or when they went at once."""
    alive = _alive(node, lost)
    things = {
        thing: [each for each in lost if thing in things_of(node, each.leaf)] for each in lost for thing in things_of(node, each.leaf)
    }
    for thing in sorted(things, key=lambda thing: (KINDS.index(thing.kind), thing.key)):
        members = things[thing]
        whole, together = thing not in alive, tuple(_within_a_minute(node, members))
        if whole and len(members) >= LEAVES_MIN:
            yield Group(thing, tuple(members), True, len(together) == len(members))
        elif len(together) >= LEAVES_MIN:
            yield Group(thing, together, False, True)


def _side_by_side(node: NodeFacts, lost: list[Lost]) -> Iterator[Group]:
    """Three or more lost leaves in a row of bays."""
    seats = sorted((seat, i) for i, each in enumerate(lost) if (seat := seat_of(node, each.leaf)) is not None)
    row: list[tuple[tuple[str, int], int]] = []
    for seat, i in [*seats, (("", -1), -1)]:
        if row and (seat[0] != row[-1][0][0] or seat[1] - row[-1][0][1] > 1):
            if len(row) >= ROW_MIN:
                place = f"{row[0][0][1]} to {row[-1][0][1]} of {row[0][0][0]}"
                yield Group(Thing("bays", place), tuple(lost[j] for _, j in row), False, False)
            row = []
        row.append((seat, i))


def _at_one_moment(node: NodeFacts, lost: list[Lost]) -> Iterator[Group]:
    together = tuple(_within_a_minute(node, lost))
    if len(together) >= UNRELATED_MIN:
        yield Group(Thing("moment", f"of {len(together)} losses"), together, False, True)


def _within_a_minute(node: NodeFacts, lost: Iterable[Lost]) -> list[Lost]:
    """The largest set of them that left service within a minute, as far as the portal saw it."""
    ages = {str(c.vdev_guid): c.age_seconds for c in (node.leaf_changes if known(node.leaf_changes) else ()) if c.after != "ONLINE"}
    timed = [(ages[each.guid], each) for each in lost if each.guid in ages]
    windows = ([each for age, each in timed if 0 <= age - start <= TOGETHER_SECONDS] for start, _ in timed)
    return max(windows, key=len, default=[])


def things_of(node: NodeFacts, leaf: VdevFacts) -> frozenset[Thing]:
    """What the leaf's disk hangs on: by the kernel while it lists the disk, offline or not, else by what the labels remember of it."""
    disk = disk_by_wwid(node, leaf)
    if disk is not None and _runs(disk):
        return frozenset(_things_of_disk(disk))
    return frozenset((*_remembered(node, leaf), *(_things_of_disk(disk) if disk is not None else ())))


def _things_of_disk(disk: DiskFacts) -> Iterator[Thing]:
    for path in disk.paths:
        if known(path.link):
            yield Thing("HBA", path.link.pci or path.link.host)
            yield from (Thing("expander", expander) for expander in path.link.expanders)
    if known(disk.bay):
        yield Thing("enclosure", disk.bay.enclosure_id)


def _remembered(node: NodeFacts, leaf: VdevFacts) -> Iterator[Thing]:
    pci = re.match(r"pci-([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])-", leaf.phys_path or "")
    if pci:
        yield Thing("HBA", pci.group(1))
    seat = seat_of(node, leaf)
    if seat is not None:
        yield Thing("enclosure", seat[0])


def _alive(node: NodeFacts, lost: list[Lost]) -> frozenset[Thing]:
    """Everything behind which some disk still works, be it a member or not."""
    gone = {wwid for each in lost if (wwid := wwid_of(each.leaf)) is not None}
    disks = node.disks if known(node.disks) else ()
    return frozenset(t for disk in disks if known(disk.wwid) and disk.wwid not in gone and _runs(disk) for t in _things_of_disk(disk))


def _runs(disk: DiskFacts) -> bool:
    return any(known(path.state) and path.state in RUNNING for path in disk.paths)


def _situation(group: Group) -> Situation:
    lost, node = group.lost, group.lost[0].node
    pools = ", ".join(dict.fromkeys(each.pool.name for each in lost))
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{group.thing.kind}:{group.thing.key if group.thing.kind != 'moment' else lost[0].guid}",
        node=node.node,
        severity="act",
        title=_title(group, pools),
        meaning=_meaning(group),
        evidence=tuple(_evidence(group)),
        answers=_answers(group),
        subject={
            "node": node.node,
            "pool": lost[0].pool.name,
            "pools": " ".join(dict.fromkeys(each.pool.name for each in lost)),
            "suspended": " ".join(dict.fromkeys(each.pool.name for each in lost if known(each.pool.suspended) and each.pool.suspended)),
            "suspect": group.thing.words,
            "vdev_guids": " ".join(each.guid for each in lost),
            "wwids": " ".join(wwid for each in lost if (wwid := wwid_of(each.leaf)) is not None),
        },
        sure=group.whole or (len(lost) >= UNRELATED_MIN and group.thing.kind != "pool"),
        cures=tuple(_cures_of(group)),
        gate=True,
        vdevs=tuple(each.guid for each in lost),
    )


def _cures_of(group: Group) -> Iterator[Cure]:
    """For a group that no run is begun for as well."""
    thing = "the disks that are lost" if group.thing.kind in ("pool", "moment") else group.thing.words
    yield _cures.reseat(thing, *(each.leaf for each in group.lost))
    yield _cures.wait("Wait until the disks are there again and no link error was added for ten minutes: what flaps is not brought back.")
    commands = tuple(command for each in group.lost for command in _cures.command(each.pool, each.leaf, "online"))
    yield Cure(
        "online",
        "Bring the members back, the vdev that lacks most first; ZFS writes to each what it missed.",
        commands,
        needs="No pool is suspended.",
    )
    for pool in {each.pool.name: each.pool for each in group.lost}.values():
        yield _cures.scrub(pool, f"Then scrub {pool.name}: only one that ends with 0 errors says that it is whole.")


def _answers(group: Group) -> tuple[Answer, ...]:
    """One for each pool that lost members; the cause is one, but each pool is brought back by itself."""
    why = "It holds replacements back, waits until cables and disks are quiet, brings the members back in order, and scrubs."
    pools = {each.pool.name: each for each in group.lost} if group.thing.kind != "pool" else {}
    return tuple(answer for each in pools.values() for answer in _words.pool_answers(each.node, each.pool, RUNBOOK, why))


def _title(group: Group, pools: str) -> str:
    if group.thing.kind == "pool":
        return f"{len(group.lost)} members of {pools} are lost: look at what they share before any of them"
    count = f"{len(group.lost)} members of {pools} are lost together"
    if group.thing.kind == "moment":
        return f"{count}: they went in the same minute"
    return f"{count}: all hang on {group.thing.words}" if group.thing.kind != "bays" else f"{count}: bays {group.thing.key}"


def _meaning(group: Group) -> str:
    if group.whole or group.thing.kind in ("bays", "moment", "pool"):
        sentences = [SUSPECTS[group.thing.kind]]
    else:
        sentences = [
            f"They went within a minute and all hang on {group.thing.words}, where other disks still work: a cable or one lane group."
        ]
    if group.also:
        sentences.append(f"The same disks share {' and '.join(thing.words for thing in group.also)}, so it may as well be that.")
    if group.whole and group.at_once:
        sentences.append("They went within a minute.")
    sentences.append(
        "Replace no disk and clear nothing yet. Look at power and cables, change one thing at a time, and wait until no link error is added "
        "for ten minutes. When the disks are back, bring the members online and scrub every pool concerned before you call it healthy."
    )
    sentences += dict.fromkeys(each.margin_sentence() for each in group.lost)
    return " ".join(sentences)


def _evidence(group: Group) -> Iterator[Evidence]:
    for lost in group.lost:
        yield lost.tree_line()
    node = group.lost[0].node
    hangs = [f"{lost.guid}: {', '.join(sorted(t.words for t in things_of(node, lost.leaf)))}" for lost in group.lost]
    yield from (lost.evidence("block", line) for lost, line in zip(group.lost, hangs, strict=True) if not line.endswith(": "))
