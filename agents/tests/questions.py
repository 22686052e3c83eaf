"""Sources and a machine of our own, for tests of what is asked when."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

from agents.collectors.base import ask
from agents.host.host import Ran


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Machine:
    """Commands answer at once, hang until they are killed, or hang for ever, by their last word."""

    def __init__(self, clock):
        self.clock, self.asked, self.hangs, self.sleep, self.lock = clock, [], {}, 0.0, threading.Lock()

    def run(self, argv, timeout_seconds):
        with self.lock:
            self.asked.append(" ".join(argv))
        time.sleep(self.sleep)
        why = self.hangs.get(argv[-1], "")
        return Ran(tuple(argv), None if why else 0, b"" if why else b"said\n", b"", 20.0 if why else 0.01, why)

    def now(self):
        return 1_800_000_000.0 + self.clock.now


def source(name, every=10, collect=None, **more):
    collect = collect or (lambda host: (ask(host, name, ("tool", name), 1.0),))
    return SimpleNamespace(NAME=name, EVERY_SECONDS=every, collect=collect, **more)


def per_disk(name, disks, every=10, **more):
    return source(
        name, every, keys=lambda host: tuple(disks), collect_one=lambda host, key: ask(host, name, ("tool", key), 1.0, key=key), **more
    )


def reported(schedule, name, key=""):
    return next((kept for kept in schedule.captures() if (kept.source, kept.key) == (name, key)), None)
