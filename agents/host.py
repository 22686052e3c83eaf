"""The only door to the machine: run, read, write, list, link, now.

Collectors and operations get a `Host` and nothing else, so the same code reads a real node,
a folder of captures, or the twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Protocol, Sequence, Tuple


@dataclass(frozen=True)
class Ran:
    """How one command ended. `exit_code` is None when it did not end by itself; `why` then says how."""

    argv: Tuple[str, ...]
    exit_code: Optional[int]
    stdout: bytes
    stderr: bytes
    seconds: float
    why: str = ""  # "", "timeout", "stuck", "not found", "not permitted"
    truncated: bool = False


class Host(Protocol):
    """One machine, seen through the six things an agent may do to it."""

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        """Run `argv` without a shell. Never raises for what the command does; see `Ran`."""

    def read(self, path: str) -> bytes:
        """The bytes of a file (sysfs, procfs). Raises OSError."""

    def write(self, path: str, data: bytes) -> None:
        """Write to an existing attribute file. Raises OSError."""

    def list(self, pattern: str) -> Tuple[str, ...]:
        """Paths that match a glob pattern, sorted; dangling links count. Empty when there are none."""

    def link(self, path: str) -> str:
        """Where `path` really leads, all links followed. Raises OSError when nothing is there."""

    def now(self) -> float:
        """Unix time in seconds."""
