"""Runs a function in a process of its own, within limits of CPU time, memory and wall-clock time.

Needs the standard library only: the launcher uses it where nothing is installed. `function`, its arguments and its result must be picklable.
"""

import contextlib
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, TypeVar

CPU_SECONDS = 10
MEMORY_BYTES = 512 * 1024 * 1024  # of address space
WALL_SECONDS = 30  # on a machine that has other things to do
NICE = 5  # a page that somebody waits for comes first

ROOT = Path(__file__).resolve().parent.parent  # from where the functions are imported
NO_ROOM = pickle.dumps((False, None))  # what is sent where memory did not suffice; made while there is some

T = TypeVar("T")


class Stopped(Exception):
    """The function did not come to its end. `why` is "cpu", "memory", "time" or "crash"; the text says it in words."""

    def __init__(self, why: str) -> None:
        super().__init__(WORDS[why])
        self.why = why


WORDS = {
    "cpu": f"Reading this took more than {CPU_SECONDS} seconds of computing and was stopped. Paste less at a time: one command's output first.",
    "memory": f"Reading this took more than {MEMORY_BYTES // 1024**2} MiB of memory and was stopped. Paste less at a time: one command's output first.",
    "time": f"Reading this was not done after {WALL_SECONDS} seconds and was stopped. Try again, or paste less at a time.",
    "crash": "The process that reads this ended before it had an answer. Paste one command's output at a time to find the text that does it.",
}


def run(function: Callable[..., T], *args: Any, context: BaseContext | None = None) -> T:
    """What `function(*args)` returns. Raises `Stopped`; an error of the function is a crash, whose traceback goes to standard error.

    `context` says how the process is made: by default a fork, which only a program with a single thread may use. In a daemon of multiprocessing,
    as each process of a Celery worker is, no such process may be begun, and an interpreter of its own does it.
    """
    if multiprocessing.current_process().daemon:
        return _apart(function, args)
    made: Any = context or multiprocessing.get_context("fork")  # each kind has a `Process`; the type of all does not say so
    receiver, sender = made.Pipe(duplex=False)
    process = made.Process(target=_child, args=(sender, function, args), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(WALL_SECONDS):
            raise Stopped("time")
        fitted, value = pickle.loads(receiver.recv_bytes())  # of our own making, and nobody else's
    except EOFError:
        process.join(WALL_SECONDS)
        raise Stopped("cpu" if process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL) else "crash") from None
    finally:
        receiver.close()
        if process.is_alive():
            process.join(1)
            process.kill()
    if not fitted:
        raise Stopped("memory")
    answer: T = value
    return answer


def _apart(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    argv, given = [sys.executable, "-m", "confined"], pickle.dumps((function, args))
    try:
        ran = subprocess.run(argv, input=given, stdout=subprocess.PIPE, timeout=WALL_SECONDS, check=False, cwd=ROOT)
    except subprocess.TimeoutExpired:
        raise Stopped("time") from None
    if ran.returncode:
        raise Stopped("cpu" if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL) else "crash")
    fitted, value = pickle.loads(ran.stdout)  # of our own making, and nobody else's
    if not fitted:
        raise Stopped("memory")
    answer: T = value
    return answer


def _child(sender: Connection, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    sender.send_bytes(within_limits(function, args))
    sender.close()


def within_limits(function: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    """The pickled answer. For the process that is there for this alone: its limits stay."""
    _limit()
    answer = NO_ROOM
    with contextlib.suppress(MemoryError):
        answer = pickle.dumps((True, function(*args)))
    if answer is NO_ROOM:
        _lift_memory()  # saying so takes some, too
    return answer


def _limit() -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this one
    spent = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(spent.ru_utime + spent.ru_stime) + CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):  # macOS has no limit of address space
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    os.nice(NICE)


def _lift_memory() -> None:
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
