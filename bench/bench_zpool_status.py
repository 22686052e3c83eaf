"""Our `zpool status` parser against PyPI's jc on the same genuine captures; and what each makes of the tree."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import jc

from agents.collectors import _vdevs, zpool_status
from agents.tests import scenarios

ROUNDS = 7


def main() -> None:
    texts = captures()
    cold = best(lambda: [parse_cold(t) for t in texts])
    warm = best(lambda: [zpool_status.parse(t) for t in texts])
    theirs = best(lambda: [jc.parse("zpool_status", t, quiet=True) for t in texts])
    kilobytes = sum(map(len, texts)) / 1000
    print(f"zpool status, {len(texts)} genuine captures, {kilobytes:.0f} kB, best and median of {ROUNDS} rounds")
    print(f"{'parser':30} {'best ms':>9} {'median ms':>10} {'captures/s':>11} {'vdevs with a parent':>20}")
    tree = str(sum(nested(t) for t in texts))
    row("slotlight, nothing remembered", cold, len(texts), tree)
    row("slotlight, lines remembered", warm, len(texts), tree)
    row("jc", theirs, len(texts), "0 (flat list)")
    print(
        f"ratio to jc, best against best: {theirs[0] / cold[0]:.1f} x as fast with nothing remembered, {theirs[0] / warm[0]:.1f} x as in use"
    )


def captures() -> list[str]:
    return [text for _, text in scenarios.texts("zpool-status*.txt") if "pool: " in text[:200]]


def parse_cold(text: str) -> object:
    """Without the lines that earlier texts left in memory, as the first report of a new node is read."""
    for remembered in (_vdevs._row, zpool_status._scan):
        remembered.cache_clear()
    return zpool_status.parse(text)


def best(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds: the best and the median round."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), statistics.median(seconds)


def nested(text: str) -> int:
    pools = zpool_status.parse(text)
    return sum(depth(pool.vdevs) for pool in pools) if isinstance(pools, tuple) else 0


def depth(vdev: zpool_status.Vdev) -> int:
    return sum(1 + depth(child) for child in vdev.children)


def row(name: str, seconds: tuple[float, float], texts: int, tree: str) -> None:
    print(f"{name:30} {seconds[0] * 1000:9.1f} {seconds[1] * 1000:10.1f} {texts / seconds[0]:11.0f} {tree:>20}")


if __name__ == "__main__":
    main()
