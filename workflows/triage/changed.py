"""Commands that change a pool and stand below what was read of it: how it is after them is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

CHANGES = re.compile(
    r"(?:.{0,80}\s)?zpool (?:-\S+ )*(?P<verb>offline|detach|replace|remove|attach|add|split|destroy|export|labelclear|import|clear|rewind)\b(?P<rest>.*)"
)
TREES = ("zpool_status", "zpool_status_guid", "zpool_status_json")
NO_CHANGE = re.compile(r" -(?:n|[A-Za-z]*n)\b")


class Piece(Protocol):
    """What `answer.Read` has of it."""

    @property
    def name(self) -> str: ...
    @property
    def first(self) -> int: ...
    @property
    def outcome(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def command(self) -> str: ...


def doubts(reads: Sequence[Piece]) -> Iterator[str]:
    """One sentence for the last such command of each text, where no tree follows it. What was refused changed nothing, and what lists does not either."""
    for name in dict.fromkeys(read.name for read in reads):
        own = [read for read in reads if read.name == name]
        last = max((read.first for read in own if read.source in TREES and read.outcome in ("read", "partly")), default=0)
        below = [verb for read in own if last and read.first > last and read.source != "refused" and (verb := _verb(read.command))]
        if below:
            yield f"{name}: `zpool {below[-1]}` stands below the last tree that was read; how the pool is after it is not known."


def _verb(command: str) -> str:
    found = CHANGES.fullmatch(command)
    if (
        found is None
        or NO_CHANGE.search(found["rest"])
        or (found["verb"] == "import" and not re.search(r" [A-Za-z0-9][^ ]*$", found["rest"]))
    ):
        return ""
    return found["verb"]
