"""Every disk of a vdev counts errors: what is wrong is what they share, and no disk is to be replaced for it.

Wrong checksums on all of them were made before the data was written, or on the way: memory, the HBA, a cable, an expander. Failed reads and
writes on all of them are the way. Where data is damaged as well, `data-errors` says the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.analysis import pool_fate
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known
from workflows.facts.read.data_errors import data_errors
from workflows.situations import _cures, _words

SLUG = "errors-everywhere"
MANUALS: tuple[str, ...] = ("sas-link-triage",)
GATES = True
MEMBERS_MIN = 2
ROWS_SHOWN = 8


@dataclass(frozen=True)
class Everywhere:
    node: NodeFacts
    pool: PoolFacts
    tops: tuple[VdevFacts, ...]  # all of whose serving disks count errors

    @property
    def leaves(self) -> tuple[VdevFacts, ...]:
        return tuple(leaf for top in self.tops for leaf in top.leaves() if _serves(leaf))

    @property
    def only_checksums(self) -> bool:
        return not any(known(leaf.errors) and (leaf.errors[0] or leaf.errors[1]) for leaf in self.leaves)


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
    tops = tuple(top for role, top in pool.tops_read if all_count(top))
    if tops:
        yield Everywhere(node, pool, tops)


def all_count(top: VdevFacts) -> bool:
    """Whether each of its disks that serve counts errors of one kind, and there are several.

    A disk that cannot be read any more, beside one that gets wrong data of it, is one sick disk.
    """
    serving = [leaf for leaf in top.leaves() if _serves(leaf)]
    errors = [leaf.errors for leaf in serving if known(leaf.errors)]
    if len(errors) < max(MEMBERS_MIN, len(serving)):
        return False
    return all(checksum for _, _, checksum in errors) or all(read or write for read, write, _ in errors)


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
        title=f"{one.pool.name}: {what} on all {len(one.leaves)} disks of {names}: look at what they share",
        meaning=" ".join(_meaning(one, names, what)),
        evidence=tuple(
            _words.evidence(one.node, "zpool_status", "  ".join((leaf.name, leaf.state, *map(str, leaf.errors), leaf.note)).rstrip())
            for leaf in one.leaves[:ROWS_SHOWN]
            if known(leaf.errors)
        ),
        subject=_words.subject(one.node, one.pool) | {"tops": names},
        cures=tuple(_cures_of(one)),
        gate=True,
        vdevs=tuple(_cures.guid(leaf) for leaf in one.leaves),
    )


def _meaning(one: Everywhere, names: str, what: str) -> Iterator[str]:
    yield f"Each of the {len(one.leaves)} disks of {names} in {one.pool.name} counts {what}. Disks do not fail alike at one time: the cause is what they share."
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
    yield from (_words.margin_sentence(one.pool, top) for top in one.tops)


def _cures_of(one: Everywhere) -> Iterator[Cure]:
    yield _cures.look(
        "Look for what the disks share: corrected and uncorrected memory errors of the node, messages of the HBA's driver, error counters of the SAS links.",
        ("edac-util", "-v"),
        ("dmesg",),
    )
    yield _cures.reseat("all of these disks")
    clear = "When the cause is found and mended, set the counters back, so that new errors show."
    yield Cure("clear", clear, (("zpool", "clear", one.pool.name),), needs="The cause is mended.", save_first=_cures.COUNTERS)
    yield _cures.scrub(
        one.pool, f"Then scrub {one.pool.name}: only one that ends with 0 errors, and with no disk counting again, says that it is over."
    )
