"""Processes of the portal that begin with its modules loaded: each is forked from one that has loaded them and has done nothing else.

Loading takes three seconds of a core, which is more than most of these tests need for all else. What a process then does is what
`python -m uvicorn` and `python -m celery` do: the same module is run as the main one, in a session of its own, and is killed as a whole.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from launcher.children import popen_options
from launcher.servers import Servant
from tests.ground import ROOT

OURSELVES = Servant("ourselves", os.geteuid(), os.getegid())
MESSAGE_BYTES_MAX = 65536
# What the two commands load before they read a setting of their own. `app.asgi` is not among it: it makes its threads when it is loaded.
MODULES = (
    "app.celery",
    "celery.__main__",
    "celery.apps.worker",
    "celery.bin.worker",
    "celery.concurrency.prefork",
    "celery.worker.consumer",
    "kombu.transport.redis",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.main",
    "uvicorn.protocols.http.httptools_impl",
)


class Child:
    """A forked process, with what these tests ask of a `subprocess.Popen`."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self._forks, self.pid = forks, pid

    def poll(self) -> int | None:
        return self._forks.ended(self.pid, 0.0)

    def wait(self, seconds: float) -> int:
        """The exit code, negative for a signal. Raises TimeoutExpired."""
        code = self._forks.ended(self.pid, seconds)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", seconds)
        return code


class Forks:
    """The process that has loaded everything, in one environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._door, theirs = socket.socketpair()
        options = popen_options(OURSELVES, signal.SIGKILL)
        argv = (sys.executable, "-m", "tests.faults.forked", str(theirs.fileno()))
        self._process = subprocess.Popen(argv, env=environment, cwd=ROOT, pass_fds=(theirs.fileno(),), **options)
        theirs.close()
        self._answers = self._door.makefile("r")
        self._codes: dict[int, int] = {}
        assert self._next() == {"loaded": True}
        atexit.register(self._end)

    def _end(self) -> None:
        self._answers.close()
        self._door.close()
        self._process.wait(10)

    def start(self, argv: Sequence[str], log: Path, kept: int) -> Child:
        """Run `python -m ARGV` with both outputs in `log`; the descriptor `kept` has the same number there."""
        with log.open("ab") as out:
            message = json.dumps({"argv": argv, "kept": kept}).encode()
            socket.send_fds(self._door, [message], [out.fileno(), kept])
        while "pid" not in (answer := self._next()):
            self._note(answer)
        return Child(self, answer["pid"])

    def ended(self, pid: int, seconds: float) -> int | None:
        """The exit code of this process; None while it runs."""
        deadline = time.monotonic() + seconds
        while pid not in self._codes:
            readable, _, _ = select.select([self._door], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                return None
            self._note(self._next())
        return self._codes[pid]

    def _note(self, answer: Mapping[str, int]) -> None:
        self._codes[answer["ended"]] = answer["code"]

    def _next(self) -> dict:
        line = self._answers.readline()
        assert line, "the process that all others are forked from has ended"
        return json.loads(line)


@functools.cache
def _forks(environment: frozenset[tuple[str, str]]) -> Forks:
    return Forks(dict(environment))


def forks(environment: Mapping[str, str]) -> Forks:
    """Loaded once for each environment; it ends with the tests."""
    return _forks(frozenset((name, text) for name, text in environment.items() if name != "PYTEST_CURRENT_TEST"))


# --- in the process that all others are forked from


def load() -> None:
    import django
    from django.urls import get_resolver

    django.setup(set_prefix=False)
    get_resolver()._populate()
    for module in MODULES:
        import_module(module)
    import_module("app.celery").celery.loader.import_default_modules()
    assert threading.active_count() == 1, "a thread does not go on in a fork"
    gc.collect()
    gc.freeze()


def serve(door: socket.socket) -> list[str]:
    """Fork as asked, and report who ended. Returns in each fork, with its words."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    ask = popen_options(OURSELVES, signal.SIGKILL)["preexec_fn"]
    _answer(door, loaded=True)
    while True:
        readable, _, _ = select.select([door, woken], [], [])
        if woken in readable:
            os.read(woken, 4096)
            _reap(door)
        if door in readable:
            data, descriptors, _, _ = socket.recv_fds(door, MESSAGE_BYTES_MAX, 2)
            if not data:
                sys.exit(0)
            asked = json.loads(data)
            if not (pid := os.fork()):
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                door.close()
                os.close(woken)
                os.close(wake)
                _become(ask, *descriptors, asked["kept"])
                return asked["argv"]
            for descriptor in descriptors:
                os.close(descriptor)
            _answer(door, pid=pid)


def _answer(door: socket.socket, **answer: int) -> None:
    door.sendall(f"{json.dumps(answer)}\n".encode())


def _reap(door: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        _answer(door, ended=pid, code=os.waitstatus_to_exitcode(status))


def _become(ask: Callable[[], None] | None, log: int, listener: int, number: int) -> None:
    """A process of its own session, as `launcher.children` starts them."""
    os.setsid()
    if ask:
        ask()
    for target in (1, 2):
        os.dup2(log, target)
    os.close(log)
    if listener != number:
        os.dup2(listener, number)
        os.close(listener)
    os.set_inheritable(number, True)


if __name__ == "__main__":
    load()
    words = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = ["-m", *words[1:]]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
