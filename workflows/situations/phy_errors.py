"""A SAS link counts errors: the weakest lane is named with both its ends, so that a person knows which cable, slot or disk to touch.

Only growth counts. Counters keep their numbers until a reset, and the same small number on every lane of a wide port is one event, a
cable put in or an HBA reset, long over.
"""

from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FabricFacts, FleetFacts, Growth, NodeFacts, PhyFacts, known, title

SLUG = "phy-errors"
MANUALS: tuple[str, ...] = ("sas-link-triage",)
RUNBOOK = "sas-link-triage"
NOISE_PER_HOUR = 10  # fewer bad dwords than this is what a healthy cable has on a bad day
SYNC_PER_HOUR = 5  # a disk put in or switched on loses sync a few times
ACT_PER_HOUR = 1000
TOGETHER_MIN = 3  # links of one expander or HBA


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(s for node in fleet.nodes.values() if known(node.fabric) for s in _on(node, node.fabric))


def _on(node: NodeFacts, fabric: FabricFacts) -> Iterator[Situation]:
    """One situation a link; when three links of one owner grow, one for the owner."""
    ill = [phy for phy in fabric.phys if known(phy.growth) and is_growing(phy.growth) and not one_event(phy, fabric)]
    by_owner: dict[str, list[PhyFacts]] = {}
    for phy in ill:
        by_owner.setdefault(phy.owner, []).append(phy)
    for owner, phys in by_owner.items():
        links: dict[str, list[PhyFacts]] = {}
        for phy in phys:
            links.setdefault(phy.port or phy.name, []).append(phy)
        if len(links) >= TOGETHER_MIN:
            yield _situation(node, fabric, phys, owner, len(links))
        else:
            yield from (_situation(node, fabric, link, "", 1) for link in links.values())


def is_growing(growth: Growth) -> bool:
    dwords, disparity, sync, resets = growth.counts
    hours = max(growth.seconds, 1.0) / 3600
    return (dwords + disparity) / hours >= NOISE_PER_HOUR or sync / hours >= SYNC_PER_HOUR or resets > 0


def one_event(phy: PhyFacts, fabric: FabricFacts) -> bool:
    """Whether every lane of its wide port counted the same."""
    lanes = [other for other in fabric.phys if other.port == phy.port and phy.port is not None]
    return len(lanes) > 1 and len({other.growth.counts if known(other.growth) else None for other in lanes}) == 1


def _situation(node: NodeFacts, fabric: FabricFacts, phys: list[PhyFacts], owner: str, links: int) -> Situation:
    worst = max(phys, key=per_hour)
    far = far_end(node, fabric, worst)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{owner or worst.port or worst.name}",
        node=node.node,
        severity="act" if per_hour(worst) >= ACT_PER_HOUR else "watch",
        title=f"{links} links of {owner} count errors, most on {worst.name}"
        if owner
        else f"The link {near(fabric, worst)} to {far} counts errors",
        meaning=_meaning(fabric, worst, phys, owner, far),
        answers=(
            Answer(
                RUNBOOK,
                {"node": node.node},
                "It watches the counters, names the weakest link with both ends, and changes one thing at a time.",
            ),
        ),
        evidence=tuple(_evidence(node, phy) for phy in sorted(phys, key=per_hour, reverse=True)),
        subject=_subject(node, worst),
        cures=_cures_of(fabric, worst, owner, far),
    )


def _cures_of(fabric: FabricFacts, worst: PhyFacts, owner: str, far: str) -> tuple[Cure, ...]:
    what = (
        f"{owner}, its cable and its power"
        if owner
        else f"the bay and the connector of {far}, then its cable"
        if worst.wwid
        else f"the cable and its plugs between {near(fabric, worst)} and {far}"
    )
    return (
        Cure(
            "reseat",
            f"Look at {what}: reseat, then exchange, one thing at a time.",
            needs="What hangs on it can be away for a moment: its pools have redundancy left, and no resilver runs.",
            save_first="The counters of every phy (`grep . /sys/class/sas_phy/*/*count`): some go back to 0 with a reset.",
        ),
        Cure("look", "Look again after an hour of work: where no counter grew, it is mended. The runbook watches them.", runbook=RUNBOOK),
        Cure("wait", "Replace no disk for it. If nothing is done the link loses commands, and then the disks behind it."),
    )


def _meaning(fabric: FabricFacts, worst: PhyFacts, phys: list[PhyFacts], owner: str, far: str) -> str:
    sentences = [f"The weakest lane is {worst.name}: from {near(fabric, worst)} to {far}. It counted {_counted(worst)}."]
    if owner:
        sentences.append(f"Several links of {owner} grow together, so look at {owner}, its cable and its power before any disk.")
    elif worst.wwid:
        sentences.append(
            "Only the link of this one disk grows, so it is the disk, its bay or its connector. Put the disk into another bay: if the errors "
            "go with it, it is the disk."
        )
    elif worst.lanes > 1 and len(phys) < worst.lanes:
        sentences.append(f"{len(phys)} of {worst.lanes} lanes grow, so it is a lane of that cable or its plug, not what hangs behind it.")
    else:
        sentences.append("It is the cable, its plugs, or the port at either end.")
    sentences.append(
        "Change one thing at a time, and look again after an hour. A link that counts errors loses commands before it loses disks."
    )
    if worst.rate and worst.gbit is None:
        sentences.append(f"Its rate is {worst.rate}.")
    return " ".join(sentences)


def near(fabric: FabricFacts, phy: PhyFacts) -> str:
    model = fabric.models.get(phy.owner, "")
    return f"{phy.owner} ({model})" if model else phy.owner


def far_end(node: NodeFacts, fabric: FabricFacts, phy: PhyFacts) -> str:
    disk = next((d for d in node.disks if d.wwid == phy.wwid), None) if phy.wwid and known(node.disks) else None
    if disk is not None:
        return f"{title(disk)}{f', {phy.place}' if phy.place else ''}"
    if phy.far is None:
        return "something that is not seen"
    model = fabric.models.get(phy.far, "")
    return f"{phy.far} ({model})" if model else phy.far


def per_hour(phy: PhyFacts) -> float:
    return sum(phy.growth.counts) * 3600 / max(phy.growth.seconds, 1.0) if known(phy.growth) else 0.0


def _counted(phy: PhyFacts) -> str:
    return phy.growth.words if known(phy.growth) else "a number of errors that is not known"


def _evidence(node: NodeFacts, phy: PhyFacts) -> Evidence:
    counts = phy.counts if known(phy.counts) else ()
    return Evidence(node.node, "sas_phys", node.digests.get("sas_phys", ""), f"{phy.name}: {' '.join(map(str, counts))}, {_counted(phy)}")


def _subject(node: NodeFacts, phy: PhyFacts) -> dict[str, str]:
    return {"node": node.node, "phy": phy.name, "owner": phy.owner} | ({"wwid": phy.wwid} if phy.wwid else {})
