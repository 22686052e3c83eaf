"""What every collector shares: the capture it hands over and the refusal to guess."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional, Protocol, Sequence

from agents.host.host import Host
from agents.portal.wire import canonical

ASLEEP, WOULD_WAKE = "sleeps and was not woken", "would be woken by it, so it was not asked"
TEXT_BYTES_MAX = 4 * 1024 * 1024  # one source may not fill the portal; a 90-bay node needs about 200 KiB


@dataclass(frozen=True)
class Unparsed:
    """Text we would not vouch for. Guards read it as unknown, never as fine."""

    reason: str
    line: str = ""


@dataclass(frozen=True)
class UnreadLine:
    """A line of a source that its parser did not understand. It makes unknown what it could have said, and nothing else."""

    line: str  # as printed, stripped; "" where a line that should be there is missing
    field: str  # what it could have said: "scan", "config", "errors", "counters", ...; "" when that is not known
    reason: str
    rounded: bool = False  # it was understood, and only its numbers are not exact
    missing: bool = False  # it was understood, and another line before it is not there


@dataclass(frozen=True)
class Reading:
    """What a parser made of a text as far as it could be read.

    `unread` are the lines that belong to no part of `value`; a part (one pool) carries those of its own in its field `unread`.
    """

    value: Any
    unread: tuple[UnreadLine, ...] = ()

    @property
    def every_unread(self) -> tuple[UnreadLine, ...]:
        return (*self.unread, *(line for part in self.value for line in part.unread))

    @property
    def whole(self) -> Any:
        """The value if every line was understood, else `Unparsed` with the first that was not: what guards and operations may read."""
        first = next(iter(self.every_unread), None)
        return self.value if first is None else Unparsed(first.reason, first.line)


@dataclass(frozen=True)
class Capture:
    """What one source said once.

    `outcome` is "data", "nothing" (no such tool or directory here) or "failed" (it is here and did not answer
    as it should). A tool may exit non-zero and still give data (`zdb -l` exits 2 on a disk without label).
    Bytes that are not UTF-8 are kept as backslash escapes.
    """

    source: str
    key: str  # "" or which one of many, e.g. "sda1"
    outcome: str
    text: str
    reason: str = ""
    exit_code: Optional[int] = None
    stderr: str = ""
    seconds: float = 0.0

    def body(self) -> dict[str, Any]:
        """What is kept as evidence; how long it took is not part of what was said."""
        return {
            "exit_code": None if self.exit_code is None else str(self.exit_code),
            "outcome": self.outcome,
            "reason": self.reason,
            "stderr": self.stderr,
            "text": self.text,
        }

    @property
    def size_bytes(self) -> int:
        """About as many as its body has on the wire."""
        return len(self.text) + len(self.stderr)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.body())).hexdigest()


class Listable(Protocol):
    """What a report or a receipt names of a capture, also where its body is packed."""

    @property
    def source(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def seconds(self) -> float: ...


def decode(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def left_asleep(outcome: str, reason: str) -> bool:
    """Whether this was not asked so that no disk wakes. It is no answer, and says nothing of what is there."""
    return outcome == "nothing" and reason.endswith((ASLEEP, WOULD_WAKE))


def ask(host: Host, source: str, argv: Sequence[str], timeout_seconds: float, key: str = "", data_exits: Sequence[int] = (0,)) -> Capture:
    """Run `argv` and say which of the three ends it had."""
    ran = host.run(argv, timeout_seconds)
    text, stderr = decode(ran.stdout), decode(ran.stderr)
    if ran.why == "not found":
        return Capture(source, key, "nothing", "", f"{argv[0]} is not installed")
    if ran.why:
        return Capture(source, key, "failed", text, f"{' '.join(argv)}: {ran.why} after {ran.seconds:.1f} s", None, stderr, ran.seconds)
    if ran.truncated:
        return Capture(source, key, "failed", text, f"{' '.join(argv)} printed too much and was cut", ran.exit_code, stderr, ran.seconds)
    if ran.exit_code not in data_exits:
        return Capture(source, key, "failed", text, f"{' '.join(argv)} exited {ran.exit_code}", ran.exit_code, stderr, ran.seconds)
    return Capture(source, key, "data", text, "", ran.exit_code, stderr, ran.seconds)
