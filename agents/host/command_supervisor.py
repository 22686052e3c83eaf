"""Run one command so that it outlives the agent: a small process that starts it, waits for it and writes down how it ended.

    agent    starts the minder, which waits;  journals INTENT with the minder's mark;  says "go"
    minder   "go": begun -> starts the command -> child -> waits -> end
             the agent dies before "go": its pipe closes and the minder ends; nothing ran

The files stand in one folder per order, each on the disk before the next step. The next agent reads there what this one could not see:
the real exit code if there is one, else whether minder or child is still at it. A mark names a process beyond doubt: its number, when
it started, and the boot. It runs as `python -c`, with its words after it, because a zipapp has no second file to start.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Optional, Protocol

from agents.host.host import ENVIRONMENT, GRACE_SECONDS, OUTPUT_BYTES_MAX, Ran

START_SECONDS = 60.0  # nothing is judged before it is ready, and a node whose disks stall starts no process in a few seconds
POLL_SECONDS = 0.2
_BOOT = "/proc/sys/kernel/random/boot_id"
_PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from agents.host.command_supervisor import mind; mind(sys.argv[1:])"


class CannotMind(Exception):
    """The command was not started. The message says why."""


class Minded(Protocol):
    """A command that is ready to start."""

    mark: str  # who minds it, for the journal; "" when it lives and dies with the agent

    def go(self) -> Ran:
        """Start it, and wait for its end."""

    def close(self) -> None:
        """Forget it. What was not started never is."""


class Inside:
    """What is done in the agent's own process: on a host that has none of its own, such as a simulated one, or without a command."""

    mark = ""

    def __init__(self, go: Callable[[], Ran]) -> None:
        self.go = go

    def close(self) -> None:
        pass


class Outside:
    """A command under a minder. `words` is what is really started for `argv`: an absolute path and the same words after it."""

    def __init__(self, folder: str, argv: Sequence[str], words: Sequence[str], timeout_seconds: float) -> None:
        self._folder, self._argv = Path(folder), tuple(argv)
        root = str(Path(__file__).resolve().parent.parent.parent)  # a folder, or the zipapp
        try:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder, mode=0o700)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, root, folder, str(timeout_seconds), *words],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd="/", env=ENVIRONMENT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CannotMind(f"The command could not be prepared: {error}.") from error
        if not self._is_ready():
            self._process.kill()
            self.close()
            raise CannotMind("The process that minds the command did not start.")
        self.mark = mark_of(self._process.pid)

    def _is_ready(self) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], START_SECONDS)[0]) and self._process.stdout.readline() == b"ready\n"

    def go(self) -> Ran:
        assert self._process.stdin is not None
        begun = time.monotonic()
        try:
            self._process.stdin.write(b"go\n")
            self._process.stdin.close()
        except OSError:
            pass  # it is gone; its files say how far it came
        self._process.wait()
        left = Left(str(self._folder), self.mark)
        why = "lost" if left.was_begun() else "not started"
        return left.ran(self._argv) or Ran(self._argv, None, b"", b"", time.monotonic() - begun, why)

    def close(self) -> None:
        """Without "go" it reads the end of its input, and ends."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass  # it was gone already
        self._process.wait()


class Left:
    """What a minder left in its folder, for an agent that was not there."""

    def __init__(self, folder: str, mark: str) -> None:
        self._folder, self._mark = Path(folder), mark

    def ran(self, argv: Sequence[str]) -> Optional[Ran]:
        """How the command ended; None when no process saw it."""
        end = _read_result(self._folder / "end")
        if end is None:
            return None
        code = end["exit_code"]
        stdout, stderr = (_head(self._folder / name) for name in ("stdout", "stderr"))
        cut = len(stdout) > OUTPUT_BYTES_MAX or len(stderr) > OUTPUT_BYTES_MAX
        parts = (stdout[:OUTPUT_BYTES_MAX], stderr[:OUTPUT_BYTES_MAX])
        return Ran(tuple(argv), code, *parts, end["seconds"], end["why"], cut)

    def ended_at(self) -> float:
        """Unix time at which the minder saw the end. Only where `ran` says how."""
        end = _read_result(self._folder / "end")
        return end["at"] if end else 0.0

    def was_begun(self) -> bool:
        """False only when the minder is known not to have started anything."""
        return (self._folder / "begun").exists()

    def alive(self) -> str:
        """The process that is still at it, or ""."""
        child = _read_result(self._folder / "child") or {}
        for mark in (self._mark, str(child.get("mark", ""))):
            if mark and mark_of(int(mark.split(" ")[0])) == mark:
                return mark.split(" ")[0]
        return ""

    def wait(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> str:
        """Wait until no process runs it any more, at most so long; the processes that still do."""
        deadline = time.monotonic() + seconds
        while (pid := self.alive()) and time.monotonic() < deadline and not is_over():
            time.sleep(POLL_SECONDS)
        return pid

    def forget(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def mark_of(pid: int) -> str:
    """ "PID START BOOT" of a living process; "" when there is none, or only its zombie. START is in clock ticks since boot."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else f"{pid} {fields[19].decode()} {_boot_id()}"


def mind(words: Sequence[str]) -> None:
    """The minder itself: FOLDER TIMEOUT ARGV..."""
    folder, timeout_seconds, argv = Path(words[0]), float(words[1]), list(words[2:])
    print("ready", flush=True)
    if sys.stdin.buffer.readline() != b"go\n":
        return
    begun = time.monotonic()
    _write(folder / "begun", {})
    try:
        with open(folder / "stdout", "wb") as stdout, open(folder / "stderr", "wb") as stderr:
            child = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd="/", env=ENVIRONMENT, start_new_session=True
            )
    except OSError as error:
        _end(folder, None, _why(error), begun)
        return
    try:
        _write(folder / "child", {"mark": mark_of(child.pid)})
    except OSError:
        pass  # a full disk; the command is at work and must be waited for all the same
    why = _wait(child, timeout_seconds)
    _end(folder, None if why else child.returncode, why, begun)


def _end(folder: Path, exit_code: Optional[int], why: str, begun: float) -> None:
    _write(folder / "end", {"exit_code": exit_code, "why": why, "seconds": time.monotonic() - begun, "at": time.time()})


def _wait(child: subprocess.Popen[bytes], timeout_seconds: float) -> str:
    """As `LocalHost.run` says it: "", "timeout" or "stuck"."""
    try:
        child.wait(timeout_seconds)
        return ""
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
    try:
        child.wait(GRACE_SECONDS)
        return "timeout"
    except subprocess.TimeoutExpired:
        return "stuck"


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "not found"
    return "not permitted" if isinstance(error, PermissionError) else "not started"


def _write(path: Path, value: dict[str, Any]) -> None:
    """Whole and on the disk, its name too."""
    new = path.with_suffix(".new")
    with open(new, "w", encoding="ascii") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read_result(path: Path) -> Optional[dict[str, Any]]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None  # written whole by our own minder, or not at all


def _head(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(OUTPUT_BYTES_MAX + 1)
    except OSError:
        return b""


def _boot_id() -> str:
    try:
        return Path(_BOOT).read_text().strip()
    except OSError:
        return ""
