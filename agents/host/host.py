"""The only door to the machine: run, read, read_device, write, erase, list, link, now.

Collectors and operations get a `Host` and nothing else, so the same code reads a real node,
a folder of captures, or the twin.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import mmap
import os
import re
import selectors
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Protocol, Tuple

PATH = ("/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin")
ENVIRONMENT = {"PATH": ":".join(PATH), "LC_ALL": "C", "TZ": "UTC", "HOME": "/"}
OUTPUT_BYTES_MAX = 4 * 1024 * 1024
GRACE_SECONDS = 1.0  # between SIGKILL and giving a child up
POLL_SECONDS = 0.25
CHUNK_BYTES = 65536
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
ALIGNED_BYTES = 4096  # what every block device takes for an unbuffered read

_MAGIC = re.compile(r"[*?[]")
Region = Tuple[int, int]  # offset and length in bytes
Agrees = Callable[[str, bytes], None]


@dataclass(frozen=True)
class Ran:
    """How one command ended. `exit_code` is None when it did not end by itself; `why` then says how."""

    argv: tuple[str, ...]
    exit_code: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    why: str = ""  # "", "timeout", "stuck", "not found", "not permitted", "not started"
    truncated: bool = False


class Host(Protocol):
    """One machine, seen through the eight things an agent may do to it."""

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        """Run `argv` without a shell. Never raises for what the command does; see `Ran`."""

    def read(self, path: str) -> bytes:
        """The bytes of a file (sysfs, procfs). Raises OSError."""

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        """What the medium of a block device holds there, one region after the other; never what a cache still remembers.
        Raises OSError, also where there are no devices to read."""

    def write(self, path: str, data: bytes) -> None:
        """Write to an existing attribute file. Raises OSError."""

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        """Overwrite these regions of a block device with zeros, and answer what they hold then, read from the medium. The device is opened
        for this alone; `agrees` is given its kernel name and what the regions hold, and raises where that is not what was meant: then
        nothing is written. Raises OSError, and what `agrees` raises."""

    def list(self, pattern: str) -> tuple[str, ...]:
        """Paths that match a glob pattern, sorted; dangling links count. Empty when there are none."""

    def link(self, path: str) -> str:
        """Where `path` really leads, all links followed. Raises OSError when nothing is there."""

    def now(self) -> float:
        """Unix time in seconds."""


class LocalHost:
    """This machine.

    A command gets no shell, no terminal, a clean environment in the C locale and UTC, and a process group of its own that is
    killed at the deadline. A child that the kernel does not let die (state D) is left behind and reported as "stuck"; while it
    is, the same command is not started again, because it would only stand in line behind the first.
    """

    def __init__(self) -> None:
        self._left_behind: list[tuple[tuple[str, ...], subprocess.Popen[bytes]]] = []
        self._lock = threading.Lock()
        self.imports = threading.RLock()  # held by who lists or imports pools; see agents/host/running_commands.py

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        begun = time.monotonic()
        if tuple(argv) in self.left_behind():
            return Ran(tuple(argv), None, b"", b"", 0.0, "stuck")
        tool = find(argv[0])
        if tool is None:
            return Ran(tuple(argv), None, b"", b"", 0.0, "not found")
        try:
            child = _start((tool, *argv[1:]))
        except OSError as error:
            why = {errno.EACCES: "not permitted", errno.EPERM: "not permitted", errno.ENOENT: "not found"}
            return Ran(tuple(argv), None, b"", str(error).encode(), 0.0, why.get(error.errno or 0, "not started"))
        stdout, stderr, truncated, late = _drain(child, begun + timeout_seconds)
        ended = self._end(child, tuple(argv)) if late else ""
        exit_code = None if ended else child.returncode
        return Ran(tuple(argv), exit_code, stdout, stderr, time.monotonic() - begun, ended, truncated)

    def _end(self, child: subprocess.Popen[bytes], argv: tuple[str, ...]) -> str:
        """Kill the whole group; says how that went."""
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it ended in this moment
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            with self._lock:
                self._left_behind.append((argv, child))
            return "stuck"
        return "timeout"

    def left_behind(self) -> tuple[tuple[str, ...], ...]:
        """The commands whose child the kernel still holds. Those that came loose are collected, so that none stays as a zombie."""
        with self._lock:
            self._left_behind = [(argv, child) for argv, child in self._left_behind if child.poll() is None]
            return tuple(argv for argv, _ in self._left_behind)

    def words(self, argv: Sequence[str]) -> tuple[str, ...]:
        """What is started for `argv` by a process that outlives the agent; see agents/host/command_supervisor.py. A host that simulates has no such words."""
        return (find(argv[0]) or argv[0], *argv[1:])

    def read(self, path: str) -> bytes:
        descriptor = os.open(path, os.O_RDONLY)  # thousands of attributes: a file object would double the price of each
        try:
            read = os.read(descriptor, CHUNK_BYTES)
            while chunk := os.read(descriptor, CHUNK_BYTES):  # procfs and sysfs hand over a page at a time
                read += chunk
                if len(read) > OUTPUT_BYTES_MAX:
                    raise OSError(errno.EFBIG, "longer than anything we read", path)
            return read
        finally:
            os.close(descriptor)

    def read_device(self, path: str, regions: Sequence[Region]) -> bytes:
        """ZFS writes past the page cache, so a buffered read may show what a disk held long ago: we read past it too. Where that
        is not possible, the cached pages are dropped first."""
        try:
            descriptor, direct = os.open(path, os.O_RDONLY | os.O_DIRECT), True
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            descriptor, direct = os.open(path, os.O_RDONLY), False
        try:
            return _regions(descriptor, regions, direct)
        finally:
            os.close(descriptor)

    def write(self, path: str, data: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY)  # never creates a file
        try:
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.EIO, "the attribute took only a part", path)
        finally:
            os.close(descriptor)

    def erase(self, path: str, regions: Sequence[Region], agrees: Agrees) -> bytes:
        """With O_EXCL the kernel refuses a disk of which a pool, a mount, swap, md or the device mapper holds any part, and lets none of
        them take it until this is over (block/bdev.c:bd_prepare_to_claim, Linux 6.12)."""
        descriptor = os.open(path, os.O_RDWR | os.O_EXCL | os.O_DIRECT)
        try:
            agrees(_kernel_name(descriptor, path), _regions(descriptor, regions, True))
            for offset, length in regions:
                _write_zeros(descriptor, offset, length, path)
            os.fsync(descriptor)
            return _regions(descriptor, regions, True)
        finally:
            os.close(descriptor)

    def list(self, pattern: str) -> tuple[str, ...]:
        magic = _MAGIC.search(pattern)
        if magic is None:
            return (pattern,) if os.path.lexists(pattern) else ()
        folder, _, names = pattern.rpartition("/")
        if not folder or magic.start() <= len(folder):
            return tuple(sorted(glob.glob(pattern)))
        try:
            found = os.listdir(folder)  # the usual pattern, without the detours of glob
        except OSError:
            return ()
        # Without what every name begins with, "sdfl[0-9]*" is the pattern of all disks, and is compiled once.
        begin = names[: magic.start() - len(folder) - 1]
        rest = fnmatch.filter([name[len(begin) :] for name in found if name.startswith(begin)], names[len(begin) :])
        return tuple(sorted(f"{folder}/{begin}{name}" for name in rest if begin or name[0] != "."))

    def link(self, path: str) -> str:
        os.stat(path)  # realpath alone is content with a link that leads nowhere
        return os.path.realpath(path)

    def now(self) -> float:
        return time.time()


def _regions(descriptor: int, regions: Sequence[Region], direct: bool) -> bytes:
    """Short only at the end of the device. An unbuffered read needs memory that begins on a page, which an anonymous map does;
    a private one, because pages to share cost twice as much."""
    for offset, length in regions:
        if offset % ALIGNED_BYTES or length % ALIGNED_BYTES:
            raise OSError(errno.EINVAL, f"{offset}+{length} is not a whole number of {ALIGNED_BYTES} byte blocks")
        if not direct:
            os.posix_fadvise(descriptor, offset, length, os.POSIX_FADV_DONTNEED)
    got = 0
    with mmap.mmap(-1, sum(length for _, length in regions), PRIVATE) as buffer, memoryview(buffer) as memory:
        for offset, length in regions:
            at = -(-got // ALIGNED_BYTES) * ALIGNED_BYTES
            if at != got:
                break  # the device ended within the region before
            with memory[at : at + length] as part:
                got += os.preadv(descriptor, [part], offset)
        return bytes(memory[:got])


def _kernel_name(descriptor: int, path: str) -> str:
    """Of the block device that is open, whatever its path leads to by now."""
    opened = os.fstat(descriptor)
    if not stat.S_ISBLK(opened.st_mode):
        raise OSError(errno.ENOTBLK, "not a block device", path)
    number = f"/sys/dev/block/{os.major(opened.st_rdev)}:{os.minor(opened.st_rdev)}"
    os.stat(number)
    return os.path.basename(os.path.realpath(number))


def _write_zeros(descriptor: int, offset: int, length: int, path: str) -> None:
    """From fresh anonymous memory, which is zeros and begins on a page."""
    with mmap.mmap(-1, length, PRIVATE) as zeros:
        if (written := os.pwrite(descriptor, zeros, offset)) != length:
            raise OSError(errno.EIO, f"only {written} of {length} bytes at {offset} were written", path)


def find(tool: str) -> str | None:
    """Where a bare tool name is on our own path; what PATH the agent was started with does not matter."""
    candidates = [tool] if os.path.isabs(tool) else [] if "/" in tool else [f"{folder}/{tool}" for folder in PATH]
    return next((path for path in candidates if os.path.isfile(path)), None)


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=ENVIRONMENT,
        start_new_session=True,
    )


def _drain(child: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes, bool, bool]:
    """Read until the child has ended and all it wrote is read, or the deadline has come; the last of the four says which. Output above
    the bound is read and dropped, so that a command in the middle of a change is not stopped by a full pipe."""
    pipes: list[IO[bytes]] = [pipe for pipe in (child.stdout, child.stderr) if pipe is not None]
    kept = {pipe: bytearray() for pipe in pipes}
    truncated = late = False
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ, kept[pipe])
        while selector.get_map():
            over = child.poll() is not None  # asked before looking: what it wrote is in the pipes by then, however slow we are
            left = deadline - time.monotonic()
            late = not over and left <= 0
            if late or left <= -GRACE_SECONDS:
                break
            ready = selector.select(0 if over else min(POLL_SECONDS, left))
            if over and not ready:
                break  # something it started keeps the pipe open
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                output: bytearray = key.data
                room = OUTPUT_BYTES_MAX - len(output)
                output += chunk[:room]
                truncated = truncated or len(chunk) > room
                if not chunk:
                    selector.unregister(key.fileobj)
    if not late:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            late = True  # it closed its outputs and goes on
    for pipe in pipes:
        pipe.close()
    return bytes(kept[pipes[0]]), bytes(kept[pipes[1]]), truncated, late
