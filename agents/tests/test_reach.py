"""What an install waits for before it enrols."""

import os
import time

from agents.host import paths
from agents.portal import reach


def test_a_relay_that_takes_a_minute_to_listen_is_waited_for(tmp_path, monkeypatch):
    """Seen on a node that another dozen processes left a third of one CPU: `python3 -c pass` took three seconds there."""
    socket, now = tmp_path / paths.RELAY_SOCKET.lstrip("/"), [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        if now[0] >= 60 and not socket.exists():
            socket.parent.mkdir(parents=True)
            socket.touch()

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", sleep)
    assert reach.relay(os.fspath(tmp_path), reach.RELAY_SECONDS) == os.fspath(socket)


def test_a_relay_that_never_listens_is_given_up(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    assert reach.relay(os.fspath(tmp_path), reach.RELAY_SECONDS) == ""
    assert now[0] < reach.RELAY_SECONDS + 1
