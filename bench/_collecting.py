"""The agent's collecting on such a node, in a process of its own: started by bench_collect, answers with one JSON object."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import agents.service.agent  # noqa: F401  what the running agent has in memory
from agents.collectors import COLLECTORS, smart
from agents.host.worker_pool import one_heap
from agents.portal.transport import Reply, _body
from agents.reporting.reports import Reporter
from agents.reporting.schedule import OWN, Schedule
from agents.trust.identity import Identity
from bench._node import HUNG, RootedHost

QUIET_SECONDS = 1200  # of the virtual clock, while nothing changes
GIVE_UP_SECONDS = 120.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed(Schedule):
    """Notes when each text came."""

    def __init__(self, *args) -> None:
        self.came: dict[tuple[str, str], float] = {}
        super().__init__(*args)

    def _keep(self, source, key, text) -> None:
        super()._keep(source, key, text)
        self.came[source, key] = time.monotonic()

    def busy(self) -> bool:
        return any(source.begun is not None for source in self._order)


class Portal:
    """Knows nothing at first, and lets every report be packed as it would be for the wire."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.sent_bytes = 0

    def ask(self, method, path, value):
        self.sent_bytes += len(_body(value)[0])
        if "captures" not in value:
            return Reply(200, {"need": "full"})
        self.known |= set(value["bodies"])
        return Reply(200, {"missing": sorted({c["digest"] for c in value["captures"]} - self.known)})


def main(root: str, waits_for_all: bool) -> None:
    if not hasattr(smart, "keys"):  # before SMART is read of every disk, this bench asks for it all the same
        smart.keys = COLLECTORS["zdb_label"]._disks.names
    one_heap()
    clock, host = Clock(), RootedHost(root)
    begun, used = time.monotonic(), os.times()
    schedule = Timed(host, clock)
    schedule.round()
    first_report = time.monotonic() - begun
    hung = {(source, name) for source in COLLECTORS for name in (HUNG, f"{HUNG}1")}
    while schedule.busy() and (waits_for_all or not all(where in hung for where in open_questions(schedule))):
        schedule.round()
        if time.monotonic() - begun > GIVE_UP_SECONDS:
            break
    others = max(at for where, at in schedule.came.items() if where not in hung) - begun
    arrived = {name: max((at for (source, _), at in schedule.came.items() if source == name), default=begun) - begun for name in COLLECTORS}
    fields = {"first": cost(used) | {"seconds": others, "round": first_report, "ran": Counter(host.ran), "arrived": arrived}}
    fields["outcomes"] = Counter(kept.outcome for kept in schedule.captures() if kept.source != OWN)
    fields["keys"] = {name: sum(kept.source == name for kept in schedule.captures()) for name in COLLECTORS}
    portal = Portal()
    Reporter(host, Identity("http://127.0.0.1:1", "big01", bytes(32)), portal, "none").send(schedule.captures(), schedule.ages())
    fields["report_bytes"] = portal.sent_bytes
    if waits_for_all:
        fields["again"] = again(schedule, clock, host)
        fields["quiet"] = quiet(schedule, clock, host)
    fields["threads"], fields["peak_kib"], fields["now_kib"] = schedule.threads, resident("VmHWM"), resident("VmRSS")
    print(json.dumps(fields))
    sys.stdout.flush()
    os._exit(0)  # the device that hangs holds a thread; the machine does not wait for it


def open_questions(schedule: Timed) -> set[tuple[str, str]]:
    return {(source.name, key) for source in schedule._order for key in source.asking}


def again(schedule: Timed, clock: Clock, host: RootedHost) -> dict:
    """Every source once more, with nothing changed."""
    before, used, begun = len(host.ran), os.times(), time.monotonic()
    schedule.hurry()
    schedule.round()
    while schedule.busy():
        schedule.round()
    return cost(used) | {"seconds": time.monotonic() - begun, "ran": Counter(host.ran[before:])}


def quiet(schedule: Timed, clock: Clock, host: RootedHost) -> dict:
    """The sources' own pace, on a clock that jumps from one thing that is due to the next."""
    before, used, until, rounds = len(host.ran), os.times(), clock.now + QUIET_SECONDS, 0
    while clock.now < until:
        clock.now = max(clock.now + 0.05, schedule.next_due())
        schedule.round()
        rounds += 1
    return cost(used) | {"seconds": QUIET_SECONDS, "rounds": rounds, "ran": Counter(host.ran[before:])}


def cost(before) -> dict:
    after = os.times()
    return {"own": after[0] + after[1] - before[0] - before[1], "children": after[2] + after[3] - before[2] - before[3]}


def resident(name: str) -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "all")
