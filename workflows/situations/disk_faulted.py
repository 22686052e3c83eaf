"""ZFS gave up, or half gave up, a disk that is still there: it answers, carries its label, and fails at its work.

A member that is away is a `disk-missing`, one whose name leads to another disk a `wwid-mismatch`: no leaf is two of them.
"""

import re
from collections.abc import Iterator

from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import FleetFacts, Known, Unknown, VdevFacts, known, lookup
from workflows.situations import _cures, _partitions, _words, errors_everywhere
from workflows.situations._events import lost_by_events
from workflows.situations._lost import Lost, cause_of, lost_members
from workflows.situations.wwid_mismatch import mismatch

SLUG = "disk-faulted"
_FIGURE = re.compile(r"(?P<digits>[0-9]{1,20}(?:\.[0-9]{1,4})?)(?P<unit>[KMGTPE]?)")
OF_A_FILE = "It is a file: what is below it, its file system and that one's disk, is looked at first."
MANUALS: tuple[str, ...] = ("blink-and-replace", "wwid-mismatch-replace", "replace-boot-member")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    faulted = (lost for lost in lost_members(fleet) if lost.role != "log" and lost.is_sick() and mismatch(fleet, lost) is None)
    return (*(_situation(lost) for lost in (*faulted, *_degraded(fleet))), *lost_by_events(fleet, SLUG, ("FAULTED", "DEGRADED")))


def _degraded(fleet: FleetFacts) -> Iterator[Lost]:
    """Leaves that still serve although ZED marked them. Without a reason on the line it is only a parent's word."""
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            for role, top in pool.tops_read:
                for line in lookup.lineages(top):
                    if not line[-1].children and line[-1].state == "DEGRADED" and cause_of(line[-1].note):
                        yield Lost(node, pool, role, line)


def _situation(lost: Lost) -> Situation:
    out = lost.leaf.state == "FAULTED"
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity="act" if out and not lost.replacement_serves() else "watch",
        title=f"{lost.pool.name}: the disk of {lost.leaf.short} is {lost.leaf.state}{lost.title_end()}",
        meaning=_meaning(lost, out),
        evidence=tuple(_evidence(lost)),
        answers=(
            *(lost.answers("It replaces the faulted member by its guid, by a disk that carries no label.") if out else ()),
            *(() if not out and (errors_everywhere.several_count(lost.pool) or _first_of(lost) is not lost.leaf) else lost.planned()),
        ),
        subject=_words.subject(lost.node, lost.pool, lost.top, lost.leaf) | {"was": lost.path},
        cures=_partitions.before_replacing(lost.pool, lost.leaf, lost.cures() if out else of_a_serving_member(lost)),
    )


def of_a_serving_member(lost: Lost) -> tuple[Cure, ...]:
    """Of a leaf that is DEGRADED: it serves, so nothing is hurried."""
    if lost.filling() is not None:
        return lost.cures()
    text = (
        f"If the counts grow again with the way to it in order, replace {lost.guid} while it still serves: beside the old disk where a bay is free, "
        "because taking it out first costs redundancy."
    )
    clear = _cures.clear(lost.pool, lost.leaf)
    name = lost.name_of_disk()
    way = (_cures.reseat(name, lost.leaf), clear)
    several = errors_everywhere.several_count(lost.pool) or errors_everywhere.neighbours_unseen(lost.pool, lost.top)
    first = _first_of(lost)
    cures = way if several or first is not lost.leaf else (*way, _cures.replace(lost.pool, lost.leaf, _cures.IN_ITS_BAY, text))
    if len(marked := _marked(lost.top)) > 1:
        cures = (
            cures[0],
            _cures.wait(
                f"{len(marked)} disks of {lost.top.name} are DEGRADED: see to one at a time, and take no two out at once, because each still gives what the other cannot. "
                + _whom_first(marked, first)
            ),
            *cures[1:],
        )
    return _cures.after_the_others(lost.pool, lost.top, lost.leaf, name, _cures.after_resilver(lost.pool, name, cures))


def _marked(top: VdevFacts) -> tuple[VdevFacts, ...]:
    """Its leaves that serve although they were marked for their errors."""
    return tuple(leaf for leaf in top.leaves() if leaf.state == "DEGRADED")


def _first_of(lost: Lost) -> VdevFacts | None:
    """Which of the marked leaves of its vdev is seen to first: the one that counts the most errors, the first of equals. None where several are marked
    and the counters of one were not read."""
    marked = _marked(lost.top)
    if len(marked) < 2:
        return lost.leaf
    weights = [weight for leaf in marked if known(weight := _weight(leaf))]
    return marked[weights.index(max(weights))] if len(weights) == len(marked) else None


def _whom_first(marked: tuple[VdevFacts, ...], first: VdevFacts | None) -> str:
    if first is None:
        return "Which of them counts the most errors was not read: `zpool status -P -p` shows it, and that one comes first."
    rest, most = [leaf for leaf in marked if leaf is not first], _weight(first)
    lighter = known(most) and all(known(weight := _weight(leaf)) and weight < most for leaf in rest)
    others = ", ".join(leaf.short for leaf in rest)
    return f"Begin with {first.short}{', which counts the most errors' if lighter else ''}; leave {others} in until that is mended or filled, and a scrub has ended."


def _weight(leaf: VdevFacts) -> Known[float]:
    """The sum of its counters. They may be rounded ("1.62K", by 1000 or 1024 alike), so it is for comparing only."""
    counted = [
        float(row["digits"]) * 1000.0 ** " KMGTPE".index(row["unit"] or " ")
        for figure in leaf.figures
        if (row := _FIGURE.fullmatch(figure))
    ]
    return sum(counted) if counted and len(counted) == len(leaf.figures) else Unknown(f"The counters of {leaf.name} were not read.")


def _meaning(lost: Lost, out: bool) -> str:
    leaf, disk, place = lost.leaf, lost.carrier(), lost.place_sentence()
    sentences = [f"The member {lost.guid} of {lost.pool.name} is {leaf.state}. {lost.given_up}"]
    if disk is not None:
        sentences.append(f"The disk is there and answers: {_words.where(disk)}.")
    if place:
        sentences.append(place)
    elif out:
        sentences.append(
            OF_A_FILE
            if lookup.is_file(leaf)
            else "Errors come from a cable, a slot or power as often as from the disk: look there first. If that explains them, mend it and bring the "
            "member back with `zpool clear`."
        )
    else:
        sentences.append(
            f"It still serves what it can read, so leave it in: taking it out costs redundancy. {OF_A_FILE}"
            if lookup.is_file(leaf)
            else "It still serves what it can read, so leave it in: taking it out costs redundancy. Errors come from a cable, a port or the controller as "
            "often as from the disk: look there first."
        )
    sentences += [sentence] if (sentence := _partitions.sentence(leaf)) else []
    if not out and (several := errors_everywhere.several_count(lost.pool)):
        sentences.append(
            f"{several} members of {lost.pool.name} count errors or were given up for them: look at what they share, the HBA, a cable, an expander, power or "
            "memory, before any of them is replaced."
        )
    sentences.append(lost.margin_sentence())
    return " ".join(sentences)


def names_a_reason(leaf: VdevFacts) -> bool:
    """Whether the row of a DEGRADED leaf says why."""
    return bool(cause_of(leaf.note))


def _evidence(lost: Lost) -> Iterator[Evidence]:
    errors = lost.leaf.errors
    counters = "  ".join(map(str, errors)) if known(errors) else ""
    yield lost.evidence("zpool_status", "  ".join(p for p in (lost.leaf.name, lost.leaf.state, counters, lost.leaf.note) if p))
    disk = lost.carrier()
    for label in disk.labels if disk is not None and known(disk.labels) else ():
        yield lost.evidence(f"zdb_label/{label.partition}", f"{label.pool_name}: guid {label.guid}, txg {label.txg}")
    if disk is not None and known(disk.health):
        yield lost.evidence(f"smart/{disk.names[0]}", disk.health.text)
