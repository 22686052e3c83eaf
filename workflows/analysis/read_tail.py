"""How long the slowest reads of a pool waited in its queue, between two looks: p50 and p99 of the synchronous reads.

`zpool iostat -w` counts since the pool was imported, so one look is subtracted from a later one. A percentile is the upper bound of the bucket it
falls into: buckets double, so "at most 8 ms" may have been 5 ms. The queue of synchronous reads is where people wait; a scrub's reads have one
of their own (cmd/zpool/zpool_main.c: print_iostat_histos, and module/zfs/vdev.c: vdev_stat_update, zfs-2.2.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.zpool_iostat_w import BUCKETS
from workflows.engine.core import Params
from workflows.facts import FleetFacts, Known, Unknown, derived, known, lookup, need
from workflows.facts.read.latency import duration
from workflows.guards.subject import the_pool

SOURCE, KIND = "zpool_iostat_w", "syncq_read"
READS_MIN = 100  # of fewer no hundredth part is known


@dataclass(frozen=True)
class Sample:
    """What was counted until one moment."""

    at: int  # seconds since 1970, by the portal
    counts: tuple[int, ...]

    @property
    def text(self) -> str:
        """As a run carries it."""
        return f"{self.at}:{','.join(map(str, self.counts))}"


@dataclass(frozen=True)
class Tail:
    """Of the reads between two samples: the bounds of the buckets that hold the 50th and the 99th of each hundred."""

    p50_ns: int
    p99_ns: int
    reads: int
    seconds: int

    @property
    def words(self) -> str:
        return (
            f"99 of 100 reads waited at most {_bound(self.p99_ns)}, half of them at most {_bound(self.p50_ns)} "
            f"({self.reads} reads in {max(1, round(self.seconds / 60))} min)"
        )


def _bound(nanoseconds: int) -> str:
    """The last bucket holds all that waited longer than the one before it ends."""
    last = (1 << BUCKETS) - 1
    return f"{duration(nanoseconds)}, or longer" if nanoseconds >= last else duration(nanoseconds)


@derived
def take(facts: FleetFacts, params: Params, at: float) -> Known[Sample]:
    """The newest sample of the run's pool, dated by when the node was asked for it."""
    pool, node = need(the_pool(facts, params)), need(lookup.node(facts, params.get("node", "")))
    ages, service = need(node.ages), need(node.service)
    if SOURCE not in ages:
        return Unknown(f"When {node.node} was asked for `zpool iostat -w` is not known.")
    found = need(service.waits).get(pool.name)
    counts = found.counts.get(KIND) if found else None
    if counts is None or len(counts) != BUCKETS:
        return Unknown(f"`zpool iostat -w` shows no queue of reads of {pool.name}.")
    if None in counts:
        return Unknown("The histogram is printed rounded, so two of them cannot be subtracted.")
    return Sample(int(at - ages[SOURCE]), tuple(count or 0 for count in counts))


def read(text: str) -> Known[Sample]:
    """A sample that a run carries."""
    at, _, counts = text.partition(":")
    words = counts.split(",")
    if not at.isdigit() or len(words) != BUCKETS or not all(word.isdigit() for word in words):
        return Unknown("No sample of the queue of reads was taken then.")
    return Sample(int(at), tuple(map(int, words)))


def between(first: Known[Sample], last: Known[Sample]) -> Known[Tail]:
    if not known(first):
        return first
    if not known(last):
        return last
    counts = [after - before for before, after in zip(first.counts, last.counts, strict=True)]
    if min(counts) < 0:
        return Unknown("The counts went down, so the pool was imported anew between the two looks.")
    if last.at <= first.at:
        return Unknown("The node was not asked for a second look yet; it is every 10 minutes.")
    reads = sum(counts)
    if reads < READS_MIN:
        return Unknown(f"Only {reads} reads came between the two looks, too few for a percentile.")
    return Tail(percentile(counts, 50), percentile(counts, 99), reads, last.at - first.at)


def percentile(counts: Sequence[int], percent: int) -> int:
    """The bound of the first bucket by whose end so many of a hundred are counted."""
    total, seen = sum(counts), 0
    for index, count in enumerate(counts):
        seen += count
        if 100 * seen >= percent * total:
            return (1 << (index + 1)) - 1
    return (1 << BUCKETS) - 1
