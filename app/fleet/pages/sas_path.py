"""How a disk is reached: from the HBA hop by hop to its bay, with what the phys of every hop count.

Counters stand since their phy's last reset, so an old number proves nothing; what was added lately is said beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.facts import DiskFacts, LinkFacts, NodeFacts, PathFacts, PhyFacts, known


@dataclass(frozen=True)
class Hop:
    """One thing on the way, and the link that leads on from it."""

    kind: str  # "HBA", "expander", "enclosure", "bay", "disk"
    name: str
    model: str = ""
    phys: str = ""  # the phys of the link that leads on
    errors: str = ""
    tone: str = "idle"


@dataclass(frozen=True)
class Way:
    """The way to one kernel device. `unknown` says why there are no hops."""

    name: str
    hops: tuple[Hop, ...]
    unknown: str = ""


def of_disk(node: NodeFacts, disk: DiskFacts) -> tuple[Way, ...]:
    return tuple(_way(node, disk, path) for path in disk.paths)


def _way(node: NodeFacts, disk: DiskFacts, path: PathFacts) -> Way:
    if not known(path.link):
        return Way(path.name, (), path.link.reason)
    return Way(path.name, tuple(_hops(node, disk, path, path.link)))


def _hops(node: NodeFacts, disk: DiskFacts, path: PathFacts, link: LinkFacts) -> Iterator[Hop]:
    models = node.fabric.models if known(node.fabric) else {}
    things = (link.host, *link.expanders)
    for thing, far in zip(things, (*link.expanders, link.end), strict=True):
        kind = "HBA" if thing == link.host else "expander"
        where = f" at {link.pci}" if thing == link.host and link.pci else ""
        yield Hop(kind, thing, models.get(thing, "") + where, *_link(node, thing, far))
    if known(disk.bay):
        yield Hop("enclosure", disk.bay.enclosure_id, disk.bay.model)
        yield Hop("bay", str(disk.bay.slot))
    yield Hop("disk", path.name, disk.model, *_its_end(disk))


def _link(node: NodeFacts, owner: str, far: str | None) -> tuple[str, str, str]:
    """(phys, what they count, tone) of the link from `owner` to `far`."""
    if not known(node.fabric):
        return "", f"its phys are not known: {node.fabric.reason}", "watch"
    phys = [phy for phy in node.fabric.phys if far is not None and phy.owner == owner and phy.far == far]
    if not phys:
        return "", "no phy is known to lead on from here", "watch"
    rates = ", ".join(dict.fromkeys(phy.rate or "no rate" for phy in phys))
    text = "; ".join(dict.fromkeys(f"{phy.name}: {_counts(phy)}" if _counts(phy) != CLEAN else CLEAN for phy in phys))
    return f"{len(phys)} phy{'s' if len(phys) > 1 else ''} ({', '.join(phy.name for phy in phys)}) at {rates}", text, _tone(phys)


CLEAN = "no errors"


def _counts(phy: PhyFacts) -> str:
    if not known(phy.counts):
        return "counters not known"
    total = f"{sum(phy.counts):,} errors since its reset" if any(phy.counts) else CLEAN
    return f"{total}, {phy.growth.words} added" if known(phy.growth) and phy.growth.any else total


def _tone(phys: list[PhyFacts]) -> str:
    if any(known(phy.growth) and phy.growth.any for phy in phys):
        return "watch"
    return "good" if all(known(phy.counts) for phy in phys) else "watch"


def _its_end(disk: DiskFacts) -> tuple[str, str, str]:
    """What the disk's own phys say; it may hear what ours does not."""
    links = disk.condition.links if known(disk.condition) else ()
    if not links:
        return "", "", "idle"
    text = "; ".join(f"port {one.port} phy {one.phy}: {one.status}{_own_errors(one.counts)}" for one in links)
    return text, "", "good" if all(one.gbit or "no device" in one.status for one in links) else "idle"


def _own_errors(counts: tuple[int | None, ...]) -> str:
    lines = [count for count in counts if count]
    return f", {sum(lines):,} errors since its power-on" if lines else ""
