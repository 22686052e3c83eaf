"""What the label census of the whole fleet shows, in sentences: per pool for its page, per node for the labels that are foreign there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.facts import lookup
from workflows.facts.fleet.census import LABEL_STATES, Census, LabelSeen, census
from workflows.facts.fleet.label_damage import damages
from workflows.facts.fleet.label_timelines import disk_key, disk_name, outliers
from workflows.facts.model import FleetFacts
from workflows.facts.unknown import known

TITLES = {
    "guid": "sources disagree on the pool's guid",
    "duplicate": "two disks claim one vdev",
    "split": "split timeline",
    "ahead": "label ahead of its siblings",
    "behind": "old copy",
    "damaged": "label damaged",
    "elsewhere": "imported on another node",
    "former": "no member any more",
    "foreign": "not imported anywhere we know",
    "unread": "label not read",
}
GRAVE = ("guid", "duplicate", "split")
SERIOUS = ("ahead", "behind", "damaged", "unread")
NAMED_MAX = 6  # disks named in one sentence


@dataclass(frozen=True)
class Finding:
    """One thing about labels. `wwids` are the disks it is about, `nodes` those that read them."""

    kind: str  # a key of TITLES
    sentence: str
    pool_guid: int | None
    pool: str
    nodes: tuple[str, ...]
    wwids: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    @property
    def tone(self) -> str:
        return "bad" if self.kind in GRAVE else "watch" if self.kind in SERIOUS else "info"


def findings(fleet: FleetFacts) -> tuple[Finding, ...]:
    """Everything the census shows, gravest first."""
    seen = census(fleet)
    found = (*_guids(fleet), *_duplicates(seen), *_timelines(fleet, seen), *_damages(fleet, seen), *_elsewhere(fleet, seen), *_unread(seen))
    return tuple(sorted(found, key=lambda f: list(TITLES).index(f.kind)))


def of_pool(found: tuple[Finding, ...], pool_guid: int) -> tuple[Finding, ...]:
    return tuple(f for f in found if f.pool_guid == pool_guid)


def of_node(found: tuple[Finding, ...], node: str, own: frozenset[int]) -> tuple[Finding, ...]:
    """What a node's page says: everything about labels it reads of pools that it does not have imported itself."""
    return tuple(f for f in found if node in f.nodes and f.pool_guid not in own and f.kind != "unread")


def disks_of(seen: Census, pool_guid: int) -> int:
    """How many disks carry a label of this pool; one that two nodes or two paths see counts once."""
    return len({disk_key(s) for (guid, _), group in seen.by_vdev.items() if guid == pool_guid for s in group})


def _guids(fleet: FleetFacts) -> Iterator[Finding]:
    """A pool that was made anew under an old name, or one that holds another pool's disk. No guard passes while its guid is not known."""
    for node in fleet.nodes.values():
        for pool in node.pools if known(node.pools) else ():
            if pool.disputed:
                text = ", ".join(f"{guid} by {who}" for who, guid in pool.disputed)
                again = "Have the node look again; if it stays so, find out which disk carries the other pool's label."
                yield Finding("guid", f"{pool.name} on {node.node} has the guid {text}. {again}", None, pool.name, (node.node,))


def _finding(kind: str, sentence: str, group: list[LabelSeen]) -> Finding:
    label = group[0].label
    return Finding(
        kind,
        sentence,
        label.pool_guid,
        label.pool_name or "",
        tuple(dict.fromkeys(s.node for s in group)),
        tuple(dict.fromkeys(s.wwid for s in group if s.wwid)),
    )


def _duplicates(seen: Census) -> Iterator[Finding]:
    for group in seen.duplicates():
        label, each = group[0].label, _one_each(list(group))
        sentence = (
            f"{len(each)} disks claim to be vdev {label.guid} of {label.pool_name or 'a pool it does not name'}: {_named(each)}. One is a copy of the other, "
            f"or a member that was replaced came back. ZFS takes the first it finds: take one out before the next import."
        )
        yield _finding("duplicate", sentence, list(group))


def _timelines(fleet: FleetFacts, seen: Census) -> Iterator[Finding]:
    yield from (_finding(o.kind, o.sentence, [o.seen]) for o in outliers(fleet, seen))


def _damages(fleet: FleetFacts, seen: Census) -> Iterator[Finding]:
    for d in damages(fleet, seen):
        wwids = (d.disk.wwid,) if known(d.disk.wwid) else ()
        yield Finding("damaged", d.sentence, d.pool_guid, d.pool, (d.node.node,), wwids)


def _elsewhere(fleet: FleetFacts, seen: Census) -> Iterator[Finding]:
    """Labels read on a node that has not imported their pool: another node has it, or none."""
    holders, leaves, guids = _holders(fleet)
    groups: dict[tuple[str, int | None], list[LabelSeen]] = {}
    for label in (s for group in seen.by_vdev.values() for s in group):
        pool = label.label.pool_guid
        if pool is None and label.label.guid in guids:
            continue  # a spare or a cache device in its place
        if label.node not in holders.get(pool, ()):
            groups.setdefault((label.node, pool), []).append(label)
        elif (pool, label.label.guid) not in leaves:
            groups.setdefault((f"{label.node}\0former", pool), []).append(label)
    for (node, pool), group in groups.items():
        yield _of_group(seen, node, pool, group, sorted(holders.get(pool, ())))


def _of_group(seen: Census, node: str, pool: int | None, group: list[LabelSeen], holders: list[str]) -> Finding:
    name = group[0].label.pool_name or "a pool that they do not name"
    disks = _named(_one_each(group), where=False)
    if node.endswith("\0former"):
        return _finding(
            "former", f"{name} does not list what the labels on {disks} say: former members, or a replacement that came back.", group
        )
    if not holders:
        label = group[0].label
        whose = f"{name} of {label.hostname or 'an unknown host'} ({LABEL_STATES.get(label.state, f'state {label.state}')})"
        return _finding("foreign", f"{node} reads labels of {whose}, which no node is known to have imported, on {disks}.", group)
    theirs = {s.wwid for (guid, _), all_ in seen.by_vdev.items() if guid == pool for s in all_ if s.node in holders and s.wwid}
    alone = [s for s in group if s.wwid not in theirs]
    shared = f"{node} sees {len(_one_each(group))} disks of {name}, which {' and '.join(holders)} has imported. They share a shelf: {name} must not be imported here too."
    lost = f"{node} reads labels of {name}, which {' and '.join(holders)} has imported, on disks that are not seen there: {_named(_one_each(alone), where=False)}."
    return _finding("elsewhere", lost if alone else shared, group)


def _holders(fleet: FleetFacts) -> tuple[dict[int | None, set[str]], set[tuple[int, int]], set[int]]:
    """Who has which pool imported, the leaves of those pools, and the guids of all leaves."""
    holders: dict[int | None, set[str]] = {}
    leaves: set[tuple[int, int]] = set()
    guids: set[int] = set()
    for member in lookup.members(fleet):
        if known(member.pool_guid):
            holders.setdefault(member.pool_guid, set()).add(member.node)
        if known(member.vdev.guid):
            guids.add(member.vdev.guid)
            if known(member.pool_guid):
                leaves.add((member.pool_guid, member.vdev.guid))
    return holders, leaves, guids


def _unread(seen: Census) -> Iterator[Finding]:
    yield from (Finding("unread", f"{disk} on {node}: {why}", None, "", (node,)) for node, disk, why in seen.unread)


def _one_each(group: list[LabelSeen]) -> list[LabelSeen]:
    return list({disk_key(s): s for s in reversed(group)}.values())[::-1]


def _named(group: list[LabelSeen], where: bool = True) -> str:
    more = f" and {len(group) - NAMED_MAX} more" if len(group) > NAMED_MAX else ""
    return ", ".join(disk_name(s, where) for s in group[:NAMED_MAX]) + more
