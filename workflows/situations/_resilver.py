"""Resilvers and rebuilds that run, with how far and how fast they are."""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.analysis import eta, pool_fate
from workflows.engine.core import Evidence
from workflows.facts import REPAIRS, FleetFacts, NodeFacts, PoolFacts, ScanProgress, VdevFacts, known
from workflows.facts.read.scan_progress import size
from workflows.situations import _words

LONG_ENOUGH_SECONDS = 600  # a shorter look says more about one moment than about the resilver
STANDSTILL_SECONDS = 900
STANDSTILL_BYTES_PER_SECOND = 100 * 1024
SLOW_BYTES_PER_SECOND = 10 * 1024 * 1024  # below it OpenZFS itself gives no estimate
UNCHANGED_BYTES_PER_SECOND = 32 * 1024 * 1024  # what the rounded figures of a large pool may hide and still be a standstill
FAR_SECONDS = 7 * 86400


@dataclass(frozen=True)
class Running:
    node: NodeFacts
    pool: PoolFacts
    scan: ScanProgress

    def key(self, slug: str) -> str:
        return f"{slug}:{self.node.node}:{self.pool.name}"

    @property
    def stands_still(self) -> bool:
        advance = self.scan.advance
        if not known(advance) or advance.restarted or advance.seconds < STANDSTILL_SECONDS:
            return False
        rate = advance.bytes_per_second.high
        return rate < STANDSTILL_BYTES_PER_SECOND or (advance.unchanged and rate < UNCHANGED_BYTES_PER_SECOND)

    @property
    def restarted(self) -> bool:
        return known(self.scan.advance) and self.scan.advance.restarted

    @property
    def slow(self) -> bool:
        advance, left = self.scan.advance, self.scan.left
        if not known(advance) or advance.restarted or advance.seconds < LONG_ENOUGH_SECONDS or self.stands_still:
            return False
        rate = advance.bytes_per_second.high
        far = known(left) and left.low > rate * FAR_SECONDS
        return (rate < SLOW_BYTES_PER_SECOND and not (known(left) and left.high < rate * LONG_ENOUGH_SECONDS)) or far

    def filling(self) -> tuple[VdevFacts, ...]:
        """The leaves that are being filled, as far as the tree says."""
        tops = self.pool.tops_read
        return tuple(leaf for _, top in tops for leaf in top.leaves() if leaf.resilvering or leaf.rebuilding_since_txg is not None)

    def done(self) -> str:
        percent = f"{self.scan.percent} % done" if self.scan.percent else "how far it is is not printed"
        return f"{self.scan.function} in progress since {self.scan.since}, {percent}"

    def speed(self) -> str:
        """The rate of the last while when two looks give it, else the average that is printed, and called so."""
        advance, average = self.scan.advance, self.scan.average
        if known(advance) and not advance.restarted:
            rate = advance.bytes_per_second
            minutes = f"the last {advance.seconds / 60:.0f} minutes" if advance.seconds >= 90 else f"the last {advance.seconds:.0f} s"
            if rate.high - rate.low <= rate.high / 10:
                return f"In {minutes} it went {size((rate.low + rate.high) / 2)}/s."
            return f"In {minutes} it went between {size(rate.low)}/s and {size(rate.high)}/s; zpool prints no finer."
        if known(average):
            return (
                f"On average since it began it went {size((average.low + average.high) / 2)}/s; how fast it goes now takes a second look."
            )
        return "How fast it goes takes a second look."

    def to_go(self) -> str:
        """How long it still takes, by each way that is known."""
        left = eta.of(self.node, self.pool)
        return " ".join(left.lines) if known(left) else ""

    def line(self) -> Evidence:
        text = next((s.text for s in self.pool.scans_read if s.function == self.scan.function and s.state == "running"), "")
        return _words.evidence(self.node, "zpool_status", text.replace("\n", " "))

    def worst_margin(self) -> int | None:
        margin = pool_fate.pool_losses(self.pool.shown)
        return margin if known(margin) else None


def running(fleet: FleetFacts) -> Iterator[Running]:
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            repairs = [scan for scan in pool.progress_read if scan.function in REPAIRS]
            if repairs:
                # Of several rebuilds at once, the one that is least far stands for the pool.
                yield Running(node, pool, min(repairs, key=lambda scan: float(scan.percent or 0)))
