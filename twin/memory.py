"""A store that keeps a twin's state in memory: for a twin that lives for one rehearsal or one test and leaves nothing behind.

It does for `TwinHost` what `store.Store` does, without files: no lock, no log on disk, nothing to clean up.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from twin.model import Node
from twin.view import View


class MemoryStore:
    def __init__(self, node: Node) -> None:
        self._view = View(node)
        self._logged: list[dict[str, Any]] = []

    def view(self) -> View:
        """The node as it stands. Shared between readers, who must not change it."""
        return self._view

    @contextmanager
    def changing(self) -> Iterator[Node]:
        """A private copy of the node that becomes the state when the block ends without an exception."""
        node = copy.deepcopy(self._view.node)
        yield node
        self._view = View(node)

    def fork(self) -> MemoryStore:
        """The same state and log once more, to go on from separately. The view is shared: a change makes a new one."""
        other = copy.copy(self)
        other._logged = list(self._logged)
        return other

    def log(self, argv: Sequence[str], at: float) -> None:
        self._logged.append({"at": at, "argv": list(argv)})

    def logged(self) -> tuple[dict[str, Any], ...]:
        """Every write command so far, oldest first: {"at": seconds, "argv": [...]}."""
        return tuple(self._logged)
