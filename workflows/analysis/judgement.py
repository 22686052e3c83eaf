"""Whether a pool, a disk, a node or the fleet may be called good: one rule for every page, the API, the metrics and the notices.

good     all that answered is positively good, and nothing that matters failed or is late
info     nothing is wrong; something is under way, or an administrator has reviewed what was said
unknown  something that matters was not reported, or was not understood
watch    a situation of severity "watch" is open
bad      a situation of severity "act" is open

What is not watched (no such tool, hardware or right) is listed in `not_looked_at`, and never counts as good for what it would have shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from workflows.analysis.pool_fate import GATING, Fate, fate
from workflows.engine.core import Situation
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts import source_names as words
from workflows.facts.read.source_states import BROUGHT_SECONDS, SILENT_SECONDS, SourceState, source_states
from workflows.vocabulary.tokens import of_disk, of_pool

Tone = Literal["good", "info", "unknown", "watch", "bad"]
WORST_FIRST: tuple[Tone, ...] = ("bad", "watch", "unknown", "info", "good")
OF_SEVERITY: Mapping[str, Tone] = {"act": "bad", "watch": "watch", "info": "info"}

# source -> what it shows of health. The others show where things are, or how fast; without them nothing is called well that is not.
WATCHES: Mapping[str, str] = {
    "zpool_status": "the state of every pool and vdev",
    "kstat_pools": "the kernel's own state of each pool",
    "zpool_list": "how full each pool is",
    "zpool_events": "what the kernel noticed of the pools",
    "zpool_import": "pools that are not imported",
    "zdb_label": "the labels of each disk",
    "block": "which disks the kernel has, and how they are",
    "smart": "what each disk says of its own health",
    "kernel_log": "errors of disks, HBAs and pools",
    "multipath": "the state of each path to a disk",
    "enclosure": "the bays and elements of the enclosures",
    "ses": "what the enclosures say of their slots",
}
# Read, and judged by situations that compare or count; the rest of the collectors say where things are, and never that they are well.
COMPARED = frozenset(
    (
        *("zpool_iostat", "zpool_iostat_w", "zpool_status_guid", "zpool_status_json", "zpool_status_slow", "zpool_get", "kstat_txgs"),
        *("sas_phys", "sas_topology", "parameters", "sysctl", "mdb", "node", "drive_modes", "sg_logs", "zdb_uberblocks", "io_counters"),
    )
)
# source that only people paste -> the source whose part it covers
COVERED_BY_PASTED: Mapping[str, str] = {
    "zpool_list_text": "zpool_list",
    "fmadm": "zpool_events",
    "status_rows": "zpool_status",
    "multipath_ll": "multipath",
    "nvme_subsys": "multipath",
    "sesutil": "enclosure",
    "iostat_errors": "smart",
} | dict.fromkeys(
    ("storcli", "sas_ircu", "megacli", "megasasctl", "mfiutil", "arcconf", "areca", "ssacli", "tw_cli", "hwraid", "cciss", "nvme"), "smart"
)
# What shows trouble where there is some, and where it shows none does not say how a pool is now: that stands in zpool status alone.
SHOWS_TROUBLE_ONLY: Mapping[str, str] = {
    "zpool_list": "`zpool list` shows the state of a pool, and neither the errors of its members nor damaged data: `zpool status -P -p` does.",
    "zpool_import": "`zpool import` lists what the labels say of pools that are not imported: whether data is damaged, `zpool status -P -p` says after an import.",
    "zpool_events": "The events are of the past, and of what ZFS noticed then: how the pools are now, `zpool status -P -p` says.",
    "zdb_label": "A label says which pool a disk was of when it was written: how the pool is now, `zpool status -P -p` or `zpool import` says.",
}
OF_A_POOL = ("zpool_status", "kstat_pools", "zpool_list", "zpool_events")
OF_A_DISK = ("block", "smart", "zdb_label", "multipath")
REFUSED = "refused"  # commands that did not take place: a situation each, and no state of anything
ESSENTIAL = "zpool_status"  # nothing else says how a pool is


@dataclass(frozen=True)
class Judgement:
    """`reasons` are sentences, the weightiest first; `not_looked_at` what was not watched, and why."""

    tone: Tone
    reasons: tuple[str, ...] = ()
    not_looked_at: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # those of the reasons that say what is not known

    @property
    def words(self) -> str:
        """The one line of a list."""
        if self.tone == "good":
            return "good: all that answered says so"
        more = f" and {len(self.reasons) - 1} more" if len(self.reasons) > 1 else ""
        return f"{'not known: ' if self.tone == 'unknown' else ''}{self.reasons[0]}{more}" if self.reasons else self.tone


@dataclass(frozen=True)
class Concern:
    """What judging needs of an open situation. One that is reviewed counts as seen, and never as good."""

    severity: str
    title: str
    pools: frozenset[str] = frozenset()
    wwids: frozenset[str] = frozenset()
    is_reviewed: bool = False

    @classmethod
    def of(cls, severity: str, title: str, subject: Mapping[str, str], is_reviewed: bool = False) -> Concern:
        pools = {subject.get("pool", ""), *subject.get("pools", "").split(" ")} - {""}
        wwids = {subject.get("wwid", ""), *subject.get("wwids", "").split(" ")} - {""}
        return cls(severity, title, frozenset(pools), frozenset(wwids), is_reviewed)

    @property
    def tone(self) -> Tone:
        return "info" if self.is_reviewed else OF_SEVERITY.get(self.severity, "unknown")


def concerns(situations: Iterable[Situation]) -> tuple[Concern, ...]:
    return tuple(Concern.of(one.severity, one.title, one.subject) for one in situations)


def judge_pool(node: NodeFacts, pool: PoolFacts, about: Iterable[Concern], states: Iterable[SourceState] | None = None) -> Judgement:
    """`about` are the open situations of the node; those that do not name this pool are the node's."""
    listed = list(about)
    own = [one for one in listed if pool.name in one.pools]
    states = source_states(node) if states is None else states
    open_ = [f"{one.line} is not explained yet" for one in of_pool(node, pool)] if not listed else []
    return _judged(own, (*_of_pool(pool), *open_, *_silence(node), *_uncovered(states, OF_A_POOL)), _not_watched(states, OF_A_POOL))


def judge_disk(
    node: NodeFacts,
    disk: DiskFacts,
    about: Iterable[Concern],
    states: Iterable[SourceState] | None = None,
    member_of: PoolFacts | None = None,
) -> Judgement:
    """By what names this disk alone: a situation of its pool is the pool's.

    Of a member of a pool it is also asked whether the state that the pool reports of it can be relied on.
    """
    listed = list(about)
    own = [one for one in listed if known(disk.wwid) and disk.wwid in one.wwids]
    every = source_states(node) if states is None else list(states)
    states = [one for one in every if _is_about(one, disk)]
    in_pool = (*_uncovered(every, (ESSENTIAL,)), *_frozen(node, member_of)) if member_of is not None else ()
    open_ = [f"{one.line} is not explained yet" for one in of_disk(node, disk)] if not listed else []
    asleep = tuple(f"{name} sleeps and was not asked" for name in disk.names if f"smart/{name}" in node.left_asleep)
    unknown = (*open_, *_silence(node), *in_pool, *_uncovered(states, OF_A_DISK))
    return _judged(own, unknown, (*_not_watched(states, OF_A_DISK), *asleep))


def judge_node(node: NodeFacts, about: Iterable[Concern], states: Iterable[SourceState] | None = None) -> Judgement:
    """A node is good when each of its pools and disks is, and it reported lately."""
    states = source_states(node) if states is None else states
    return _judged(about, (*_silence(node), *_of_node(node), *_uncovered(states, tuple(WATCHES))), _not_watched(states, tuple(WATCHES)))


def not_current(node: NodeFacts, states: Iterable[SourceState] | None = None) -> str:
    """Why what was read of the pools of `node` may not be so any more, as a sentence; "" where it was read lately."""
    for silence in _silence(node):  # begins with the name of the node, which has its own capitals
        return f"{silence}."
    states = source_states(node) if states is None else states
    for why in _uncovered([one for one in states if one.is_unknown], (ESSENTIAL,)):
        return f"{why[0].upper()}{why[1:].removesuffix('.')}."
    return ""


def fate_now(node: NodeFacts, pool: PoolFacts, fleet: FleetFacts | None = None, states: Iterable[SourceState] | None = None) -> Fate:
    """`fate`, where what was read is of now. That a pool served some time ago is no verdict; that it was down then is one."""
    found, why = fate(node, pool, fleet), not_current(node, states)
    return Fate("unknown", why, True) if why and found.verdict in ("serving", "reduced") else found


def judge_fleet(nodes: Mapping[str, Judgement]) -> Judgement:
    """The worst of its nodes. A fleet without a node is not known."""
    if not nodes:
        return Judgement("unknown", ("No node has reported.",), (), ("No node has reported.",))
    worst = min((one.tone for one in nodes.values()), key=WORST_FIRST.index)
    reasons = tuple(f"{name}: {one.words}" for name, one in nodes.items() if one.tone == worst and worst != "good")
    return Judgement(worst, reasons, tuple(f"{name}: {what}" for name, one in nodes.items() for what in one.not_looked_at))


def judge_pasted(
    fleet: FleetFacts,
    situations: Iterable[Situation],
    sources: Iterable[str],
    left: Iterable[str] = (),
    listed: Iterable[str] = (),
    called: Mapping[str, str] = MappingProxyType({}),
) -> Judgement:
    """What was pasted, and no more. `sources` were read; `left` are sentences about what was not read, or not wholly.

    Of the sources in `listed` only lists were read, which show of nothing whether it is well. `called` names a source by what shows it on the
    system that was pasted from; "" where nothing does.

    A paste has no clock, so nothing in it is late. Good only where something was read that shows health.
    """
    read = set(sources)
    lists = frozenset(listed)
    watched = (read - lists) & WATCHES.keys() | (
        {"zpool_status"} if read & {"zpool_status_guid", "zpool_status_json", "zpool_status_slow"} else set()
    )
    watched |= {COVERED_BY_PASTED[source] for source in read - lists if source in COVERED_BY_PASTED}
    missing = tuple(
        f"{what} ({name})" for source, what in WATCHES.items() if source not in watched and (name := called.get(source, words.of(source)))
    )
    silent = sorted((read - watched - COMPARED - COVERED_BY_PASTED.keys() - {REFUSED}) | lists)
    unjudged = tuple(f"{words.of(source)} was read, and does not show whether anything is well" for source in silent)
    unknown = [*left, *(reason for node in fleet.nodes.values() for pool in node.pools_read for reason in _of_pool(pool))]
    unknown += (reason for node in fleet.nodes.values() for reason in _of_labels(node))
    if not watched:
        unknown.append("Nothing that was read says whether anything is well.")
    elif ESSENTIAL not in watched:
        unknown += (why for source, why in SHOWS_TROUBLE_ONLY.items() if source in watched)
    return _judged(concerns(situations), unknown, (*unjudged, *missing))


def _judged(about: Iterable[Concern], unknown: Iterable[str], not_looked_at: tuple[str, ...]) -> Judgement:
    reasons: dict[Tone, list[str]] = {tone: [] for tone in WORST_FIRST}
    for one in about:
        reasons[one.tone].append(one.title)
    reasons["unknown"] += unknown
    worst: Tone = next((tone for tone in WORST_FIRST if reasons[tone]), "good")
    return Judgement(
        worst, tuple(dict.fromkeys(each for tone in WORST_FIRST for each in reasons[tone])), not_looked_at, tuple(reasons["unknown"])
    )


def _silence(node: NodeFacts) -> Iterator[str]:
    if node.brought:
        yield from _brought_long_ago(node)
    elif not node.age_seconds <= SILENT_SECONDS:  # so that NaN is silence too
        yield f"{node.node} last reported {node.age_seconds:.0f} s ago"


def _brought_long_ago(node: NodeFacts) -> Iterator[str]:
    if not node.age_seconds <= BROUGHT_SECONDS:
        yield f"{node.node} has no agent, and what was brought of it was taken {node.age_seconds / 60:.0f} min ago"


def _frozen(node: NodeFacts, pool: PoolFacts) -> Iterator[str]:
    """Where a pool does not serve, or its rows contradict each other, what they call a member is not how it is."""
    verdict = fate(node, pool)
    if verdict.verdict in GATING:
        yield verdict.reason


def _of_pool(pool: PoolFacts) -> Iterator[str]:
    pool = pool.shown
    unread = [line for line in pool.unread if not line.rounded]
    if not known(pool.tops) and not unread:
        yield f"the vdevs of {pool.name}: {pool.tops.reason}"
    for line in unread:
        yield (
            f"a line of {pool.name} was not understood: {line.line}"
            if line.line
            else f"the text of {pool.name} is not whole: {line.reason}"
        )
    if not known(pool.suspended) and not unread:
        yield f"whether {pool.name} is suspended: {pool.suspended.reason}"
    elif not pool.errors and known(pool.tops):
        yield f"whether {pool.name} has data errors: its text has no errors: line"


def _of_labels(node: NodeFacts) -> Iterator[str]:
    """Whoever asks one device for its labels means a member of a pool. An agent asks every disk there is."""
    for copies in node.unplaced:
        lacking = ", ".join(map(str, sorted({*copies.empty, *copies.unread})))
        if not copies.labels:
            yield f"{copies.partition} shows no label of ZFS: it may be the whole disk of a member that is a partition, another disk, or overwritten"
        elif any(label.txg == 0 for label in copies.labels):
            yield f"the label of {copies.partition} has txg 0: the disk was detached, or never came to serve, and `zpool import` passes over it"
        elif lacking:
            yield f"of the label of {copies.partition} the copies {lacking} were not found: its partition may have moved, or something wrote there"


def _of_node(node: NodeFacts) -> Iterator[str]:
    if not known(node.pools):
        yield f"the pools: {node.pools.reason}"
    for pool in node.pools_read:
        yield from _of_pool(pool)


def _uncovered(states: Iterable[SourceState], which: tuple[str, ...]) -> Iterator[str]:
    """What failed or is late; and what is not watched, where nothing else could show it."""
    for one in states:
        if one.source in which and (one.is_unknown or (one.source == ESSENTIAL and one.state != "answered")):
            yield f"{WATCHES[one.source]} ({one.place}): {one.why}"


def _not_watched(states: Iterable[SourceState], which: tuple[str, ...]) -> tuple[str, ...]:
    """Each source once, however many disks it was not asked of."""
    found = {one.source: one.why for one in reversed(list(states)) if one.state == "not watched" and one.source != ESSENTIAL}
    return tuple(f"{WATCHES[source]} ({source}): {found[source]}" for source in which if source in found)


def _is_about(one: SourceState, disk: DiskFacts) -> bool:
    """A source of the whole node, or of this disk or one of its partitions."""
    _, slash, key = one.place.partition("/")
    return not slash or key in disk.names or any(key in path.partitions for path in disk.paths)


__all__ = [
    "WATCHES",
    "Concern",
    "Judgement",
    "concerns",
    "fate_now",
    "judge_disk",
    "judge_fleet",
    "judge_node",
    "judge_pasted",
    "judge_pool",
    "not_current",
]
