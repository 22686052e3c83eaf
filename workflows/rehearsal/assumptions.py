"""What whoever rehearses takes for so, because only an import shows it: why a pool cannot be read, and up to which point it can.

The points are those that the disks of the report hold. Which of them can be loaded is not known before, so one that -F reaches is
supposed, or one further back, or none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from twin import model
from twin.tables import TXG_SECONDS
from workflows.analysis.rewind_points import DEFERRED_TXGS, Point, Timeline
from workflows.facts import Known, known
from workflows.rehearsal.story import Choice


@dataclass(frozen=True)
class Supposition:
    """`txg` is the newest that can be loaded; 0 where that is not the question. `blocked_by`: the disks without which it can be read."""

    choice: Choice
    blocked_by: tuple[str, ...] = ()
    txg: int = 0
    at: int = 0
    seconds: int = 0

    def applied_to(self, node: model.Node, pool: model.Pool) -> None:
        pool.blocked_by = list(self.blocked_by)
        pool.readable_txg, pool.readable_at, pool.rewind_seconds = self.txg, self.at, self.seconds
        pool.txg = max(_newest(node, pool.name, self.blocked_by), default=pool.txg)  # as far as the disks go that do not block it


def _newest(node: model.Node, name: str, without: tuple[str, ...]) -> Iterator[int]:
    for partition in (partition for disk in node.disks if disk.wwid not in without for partition in disk.partitions):
        if partition.label and partition.label.pool == name:
            yield max((txg for txg, _ in partition.label.ring), default=partition.label.txg)


def suppositions(pool: model.Pool, ahead: tuple[str, ...], line: Known[Timeline]) -> tuple[Supposition, ...]:
    """`ahead` are the WWIDs of disks that stand out."""
    by_disk = [_disk(pool, ahead)] if ahead else []
    never = Supposition(Choice("never", "Nothing helps", "Every import of it fails.", ()), tuple(pool.blocked_by))
    return (*by_disk, *(_points(pool, line) if known(line) else (_made_up(pool),)), never)


def _disk(pool: model.Pool, ahead: tuple[str, ...]) -> Supposition:
    text = f"Without {', '.join(ahead)} the pool can be read."
    return Supposition(Choice("disk", "It is the disk that stands out", text, ()), ahead)


def _points(pool: model.Pool, line: Timeline) -> tuple[Supposition, ...]:
    """One that -F reaches, and the middle one of those further back, as far as there are such."""
    whole = [point for point in line.points[1:] if not point.short and len(point.times) == 1]
    near = [point for point in whole if point.txgs_back <= DEFERRED_TXGS][:1]
    far = [point for point in whole if point.txgs_back > DEFERRED_TXGS]
    middle = far[len(far) // 2 : len(far) // 2 + 1]
    return (
        *(_point(pool, point, "rewind", "A short rewind helps", "-F reaches that.") for point in near),
        *(_point(pool, point, "older", "Only an older point can be read", "-F does not reach that; -T does.") for point in middle),
    )


def _point(pool: model.Pool, point: Point, value: str, title: str, reach: str) -> Supposition:
    text = f"{pool.name} can be read as it was at txg {point.txg} and before, and that loses {point.loss}. {reach} The txg is made up."
    return Supposition(Choice(value, title, text, ()), (), point.txg, point.times[0], max(1, point.lost_seconds))


def _made_up(pool: model.Pool) -> Supposition:
    """The disks were not asked for their uberblocks, so there is no point to name."""
    text = f"{pool.name} can be read as it was {TXG_SECONDS} s earlier. The seconds are made up."
    return Supposition(Choice("rewind", "A short rewind helps", text, ()), (), 0, 0, TXG_SECONDS)
