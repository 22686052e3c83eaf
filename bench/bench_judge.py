"""Judging one node of a hundred disks: everything wrong with it, found anew from the facts.

`./run bench judge` measures this checkout. SLOTLIGHT_BENCH_BASE names another one: it is then measured in turns with this, so that a busy
machine is busy for both, and the ratio is printed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROUNDS = 100
GOAL = 1.3
HERE = Path(__file__).parents[1]

# Nothing in here may be newer than the oldest checkout that is compared.
WORKER = """
import sys, tempfile, time
from pathlib import Path
from bench._hundred import captures
from workflows.facts import FleetFacts, node_facts
from workflows.situations import detect_all

with tempfile.TemporaryDirectory() as folder:
    said = captures(Path(folder) / "node", 1)
read = {f"{one.source}/{one.key}" if one.key else one.source: one for one in said}
fleet = FleetFacts({"bench001": node_facts("bench001", read, 0.0, ())}, at=1_795_000_000.0)
print(len(detect_all(fleet)), flush=True)
for _ in sys.stdin:
    begun = time.process_time()
    detect_all(fleet)
    print(time.process_time() - begun, flush=True)
"""


def main() -> int:
    base = os.environ.get("SLOTLIGHT_BENCH_BASE")
    checkouts = [Path(base).resolve(), HERE] if base else [HERE]
    workers = [_Worker(checkout) for checkout in checkouts]
    taken = [[worker.seconds() for worker in workers] for _ in range(ROUNDS)]
    for worker in workers:
        worker.end()
    best, median = _of_each(taken, min), _of_each(taken, statistics.median)
    print(f"judging a node of 100 disks, {ROUNDS} rounds, milliseconds of processor time")
    print(f"{'checkout':40} {'best':>8} {'median':>8} {'situations':>11}")
    for worker, least, middle in zip(workers, best, median, strict=True):
        print(f"{worker.checkout!s:40} {least * 1000:8.2f} {middle * 1000:8.2f} {worker.found:11}")
    if base:
        print(
            f"this one takes {best[1] / best[0]:.2f} x, best against best; {median[1] / median[0]:.2f} x, median against median; goal {GOAL}"
        )
    return 0


def _of_each(taken: list[list[float]], of: Callable[[Iterable[float]], float]) -> list[float]:
    return [of(column) for column in zip(*taken, strict=True)]


class _Worker:
    """A process that has the modules of one checkout, and judges when it is asked."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
        argv = [sys.executable, "-c", WORKER]
        self._process = subprocess.Popen(argv, cwd=checkout, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.found = int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that judges in {self.checkout} ended with {self._process.wait()}")
        return line

    def seconds(self) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._line())

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


if __name__ == "__main__":
    sys.exit(main())
