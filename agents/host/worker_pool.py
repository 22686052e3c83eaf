"""Threads that put questions to the machine, so many at a time; a question that takes long costs no other its turn.

A read can hang in the kernel for ever, and a thread in it cannot be ended: it is left behind, and another one takes its place.
How many may be left behind is bounded: a question of the many (one for each disk) waits once `BULK_MAX` of them are under way,
and of the few (one for each source) there are only as many as there are sources. The threads are daemons, because an agent that is
stopped must not wait for a disk that never answers.
"""

from __future__ import annotations

import ctypes
import logging
import threading
import time
from collections import deque
from collections.abc import Callable

WORKERS = 12
BULK_MAX = 24
SLOW_SECONDS = 1.0  # a source that takes longer loses its place among the workers
IDLE_SECONDS = 30.0  # a thread without work ends after so long
M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3  # malloc.h
LARGE_BYTES = 128 * 1024  # glibc's own bound, which it would raise to the largest text that was ever let go
log = logging.getLogger("slotlight.agent")


def one_heap() -> None:
    """Keep glibc from giving every thread a heap of its own, and large texts a place in it: on a node of 800 devices the first costs 10 MiB,
    and the second 2 that never come back. Only before the first thread."""
    try:
        libc = ctypes.CDLL(None)
        libc.mallopt(M_ARENA_MAX, 1)
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
    except (OSError, AttributeError):
        pass  # another libc, which does not do that


class Job:
    """One question. `ask` does with the answer what is to be done with it."""

    __slots__ = ("ask", "bulk", "given_up", "key", "slow", "source", "started")

    def __init__(self, ask: Callable[[Job], None], source: str, key: str, bulk: bool) -> None:
        self.ask, self.source, self.key, self.bulk = ask, source, key, bulk
        self.started = 0.0  # by the monotonic clock, once a thread has it
        self.slow = self.given_up = False


class Crew:
    """Safe to use from any thread, also from within a job."""

    def __init__(self, workers: int = WORKERS, bulk_max: int = BULK_MAX) -> None:
        self._workers, self.bulk_max = workers, bulk_max
        lock = threading.RLock()
        self._changed, self._calm = threading.Condition(lock), threading.Condition(lock)
        self._few: deque[Job] = deque()
        self._many: deque[Job] = deque()
        self._running: set[Job] = set()
        self._threads = self._idle = self._bulk = self._slow = 0
        self._closed = False
        self.failure: Exception | None = None

    def put(self, job: Job) -> None:
        with self._changed:
            (self._many if job.bulk else self._few).append(job)
            self._man()
            self._changed.notify()

    def close(self) -> None:
        """Nothing new is begun. What runs is not waited for."""
        with self._changed:
            self._closed = True
            self._few.clear()
            self._many.clear()
            self._changed.notify_all()

    def look_after(self) -> tuple[Job, ...]:
        """To be called every so often: replaces the threads that are held up, and says which jobs run."""
        with self._changed:
            now = time.monotonic()
            for job in self._running:
                if not job.slow and now - job.started > SLOW_SECONDS:
                    job.slow = True
                    self._slow += 1
            self._man()
            return tuple(self._running)

    def waiting(self) -> tuple[Job, ...]:
        """What no worker could begin yet."""
        with self._changed:
            return (*self._few, *self._many)

    def settled(self, patience_seconds: float) -> bool:
        """Whether nothing waits for its turn that could get one, and whatever still runs has had its time."""
        with self._changed:
            now = time.monotonic()
            waits = self._few or (self._many and self._bulk < self.bulk_max)
            return not waits and all(now - job.started > patience_seconds for job in self._running)

    def pause(self, seconds: float) -> None:
        """Return when a job has ended and none waits, or after `seconds`."""
        with self._calm:
            self._calm.wait(seconds)

    @property
    def threads(self) -> int:
        return self._threads

    def _man(self) -> None:
        """As many hands as there is work for, up to the bound; held up ones do not count."""
        wanted = min(len(self._few) + min(len(self._many), self.bulk_max - self._bulk) - self._idle, self._workers - self._hands())
        for _ in range(wanted if not self._closed else 0):
            self._threads += 1
            self._idle += 1  # until it has looked for work
            threading.Thread(target=self._work, name="collect", daemon=True).start()

    def _hands(self) -> int:
        return self._threads - self._slow

    def _work(self) -> None:
        while True:
            with self._changed:
                job = self._next()
                if job is None:
                    return
            try:
                job.ask(job)
            except Exception as error:  # the outermost frame of a thread; whoever runs the rounds raises it again
                log.exception("asking %s %s failed", job.source, job.key)
                self.failure = error
            self._over(job)

    def _next(self) -> Job | None:
        """The next job, or None when this thread is not needed any more. A new or freed thread counts as idle until here."""
        until = time.monotonic() + IDLE_SECONDS
        while True:
            left = until - time.monotonic()
            if self._closed or left <= 0 or self._hands() > self._workers:
                self._idle -= 1
                self._threads -= 1
                return None
            if self._few or (self._many and self._bulk < self.bulk_max):
                break
            self._changed.wait(left)
        job = self._few.popleft() if self._few else self._many.popleft()
        self._idle -= 1
        self._bulk += job.bulk
        job.started = time.monotonic()
        self._running.add(job)
        return job

    def _over(self, job: Job) -> None:
        with self._changed:
            self._running.discard(job)
            self._bulk -= job.bulk
            self._slow -= job.slow
            self._idle += 1
            if not self._few and not self._many:
                self._calm.notify_all()
