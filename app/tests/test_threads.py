import asyncio
import os
import subprocess
import sys

from django.db import connection

from app.threads import Threads


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
