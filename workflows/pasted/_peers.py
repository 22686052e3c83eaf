"""One disk beside others that get the same work at the same time: whether its answer takes many times longer than theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workflows.engine.core import Situation
from workflows.facts.read.latency import FACTOR, FLOOR_NS, PEERS_MIN
from workflows.pasted.base import Where, median

FLOOR_MS = FLOOR_NS / 1e6


@dataclass(frozen=True)
class Wait:
    """How long one disk took, on average. `kinds` is "read" -> milliseconds; what had no I/O is missing."""

    disk: str
    milliseconds: Mapping[str, float]
    line: str
    busy_percent: float | None = None


@dataclass(frozen=True)
class Outlier:
    wait: Wait
    kind: str
    milliseconds: float
    peers: float  # the median of its peers, milliseconds
    count: int


def outliers(waits: Sequence[Wait], floor: float = FLOOR_MS) -> tuple[Outlier, ...]:
    """Each disk that waits FACTOR times the median of at least PEERS_MIN others and longer than `floor` milliseconds: its worst kind of I/O."""
    found = (max(_of(wait, waits, floor), key=lambda one: one.milliseconds / max(one.peers, 0.01), default=None) for wait in waits)
    return tuple(one for one in found if one is not None)


def _of(wait: Wait, waits: Sequence[Wait], floor: float) -> list[Outlier]:
    found = []
    for kind, mine in wait.milliseconds.items():
        theirs = [other.milliseconds[kind] for other in waits if other is not wait and kind in other.milliseconds]
        if mine >= floor and len(theirs) >= PEERS_MIN and mine >= FACTOR * median(theirs):
            found.append(Outlier(wait, kind, mine, median(theirs), len(theirs)))
    return found


def situation(one: Outlier, where: Where, text: str, lines: Sequence[str] = (), alone: bool = True, sure: bool = True) -> Situation:
    """`said` is what else the text tells; `alone` is whether no other disk stands out with it."""
    name = one.wait.disk
    member = where.member(name)
    fills = member is not None and member.leaf.resilvering
    busy = f", and it is {one.wait.busy_percent:g} % busy" if one.wait.busy_percent is not None else ""
    more = (
        "A resilver fills this disk: it sets the pace and is no fault of the disk by itself. Wait for the resilver."
        if fills
        else "A pool is as slow as its slowest disk. One that is being filled by a resilver looks the same: see `zpool status`. If none runs, "
        "ask the disk (smartctl -x) and look at its link before it is replaced."
    )
    return Situation(
        "slow-disk", f"slow-disk:{where.node}:{name}", where.node, "info" if fills else "act" if sure and alone else "watch",
        f"{name} takes {one.milliseconds:g} ms for a {one.kind} where its peers take {one.peers:g} ms",
        f"{name} takes {one.milliseconds:g} ms for a {one.kind}{busy}; the median of {one.count} other disks is {one.peers:g} ms. {text}"
        f"{member.sentence + ' ' if member else ''}{more}",
        where.evidence(*(lines or (one.wait.line,))),
        subject={"node": where.node, "disk": name} | (member.subject if member else {}),
        sure=sure,
    )  # fmt: skip
