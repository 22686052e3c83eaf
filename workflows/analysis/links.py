"""The links of a node's SAS fabric, the weakest first, each with both its ends; and how long the counters have been quiet.

Only what grows counts. The same small number on every lane of a wide port is one event, a cable put in or an HBA reset, long over.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from workflows.facts import DiskFacts, FabricFacts, Known, NodeFacts, PhyFacts, Unknown, derived, known, need
from workflows.situations import phy_errors


@dataclass(frozen=True)
class Link:
    """One port of an HBA or expander with its lanes, and what is at the other end."""

    node: NodeFacts
    fabric: FabricFacts
    phys: tuple[PhyFacts, ...]

    @property
    def worst(self) -> PhyFacts:
        return max(self.phys, key=phy_errors.per_hour)

    @property
    def name(self) -> str:
        return self.worst.port or self.worst.name

    @property
    def per_hour(self) -> float:
        return phy_errors.per_hour(self.worst)

    @property
    def grows(self) -> bool:
        return any(known(p.growth) and phy_errors.is_growing(p.growth) and not phy_errors.one_event(p, self.fabric) for p in self.phys)

    @property
    def ends(self) -> str:
        """Both ends and the bay: "host2 (mpt3sas) to expander-2:0 (LSI SAS2X28 0e12)"."""
        return f"{phy_errors.near(self.fabric, self.worst)} to {phy_errors.far_end(self.node, self.fabric, self.worst)}"

    @property
    def disk(self) -> DiskFacts | None:
        """The one disk at its other end; None for a link to an expander."""
        disks = self.node.disks if known(self.node.disks) else ()
        return next((d for d in disks if known(d.wwid) and d.wwid == self.worst.wwid), None) if self.worst.wwid else None

    @property
    def numbers(self) -> str:
        lanes = (
            f"{sum(_is_ill(p) for p in self.phys)} of {len(self.phys)} lanes grow; the weakest is" if len(self.phys) > 1 else "Its phy is"
        )
        growth = self.worst.growth
        return f"{lanes} {self.worst.name}: {growth.words if known(growth) else growth.reason}"


def _is_ill(phy: PhyFacts) -> bool:
    return known(phy.growth) and phy_errors.is_growing(phy.growth)


@derived
def links(node: NodeFacts) -> Known[tuple[Link, ...]]:
    """The weakest first."""
    fabric = need(node.fabric, f"The SAS fabric of {node.node} is not known")
    by_port: dict[str, list[PhyFacts]] = {}
    for phy in fabric.phys:
        by_port.setdefault(phy.port or phy.name, []).append(phy)
    found = [Link(node, fabric, tuple(phys)) for phys in by_port.values()]
    return tuple(sorted(found, key=lambda link: (not link.grows, -link.per_hour, link.name)))


@derived
def watched_seconds(node: NodeFacts) -> Known[float]:
    """Over how long growth is measured."""
    growths = [phy.growth for phy in need(node.fabric).phys if known(phy.growth)]
    return min(g.seconds for g in growths) if growths else Unknown(f"{node.node} was looked at once only; growth needs a second look.")


def behind(link: Link) -> frozenset[str]:
    """The disks that cannot be reached any more when this link is gone: those with no other way."""
    worst, cut = link.worst, set()
    for disk in link.node.disks if known(link.node.disks) else ():
        ways = [path.link for path in disk.paths if known(path.link)]
        if known(disk.wwid) and ways and all(worst.far in (*way.expanders, way.end) for way in ways):
            cut.add(disk.wwid)
    return frozenset(cut)


@dataclass(frozen=True)
class Quiet:
    """Since when no counter changed, as far as it was looked at."""

    since: int
    until: int
    counts: str  # a fingerprint

    @property
    def seconds(self) -> int:
        return self.until - self.since

    @property
    def text(self) -> str:
        return f"{self.since}:{self.until}:{self.counts}"


def read_quiet(text: str) -> Quiet | None:
    found = re.fullmatch(r"([0-9]{1,12}):([0-9]{1,12}):([0-9a-f]{16})", text)
    return Quiet(int(found.group(1)), int(found.group(2)), found.group(3)) if found else None


def phy_texts(phys: Iterable[PhyFacts]) -> list[str]:
    """What phys say of themselves; it changes with every error, and when one comes or goes."""
    return [f"{p.name} {p.counts if known(p.counts) else 'not known'} {p.rate}" for p in phys]


def paths_and_phys(node: NodeFacts) -> list[str]:
    """Phys where there are some, and every path of every disk with its state."""
    paths = [
        f"{disk.wwid if known(disk.wwid) else ''} {path.hctl} {path.state if known(path.state) else 'not known'}"
        for disk in (node.disks if known(node.disks) else ())
        for path in disk.paths
    ]
    return [*(phy_texts(node.fabric.phys) if known(node.fabric) else ()), *paths]


def fingerprint(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def look_again(lines: Iterable[str], before: str, at: float) -> Quiet:
    """What this look adds: whatever changed begins the quiet anew."""
    counts = fingerprint(lines)
    was = read_quiet(before)
    return Quiet(was.since if was and was.counts == counts and was.since <= at else int(at), int(at), counts)
