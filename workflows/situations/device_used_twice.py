"""Two vdevs of one node hold the same device in service. One device holds one member: what the one writes destroys what the other holds.

It is as well that the texts are not of one moment or not of one node, or that a name leads to two disks. Until that is known the margin that
is printed for either is not to be relied on, and nothing of the pools is replaced.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts
from workflows.facts.read.used_twice import IN_SERVICE
from workflows.situations import _cures, _pools, _words

SLUG = "device-used-twice"
MANUALS: tuple[str, ...] = ()
GATES = True


@dataclass(frozen=True)
class Use:
    """One place in which a device serves."""

    pool: PoolFacts
    top: VdevFacts
    leaf: VdevFacts

    @property
    def text(self) -> str:
        return f"{self.top.name} of {self.pool.name}" if self.top.children else self.pool.name


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, uses) for node in fleet.nodes.values() for uses in _twice(node))


def _twice(node: NodeFacts) -> Iterator[tuple[Use, ...]]:
    found: dict[str, list[Use]] = {}
    for pool in node.pools_read:
        for _, top in pool.tops_read:
            for leaf in top.leaves():
                if leaf.name in pool.used_twice and leaf.state in IN_SERVICE:
                    found.setdefault(leaf.name, []).append(Use(pool, top, leaf))
    return (tuple(uses) for uses in found.values())


def _situation(node: NodeFacts, uses: tuple[Use, ...]) -> Situation:
    first, name = uses[0], uses[0].leaf.short
    where, pools = " and ".join(use.text for use in uses), " ".join(dict.fromkeys(use.pool.name for use in uses))
    sure = not _pools.is_paste(node)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{first.leaf.name}",
        node=node.node,
        severity="act" if sure or not _pools.name_moves(first.leaf.name) else "watch",  # every node has an sdb
        title=f"{name} is in service twice: in {where}",
        meaning=" ".join(_meaning(name, where, sure)),
        evidence=tuple(
            _words.evidence(node, "zpool_status", line)
            for use in uses
            for line in (f"{use.top.name}  {use.top.state}", f"{use.leaf.name}  {use.leaf.state}")
        ),
        subject={"node": node.node, "pools": pools, "vdev_guid": _pools.key_of(first.leaf)},
        sure=sure,
        cures=(_look(),),
        gate=True,
        vdevs=tuple(dict.fromkeys(_pools.key_of(use.leaf) for use in uses)),
    )


def _meaning(name: str, where: str, sure: bool) -> Iterator[str]:
    yield f"{name} is called in service in {where}. One disk cannot hold both, and a hot spare that pools share stands in for one member at a time."
    if not sure:
        yield "If the texts are of two nodes or of two moments, that is all: give those of one node and one moment."
    yield (
        "Otherwise the name leads to two disks, or two pools write to one disk, and each destroys what the other wrote. How many losses either vdev "
        "survives is not known until that is settled, whatever is printed. Replace, detach, online and scrub nothing before."
    )


def _look() -> Cure:
    return _cures.look(
        "Ask for the whole paths and the guids at one moment, and read the label of that disk: it says which pool and which member it is. Then ask every "
        "other node that reaches the disk whether it has a pool on it.",
        ("zpool", "status", "-P", "-p"),
        ("zpool", "status", "-g", "-p"),
    )
