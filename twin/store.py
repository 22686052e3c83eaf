"""The twin's state file: read through a cache, changed under a lock, replaced in one move.

A state survives `kill -9` of whoever plays it: readers see the old file or the new one, never a torn one. The log of
write commands stands beside it and is on disk before a command acts.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from twin.model import Node, load
from twin.view import View

Stamp = tuple[int, int, int]


class Store:
    def __init__(self, state_path: str | os.PathLike[str]) -> None:
        self.path = Path(state_path)
        self.log_path = self.path.with_name("commands.log")
        self._cached: tuple[Stamp, View] | None = None

    def create(self, node: Node) -> None:
        """Write a first state, or start over from it. The log of commands starts over too."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self.log_path.unlink(missing_ok=True)
            self._save(node)

    def view(self) -> View:
        """The node as it stands in the file. Shared between readers, who must not change it."""
        before = self._stamp()
        if self._cached is None or self._cached[0] != before:
            self._cached = (before, View(self._load()))
        return self._cached[1]

    @contextmanager
    def changing(self) -> Iterator[Node]:
        """A private copy of the node that becomes the state when the block ends without an exception."""
        with self._locked():
            node = self._load()
            yield node
            self._save(node)

    def log(self, argv: Sequence[str], at: float) -> None:
        """Put a write command on record, on disk, before it acts."""
        line = json.dumps({"at": at, "argv": list(argv)}) + "\n"
        descriptor = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, line.encode("utf-8"))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def logged(self) -> tuple[dict[str, Any], ...]:
        """Every write command so far, oldest first: {"at": seconds, "argv": [...]}."""
        if not self.log_path.exists():
            return ()
        return tuple(json.loads(line) for line in self.log_path.read_text(encoding="utf-8").splitlines())

    def _stamp(self) -> Stamp:
        stat = self.path.stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _load(self) -> Node:
        found: Node = load(Node, json.loads(self.path.read_text(encoding="utf-8")))
        return found

    def _save(self, node: Node) -> None:
        new = self.path.with_name(self.path.name + ".new")
        with open(new, "w", encoding="utf-8") as file:
            file.write(json.dumps(asdict(node)))  # `json.dump` encodes in Python, piece by piece
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.path.with_name(self.path.name + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
