"""What a schedule keeps about each source, the host through which a source is read, and how its captures are worded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.collectors.base import Capture
from agents.domain.wwid import strip_partition
from agents.host.host import Host, Ran
from agents.reporting.stored_capture import Kept

ASKS_NO_POOL = (("--version",), ("version",))  # the only things `zpool` answers while it hangs


@dataclass
class Source:
    name: str
    module: Any
    due: float = 0.0
    begun: float | None = None  # when this round of it began; None between rounds
    doubted: float = 0.0  # when what it said last is asked once more
    again: bool = False  # it was hurried while it was being asked
    hung: bool = False  # in this round
    asking: set[str] = field(default_factory=set)
    pending: deque[str] = field(default_factory=deque)
    parked: dict[str, list[str]] = field(
        default_factory=dict
    )  # disk -> its keys that wait for the answer whether it sleeps: the disk, or its partitions

    @property
    def keyed(self) -> bool:
        return hasattr(self.module, "keys")

    @property
    def wakes(self) -> bool:
        """Whether asking spins a sleeping disk up."""
        return getattr(self.module, "WAKES", False)

    def disk_of(self, host: Host, key: str) -> str:
        """The disk that asking about this key reads."""
        of: Callable[[Host, str], str] | None = getattr(self.module, "disk_of", None)
        return strip_partition(key)[0] if of is None else of(host, key)

    @property
    def wakes_all(self) -> bool:
        """Whether asking reads every disk, whichever the question is about."""
        return getattr(self.module, "WAKES_ALL", False)

    @property
    def group(self) -> str:
        """Sources that hang together; "" for one that hangs alone."""
        alone = getattr(self.module, "HANGS_ALONE", False)
        return "zpool" if self.name.startswith(("zpool_", "zfs_")) and not alone else ""


@dataclass
class Trouble:
    since: str  # when it was first asked in vain, as text
    next_try: float
    tries: int = 1


class RecordingHost:
    """A host that remembers whether a command hung, and starts none of a tool that is `held`. One for each question.

    `seen_awake` gives for a disk whether it was found awake a moment ago, so that this is not asked again.
    """

    def __init__(self, host: Host, held: Collection[str], seen_awake: Callable[[str], bool]) -> None:
        self._host, self._held, self.seen_awake, self.hung = host, held, seen_awake, ""

    def run(self, argv: Sequence[str], timeout_seconds: float) -> Ran:
        if argv[0] in self._held and tuple(argv[1:]) not in ASKS_NO_POOL:
            self.hung = "held"
            return Ran(tuple(argv), None, b"", b"", 0.0, "stuck")
        ran = self._host.run(argv, timeout_seconds)
        if ran.why in ("timeout", "stuck"):
            self.hung = ran.why
        return ran

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)


def who_sleeps(captures: Iterable[Kept]) -> list[str]:
    return [kept.key for kept in captures if kept.outcome == "nothing" and "sleeps" in kept.reason]


def in_order(by_key: dict[str, tuple[Kept, ...]]) -> list[tuple[str, tuple[Kept, ...]]]:
    return sorted(by_key.items(), key=lambda item: (len(item[0]), item[0]))


def failed(captures: Sequence[Capture], reason: str) -> tuple[Capture, ...]:
    """With the reason in the place of what the tool said of its end, which differs from time to time."""
    return tuple(
        capture if capture.outcome != "failed" else Capture(capture.source, capture.key, "failed", capture.text, reason)
        for capture in captures
    )


def named(source: str, key: str) -> str:
    return f"{source}/{key}" if key else source
