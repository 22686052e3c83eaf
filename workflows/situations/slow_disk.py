"""One disk makes the others wait: its I/O takes many times longer than that of the disks beside it, and it reports no error.

A pool is as slow as its slowest disk, and a disk that stalls for seconds can suspend it. One method alone may be chance; two that
agree (waits, slow I/Os, delay events, task aborts) are a finding. In a mirror of two beside no other mirror nothing shows which of the two
is as usual: such a disk is watched, whatever the numbers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agents.zfs_releases import HAS_SIT_OUT, has
from workflows.analysis.pool_fate import losses
from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, Known, LeafLatency, NodeFacts, PoolFacts, PoolLatency, known, lookup, release_numbers
from workflows.facts.read.latency import Gap, duration
from workflows.situations import _cures, _words
from workflows.situations._lost import Lost

SLUG = "slow-disk"
MANUALS: tuple[str, ...] = ("slow-disk-triage", "replace-in-place", "replace-boot-member")
RUNBOOK = "slow-disk-triage"
IN_SERVICE = ("ONLINE", "DEGRADED")
DELAYS_MIN = 3  # events come up to twenty a second; three are no chance
ABORTS_MIN = 3


@dataclass(frozen=True)
class Slow:
    """A leaf that stands out, and by which methods."""

    node: NodeFacts
    pool: PoolFacts
    one: LeafLatency
    gaps: tuple[Gap, ...]
    counted: tuple[int, int] | None  # slow I/Os, and the median of its peers
    delays: int
    aborts: int
    at_peace: bool  # the last seconds had I/O, and it kept up
    one_peer: bool = False  # it can be compared with one other disk only

    @property
    def methods(self) -> int:
        return bool(self.gaps) + bool(self.counted) + bool(self.delays) + bool(self.aborts)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(slow, found) for found in _by_pool(fleet) for slow in found)


def _by_pool(fleet: FleetFacts) -> Iterator[tuple[Slow, ...]]:
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            if known(pool.latency):
                yield tuple(slow_leaves(node, pool, pool.latency))


def slow_leaves(node: NodeFacts, pool: PoolFacts, latency: PoolLatency) -> Iterator[Slow]:
    for one in latency.leaves:
        if one.leaf.state not in IN_SERVICE:
            continue
        gaps, counted = latency.gaps(one) or latency.gaps_with_one(one), latency.slow_among_peers(one)
        delays, aborts = _beyond(one, latency, "delays", DELAYS_MIN), _beyond(one, latency, "aborts", ABORTS_MIN)
        if (gaps or counted or (delays and aborts)) and not _is_filled(one, pool):
            at_peace = latency.at_peace_now(one) and not any(gap.now for gap in gaps)
            yield Slow(node, pool, one, gaps, counted, delays, aborts, at_peace, len(latency.peers(one)) == 1)


def _is_filled(one: LeafLatency, pool: PoolFacts) -> bool:
    """The new half of a replacement is written all the time: `resilver-slow` covers it."""
    parents = [v for v in one.top.walk() if v.kind in ("replacing", "spare") and one.leaf in v.children]
    return one.leaf.resilvering or any(parent.children[-1] is one.leaf for parent in parents)


def _beyond(one: LeafLatency, latency: PoolLatency, what: str, least: int) -> int:
    mine = getattr(one, what)
    few = not isinstance(mine, int) or mine < least
    return 0 if few else beyond(mine, [getattr(x, what) for x in latency.peers(one)], least)


def beyond(mine: Known[int], theirs: Iterable[Known[int]], least: int) -> int:
    """A count that stands out among its peers', else 0."""
    peers = [count for count in theirs if known(count)]
    if not isinstance(mine, int) or mine < least or (peers and mine < 5 * max(1, sum(peers) / len(peers))):
        return 0
    return mine


def _situation(slow: Slow, all_of_pool: tuple[Slow, ...]) -> Situation:
    same_top = [x for x in all_of_pool if x.one.top is slow.one.top]
    agreed = slow.methods > 1 or any(gap.now for gap in slow.gaps)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{slow.node.node}:{_guid(slow)}",
        node=slow.node.node,
        severity="act" if agreed and not slow.at_peace and not slow.one_peer and len(same_top) == 1 else "watch",
        title=f"{slow.pool.name}: {_name(slow)} {_headline(slow)}",
        meaning=_meaning(slow, same_top),
        evidence=tuple(_evidence(slow)),
        answers=_answers(slow, len(same_top)),
        subject=_words.subject(slow.node, slow.pool, slow.one.top, slow.one.leaf),
        sure=agreed and not slow.one_peer,
        cures=_cures_of(slow, same_top),
    )


def _answers(slow: Slow, together: int) -> tuple[Answer, ...]:
    """Triage first. A new disk is offered only where two methods agree and it is the only one."""
    disk = _words.disk_behind(slow.node, slow.one.leaf)
    if disk is None or not known(slow.one.leaf.guid) or not known(disk.wwid) or not known(disk.serial):
        return ()
    more = {"vdev_guid": str(slow.one.leaf.guid), "old_wwid": disk.wwid, "old_serial": disk.serial}
    why = "It samples, asks the disk and its link, and says with numbers which of them it is. It changes nothing."
    found = _words.pool_answers(slow.node, slow.pool, RUNBOOK, why, **more)
    line = lookup.pool_lineage(slow.pool, slow.one.leaf.guid)
    if slow.methods > 1 and not slow.at_peace and not slow.one_peer and together == 1 and known(line) and line is not None:
        found += Lost(slow.node, slow.pool, "data", line).planned()
    return found


def _headline(slow: Slow) -> str:
    if slow.gaps:
        gap = slow.gaps[0]
        return f"waits {duration(gap.wait_ns)} for a {gap.what} where {'the other half of its mirror waits' if slow.one_peer else 'its peers wait'} {duration(gap.peers_ns)}"
    if slow.counted:
        return f"had {slow.counted[0]} slow I/Os where its peers had {slow.counted[1]}"
    return f"was slow {slow.delays + slow.aborts} times"


def _meaning(slow: Slow, same_top: list[Slow]) -> str:
    disk = _words.disk_behind(slow.node, slow.one.leaf)
    verb = "is slow" if slow.gaps and not slow.at_peace else "has been slow"
    sentences = [f"{_words.where(disk) if disk else slow.one.leaf.name} of {slow.one.top.name} {verb}. {_errors(slow)}"]
    sentences += [_gap_sentence(gap, "its one peer" if slow.one_peer else "its peers") for gap in slow.gaps]
    if slow.counted:
        sentences.append(
            f"{slow.counted[0]} of its I/Os were slow since the counters were cleared; the median of its peers is {slow.counted[1]}."
        )
    if slow.delays:
        sentences.append(f"The kernel reported {_words.plural(slow.delays, 'delayed I/O')} on it.")
    if slow.aborts:
        sentences.append(f"The kernel aborted {_words.plural(slow.aborts, 'command')} on it: the disk, its slot or its link hangs.")
    sentences.append(_advice(slow, same_top))
    sentences.append(_words.margin_sentence(slow.pool, slow.one.top))
    return " ".join(sentences)


def _errors(slow: Slow) -> str:
    errors = slow.one.leaf.errors
    if not known(errors):
        return "Whether it reported errors is not known."
    if not any(errors):
        return "It answers and reports no error."
    return "It also had errors: read {}, write {}, checksum {}.".format(*errors)


def _gap_sentence(gap: Gap, peers: str) -> str:
    when = "In the last seconds" if gap.now else "On average since the pool was imported"
    return f"{when} a {gap.what} waited {duration(gap.wait_ns)} for this disk and {duration(gap.peers_ns)} for {peers}, {gap.factor:.0f} times as long."


def _advice(slow: Slow, same_top: list[Slow]) -> str:
    if len(same_top) > 1:
        return (
            f"{len(same_top)} disks of {slow.one.top.name} are slow at once. Look for what they share (cable, expander, HBA, load) "
            "before any of them, and take none out."
        )
    if slow.at_peace:
        return "In the last seconds it kept up with its peers, so it has been slow and is not now. Watch whether it comes back."
    if slow.one_peer:
        return (
            "There is one disk to compare it with, so which of the two is as usual is not known. Watch whether the gap stays while the pool is busy, and "
            "take neither out: the other would hold the data alone."
        )
    if slow.methods == 1:
        return "Only one thing says so. Look again while the pool is busy before taking it out."
    return "Compare its SMART and its SAS link with its peers'. Only a disk that stalls the pool is taken offline."


def _cures_of(slow: Slow, same_top: list[Slow]) -> tuple[Cure, ...]:
    """Another disk is a cure only where two methods agree, now, and it is the only slow one."""
    disk = _words.disk_behind(slow.node, slow.one.leaf)
    first = _cures.reseat(_words.where(disk) if disk is not None else slow.one.leaf.name)
    again = _cures.look(
        "Look again while the pool is busy, and compare with the disks beside it. Take nothing out for one look.",
        ("zpool", "iostat", "-v", "-l", slow.pool.name, "5", "3"),
    )
    if len(same_top) > 1 or slow.at_peace or slow.one_peer or slow.methods == 1:
        return (again, first)
    text = (
        "If it stays slow with the way to it in order, replace it while it is still in the pool, beside the old disk where a bay is free."
    )
    meanwhile = (_cures.sit_out(slow.pool, slow.one.leaf),) if _can_sit_out(slow) else ()
    return (first, *meanwhile, _cures.replace(slow.pool, slow.one.leaf, _cures.IN_ITS_BAY, text))


def _can_sit_out(slow: Slow) -> bool:
    release, margin = release_numbers(slow.node.zfs_module), losses(slow.pool, slow.one.top)
    return slow.one.top.kind in ("raidz", "draid") and known(release) and has(HAS_SIT_OUT, release) and known(margin) and margin > 0


def _evidence(slow: Slow) -> Iterator[Evidence]:
    for name, row in (("now", slow.one.now), ("since import", slow.one.since_import)):
        if row is not None and any(gap.now == (name == "now") for gap in slow.gaps):
            text = f"{row.name} {name}: disk_wait read {row.disk_read_ns} ns, write {row.disk_write_ns} ns"
            yield _words.evidence(slow.node, "zpool_iostat", text)
    if slow.counted:
        yield _words.evidence(
            slow.node, "zpool_status_slow", f"{_name(slow)}  SLOW {slow.counted[0]}, median of its peers {slow.counted[1]}"
        )
    if slow.delays:
        yield _words.evidence(slow.node, "zpool_events", f"{slow.delays} x ereport.fs.zfs.delay, vdev_guid {_guid(slow)}")
    if slow.aborts:
        yield _words.evidence(slow.node, "kernel_log", f"{slow.aborts} x attempting task abort")


def _guid(slow: Slow) -> str:
    return str(slow.one.leaf.guid) if known(slow.one.leaf.guid) else slow.one.leaf.name


def _name(slow: Slow) -> str:
    return slow.one.leaf.short.partition("-part")[0]
