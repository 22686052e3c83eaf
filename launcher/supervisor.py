"""Starts children in tiers, shows what they say, starts again what crashes, and stops in reverse order."""

import asyncio
import os
import re
import signal
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

from launcher.children import popen_options
from launcher.say import Stop, paint, write
from launcher.servers import Servant

START_SECONDS_MAX = 60
POLL_SECONDS = 0.02
LIVED_WELL_SECONDS = 60  # after that long a crash is a new one, and the back-off starts again
BACKOFF_SECONDS_MAX = 30
COLOURS = (36, 35, 33, 32, 34, 96, 95, 93, 92, 94)
LINE_BYTES_MAX = 1 << 20


@dataclass(frozen=True)
class Child:
    """One process to keep running."""

    name: str
    argv: list[str]
    env: dict[str, str]
    user: Servant
    tier: int  # lower tiers stop later
    ready: Callable[[int], bool] | None = None  # asked with the process id
    ready_line: str = ""  # or: ready when it says something like this
    farewell: signal.Signals = signal.SIGTERM
    patience_seconds: float = 10
    pass_fds: tuple[int, ...] = ()
    hide: str = "(?!)"  # lines not worth a reader's time
    cwd: str = "/"


@dataclass
class Running:
    """A child and what we know of its current process."""

    child: Child
    colour: int
    process: asyncio.subprocess.Process = field(init=False)  # this and the pump: since `_spawn`
    started: float = 0.0
    crashes: int = 0
    is_ready: asyncio.Event = field(default_factory=asyncio.Event)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    pump: asyncio.Task[None] = field(init=False)
    watcher: asyncio.Task[None] = field(init=False)


class Supervisor:
    """Keeps children running until `stop`. Before a child was ready once, its end ends everything."""

    def __init__(self) -> None:
        self.running: list[Running] = []
        self.stopping = False

    async def start(self, *children: Child) -> None:
        """Start `children` together and return when each is ready."""
        begun = [await self._begin(child) for child in children]
        await asyncio.gather(*(self._until_ready(running) for running in begun))

    def prefix(self, name: str, colour: int = 90) -> str:
        return paint(f"{name:>9} |", colour)

    async def _begin(self, child: Child) -> Running:
        running = Running(child, COLOURS[len(self.running) % len(COLOURS)])
        await self._spawn(running)
        self.running.append(running)
        running.watcher = asyncio.create_task(self._keep(running))
        return running

    async def _spawn(self, running: Running) -> None:
        child = running.child
        running.started = time.monotonic()
        # A pipe of our own: asyncio's would make `wait` wait for grandchildren that still hold it open.
        reading, writing = os.pipe()
        try:
            running.process = await asyncio.create_subprocess_exec(
                *child.argv,
                env=child.env,
                cwd=child.cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                pass_fds=child.pass_fds,
                **popen_options(child.user, child.farewell),
            )
        finally:
            os.close(writing)
        running.pump = asyncio.create_task(self._pump(running, os.fdopen(reading, "rb")))

    async def _until_ready(self, running: Running) -> None:
        child, deadline = running.child, time.monotonic() + START_SECONDS_MAX
        while not await self._looks_ready(running):
            if running.process.returncode is not None:
                text = "\n".join(running.last_lines) or "It printed nothing."
                raise Stop(f"{child.name} {_ending(running.process.returncode)} before it was ready. Its last words:\n{text}")
            if time.monotonic() > deadline:
                raise Stop(f"{child.name} was not ready after {START_SECONDS_MAX} seconds. Its output is above.")
            await asyncio.sleep(POLL_SECONDS)
        running.is_ready.set()

    async def _looks_ready(self, running: Running) -> bool:
        if running.child.ready_line:
            return running.is_ready.is_set()
        return running.child.ready is None or await asyncio.to_thread(running.child.ready, running.process.pid)

    async def _keep(self, running: Running) -> None:
        """Wait for the child to end, and start it again unless we are stopping."""
        while True:
            code = await running.process.wait()
            _end_orphans(running.process.pid)
            await running.pump
            if self.stopping or not running.is_ready.is_set():
                return
            pause = self._pause(running)
            self.note(f"{running.child.name} {_ending(code)}. It starts again in {pause:g} s.")
            await asyncio.sleep(pause)
            if self.stopping:
                return
            await self._spawn(running)

    def _pause(self, running: Running) -> float:
        if time.monotonic() - running.started > LIVED_WELL_SECONDS:
            running.crashes = 0
        running.crashes += 1
        return backoff_seconds(running.crashes)

    async def _pump(self, running: Running, pipe: IO[bytes]) -> None:
        """Pass on what the child prints, until no process holds the other end of the pipe."""
        child, prefix = running.child, self.prefix(running.child.name, running.colour)
        stream = asyncio.StreamReader(limit=LINE_BYTES_MAX)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
        while line := await _line(stream):
            text = line.decode(errors="replace").rstrip()
            running.last_lines.append(text)
            if child.ready_line and re.search(child.ready_line, text):
                running.is_ready.set()
            elif text and not re.search(child.hide, text):
                write(f"{prefix} {text}")
        transport.close()

    def note(self, text: str) -> None:
        write(f"{self.prefix('slotlight')} {paint(text, 1)}")

    async def stop(self) -> None:
        """Ask each tier to end, the last started first; who does not in time is killed, and we say so."""
        self.stopping = True
        for tier in sorted({running.child.tier for running in self.running}, reverse=True):
            await asyncio.gather(*(self._end(running) for running in self.running if running.child.tier == tier))

    async def _end(self, running: Running) -> None:
        process, child = running.process, running.child
        if process.returncode is None:
            process.send_signal(child.farewell)
        # The watcher sees the end; or it waits to start the child again, and must not.
        done, _ = await asyncio.wait({asyncio.create_task(process.wait())}, timeout=child.patience_seconds)
        if not done:
            self.note(f"{child.name} did not end within {child.patience_seconds:g} s and is killed.")
            process.kill()
            await process.wait()
        await running.pump
        running.watcher.cancel()

    def kill(self) -> None:
        """End everything now: a second Ctrl-C."""
        for running in self.running:
            if running.process.returncode is None:
                running.process.kill()


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError:  # longer than LINE_BYTES_MAX; asyncio has dropped it
        return b"(a line too long to show)\n"


def backoff_seconds(crashes: int) -> float:
    """How long to wait after so many crashes in a row: 1, 2, 4, ... seconds."""
    return float(min(2 ** (crashes - 1), BACKOFF_SECONDS_MAX))


def _end_orphans(pid: int) -> None:
    """A child that was killed may leave children of its own behind; they are in its session."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _ending(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
