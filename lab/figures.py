"""What the agent costs on the node it runs on: how long each source takes, its memory, and its CPU while nothing happens."""

import json
import re
from collections import defaultdict
from typing import NamedTuple

from lab.guest import Guest

REST_SECONDS = 180
TICKS = 100  # a second, on every Linux a node runs


class Figures(NamedTuple):
    disks: int
    once: tuple[float, float]  # seconds and CPU seconds of asking everything once, a few at a time
    seconds: dict[str, tuple[int, float, float]]  # source -> how many captures, their mean and their longest seconds
    resident_kib: dict[str, int]  # agent and relay
    cpu_percent: dict[str, float]  # of one CPU, over REST_SECONDS


def measure(guest: Guest) -> Figures:
    output = guest.sh(
        "TIMEFORMAT='%R %U %S'; time slotlight-agent once > /run/slotlight-once; cat /run/slotlight-once", check=False, seconds=600
    )
    clock, _, captures = output.partition("\n")
    once, user, system = map(float, clock.split())
    disks = len(guest.sh("ls -d /sys/block/sd*").split())
    taken: dict[str, list[float]] = defaultdict(list)
    for capture in json.loads(captures):
        if float(capture["seconds"]):  # what is read from a few files is too quick to have any
            taken[capture["source"]].append(float(capture["seconds"]))
    seconds = {source: (len(all_), sum(all_) / len(all_), max(all_)) for source, all_ in taken.items()}
    pids = {unit: guest.sh(f"systemctl show -P MainPID slotlight-{unit}").strip() for unit in ("agent", "relay")}
    resident = {unit: int(re.search(r"VmRSS:\s+(\d+)", guest.sh(f"cat /proc/{pid}/status"))[1]) for unit, pid in pids.items()}
    before = {unit: _ticks(guest, pid) for unit, pid in pids.items()}
    guest.sh(f"sleep {REST_SECONDS}", seconds=REST_SECONDS + 60)
    used = {unit: (_ticks(guest, pid) - before[unit]) / TICKS for unit, pid in pids.items()}
    return Figures(disks, (once, user + system), seconds, resident, {unit: 100 * spent / REST_SECONDS for unit, spent in used.items()})


def _ticks(guest: Guest, pid: str) -> int:
    """Of the process and of the children it has waited for: the tools it asks are part of what it costs."""
    fields = guest.sh(f"cat /proc/{pid}/stat").rsplit(")", 1)[1].split()
    return sum(int(fields[index]) for index in (11, 12, 13, 14))


def table(figures: Figures) -> str:
    rows = [f"| {source} | {count} | {mean:.2f} | {longest:.2f} |" for source, (count, mean, longest) in sorted(figures.seconds.items())]
    once, cpu = figures.once
    head = f"everything once, {figures.disks} disks: {once:.1f} s, {once / figures.disks:.2f} s for each disk; {cpu:.1f} s of CPU"
    costs = [
        f"{unit}: {kib / 1024:.1f} MiB resident, {figures.cpu_percent[unit]:.2f} % of one CPU at rest"
        for unit, kib in figures.resident_kib.items()
    ]
    return "\n".join(["| source | captures | mean s | longest s |", "|---|---|---|---|", *rows, "", head, *costs])
