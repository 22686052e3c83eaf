"""How far a download has come, for whoever waits: one line of the terminal on stderr, and nothing where no terminal is."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TextIO

EVERY_SECONDS = 0.25
CLEAR = "\r\033[K"


@dataclass
class Far:
    """`of` is None while the portal has not said how much comes: most of the time it takes to make it."""

    what: str
    through: int = 0
    of: int | None = None
    begun: float = field(default_factory=time.monotonic)

    def line(self, now: float) -> str:
        if not self.through:
            return f"{self.what} is being made, {now - self.begun:.0f} s"
        if not self.of:
            return f"{self.what}: {bytes_(self.through)}"
        return f"{self.what}: {bytes_(self.through)} of {bytes_(self.of)}, {100 * self.through // self.of} %"


def bytes_(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB" if count >= 1e3 else f"{count} B"


@contextmanager
def shown(what: str, out: TextIO | None = None) -> Iterator[Far]:
    """The line is written while the block runs, and gone after it."""
    far, out, over = Far(what), out or sys.stderr, Event()
    if not out.isatty():
        yield far
        return
    teller = Thread(target=_tell, args=(far, out, over), daemon=True)
    teller.start()
    try:
        yield far
    finally:
        over.set()
        teller.join()
        _write(out, CLEAR)


def _tell(far: Far, out: TextIO, over: Event) -> None:
    while not over.wait(EVERY_SECONDS):
        _write(out, CLEAR + far.line(time.monotonic()))


def _write(out: TextIO, words: str) -> None:
    out.write(words)
    out.flush()
