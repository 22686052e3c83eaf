import asyncio
import os
import subprocess
import sys
import threading

import pytest
from django.db import connection

from app.core.threads import Threads


def asked(threads, ask):
    return asyncio.run(threads.run(ask))


def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def end(pid):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


KEPT = """
import django
django.setup()
from django.db import connection
from app.tests.test_threads import Threads, asked, backend, end
one, other = Threads(1, "one"), Threads(1, "other")
first = asked(one, backend)
assert asked(one, backend) == first, "it did not keep its connection"
asked(other, lambda: end(first))
assert asked(one, backend) not in (None, first)
"""


def test_it_keeps_its_connection_and_does_not_stumble_over_one_that_ended(committed_db, ground):
    env = (
        os.environ
        | ground.environment(committed_db)
        | {"DJANGO_SETTINGS_MODULE": "app.settings", "SLOTLIGHT_KEEP_CONNECTIONS_SECONDS": "600"}
    )
    done = subprocess.run([sys.executable, "-c", KEPT], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_leaves_no_connection_behind_where_none_is_to_be_kept(committed_db):
    threads = Threads(1, "test")
    assert asked(threads, backend) != asked(threads, backend)


class Gate:
    """Tasks that say who they are and wait until they are let go."""

    def __init__(self):
        self.open, self.names = threading.Event(), []

    def task(self):
        self.names.append(threading.current_thread().name)
        assert self.open.wait(10)
        return self.names[-1]


async def _until(so):
    async with asyncio.timeout(10):
        while not so():
            await asyncio.sleep(0.01)


def test_no_more_than_that_many_work_at_a_time_and_the_others_wait_their_turn(db):
    async def walk():
        threads, gate, done = Threads(2, "test"), Gate(), []
        held = [asyncio.create_task(threads.run(gate.task)) for _ in range(2)]
        await _until(lambda: len(gate.names) == 2)
        late = [asyncio.create_task(threads.run(done.append, number)) for number in range(5)]
        await asyncio.sleep(0.05)
        assert (done, len(gate.names)) == ([], 2)
        gate.open.set()
        await asyncio.gather(*held, *late)
        assert sorted(done) == [0, 1, 2, 3, 4]

    asyncio.run(walk())


def test_who_waits_hears_what_went_wrong_and_the_thread_goes_on(db):
    threads = Threads(1, "test")
    with pytest.raises(ZeroDivisionError):
        asked(threads, lambda: 1 // 0)
    assert asked(threads, lambda: "well") == "well"


def test_what_nobody_waits_for_any_more_is_not_begun(db):
    async def walk():
        threads, gate, done = Threads(1, "test"), Gate(), []
        held = asyncio.create_task(threads.run(gate.task))
        await _until(lambda: gate.names)
        gone = asyncio.create_task(threads.run(done.append, "gone"))
        await asyncio.sleep(0.05)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        gate.open.set()
        await held
        await threads.run(done.append, "next")
        assert done == ["next"]

    asyncio.run(walk())
