"""Reading a node of 400 disks on two paths: the agent against the loop an operator would type, on the same files and tools.

Both get every device's label, identity and SMART report. The loop runs `zdb -l`, `sg_inq` and `smartctl` for one device after the
other. The agent takes the identity from sysfs, hashes the labels' bytes and runs zdb once for each content (the two paths to a
disk show the same one), and asks many devices at a time; besides, it reads the pools, the enclosures and the links.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import _node

ROOT = Path(__file__).resolve().parent.parent
LOOP = """
for path in {root}/sys/block/sd*; do
    disk=${{path##*/}}
    {root}/bin/zdb -l /dev/${{disk}}1
    {root}/bin/sg_inq /dev/$disk
    {root}/bin/smartctl -j -x /dev/$disk
done
"""
FASTER, RESIDENT_MIB = 10.0, 40.0
ALIKE, TURNS = 1.1, 3


def main() -> int:
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{_node.DISKS} disks on {_node.PATHS} paths; load average {load} on {os.cpu_count()} cores; Python {sys.version.split()[0]}")
    folder = Path(tempfile.mkdtemp(prefix="slotlight-bench-"))
    try:
        measure(folder / "node")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def measure(root: Path) -> None:
    _node.make(root)
    agent = collecting(root, "all")
    loop, loop_cpu = shell_loop(root)
    first, again, quiet = agent["first"], agent["again"], agent["quiet"]
    print(f"{'':52} {'wall s':>8} {'CPU s':>8}  commands")
    row("operator's loop: zdb -l, sg_inq, smartctl each", loop, loop_cpu, f"{_node.DISKS * _node.PATHS * 3}")
    row("agent, everything for the first time", first["seconds"], first["own"] + first["children"], commands(first))
    row("agent, everything again, nothing changed", again["seconds"], again["own"] + again["children"], commands(again))
    print(f"of the first: agent itself {first['own']:.2f} s of CPU, what it ran {first['children']:.2f} s; {counts(agent)}")
    percent = 100 * (quiet["own"] + quiet["children"]) / quiet["seconds"]
    print(
        f"nothing changes for {quiet['seconds']} s of the sources' own pace: {percent:.2f} % of one core "
        f"(itself {100 * quiet['own'] / quiet['seconds']:.2f} %), {commands(quiet)}"
    )
    print(f"first report with all texts: {agent['report_bytes'] / 1e6:.2f} MB on the wire; {agent['threads']} threads at the end")
    hung(root)
    goal("wall against the loop", loop / first["seconds"], FASTER, "x as fast", True)
    goal("resident at its highest, reports included", agent["peak_kib"] / 1024, RESIDENT_MIB, "MiB", False)
    print(f"resident at the end: {agent['now_kib'] / 1024:.1f} MiB")


def hung(root: Path) -> None:
    """With one device that hangs for ever and without it, in turns, because this machine may be busy with other things."""
    without, with_it = [], []
    for _ in range(TURNS):
        without.append(collecting(root, "others")["first"]["seconds"])
        _node.hang(root)
        with_it.append(collecting(root, "others")["first"])
        _node.unhang(root)
    seconds, before = statistics.median(turn["seconds"] for turn in with_it), statistics.median(without)
    report = statistics.median(turn["round"] for turn in with_it)
    print(
        f"{_node.HUNG} hangs for ever: every other text after {seconds:.2f} s, without it {before:.2f} s (medians of {TURNS} in turns, "
        f"{min(without):.2f} to {max(without):.2f}); the first report goes out after {report:.2f} s"
    )
    reached = "reached" if seconds <= before * ALIKE or seconds <= max(without) else "missed"
    print(f"goal: the others as soon as without it, within what the same run varies by; {reached}")


def collecting(root: Path, which: str) -> dict:
    argv = [sys.executable, "-m", "bench._collecting", str(root), which]
    ran = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ran.stdout)


def shell_loop(root: Path) -> tuple[float, float]:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with (root / "loop.out").open("w") as out:
        subprocess.run(["sh", "-c", LOOP.format(root=root)], stdout=out, check=True)
    seconds, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name: str, seconds: float, cpu: float, what: str) -> None:
    print(f"{name:52} {seconds:8.2f} {cpu:8.2f}  {what}")


def commands(of: dict) -> str:
    return ", ".join(f"{count} {tool}" for tool, count in sorted(of["ran"].items(), key=lambda item: -item[1])) or "no command"


def counts(agent: dict) -> str:
    keys = agent["keys"]
    return f"{keys['zdb_label']} labels, {keys['smart']} SMART reports, {sum(keys.values())} texts in all: " + ", ".join(
        f"{count} {outcome}" for outcome, count in sorted(agent["outcomes"].items())
    )


def goal(what: str, value: float, wanted: float, unit: str, more: bool) -> None:
    reached = value >= wanted if more else value <= wanted
    print(f"goal: {what} {'at least' if more else 'at most'} {wanted:g} {unit}; {'reached' if reached else 'missed'} with {value:.1f}")


if __name__ == "__main__":
    sys.exit(main())
