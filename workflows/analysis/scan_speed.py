"""How fast a scan goes and how long others wait meanwhile: measured before tuning, and compared with the same afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from workflows.facts import Known, PoolFacts, Unknown, derived, known, need
from workflows.facts.read.latency import duration
from workflows.facts.read.scan_progress import Amount, size

GAIN_MIN = 0.20  # less than this is not worth what others pay
WAIT_FACTOR_MAX = 2.0
WAIT_FLOOR_NS = 20_000_000  # below this a wait is no problem, whatever the factor
LOOK_SECONDS_MIN = 30


@dataclass(frozen=True)
class Measure:
    """Bytes a second the scan issued; nanoseconds a read waited, by the median member and by the worst."""

    rate: int
    wait_ns: int
    worst_ns: int

    @property
    def text(self) -> str:
        """As a run carries it."""
        return f"rate={self.rate} wait={self.wait_ns} worst={self.worst_ns}"

    @property
    def words(self) -> str:
        return f"{size(self.rate)}/s; a read waits {duration(self.wait_ns)}, on the slowest member {duration(self.worst_ns)}"

    @property
    def wait_max_ns(self) -> int:
        """What others may wait at most while the value stays raised."""
        return int(max(WAIT_FLOOR_NS, WAIT_FACTOR_MAX * self.worst_ns))

    def gain(self, now: Measure) -> float:
        return now.rate / self.rate - 1 if self.rate else float("inf")

    def compared(self, now: Measure) -> str:
        """What became of it, for a page."""
        gain = f"{100 * self.gain(now):+.0f} %" if self.rate else "it stood still before"
        return f"{size(now.rate)}/s, before {size(self.rate)}/s ({gain}); a read waits {duration(now.worst_ns)} at worst, before {duration(self.worst_ns)}"


def read(text: str) -> Known[Measure]:
    """A measure that a run carries."""
    found = re.fullmatch(r"rate=([0-9]{1,18}) wait=([0-9]{1,18}) worst=([0-9]{1,18})", text)
    return Measure(*map(int, found.groups())) if found else Unknown("The run carries no measure of before.")


@derived
def take(pool: PoolFacts) -> Known[Measure]:
    """The scan's own rate needs an earlier look; how long I/O waits needs I/O."""
    rate, waits = need(rate_of(pool)), need(waits_of(pool))
    return Measure((rate.low + rate.high) // 2, int(median(waits)), max(waits))


@derived
def rate_of(pool: PoolFacts) -> Known[Amount]:
    progress = need(pool.progress)
    if not progress:
        return Unknown(f"No scan runs on {pool.name}.")
    advance = need(progress[0].advance, f"How fast the {progress[0].function} of {pool.name} goes takes a second look")
    if advance.restarted or advance.seconds < LOOK_SECONDS_MIN:
        return Unknown(f"The {progress[0].function} of {pool.name} was looked at {advance.seconds:.0f} s ago only, or began anew. Wait.")
    return advance.bytes_per_second


@derived
def waits_of(pool: PoolFacts) -> Known[list[int]]:
    """How long the members that serve let a read wait now; those that are being filled are not read."""
    need(pool.latency, f"How long I/O waits on {pool.name} is not known")
    found = list(_waits(pool))
    return found or Unknown(f"{pool.name} had no reads in the last look, so how long they wait is not known.")


def _waits(pool: PoolFacts) -> Iterator[int]:
    for one in pool.latency.leaves if known(pool.latency) else ():
        if one.now is not None and one.now.total_read_ns is not None and not one.leaf.resilvering:
            yield one.now.total_read_ns
