"""Who is at a command on this node already, and that only one `zpool import` is.

`zpool import` opens every disk exclusively before it counts it, and leaves out, without an error, what it cannot open so (O_EXCL in OpenZFS's
lib/libzutil/zutil_import.c, zpool_find_import_impl). While another one has the kernel try the pool out, the kernel holds its disks: on a real
node 14 of 30 listings beside another listing said `no pools available to import` of a pool that was there, and one of 25 imports failed
with `no such pool available` (docs/lab.md). So a listing and an import wait for each other, and both for one that a person gave by hand.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from agents.host.host import Host

IMPORT = ("zpool", "import")
WAIT_SECONDS = 60.0  # for one that is at work; a listing of a node with many disks takes its time
POLL_SECONDS = 0.5


class Busy(Exception):
    """Another `zpool import` did not end in time. The message says which."""


def still_running(host: Host, argv: tuple[str, ...], minder: str = "") -> str:
    """The pid of a process whose command line ends in `argv`, or "". The process `minder`, which stands ready to start it, has these words too."""
    return _process(host, lambda words: _is(words[-len(argv) :], argv), minder)


def is_import(argv: Sequence[str]) -> bool:
    """Whether it lists or imports pools."""
    return tuple(argv[: len(IMPORT)]) == IMPORT


def importing(host: Host) -> str:
    """The pid of a `zpool import`, whoever gave it, or "". One that the kernel holds and that is our own is not waited for: it is reported as such."""
    if any(is_import(argv) for argv in getattr(host, "left_behind", tuple)()):
        return ""
    return _process(host, lambda words: _is(words[: len(IMPORT)], IMPORT))


@contextmanager
def no_other_import(host: Host, wait_seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """This thread alone lists or imports pools, once no other process on the node does. Raises Busy. May be entered again by the same thread."""
    deadline = time.monotonic() + wait_seconds
    lock = getattr(host, "imports", None)  # a host that simulates does one thing at a time
    if lock is not None and not lock.acquire(timeout=wait_seconds):
        raise Busy(_busy("the agent's own", wait_seconds))
    try:
        while pid := importing(host):
            if time.monotonic() >= deadline:
                raise Busy(_busy(f"process {pid}", wait_seconds))
            time.sleep(POLL_SECONDS)
        yield
    finally:
        if lock is not None:
            lock.release()


def _busy(who: str, seconds: float) -> str:
    return (
        f"Another `zpool import`, {who}, is at work and did not end within {seconds:.0f} s. Two at once hide disks from each other, "
        "so none is begun beside it."
    )


def _is(words: Sequence[str], argv: Sequence[str]) -> bool:
    return len(words) == len(argv) and os.path.basename(words[0]) == argv[0] and tuple(words[1:]) == tuple(argv[1:])


def _process(host: Host, is_it: Callable[[list[str]], bool], but_for: str = "") -> str:
    for path in host.list("/proc/[0-9]*/cmdline"):
        if path.split("/")[2] == but_for:
            continue
        try:
            words = host.read(path).decode("utf-8", "replace").rstrip("\0").split("\0")
        except OSError:
            continue  # it ended while we looked
        if is_it(words):
            return path.split("/")[2]
    return ""
