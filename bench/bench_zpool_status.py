"""Our `zpool status` parser against PyPI's jc on the same genuine captures; and what each makes of the tree."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import jc

from agents.collectors import zpool_status
from agents.tests import scenarios

ROUNDS = 15


def main() -> None:
    texts = captures()
    ours, theirs = best(lambda: [zpool_status.parse(t) for t in texts], lambda: [jc.parse("zpool_status", t, quiet=True) for t in texts])
    kilobytes = sum(map(len, texts)) / 1000
    print(f"zpool status, {len(texts)} genuine captures, {kilobytes:.0f} kB, best and median of {ROUNDS} rounds")
    print(f"{'parser':30} {'best ms':>9} {'median ms':>10} {'captures/s':>11} {'vdevs with a parent':>20}")
    row("slotlight", ours, len(texts), str(sum(nested(t) for t in texts)))
    row("jc", theirs, len(texts), "0 (flat list)")
    print(f"slotlight is {theirs[0] / ours[0]:.1f} x as fast, best against best; {theirs[1] / ours[1]:.1f} x, median against median")
    print("Neither remembers anything from one text to the next.")


def captures() -> list[str]:
    return [text for _, text in scenarios.texts("zpool-status*.txt") if "pool: " in text[:200]]


def best(*works: Callable[[], object]) -> list[tuple[float, float]]:
    """Seconds of processor time for each: the best and the median round. They take turns, so a busy machine is busy for all."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, seconds, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return [(min(taken), statistics.median(taken)) for taken in seconds]


def nested(text: str) -> int:
    pools = zpool_status.parse(text)
    return sum(depth(pool.vdevs) for pool in pools) if isinstance(pools, tuple) else 0


def depth(vdev: zpool_status.Vdev) -> int:
    return sum(1 + depth(child) for child in vdev.children)


def row(name: str, seconds: tuple[float, float], texts: int, tree: str) -> None:
    print(f"{name:30} {seconds[0] * 1000:9.1f} {seconds[1] * 1000:10.1f} {texts / seconds[0]:11.0f} {tree:>20}")


if __name__ == "__main__":
    main()
