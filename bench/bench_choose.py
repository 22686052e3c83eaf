"""Offering the disks of a large node: every guard of wwid-mismatch-replace asked of each disk, once for each showing of that step.

`./run bench choose` measures this checkout. SLOTLIGHT_BENCH_BASE names another one: it is then measured in turns with this.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

SIZES = (100, 200, 400)
ROUNDS = 3
HERE = Path(__file__).parents[1]

# Nothing in here may be newer than the oldest checkout that is compared.
WORKER = """
import sys, tempfile, time
from pathlib import Path
from bench import _hundred
from workflows.facts import FleetFacts, node_facts
from workflows.runbooks.wwid_mismatch_replace import disks_there_are

_hundred.DISKS = int(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    answers = _hundred.captures(Path(folder) / "node", 1)
read = {f"{one.source}/{one.key}" if one.key else one.source: one for one in answers}
node = node_facts("bench001", read, 0.0, ())
pool = node.pools[0]
params = {"node": node.node, "pool": pool.name, "pool_guid": str(pool.guid), "vdev_guid": str(pool.tops[0][1].children[0].guid)}
begun = time.process_time()
assert len(disks_there_are(FleetFacts({node.node: node}, at=1_795_000_000.0), params)) == _hundred.DISKS
print(time.process_time() - begun)
"""


def main() -> int:
    base = os.environ.get("SLOTLIGHT_BENCH_BASE")
    checkouts = [Path(base).resolve(), HERE] if base else [HERE]
    print(f"offering every disk of a node, median of {ROUNDS} rounds, seconds of processor time")
    print(f"{'disks':>8}" + "".join(f"{'base' if checkout != HERE else 'this one':>12}" for checkout in checkouts))
    for size in SIZES:
        taken = [[_seconds(checkout, size) for checkout in checkouts] for _ in range(ROUNDS)]
        medians = [statistics.median(column) for column in zip(*taken, strict=True)]
        ratio = f"   {medians[0] / medians[1]:.1f} times as fast" if base else ""
        print(f"{size:8}" + "".join(f"{median:12.2f}" for median in medians) + ratio)
    return 0


def _seconds(checkout: Path, size: int) -> float:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-c", WORKER, str(size)]
    return float(subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    sys.exit(main())
