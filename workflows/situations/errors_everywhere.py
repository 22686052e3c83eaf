"""Every disk of a vdev counts errors: what is wrong is what they share, and no disk is to be replaced for it.

Wrong checksums on all of them were made before the data was written, or on the way: memory, the HBA, a cable, an expander. Failed reads and
writes on all of them are the way. Where data is damaged as well, `data-errors` says the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors._rows import GAP
from agents.collectors._vdevs import TOO_FEW
from workflows.analysis import pool_fate
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts
from workflows.facts.read.data_errors import counted, data_errors
from workflows.situations import _cures, _words

SLUG = "errors-everywhere"
MANUALS: tuple[str, ...] = ("sas-link-triage",)
GATES = True
MEMBERS_MIN = 2
GIVEN_UP = "too many errors"
SEVERAL_MIN = 3  # members of a pool; that many do not fail alike at one time
ROWS_SHOWN = 8


@dataclass(frozen=True)
class Everywhere:
    node: NodeFacts
    pool: PoolFacts
    tops: tuple[VdevFacts, ...]  # all of whose serving disks count errors
    cut: bool  # whether rows of these may be missing

    @property
    def leaves(self) -> tuple[VdevFacts, ...]:
        return tuple(leaf for top in self.tops for leaf in top.leaves() if _serves(leaf) and leaf.figures)

    @property
    def only_checksums(self) -> bool:
        return not any(_commands_failed(leaf) for leaf in self.leaves)

    @property
    def which(self) -> str:
        """How many disks, and of which vdevs."""
        names = ", ".join(top.name for top in self.tops)
        return f"{len(self.leaves)} disks of {names}" + (" that are shown" if self.cut else "")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for node in fleet.nodes.values() for pool in node.pools_read for one in _of_pool(node, pool))


def explains(cause: Situation, other: Situation) -> bool:
    """What one disk counted is a part of it."""
    here = (other.node, other.subject.get("pool")) == (cause.node, cause.subject["pool"])
    return here and other.slug in ("disk-faulted", "member-degraded") and other.subject.get("vdev_guid") in cause.vdevs


def covers(node: NodeFacts, pool: PoolFacts, leaf: VdevFacts) -> bool:
    """Whether the errors of this leaf are reported there, with those of all others."""
    return any(leaf is one for found in _of_pool(node, pool) for one in found.leaves)


def _of_pool(node: NodeFacts, pool: PoolFacts) -> Iterator[Everywhere]:
    """None of a pool that does not serve: what its disks counted then is of its going."""
    if data_errors(pool) is not None or pool_fate.is_suspended(pool) or pool_fate.why_down(pool):
        return
    tops = tuple(top for role, top in pool.tops_read if all_count(top, rows_missing(pool, top)))
    if tops:
        yield Everywhere(node, pool, tops, any(rows_missing(pool, top) for top in tops))


def all_count(top: VdevFacts, cut: bool = False) -> bool:
    """Whether each of its disks that serve counts errors of one kind, and there are several. Of a listing that was `cut`, each that is shown.

    A disk that cannot be read any more, beside one that gets wrong data of it, is one sick disk. A count counts rounded as well.
    """
    serving = [leaf for leaf in top.leaves() if _serves(leaf)]
    counts = [leaf for leaf in serving if leaf.figures]
    if len(counts) < MEMBERS_MIN or (len(counts) < len(serving) and not cut):
        return False
    return all(leaf.figures[2] != "0" for leaf in counts) or all(map(_commands_failed, counts))


def rows_missing(pool: PoolFacts, top: VdevFacts) -> bool:
    """Whether rows of disks of this vdev may not be in the text: fewer are there than its kind needs, some were taken out, or the text ends at them."""
    if not top.children:
        return False
    ends_here = (
        bool(pool.tops_read) and pool.tops_read[-1][1] is top and any(not line.line and line.field == "errors" for line in pool.unread)
    )
    taken_out = any(line.field == "config" and line.reason == GAP for line in pool.unread)
    return ends_here or taken_out or any(line.reason == TOO_FEW and line.line == top.name for line in pool.unread)


def neighbours_unseen(pool: PoolFacts, top: VdevFacts) -> bool:
    """Whether all that is shown of a vdev counts errors, and rows of it may be missing: whether its other disks count as well is not known."""
    shown = [leaf for leaf in top.leaves() if _serves(leaf) and leaf.figures]
    return rows_missing(pool, top) and all(leaf.counted for leaf in shown)


def several_count(pool: PoolFacts) -> int:
    """How many members in service count errors or were half given up for them, where these are so many that what they share is looked at first; else 0.

    A resilver that begins sets the counters back, and leaves the mark.
    """
    marked = sum(
        leaf.state == "DEGRADED" and not leaf.counted and GIVEN_UP in leaf.note for _, top in pool.tops_read for leaf in top.leaves()
    )
    members = len(counted(pool)) + marked
    return members if members >= SEVERAL_MIN else 0


def _commands_failed(leaf: VdevFacts) -> bool:
    return any(figure != "0" for figure in leaf.figures[:2])


def _serves(leaf: VdevFacts) -> bool:
    return leaf.state in ("ONLINE", "DEGRADED") and leaf.gone is not True


def _situation(one: Everywhere) -> Situation:
    names = ", ".join(top.name for top in one.tops)
    what = "checksum errors" if one.only_checksums else "errors"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{one.node.node}:{one.pool.name}",
        node=one.node.node,
        severity="act",
        title=f"{one.pool.name}: {what} on all {one.which}: look at what they share",
        meaning=" ".join(_meaning(one, what)),
        evidence=tuple(
            _words.evidence(one.node, "zpool_status", "  ".join((leaf.name, leaf.state, *leaf.figures, leaf.note)).rstrip())
            for leaf in one.leaves[:ROWS_SHOWN]
        ),
        subject=_words.subject(one.node, one.pool) | {"tops": names},
        sure=not one.cut,
        cures=tuple(_cures_of(one)),
        gate=True,
        vdevs=tuple(_cures.guid(leaf) for leaf in one.leaves),
    )


def _meaning(one: Everywhere, what: str) -> Iterator[str]:
    yield f"Each of the {one.which} in {one.pool.name} counts {what}. Disks do not fail alike at one time: the cause is what they share."
    if one.only_checksums:
        yield (
            "Wrong checksums on all of them were made before the data was written or on the way to the disks: memory of the node (without ECC above "
            "all), the HBA and its firmware, a cable, an expander, or power."
        )
    else:
        yield "Commands to all of them failed: a cable, an expander, the HBA, or the power of the shelf."
    yield (
        "Take no disk out and put none in while this is so: a resilver reads and writes by the same way, and would write what is wrong. If nothing is done, "
        "errors in the same block of several disks become damaged files."
    )
    if one.cut:
        yield "Rows may be missing in this text, so whether all disks of it count is not known: look at the whole tree."
    yield from (_words.margin_sentence(one.pool, top) for top in one.tops)


def _cures_of(one: Everywhere) -> Iterator[Cure]:
    yield _cures.look(
        "Look for what the disks share: corrected and uncorrected memory errors of the node, messages of the HBA's driver, error counters of the SAS links.",
        ("edac-util", "-v"),
        ("dmesg",),
    )
    yield _cures.reseat("all of these disks", *(leaf for top in one.tops for leaf in top.leaves()))
    clear = "When the cause is found and mended, set the counters back, so that new errors show."
    yield Cure("clear", clear, (("zpool", "clear", one.pool.name),), needs="The cause is mended.", save_first=_cures.COUNTERS)
    yield _cures.scrub(
        one.pool, f"Then scrub {one.pool.name}: only one that ends with 0 errors, and with no disk counting again, says that it is over."
    )
