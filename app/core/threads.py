"""Threads that ask the database. Each keeps its connection from one task to the next, so a task begins with its first query.

A server that goes away says so on the connections it leaves behind. So an idle connection is looked at before it is
used again, which costs no question to the server, and a restart of PostgreSQL fails no request that comes after it.
"""

import asyncio
import select
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from django.db import close_old_connections, connections

T = TypeVar("T")


class Threads:
    """At most `count` tasks at a time, and as many connections."""

    def __init__(self, count: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=count, thread_name_prefix=name)

    async def run(self, ask: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(with_database, ask, *args))


def with_database(ask: Callable[..., T], *args: object) -> T:
    """What a thread of a pool runs."""
    _leave_the_dead()
    try:
        return ask(*args)
    finally:
        close_old_connections()


def _leave_the_dead() -> None:
    for held in connections.all(initialized_only=True):
        if held.connection is not None and (held.connection.closed or _is_readable(held.connection.fileno())):
            held.close()


def _is_readable(descriptor: int) -> bool:
    """An idle server only ever sends that it ends the connection."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
