"""The bell beside the door: ZED rings it when something happens to a pool, and the agent looks at once.

A ring is one byte through a FIFO in the agent's folder. It carries no data of the event, so nothing of a pool or a disk is ever put
on a command line; and it never waits: without an agent there is no reader and the ring is lost, which the next round makes good.
"""

from __future__ import annotations

import os
import select
import shlex
import stat
import threading
import time
from collections.abc import Callable

NAME = "bell"
PAUSE_SECONDS = 1.0  # between two answers, however many events there are
HOOK_NAME = "all-slotlight.sh"  # ZED runs every executable of its folder whose name begins with the event's class, or with "all"

_HOOK = """#!/bin/sh
# Rings the Slotlight agent on a pool event. ZED runs it as root from /etc/zfs/zed.d; it passes nothing on and does not wait.
PATH=/usr/bin:/bin
bell={bell}
case "${{ZEVENT_SUBCLASS-}}" in history_event) exit 0 ;; esac
[ -p "$bell" ] || exit 0
# nonblock: an agent that is gone, or does not listen, must not hold up ZED. nocreat: a file there would be taken for a bell.
echo | dd of="$bell" bs=1 count=1 oflag=nonblock conv=nocreat,notrunc 2>/dev/null
exit 0
"""


def hook(folder: str) -> str:
    """The script `slotlight-zed` for an agent that lives in `folder`; goes to /etc/zfs/zed.d under HOOK_NAME."""
    return _HOOK.format(bell=shlex.quote(os.path.join(folder, NAME)))


def ring(folder: str) -> bool:
    """Ring it; whether an agent hears."""
    try:
        descriptor = os.open(os.path.join(folder, NAME), os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.write(descriptor, b"\n") == 1
    except BlockingIOError:
        return True  # it has been rung so often that it is full
    finally:
        os.close(descriptor)


class Bell:
    """Calls `answer` in a thread of its own soon after each ring, at most once every PAUSE_SECONDS."""

    def __init__(self, folder: str, answer: Callable[[], None]) -> None:
        self._path, self._answer = os.path.join(folder, NAME), answer
        self._fifo = self._open()
        self._end_read, self._end_write = os.pipe()
        self._thread = threading.Thread(target=self._listen, name="bell", daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self._end_write)
        self._thread.join()
        os.close(self._end_read)
        os.close(self._fifo)

    def _open(self) -> int:
        """Open for both directions: with a writer of our own the FIFO never comes to its end."""
        if os.path.lexists(self._path) and not stat.S_ISFIFO(os.lstat(self._path).st_mode):
            os.unlink(self._path)
        if not os.path.lexists(self._path):
            os.mkfifo(self._path, 0o600)
        return os.open(self._path, os.O_RDWR | os.O_NONBLOCK)

    def _listen(self) -> None:
        last = 0.0
        while not select.select([self._fifo, self._end_read], [], [])[0].count(self._end_read):
            wait = last + PAUSE_SECONDS - time.monotonic()
            if wait > 0 and select.select([self._end_read], [], [], wait)[0]:
                return
            try:
                while len(os.read(self._fifo, 65536)) == 65536:
                    pass
            except BlockingIOError:
                pass
            last = time.monotonic()
            self._answer()
