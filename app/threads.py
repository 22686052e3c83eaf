"""Threads that ask the database. Each keeps its connection from one task to the next, so a task begins with its first query.

A server that goes away says so on the connections it leaves behind. So an idle connection is looked at before it is
used again, which costs no question to the server, and a restart of PostgreSQL fails no request that comes after it.
"""

import asyncio
import select
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from django.db import close_old_connections, connections

T = TypeVar("T")


class Threads:
    """At most `count` tasks at a time, and as many connections. Belongs to one event loop.

    Who was busy last is the first to be busy again: its connection has planned what is asked most, and is still in the processor's caches.
    One pool of many threads would take turns instead.
    """

    def __init__(self, count: int, name: str) -> None:
        self._seats = asyncio.Semaphore(count)
        self._idle = deque(ThreadPoolExecutor(1, f"{name}-{number}") for number in range(count))

    async def run(self, ask: Callable[..., T], *args: object) -> T:
        async with self._seats:
            thread = self._idle.pop()
            answer = asyncio.get_running_loop().run_in_executor(thread, partial(_with_database, ask, *args))
            try:
                return await answer
            finally:  # where nobody waits any more it may still be busy, and is taken last
                self._idle.appendleft(thread) if answer.cancelled() else self._idle.append(thread)


def _with_database(ask: Callable[..., T], *args: object) -> T:
    _leave_the_dead()
    try:
        return ask(*args)
    finally:
        close_old_connections()


def _leave_the_dead() -> None:
    for held in connections.all(initialized_only=True):
        if held.connection is not None and (held.connection.closed or _has_something_to_say(held.connection.fileno())):
            held.close()


def _has_something_to_say(descriptor: int) -> bool:
    """An idle server only ever speaks up to say that it ends the connection."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
