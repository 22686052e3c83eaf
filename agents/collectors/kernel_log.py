"""The kernel's log, read for what it says of disks, HBAs and pools; by lines of the patterns below.

Times are seconds since boot, as the kernel stamps them: they stay exact when the clock is set. The log's `sdX` is the name of that
moment only. All lines that say something are kept, however old, and the newest lines whatever they say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed, ask
from agents.host import Host

NAME = "kernel_log"
EVERY_SECONDS = 30
TIMEOUT_SECONDS = 10
ARGV = ("dmesg",)  # its own time formats compute a date from the clock of today; the stamp itself is what was measured
TELLING_KEPT = 400
LAST_KEPT = 100

# kind -> what the rest of a line looks like. The first that fits, counts.
PATTERNS = {
    # mptscsih names no disk here; the line after it does. The command's address ties the result to its beginning.
    "task-abort-begun": r"(?:sd (?P<hctl>\d+:\d+:\d+:\d+): |mptscsih: ioc\d+: )attempting task abort!(?: ?\(?sc(?:md\(|=)(?P<scmd>\w+).*)?",
    "task-abort": (
        r"(?:sd (?P<hctl>\d+:\d+:\d+:\d+): |mptscsih: ioc\d+: )?task abort: (?P<result>SUCCESS|FAILED)\b"
        r"(?:.*?\bsc(?:md\(|=)(?P<scmd>\w+).*|.*)"
    ),
    "target": r".*\bhandle\((?P<handle>0x[0-9a-f]+)\), sas_address\((?P<sas_address>0x[0-9a-f]{16})\), phy\((?P<phy>\d+)\).*",
    "place": r".*\benclosure logical id ?\((?P<enclosure>0x[0-9a-f]{16})\), slot\((?P<slot>\d+)\).*",
    "command-failed": r".*\[(?P<disk>sd[a-z]+)\].*hostbyte=(?P<host>DID_\w+) driverbyte=(?P<driver>\w+).*",
    "io-error": r"(?:blk_update_request: |print_req_error: )?(?P<class>I/O|critical \w+|\w+) error, dev (?P<disk>\w+), sector (?P<sector>\d+)(?: .*)?",
    "rejected": r".*rejecting I/O to (?P<what>offline|dead) device.*",
    "unblocked": r".*device_unblock and setting to running, handle\((?P<handle>0x[0-9a-f]+)\).*",
    "killed": r".*killing request.*",
    "hba": r"(?P<hba>mpt\dsas_cm\d+|mpt(?:base|scsih|sas): ioc\d+): .*(?:Command Timeout|issue target reset|fault_state|log_info\(0x\w+\)|FAULT|host reset).*",
    "multihost-suspended": r"(?:WARNING: )?MMP writes to pool '(?P<pool>.+)' have not succeeded in over (?P<after>\d+) ?(?P<unit>ms|s); suspending pool.*",
    "suspended": r"(?:WARNING: )?Pool '(?P<pool>.+)' has encountered an uncorrectable I/O failure and has been suspended.*",
    "resumed": r"(?:WARNING: )?Pool '(?P<pool>.+)' was suspended and is being resumed.*",
    "zio-error": (
        r"zio pool=(?P<pool>\S+) vdev=(?P<vdev>\S+) error=(?P<error>\d+) type=(?P<type>\d+) offset=(?P<offset>\d+) "
        r"size=(?P<size>\d+) flags=.*"
    ),
    "parameter-unknown": r"zfs: unknown parameter '(?P<name>\w+)' ignored",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}
_HINTS = (
    *("task abort", "sas_address(", "enclosure logical", "hostbyte=", " error, dev ", "rejecting I/O", "device_unblock", "killing request"),
    *("mpt", "MMP writes", "Pool '", "zio pool=", "unknown parameter"),
)
_ABORTED = re.compile(
    r"sd (?P<hctl>\d+:\d+:\d+:\d+): \[(?P<disk>sd[a-z]+)\] .*\bCDB: .*"
)  # the line after an abort's: whose command it was
_STAMPED = re.compile(r"\[ *([0-9]{1,9})\.([0-9]{6})\] (.*)")


@dataclass(frozen=True)
class KernelEvent:
    """One line that says something. `fields` are the named parts of its pattern."""

    at_us: int  # microseconds since boot
    kind: str  # one of PATTERNS
    line: str  # without its stamp
    fields: tuple[tuple[str, str], ...]

    def field(self, name: str) -> str | None:
        return dict(self.fields).get(name)


@dataclass(frozen=True)
class KernelLog:
    """Oldest first. An empty log and one that says nothing of our matters both have no events."""

    events: tuple[KernelEvent, ...]
    unexplained: tuple[KernelEvent, ...] = ()


def collect(host: Host) -> tuple[Capture, ...]:
    capture = ask(host, NAME, ARGV, TIMEOUT_SECONDS)
    if capture.outcome != "data":
        return (capture,)
    text, left_out = _kept(capture.text)
    return (replace(capture, text=text, reason=f"{left_out} lines that say nothing of disks and pools were left out" if left_out else ""),)


def _kept(text: str) -> tuple[str, int]:
    lines = text.splitlines()
    telling = [i for i, line in enumerate(lines) if (found := _STAMPED.fullmatch(line)) and _tells(found.group(3))]
    kept = sorted({*telling[-TELLING_KEPT:], *range(max(0, len(lines) - LAST_KEPT), len(lines))})
    return "".join(f"{lines[i]}\n" for i in kept), len(lines) - len(kept)


def _tells(said: str) -> bool:
    return _classify(said) is not None or (" CDB: " in said and _ABORTED.fullmatch(said) is not None)


def parse(text: str) -> KernelLog | Unparsed:
    """What the lines say of disks, HBAs and pools. A text without one stamped line is no kernel log. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    events: list[KernelEvent] = []
    stamped = [found for found in map(_STAMPED.fullmatch, lines) if found]  # what has no stamp continues the line above it
    if text.strip() and not stamped:
        return Unparsed("no line has a time in brackets, as the kernel stamps it", text[:80])
    for i, found in enumerate(stamped):
        said = _classify(found.group(3))
        if said:
            at_us = int(found.group(1)) * 1_000_000 + int(found.group(2))
            whose = _whose(stamped[i + 1 : i + 2]) if said[0] == "task-abort-begun" else ()
            events.append(KernelEvent(at_us, said[0], found.group(3), tuple({**dict(whose), **dict(said[1])}.items())))
    return KernelLog(tuple(events))


def _whose(after: list[re.Match[str]]) -> tuple[tuple[str, str], ...]:
    """The disk whose command is aborted, from the line that follows."""
    found = _ABORTED.fullmatch(after[0].group(3)) if after else None
    return tuple(found.groupdict().items()) if found else ()


def _classify(said: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    if not any(hint in said for hint in _HINTS):
        return None
    for kind, pattern in _PATTERNS.items():
        found = pattern.fullmatch(said)
        if found:
            return kind, tuple((name, value) for name, value in found.groupdict().items() if value is not None)
    return None
