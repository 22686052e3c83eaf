"""Ten thousand schedules of the simulated protocol: how many a second, what happened in them, and how many broke a rule.

SLOTLIGHT_SIMULATOR_SEEDS sets another number, SLOTLIGHT_SIMULATOR_FROM another first seed.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

from tests.simulator.playing import failure, prepare, report, room, simulate
from tests.simulator.simulator import ACTIONS, schedule

SEEDS = int(os.environ.get("SLOTLIGHT_SIMULATOR_SEEDS", "10000"))
FIRST = int(os.environ.get("SLOTLIGHT_SIMULATOR_FROM", "0"))
BATCH = 100
SHOWN = {
    "runs that ended well": ("run done",),
    "runs that people ended": ("run aborted",),
    "destructive commands": ("command",),
    "of them amid faults": ("command amid faults",),
    "orders that became UNKNOWN": ("order UNKNOWN",),
    "orders refused or expired": ("order REFUSED", "order EXPIRED"),
    "ledgers put back, and noticed": ("alarm",),
}


def play(seeds: Iterable[int]) -> tuple[Counter, list[int]]:
    """What happened in these schedules, and which of them broke a rule."""
    logging.disable(logging.CRITICAL)
    seen, broken = Counter(), []
    with room() as folder:
        folders = prepare(folder)
        for seed in seeds:
            try:
                seen += simulate(schedule(seed), *folders).seen
            except Exception:  # noqa: BLE001  whatever it is, this seed is what we look for
                broken.append(seed)
    return seen, broken


def main() -> int:
    seen, broken, begun = Counter(), [], time.perf_counter()
    batches = [range(first, min(first + BATCH, FIRST + SEEDS)) for first in range(FIRST, FIRST + SEEDS, BATCH)]
    with ProcessPoolExecutor() as pool:
        for counted, failed in pool.map(play, batches):
            seen += counted
            broken += failed
    seconds = time.perf_counter() - begun
    print(f"{SEEDS} schedules of {ACTIONS} actions from seed {FIRST}: {seconds:.0f} s, {SEEDS / seconds:.0f} schedules/s")
    for title, names in SHOWN.items():
        print(f"  {title:32} {sum(seen[name] for name in names):8}")
    print(f"  {'agents killed':32} {sum(n for name, n in seen.items() if name.startswith('killed')):8}")
    print(f"  {'events in ledgers':32} {sum(n for name, n in seen.items() if '.' in name):8}")
    print(f"  {'violations':32} {len(broken):8}")
    logging.disable(logging.CRITICAL)
    for seed in broken[:1]:
        with room() as folder:
            folders = prepare(folder)
            assert failure(schedule(seed), *folders), "It failed in its batch and does not fail alone."
            print(report(seed, *folders))
    print(f"Seeds that break a rule: {', '.join(map(str, broken))}" if broken else "Every seed held.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
