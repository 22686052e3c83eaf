"""Data is damaged: no copy of some blocks is right, so ZFS cannot mend them and says which files they belong to.

Replacing a disk does not bring data back. Where members are out of service, the data may only be out of reach, and those come first;
where every member serves, all copies are wrong, and only a restore or the removal of what is damaged ends it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors.zpool_status_errors import snapshots
from workflows.analysis import pool_fate
from workflows.engine.core import Answer, Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup, reason_of
from workflows.facts.read.data_errors import DataErrors, counted, data_errors
from workflows.situations import _pools, _words, errors_everywhere
from workflows.situations.vdev_degraded import counts_alone

SLUG = "data-errors"
MANUALS: tuple[str, ...] = ("damaged-data", "destroy-damaged-snapshot")
GATES = True
FILES_NAMED = 8
LEAVES_NAMED = 6
DATA = ("data", "special", "dedup")
OF_VDEVS = ":vdevs"
KINDS = ("read", "write", "checksum")
EMPTY = (
    "The list of damaged data is empty now: the files were written anew or removed, the errors were of a moment in which several disks were away, or it "
    "was not checked since."
)
NO_LIST = "The errors: line is not in this text, so whether files are listed as damaged is not known."


@dataclass(frozen=True)
class Damaged:
    node: NodeFacts
    pool: PoolFacts
    errors: DataErrors

    @property
    def suspended(self) -> bool:
        return known(self.pool.suspended) and self.pool.suspended

    @property
    def away(self) -> tuple[VdevFacts, ...]:
        """Members that serve nothing: what they hold is out of reach, which looks the same."""
        tops = self.pool.tops_read
        return tuple(leaf for _, top in tops for leaf in top.leaves() if lookup.serves_nothing(leaf))

    @property
    def all_count(self) -> bool:
        """Whether each disk of a vdev counts errors: then what they share is suspect, and no disk is to be replaced before that is clear."""
        return any(errors_everywhere.all_count(top) for _, top in self.pool.tops_read)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    found = ((node, pool, data_errors(pool)) for node in fleet.nodes.values() for pool in node.pools_read)
    return tuple(
        one
        for node, pool, errors in found
        if (
            one := _situation(Damaged(node, pool, errors), known(fleet.at))
            if errors is not None
            else _stated(node, pool) or _unlisted(node, pool)
        )
        is not None
    )


def _stated(node: NodeFacts, pool: PoolFacts) -> Situation | None:
    """`status:` says it, and the text was cut before its errors: line."""
    reason = reason_of(pool.status)
    if (
        pool.errors
        or reason is None
        or reason.name != "CORRUPT_DATA"
        or (known(pool.suspended) and pool.suspended)
        or pool_fate.why_down(pool)
    ):
        return None
    return _pools.of_reason(
        node,
        pool,
        SLUG,
        "act",
        title="data is damaged",
        meaning=f"The status: line of {pool.name} on {node.node} says that an error has damaged data. Which files, and how many, stands behind errors:, and that "
        "line is not here. No new disk brings them back; whether members are out of service, which may hold good copies, stands in the rows.",
        look="Ask for the list of damaged files; it only reads.",
        argv=("zpool", "status", "-v"),
    )


def _unlisted(node: NodeFacts, pool: PoolFacts) -> Situation | None:
    """A vdev of several disks counts an error of its own only where its redundancy could not mend the block. The list may have lost it since."""
    tops = [top for role, top in pool.tops_read if role in DATA and top.children and top.counted and not counts_alone(top)]
    if not tops or (known(pool.suspended) and pool.suspended) or pool_fate.why_down(pool):
        return None
    text = ", ".join(
        f"{top.name} ({', '.join(f'{n} {kind}' for n, kind in zip(top.figures, KINDS, strict=False) if n != '0')})" for top in tops
    )
    meaning = (
        f"{text} of {pool.name} on {node.node} counted errors of its own, not only of one disk: since the counters were cleared there were blocks that the "
        f"other disks could not mend. {EMPTY if known(pool.errors_reported) else NO_LIST} A scrub to the end shows whether anything is damaged."
    )
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}{OF_VDEVS}",
        node=node.node,
        severity="watch",
        title=f"{pool.name}: {_words.plural(len(tops), 'vdev', 'vdevs')} counted errors that redundancy could not mend",
        meaning=meaning,
        evidence=tuple(_words.evidence(node, "zpool_status", "  ".join((top.name, top.state, *top.figures))) for top in tops),
        subject=_words.subject(node, pool),
        sure=False,
        cures=(
            Cure("look", "Ask for the list of damaged files; it only reads.", (("zpool", "status", "-v", pool.name),)),
            Cure("scrub", "Scrub to the end, once all members are back.", (("zpool", "scrub", pool.name),)),
        ),
    )


def explains(cause: Situation, other: Situation) -> bool:
    """Errors that disks counted while data was damaged are the same errors: no disk is to be replaced for them before that is clear."""
    if cause.key.endswith(OF_VDEVS):
        return False  # which disks counted beside their vdev is reported by those
    return other.slug == "disk-errors" and (other.node, other.subject.get("pool")) == (cause.node, cause.subject["pool"])


def _situation(one: Damaged, watched: bool) -> Situation:
    """`watched`: the node is one of the fleet, and the text no paste."""
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{one.node.node}:{one.pool.name}",
        node=one.node.node,
        severity=_severity(one),
        title=f"{one.pool.name}: {_held_up(one.errors) if one.suspended else _amount(one.errors)}",
        meaning=" ".join(_meaning(one)),
        evidence=tuple(_evidence(one)),
        subject=_words.subject(one.node, one.pool),
        sure=not one.away and not one.suspended,
        answers=_answers(one) if watched and not one.suspended and not one.away else (),
        cures=tuple(_cures(one)),
        gate=one.all_count,
    )


def _answers(one: Damaged) -> tuple[Answer, ...]:
    why = "It shows what each entry is and what brings it back, and scrubs until the list is empty."
    found = _words.pool_answers(one.node, one.pool, "damaged-data", why)
    if not snapshots(one.errors.listed):
        return found
    why = "Of a snapshot that nothing needs: it is destroyed by its guid, when it has no holds and no clones."
    return (*found, *_words.pool_answers(one.node, one.pool, "destroy-damaged-snapshot", why))


def _cures(one: Damaged) -> Iterator[Cure]:
    """First what only looks, then what brings data back, then the scrubs after which ZFS forgets an entry."""
    pool = one.pool.name
    if one.suspended:
        yield Cure(
            "wait",
            f"Delete and restore nothing yet: see to the suspension of {pool} first. When it serves again and was scrubbed, look at the list anew.",
            runbook="suspended-pool",
        )
        return
    if not one.errors.listed:
        yield Cure("look", "Ask for the list of damaged files; it only reads.", (("zpool", "status", "-v", pool),))
    if one.away:
        yield Cure("reseat", "Bring the members back that are out of service: they may hold the good copies.")
    elif one.errors.only_remains:
        yield Cure(
            "other",
            "Mount the datasets that are named first: an entry of one that is not mounted can be a file that is still there, and has its name in the list then. "
            "Destroy the damaged snapshots, if it is in snapshots; of files that are gone nothing is left to do.",
        )
    else:
        yield Cure(
            "restore",
            "Restore each damaged file, and each damaged volume, from a copy; where there is none, delete it, and the snapshots that hold it. A block that is in no file is gone with its dataset.",
            save_first="what can still be read of a damaged file, before it is written over",
        )
        yield Cure(
            "restore",
            "A damaged file of a snapshot that was sent elsewhere can be mended from that stream: `zfs receive -c` into the snapshot.",
            releases="2.2 and newer",
        )
    yield Cure(
        "scrub",
        "Scrub to the end, and once more where the list is not empty then: an entry ends with a scrub that does not find it.",
        (("zpool", "scrub", pool), ("zpool", "scrub", pool)),
        needs="No resilver runs, and the first scrub has ended before the second begins.",
    )


def _severity(one: Damaged) -> Severity:
    """With members away, those are acted upon, and what is damaged is known only when they are back. Remains of removed files are harmless."""
    return "watch" if one.away or one.suspended or one.errors.only_remains else "act"


def _held_up(errors: DataErrors) -> str:
    """Of a suspended pool: what it could not read or write is counted as an error, and is tried again when it goes on."""
    count = errors.count if errors.count is not None else len(errors.listed)
    text = _words.plural(count, "data error") if count else "data errors"
    return f"{text} counted while it is suspended"


def _amount(errors: DataErrors) -> str:
    if errors.count is not None:
        return f"data is damaged in {_words.plural(errors.count, 'place')}"
    if errors.only_remains:
        return f"{_words.plural(len(errors.listed), 'damaged object')} of removed files or snapshots"
    return (
        f"data is damaged in {_words.plural(len(errors.listed), 'file or object', 'files and objects')}"
        if errors.listed
        else "data is damaged"
    )


def _meaning(one: Damaged) -> Iterator[str]:
    pool, errors = one.pool, one.errors
    if one.suspended:
        yield (
            f"{pool.name} on {one.node.node} is suspended, and counts as damaged what it could not read or write when that began. Whether data is lost "
            "shows when it goes on: bring the disks back, resume it, scrub it, and look again. Delete and restore nothing before that."
        )
        return
    yield f"{pool.name} on {one.node.node} has blocks of which no copy is right: ZFS cannot mend them. Reading them fails; everything else can be read."
    yield "Replacing a disk does not bring this data back."
    yield from _which(one)
    if one.away:
        names = ", ".join(leaf.short for leaf in one.away[:LEAVES_NAMED])
        yield f"{names} {'is' if len(one.away) == 1 else 'are'} out of service: the data may only be out of reach. Bring that back first, then scrub and look again."
        return
    yield from _whose_fault(one)
    yield _way_out(errors, pool.name)
    yield "A scrub that ends lists what it found in the place of what was listed before; what is met while it runs stays until the next one. Clearing the counters removes no entry."


def _which(one: Damaged) -> Iterator[str]:
    errors = one.errors
    if not errors.listed:
        yield f"`zpool status -v {one.pool.name}` lists the files; it only reads, and can take minutes when there are many."
        return
    more = f" and {len(errors.listed) - FILES_NAMED} more" if len(errors.listed) > FILES_NAMED else ""
    yield f"Damaged: {', '.join(errors.listed[:FILES_NAMED])}{more}."
    if errors.of_the_pool:
        yield (
            f"{errors.of_the_pool[0]} is no file but what finds the others: the damage can reach further than the list. "
            "Copy away what can still be read before anything else."
        )
    elif errors.of_a_dataset:
        yield (
            f"{errors.of_a_dataset[0]} is data of that volume itself, as the disk of a virtual machine, or what finds the files of that file system: nothing that "
            "was removed. Copy away what can still be read of it before anything else."
        )
    elif errors.objects:
        yield "An entry in angle brackets is a file that is gone, or one of a snapshot or of a dataset that is not mounted."


def _whose_fault(one: Damaged) -> Iterator[str]:
    """One disk that counts alone, several that count the same, or none."""
    found = counted(one.pool)
    names = ", ".join(f"{_short(leaf)} (read {{}}, write {{}}, checksum {{}})".format(*leaf.figures) for _, leaf in found[:LEAVES_NAMED])
    marked = tuple(leaf.short for leaf in _half_given_up(one.pool))
    if not found and marked:
        yield (
            f"No member counts an error now, but ZFS half gave up {', '.join(marked[:LEAVES_NAMED])} after too many of them: the counters were set back since. "
            f"{'Look at its SMART and its link.' if len(marked) == 1 else 'Suspect what they share, memory, HBA and cables, before any disk.'}"
        )
    elif not found and (groups := _counting_groups(one.pool)):
        yield (
            f"{', '.join(groups[:LEAVES_NAMED])} counted errors {'of its own, and none of its disks' if len(groups) == 1 else 'of their own, and none of their disks'} "
            "did: no disk can be named. Suspect what they share, memory, HBA and cables."
        )
    elif not found:
        yield "Every member serves and none counts an error now, so the damage is in the data and not in a disk that could be named."
    elif len(found) == 1:
        top = found[0][0]
        alone = "It has no copy beside it. " if not top.children else ""
        yield f"Only {names} counted errors. {alone}Look at its SMART and its link; the disk may be failing as well, which is another matter."
    else:
        yield (
            f"{len(found)} members counted errors: {names}. What is wrong on several at once was wrong before it was written, or on the way: "
            "suspect memory, HBA and cables before any disk."
        )


def _half_given_up(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    """Members that serve, and that ZFS marked for too many errors."""
    return tuple(
        leaf for _, top in pool.tops_read for leaf in top.leaves() if leaf.state == "DEGRADED" and errors_everywhere.GIVEN_UP in leaf.note
    )


def _counting_groups(pool: PoolFacts) -> tuple[str, ...]:
    """The vdevs of several disks that count errors themselves."""
    return tuple(top.name for _, top in pool.tops_read if top.children and top.counted)


def _way_out(errors: DataErrors, pool: str) -> str:
    if errors.only_remains:
        return f"Nothing is left to restore there. A damaged snapshot has to be destroyed; then scrub {pool}, and the entries are gone."
    return f"Restore the damaged files from a copy, or delete them and the snapshots that hold them; then scrub {pool}."


def _evidence(one: Damaged) -> Iterator[Evidence]:
    yield _words.evidence(one.node, "zpool_status", f"errors: {one.errors.line}")
    yield from (_words.evidence(one.node, _source_of_the_list(one), entry) for entry in one.errors.listed[:FILES_NAMED])
    for scan in one.pool.scans_read:
        if scan.errors:
            yield _words.evidence(one.node, "zpool_status", scan.text.split("\n")[0])
    for _, leaf in counted(one.pool)[:LEAVES_NAMED]:
        yield _words.evidence(one.node, "zpool_status", "  ".join((leaf.name, leaf.state, *leaf.figures)))


def _source_of_the_list(one: Damaged) -> str:
    """An agent asks for the list beside the count; a paste has both in one text."""
    return f"zpool_status_errors/{one.pool.name}" if one.errors.count is not None else "zpool_status"


def _short(leaf: VdevFacts) -> str:
    return leaf.short.partition("-part")[0]
