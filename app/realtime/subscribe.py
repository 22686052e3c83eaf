"""One Valkey subscriber per process, shared by every waiting connection of that process.

A listener keeps only the names of what changed, so a burst of rings costs one wake-up and bounded memory. After a
reconnect every listener is notified that all its topics changed: what was rung meanwhile is not known.
"""

import asyncio
import logging
import secrets
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import redis
import redis.asyncio
from django.conf import settings

from app.realtime.publish import PREFIX, Household

RETRY_SECONDS_MIN, RETRY_SECONDS_MAX = 0.1, 5.0
SILENCE_SECONDS_MAX = 15.0  # then the connection itself is asked whether it is alive
THREADS_MAX = 6  # that wait at a time; it must leave threads to those who ring
log = logging.getLogger(__name__)


class Ear:
    """One connection's view of its topics."""

    def __init__(self, topics: Iterable[str]):
        self.topics = tuple(topics)
        self.closed = False
        self._changed: dict[str, None] = {}
        self._rung = asyncio.Event()

    def hear(self, topic: str) -> None:
        self._changed[topic] = None
        self._rung.set()

    def close(self) -> None:
        """Whoever listened is gone; wakes the one who waits for it."""
        self.closed = True
        self._rung.set()

    async def next(self, timeout_seconds: float) -> tuple[str, ...]:
        """The topics that changed since the last call, oldest first; waits for the first, empty when time is up."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._rung.wait()
        except TimeoutError:
            return ()
        changed, self._changed = tuple(self._changed), {}
        self._rung.clear()
        return changed


class ThreadsEar:
    """A thread's view of one topic; closed from the start when there is nothing to receive."""

    def __init__(self, topic: str, deaf: bool):
        self.topics = (topic,)
        self._rung = threading.Event()
        if deaf:
            self.close()

    def hear(self, topic: str) -> None:
        self._rung.set()

    def close(self) -> None:
        self._rung.set()

    def wait(self, timeout_seconds: float) -> None:
        """Until the topic was rung, time is up, or it can no longer be known."""
        self._rung.wait(timeout_seconds)


class FanOut:
    """The subscriber and its ears."""

    def __init__(self, url: str):
        self.url = url
        self.connected = False
        self._ears: defaultdict[str, set[Ear | ThreadsEar]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._name = secrets.token_hex(8)
        self._is_ending = False
        self._seats = threading.BoundedSemaphore(THREADS_MAX)

    @contextmanager
    def listen(self, topics: Iterable[str]) -> Iterator[Ear]:
        ear = Ear(topics)
        if self._is_ending:
            ear.close()
        self._add(ear)
        self._start()
        try:
            yield ear
        finally:
            self._remove(ear)

    @contextmanager
    def listen_in_thread(self, topic: str) -> Iterator[ThreadsEar]:
        """The same outside the event loop. When no changes are received, or no seat is free, it does not wait."""
        loop = self._loop
        if loop is None or not self.connected or not self._seats.acquire(blocking=False):
            yield ThreadsEar(topic, deaf=True)
            return
        ear = ThreadsEar(topic, deaf=False)
        loop.call_soon_threadsafe(self._add, ear)
        try:
            yield ear
        finally:
            self._seats.release()
            loop.call_soon_threadsafe(self._remove, ear)

    def _add(self, ear: Ear | ThreadsEar) -> None:
        for topic in ear.topics:
            self._ears[topic].add(ear)

    def _remove(self, ear: Ear | ThreadsEar) -> None:
        for topic in ear.topics:
            self._ears[topic].discard(ear)
            if not self._ears[topic]:
                del self._ears[topic]

    def hang_up(self) -> None:
        """Let every waiting connection end, also those that come from now on: the process is about to."""
        self._is_ending = True
        for ears in list(self._ears.values()):
            for ear in ears:
                ear.close()

    async def stop(self) -> None:
        Household.name, Household.notify, self._is_ending = "", None, False
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._loop = asyncio.get_running_loop()
            self._task = self._loop.create_task(self._subscribe_for_ever())
            Household.name, Household.notify = self._name, self._notify

    def _notify(self, topic: str) -> None:
        """This process rang; may be called from any thread."""
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._ring, topic)

    async def _subscribe_for_ever(self) -> None:
        failures = 0
        while True:
            try:
                await self._subscribe()
            except (redis.RedisError, OSError) as error:
                failures = 0 if self.connected else failures + 1
                log.warning("Changes are not received: Valkey reports %s. Waiting connections read by themselves.", error)
            finally:
                self.connected = False
            await asyncio.sleep(min(RETRY_SECONDS_MIN * 2**failures, RETRY_SECONDS_MAX))

    async def _subscribe(self) -> None:
        """Hear rings until Valkey fails; raises RedisError or OSError then."""
        async with redis.asyncio.from_url(self.url, health_check_interval=SILENCE_SECONDS_MAX) as valkey, valkey.pubsub() as pubsub:
            await pubsub.psubscribe(f"{PREFIX}*")
            while True:
                message = await pubsub.get_message(timeout=SILENCE_SECONDS_MAX)
                if message is not None and message["type"] == "psubscribe":
                    self._back()
                elif message is not None and message["type"] == "pmessage" and message["data"].decode() != self._name:
                    self._ring(message["channel"].decode().removeprefix(PREFIX))

    def _back(self) -> None:
        self.connected = True
        for topic in list(self._ears):
            self._ring(topic)

    def _ring(self, topic: str) -> None:
        for ear in self._ears.get(topic, ()):
            ear.hear(topic)


FANOUT = FanOut(settings.REDIS_URL)
