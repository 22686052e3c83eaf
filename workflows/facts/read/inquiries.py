"""How a disk answered INQUIRY, the cheapest question there is; only a paste has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Inquiry:
    """One command. A healthy disk answers within milliseconds, and whole."""

    device: str  # as typed; "" where the command does not stand there
    seconds: float | None  # None where it was not timed
    short: tuple[tuple[int, int], ...]  # (bytes asked for, bytes that came) of answers that were cut short
    serial: str
    lines: tuple[str, ...]  # those that give the time and the length
