"""The ZED hook and the bell it rings: at once, and never in the way of ZED."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from contextlib import suppress

import pytest

from agents.service import zed_hook
from agents.service.zed_hook import Bell


@pytest.fixture
def folder(tmp_path):
    """A name that a careless script would trip over."""
    path = tmp_path / "it's a $(touch x) folder"
    path.mkdir()
    return str(path)


@pytest.fixture
def received(folder):
    rung = threading.Semaphore(0)
    listening = Bell(folder, rung.release)
    yield rung
    listening.close()


def zed(folder, **environment):
    """Run the hook as ZED does; how long it took."""
    path = os.path.join(os.path.dirname(folder), "all-slotlight.sh")
    with open(path, "w") as file:
        file.write(zed_hook.hook(folder))
    os.chmod(path, 0o755)
    begun = time.monotonic()
    ran = subprocess.run(
        [path], env={"ZED_PID": "1", **environment}, cwd=os.path.dirname(folder), capture_output=True, timeout=10, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    return time.monotonic() - begun


def test_the_hook_rings_at_once(folder, received):
    zed(folder, ZEVENT_SUBCLASS="statechange", ZEVENT_POOL="tank; rm -rf /")
    assert received.acquire(timeout=2)
    assert sorted(os.listdir(os.path.dirname(folder))) == ["all-slotlight.sh", os.path.basename(folder)]


def test_a_storm_of_events_is_answered_once_a_second(folder, received):
    for _ in range(2000):
        assert zed_hook.ring(folder)
    time.sleep(0.3)
    assert received.acquire(timeout=2)
    assert not received.acquire(blocking=False)


def test_history_events_do_not_ring(folder, received):
    zed(folder, ZEVENT_SUBCLASS="history_event")
    assert not received.acquire(timeout=0.3)


def test_without_an_agent_the_hook_neither_waits_nor_leaves_a_file(folder):
    Bell(folder, lambda: None).close()
    assert stat.S_ISFIFO(os.stat(f"{folder}/bell").st_mode)
    assert zed(folder) < 2.0
    assert not zed_hook.ring(folder)
    os.unlink(f"{folder}/bell")
    zed(folder)
    assert os.listdir(folder) == []


def test_an_agent_that_does_not_listen_does_not_hold_up_zed(folder):
    os.mkfifo(f"{folder}/bell")
    deaf = os.open(f"{folder}/bell", os.O_RDWR | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while os.write(deaf, b"x" * 4096):
            pass
    assert zed(folder) < 2.0
    assert zed_hook.ring(folder)
    os.close(deaf)


def test_only_its_owner_may_ring(folder, received):
    assert stat.S_IMODE(os.stat(f"{folder}/bell").st_mode) == 0o600


def test_a_file_in_its_place_is_no_bell(folder):
    with open(f"{folder}/bell", "w"):
        pass
    zed(folder)
    assert os.path.getsize(f"{folder}/bell") == 0
    Bell(folder, lambda: None).close()
    assert stat.S_ISFIFO(os.stat(f"{folder}/bell").st_mode)
