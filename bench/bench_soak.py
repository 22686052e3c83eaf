"""Two days of the agent's collecting and reporting on a twin, on a clock that jumps from one thing that is due to the next.

Every hour something happens: a disk is replaced and resilvers, a disk hangs and comes back, ZED rings, and for three hours of each day the
portal is away. Memory, threads and open files are looked at every four hours. In the first day everything happens once, and what the
second adds to what the first left is growth. A second part does the same to real commands.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from agents.host.host import LocalHost
from agents.host.worker_pool import WORKERS, one_heap
from agents.operations import zpool_replace
from agents.portal.transport import PortalDown, Reply
from agents.reporting.report_loop import Rhythm
from agents.reporting.schedule import Schedule
from agents.reporting.spool import Spool
from agents.tests import rig
from twin import scenarios
from twin.host import TwinHost
from twin.store import Store

DAY_HOURS, DAYS, LOOK_EVERY_HOURS = 24, 2, 4
AWAY_HOURS = range(6, 9)
HANG_HOURS = range(12, 14)
RETRY_SECONDS = 20.0  # of the loop, while the portal is away
COMMANDS = 1500
GROWTH_MIB = 1.0  # of the second day


class Portal(rig.Intake):
    """Takes reports, and of them keeps the names of texts, as a portal never forgets one."""

    def __init__(self) -> None:
        super().__init__()
        self.away, self.taken, self.late = False, 0, 0

    def ask(self, method, path, value):
        if self.away:
            raise PortalDown("POST /agent/v1/reports: Connection refused")
        self.taken += 1
        self.late += value.get("late") == "1"
        answer = self.take(value)
        self.reports.clear()
        return Reply(200, answer)


def main() -> int:
    one_heap()
    folder = Path(tempfile.mkdtemp(prefix="slotlight-soak-"))
    try:
        return 0 if days(folder) & commands() else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def days(folder: Path) -> bool:
    clock = Clock()
    host = node(folder, clock)
    schedule, portal = Schedule(host, clock), Portal()
    rhythm = Rhythm(host, rig.identity(), portal, "none.json", schedule, Spool(str(folder / "spool")), clock)
    begun, used, seen, steps = time.monotonic(), time.process_time(), [], 0
    print(f"{'hour':>4} {'resident MiB':>13} {'threads':>8} {'files':>6} {'steps':>7} {'reports':>8} {'late':>5} {'spooled':>8}")
    for hour in range(hours := DAYS * DAY_HOURS):
        portal.away = hour % DAY_HOURS in AWAY_HOURS
        happen(host, schedule, hour)
        while clock.seconds < (hour + 1) * 3600:
            steps += 1
            try:
                seconds = rhythm.step()
            except PortalDown:
                seconds = RETRY_SECONDS
            clock.seconds += min(seconds, 60.0)
        if (hour + 1) % LOOK_EVERY_HOURS == 0:
            seen.append((resident_mib(), threading.active_count(), len(os.listdir("/proc/self/fd"))))
            row = f"{hour + 1:>4} {seen[-1][0]:13.1f} {seen[-1][1]:8} {seen[-1][2]:6} {steps:7} {portal.taken:8} {portal.late:5}"
            print(f"{row} {len(rhythm._spool):8}")
    schedule.close()
    took, cpu = time.monotonic() - begun, time.process_time() - used
    print(f"{hours} h of the twin in {took:.0f} s; {cpu:.0f} s of CPU with the twin's own, {100 * cpu / hours / 3600:.2f} % of one core")
    settled, last = seen[DAY_HOURS // LOOK_EVERY_HOURS - 1], seen[-1]
    flat = last[0] - settled[0] <= GROWTH_MIB and last[1] <= WORKERS + 1 and last[2] <= settled[2]
    print(
        f"goal: flat; {'reached' if flat else 'missed'}: {last[0] - settled[0]:+.1f} MiB and {last[2] - settled[2]:+d} files from hour "
        f"{DAY_HOURS} to hour {hours}, never more than {max(look[1] for look in seen)} threads with {WORKERS} workers"
    )
    return flat


class Clock:
    """Seconds since the day began; the twin adds a date."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def node(folder: Path, clock: Clock) -> TwinHost:
    made = scenarios.tiny()
    scenarios.lose(made, rig.LOST, "/dev/sdc1")
    made.knobs.resilver_seconds = 1800
    store = Store(folder / "state.json")
    store.create(made)
    return TwinHost(store.path, clock=lambda: 1_800_000_000.0 + clock(), sleep=lambda _: None)


def happen(host: TwinHost, schedule: Schedule, hour: int) -> None:
    """Something, every hour."""
    if hour == 2:
        host.run(zpool_replace.argv(rig.params(host)), 10)
    with host.store.changing() as changed:
        changed.mounts = [f"tank{hour} /tank{hour} zfs rw 0 0"]
        hangs = [changed.disks[0].wwid] if hour % DAY_HOURS in HANG_HOURS else []
        changed.faults.hangs = hangs
    schedule.ring()
    schedule.hurry()


def commands() -> bool:
    """Real children: some end, some are killed at their deadline."""
    host, before = LocalHost(), None
    begun = time.monotonic()
    for number in range(COMMANDS):
        if number == COMMANDS // 10:
            before = (resident_mib(), threading.active_count(), len(os.listdir("/proc/self/fd")))
        host.run(("sleep", "5") if number % 100 == 99 else ("echo", "x" * 1000), 0.05 if number % 100 == 99 else 5.0)
    after = (resident_mib(), threading.active_count(), len(os.listdir("/proc/self/fd")))
    flat = after[0] - before[0] <= GROWTH_MIB and after[1:] == before[1:] and not host.left_behind()
    print(
        f"{COMMANDS} commands, every hundredth killed, in {time.monotonic() - begun:.0f} s: {'flat' if flat else 'NOT flat'}, {before} to {after}"
    )
    return flat


def resident_mib() -> float:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) / 1024, 1)


if __name__ == "__main__":
    sys.exit(main())
