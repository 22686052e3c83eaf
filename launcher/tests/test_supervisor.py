"""Children start in tiers, come back after a crash, stop in reverse, and never outlive us."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from launcher.say import Stop
from launcher.servers import Servant
from launcher.supervisor import Child, Supervisor, backoff_seconds

SLEEPER = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: (print('bye', flush=True), sys.exit(0))); print('up', flush=True); time.sleep(60)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"

ME = Servant("me", os.geteuid(), os.getegid())


@pytest.fixture
def written(monkeypatch):
    lines = []
    monkeypatch.setattr("launcher.supervisor.write", lines.append)
    return lines


def child(name: str, code: str, tier: int = 1, **more) -> Child:
    more.setdefault("ready_line", "^up$")
    return Child(name, [sys.executable, "-u", "-c", code], {"PATH": os.environ["PATH"]}, ME, tier, cwd=os.getcwd(), **more)


def test_it_passes_on_what_a_child_says_under_its_name(written):
    async def scene():
        supervisor = Supervisor()
        await supervisor.start(child("web", SLEEPER.replace("print('up'", "print('hello'); print('noise'); print('up'"), hide="noise"))
        await supervisor.stop()

    asyncio.run(scene())
    assert written == ["      web | hello", "      web | bye"]


def test_it_stops_the_last_tier_first(written):
    async def scene():
        supervisor = Supervisor()
        await supervisor.start(child("server", SLEEPER, tier=0))
        await supervisor.start(child("web", SLEEPER, tier=1), child("agent", SLEEPER, tier=2))
        await supervisor.stop()

    asyncio.run(scene())
    assert [line.split()[0] for line in written] == ["agent", "web", "server"]


def test_it_starts_a_crashed_child_again_and_says_so(written, monkeypatch):
    monkeypatch.setattr("launcher.supervisor.BACKOFF_SECONDS_MAX", 0.01)

    async def scene():
        supervisor = Supervisor()
        await supervisor.start(child("web", SLEEPER))
        first = supervisor.running[0].process.pid
        os.kill(first, signal.SIGKILL)
        while supervisor.running[0].process.pid == first:
            await asyncio.sleep(0.01)
        await supervisor.stop()

    asyncio.run(scene())
    assert "web was ended by SIGKILL. It starts again in 0.01 s." in written[0]


def test_it_starts_a_child_again_whose_own_children_live_on(written, monkeypatch):
    """They hold its output open; a killed worker's pool must not keep the worker from coming back."""
    monkeypatch.setattr("launcher.supervisor.BACKOFF_SECONDS_MAX", 0.01)
    forks = "import os, time; os.fork() or time.sleep(60); print('up', flush=True); time.sleep(60)"

    async def scene():
        supervisor = Supervisor()
        await supervisor.start(child("worker", forks))
        first = supervisor.running[0].process.pid
        os.kill(first, signal.SIGKILL)
        while supervisor.running[0].process.pid == first:
            await asyncio.sleep(0.01)
        await supervisor.stop()

    asyncio.run(asyncio.wait_for(scene(), 10))


def test_it_waits_longer_after_each_crash():
    assert [backoff_seconds(crashes) for crashes in (1, 2, 3, 4, 5, 6, 7)] == [1, 2, 4, 8, 16, 30, 30]


def test_a_child_that_ends_before_it_is_ready_ends_the_start(written):
    async def scene():
        supervisor = Supervisor()
        try:
            await supervisor.start(child("web", "print('no such table'); raise SystemExit(3)"))
        finally:
            await supervisor.stop()

    with pytest.raises(Stop, match=r"web ended with exit code 3 before it was ready. Its last words:\nno such table"):
        asyncio.run(scene())


def test_it_kills_who_does_not_listen_and_says_so(written):
    async def scene():
        supervisor = Supervisor()
        await supervisor.start(child("web", DEAF, patience_seconds=0.1))
        await supervisor.stop()
        return supervisor.running[0].process.returncode

    assert asyncio.run(scene()) == -signal.SIGKILL
    assert "web did not end within 0.1 s and is killed." in written[0]


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux tells a child that its parent died.")
def test_a_child_ends_when_the_supervisor_is_killed(tmp_path):
    code = """
import asyncio
from launcher.supervisor import Supervisor
from launcher.tests.test_supervisor import SLEEPER, child
async def scene():
    supervisor = Supervisor()
    await supervisor.start(child("web", SLEEPER))
    print(supervisor.running[0].process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(scene())
"""
    supervisor = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(supervisor.stdout.readline())
    supervisor.kill()
    supervisor.wait()
    deadline = time.monotonic() + 5
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
