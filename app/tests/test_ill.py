"""A database that hangs, and one whose disk is full: said within two seconds, and nothing waits for ever."""

import gc
import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import OperationalError, connection, connections
from django.urls import get_resolver

from app import asgi, outages, readiness
from app.core.database import database
from cli.problems import DOWN, of_answer


@pytest.fixture(autouse=True)
def _asked_anew():
    readiness.last.found, readiness.last.ill = {}, {}
    yield
    readiness.last.found, readiness.last.ill = {}, {}


@pytest.fixture
def stopped(ground):
    """`stopped()` stops PostgreSQL, every process of it, as a hung disk would."""
    if ground.external:
        pytest.skip("PostgreSQL is not ours to stop.")
    done = []

    def stop():
        postmaster = int((ground.postgres.data / "postmaster.pid").read_text().split()[0])
        halt(postmaster)  # first: then it starts no other
        for pid in Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split():
            halt(int(pid))

    def halt(pid):
        os.kill(pid, signal.SIGSTOP)
        done.append(pid)

    yield stop
    for pid in reversed(done):  # the postmaster last: going on, it collects a child that had ended just before
        os.kill(pid, signal.SIGCONT)


def test_readiness_is_told_within_two_seconds_of_a_database_that_hangs(wire, stopped):
    wire("GET", "/readyz")
    readiness.last.found = {}
    stopped()
    for _ in range(3):
        began = time.monotonic()
        status, _, body = wire("GET", "/readyz")
        assert time.monotonic() - began < 2
        answer = json.loads(body)["parts"]
        assert (status, answer["database"]) == (503, "No answer within 1.5 s: database hangs.")
        assert answer["valkey"] == "ok"
        readiness.last.found = {}


def test_a_database_that_hangs_is_written_down_where_it_is_not_needed(wire, stopped):
    outages.forget()
    wire("GET", "/readyz")
    assert outages.noted() is None
    stopped()
    for _ in range(2):
        readiness.last.found = {}
        wire("GET", "/readyz")
    until = time.monotonic() + 5
    while (found := outages.noted()) is None or not found.seconds:
        assert time.monotonic() < until
        time.sleep(0.05)
    outages.forget()


@pytest.fixture
def soon(monkeypatch):
    """The web process asks by itself, sooner than it does."""
    assert get_resolver().url_patterns  # read now: the first request would, and takes its time
    monkeypatch.setattr(asgi, "ASKED_SECONDS", 0.2)
    monkeypatch.setattr(readiness, "ILL_SECONDS", 1.0)


def test_the_alarm_of_a_database_that_hangs_stands_where_the_pages_would(soon, wire, stopped):
    wire("GET", "/readyz")
    stopped()
    until = time.monotonic() + 15
    while not readiness.stays_ill("database"):
        assert time.monotonic() < until
        time.sleep(0.1)
    began = time.monotonic()
    for _ in range(20):  # more than there are threads for pages
        status, headers, body = wire("GET", "/")
        assert (status, headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert b"The database does not answer." in body
        assert b"No answer within 1.5 s: database hangs." in body
        assert b"The disk under the portal" not in body, "nothing says so"
    status, _, body = wire("GET", "/api/v1/status")
    problem = of_answer(status, json.loads(body))
    assert str(problem).startswith("ALARM: The database does not answer.")
    assert problem.code == DOWN
    assert wire("GET", "/healthz")[::2] == (503, b"The database does not answer.\n")
    assert time.monotonic() - began < 5
    status, _, body = wire("GET", "/metrics")
    assert (status, b'slotlight_portal_alarms{kind="database-hangs"} 1.0' in body) == (200, True)
    assert b'kind="ledger-broken"' not in body  # nobody knows


def test_the_pages_are_back_with_the_database(soon, wire, monkeypatch):
    monkeypatch.setitem(readiness.PARTS, "database", lambda: "The database does not answer. Nothing works until it does.")
    until = time.monotonic() + 15
    while wire("GET", "/healthz")[0] == 200:
        assert time.monotonic() < until
        time.sleep(0.1)
    monkeypatch.undo()
    while wire("GET", "/healthz")[0] == 503:
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.django_db
def test_the_server_ends_a_statement_that_takes_too_long(limited):
    with limited(1) as link, link.cursor() as cursor, pytest.raises(OperationalError, match="statement timeout"):
        cursor.execute("SELECT pg_sleep(3)")


def test_waiting_ends_where_the_server_itself_does_not_answer(committed_db, django_db_blocker, stopped, limited, monkeypatch):
    from app.postgresql import base

    monkeypatch.setattr(base, "GRACE_SECONDS", 0.5)
    with django_db_blocker.unblock(), limited(1) as link:
        with link.cursor() as cursor:
            cursor.execute("SELECT 1")
        stopped()
        began = time.monotonic()
        with pytest.raises(OperationalError, match="gave no answer"), link.cursor() as cursor:
            cursor.execute("SELECT 1")
        assert time.monotonic() - began < 3


@pytest.fixture
def limited(ground, settings):
    @contextmanager
    def link(seconds):
        settings.STATEMENT_SECONDS_MAX = seconds
        settings_dict = connections["default"].settings_dict
        mine = connections["default"].copy()
        url = ground.url(settings_dict["NAME"])
        mine.settings_dict = settings_dict | database(url, seconds)
        yield mine
        mine.close()

    return link


@pytest.mark.django_db
def test_a_database_whose_disk_is_full_is_not_ready(ground):
    """A server process that may not write past one block stands for the full disk: the kernel says the same to it."""
    if ground.external:
        pytest.skip("PostgreSQL is not ours to limit.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    assert readiness.disk() == ""
    subprocess.run(["prlimit", "--pid", str(pid), "--fsize=4096:"], check=True, **ground.user.popen())
    try:
        assert readiness.disk().startswith("The database cannot write to its disk")
    finally:
        subprocess.run(["prlimit", "--pid", str(pid), "--fsize=unlimited:"], check=True, **ground.user.popen())


@pytest.mark.django_db
def test_a_full_data_folder_is_not_ready(monkeypatch):
    monkeypatch.setattr(readiness.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1024})())
    assert "is full: 1 KiB are free" in readiness.disk()


def test_a_connection_is_not_waited_for_for_ever(committed_db, django_db_blocker, stopped, limited, monkeypatch):
    monkeypatch.setattr("app.core.database.CONNECT_SECONDS_MAX", 1)
    with django_db_blocker.unblock(), limited(1) as link:
        stopped()
        began = time.monotonic()
        with pytest.raises(OperationalError, match="timeout"), link.cursor() as cursor:
            cursor.execute("SELECT 1")
        assert time.monotonic() - began < 10
    gc.collect()  # the socket that was given up on; to drop a database, the server waits a minute for who began to sign in
