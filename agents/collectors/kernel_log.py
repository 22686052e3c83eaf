"""The kernel's log, read for what it says of disks, HBAs and pools; by lines of the patterns in `_kernel_lines`.

The agent asks for seconds since boot, as the kernel stamps them: they stay exact when the clock is set. People paste every other form too. The log's `sdX` is the name of that
moment only. All lines that say something are kept, however old, and the newest lines whatever they say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.collectors._kernel_lines import LINE_MAX, UNEXPLAINED, classify, counts
from agents.collectors._lines import whole_lines
from agents.collectors._log_stamps import Stamped, stamped
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "kernel_log"
EVERY_SECONDS = 30
TIMEOUT_SECONDS = 10
ARGV = ("dmesg",)  # its own time formats compute a date from the clock of today; the stamp itself is what was measured
OF_ANOTHER = ("cdb", "cam-command", "usb-found", "usb-storage")  # lines that only say more of the one above or below them
TELLING_KEPT = 400
LAST_KEPT = 100

_ABORTED = re.compile(
    r"sd (?P<hctl>\d+:\d+:\d+:\d+): (?:\[(?P<disk>sd[a-z]+)\] )?.*\bCDB: .*"
)  # the line after an abort's: whose command it was


@dataclass(frozen=True)
class KernelEvent:
    """One line that says something. `fields` are the named parts of its pattern."""

    at_us: int  # microseconds since boot; of a log with dates since some day of the past, so that only differences count
    kind: str  # one of PATTERNS, or UNEXPLAINED
    line: str  # without its stamp
    fields: tuple[tuple[str, str], ...]
    printed: str = ""  # its stamp as it stands there: "138671.416334", "Nov 25 02:37:04"; "" of a line without one

    @property
    def of_boot_us(self) -> int:
        """By the clock of its own boot, where the text spans several."""
        own = stamped(f"[{self.printed}] x") if self.printed and self.printed.replace(".", "").isdigit() else None
        return own.at_us if own else self.at_us

    def field(self, name: str) -> str | None:
        """The named part of its line; None where it has none of that name."""
        for each, value in self.fields:
            if each == name:
                return value
        return None


@dataclass(frozen=True)
class KernelLog:
    """Oldest first. An empty log and one that says nothing of our matters both have no events.

    `unexplained` are lines that are about ZFS, or report trouble of a disk, an HBA or a shelf, and that no pattern knows.
    """

    events: tuple[KernelEvent, ...]
    unexplained: tuple[KernelEvent, ...] = ()
    newest: str = ""  # its newest line, whatever that says; "" where none has a stamp
    since_boot: bool = False  # whether its times count from boot
    boots_us: int = 0  # what the boots before the newest line's took, where the text spans several

    @property
    def newest_us(self) -> int:
        """When that line was printed, by the same clock as the events'."""
        found = stamped(self.newest)
        return found.at_us + self.boots_us if found else max((event.at_us for event in self.events), default=0)

    def counted(self) -> tuple[tuple[str, str], ...]:
        """(class, text) of every line that counts."""
        return tuple((event.kind, event.line) for event in (*self.events, *self.unexplained))


def collect(host: Host) -> tuple[Capture, ...]:
    capture = ask(host, NAME, ARGV, TIMEOUT_SECONDS)
    if capture.outcome != "data":
        return (capture,)
    text, left_out = _kept(capture.text)
    return (replace(capture, text=text, reason=f"{left_out} lines that say nothing of disks and pools were left out" if left_out else ""),)


def _kept(text: str) -> tuple[str, int]:
    lines = text.splitlines()
    places = [i for i, line in enumerate(lines) if (found := stamped(line)) and _is_wanted(found.message)]
    kept = sorted({*places[-TELLING_KEPT:], *range(max(0, len(lines) - LAST_KEPT), len(lines))})
    return "".join(f"{lines[i]}\n" for i in kept), len(lines) - len(kept)


def _is_wanted(message: str) -> bool:
    kind = classify(message.strip())
    return (
        (kind is not None and kind[0] not in OF_ANOTHER)
        or counts(message)
        or (" CDB: " in message and _ABORTED.fullmatch(message[:LINE_MAX]) is not None)
    )


def parse(text: str) -> KernelLog | Unparsed:
    """What the lines say of disks, HBAs and pools, whatever stamp they bear; never raises.

    A line without a stamp continues the one above it, but where it is a whole line of the kernel's own. Where no line has one, as in an article
    or a chat, each line stands for itself, and at least one must be a kernel's.
    """
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    begun = _boots(lines)
    stamped_lines = [(one, line, boots) for line, boots in zip(lines, begun, strict=True) if (one := stamped(line))]
    found = _with_lines_of_no_time(lines, begun)
    bare = not stamped_lines
    if bare:
        found = [Stamped(i, "", line.strip()) for i, line in enumerate(lines) if line.strip()]
    events, unexplained = _events([one for one in found if one.ours])
    if bare and text.strip() and not events:
        return Unparsed("no line has a time in front, and none is of a form that a kernel prints about disks, HBAs or ZFS", text[:80])
    since_boot = not bare and stamped_lines[0][0].printed.replace(".", "").isdigit()
    _, newest, boots_us = max(stamped_lines, key=lambda each: each[0].at_us + each[2], default=(None, "", 0))
    return KernelLog(tuple(events), tuple(unexplained), newest, since_boot, boots_us)


REBOOTED_US = 60 * 1_000_000  # no kernel prints its lines so far out of their order


def _boots(lines: Sequence[str]) -> list[int]:
    """For each line what all the boots before its own took, by the stamps that count from boot: without that the last boot's lines seem older than those
    of a longer one before it. It is a new boot where they fall back to the first minute, or below a line of journalctl's that says so; else it may be
    an older piece of the same log, of which nobody knows the order.
    """
    out: list[int] = []
    boots_us, newest_us, marked = 0, 0, False
    for line in lines:
        one = stamped(line)
        marked = marked or line.startswith(("-- Reboot --", "-- Boot "))
        if one and one.printed.replace(".", "").isdigit():
            if one.at_us + REBOOTED_US < newest_us - boots_us and (marked or one.at_us < REBOOTED_US):
                boots_us = newest_us
            marked = False
            newest_us = max(newest_us, one.at_us + boots_us)
            out.append(boots_us)
        else:
            out.append(0 if one else boots_us)
    return out


def _with_lines_of_no_time(lines: Sequence[str], begun: Sequence[int]) -> list[Stamped]:
    """Every line that has a time, and those of the kernel's own without one, at the time of the line before or else of the first."""
    out: list[Stamped] = []
    at_us = next((one.at_us for line in lines if (one := stamped(line))), 0)
    for line, boots_us in zip(lines, begun, strict=True):
        one = stamped(line)
        at_us = one.at_us + boots_us if one else at_us
        if one or classify(line.strip()):
            out.append(replace(one, at_us=at_us) if one and boots_us else one or Stamped(at_us, "", line.strip()))
    return out


def _events(found: Sequence[Stamped]) -> tuple[list[KernelEvent], list[KernelEvent]]:
    events: list[KernelEvent] = []
    unexplained: list[KernelEvent] = []
    begun = ""
    for i, one in enumerate(found):
        rest = f"{begun} {one.message.strip()}" if begun and _REST.match(one.message) else ""
        begun = one.message.strip() if _HEAD.fullmatch(one.message[:LINE_MAX]) else begun if rest else ""
        classified = classify(rest or one.message.strip())  # a driver of SAS devices begins its lines with a blank
        if classified:
            whose = _whose(found[i + 1 : i + 2]) if classified[0] == "task-abort-begun" else ()
            events.append(
                KernelEvent(one.at_us, classified[0], one.message, tuple({**dict(whose), **dict(classified[1])}.items()), one.printed)
            )
        elif counts(one.message):
            unexplained.append(KernelEvent(one.at_us, UNEXPLAINED, one.message, (), one.printed))
    place = next((i for i, one in enumerate(found) if _FRAME.fullmatch(one.message[:LINE_MAX])), None)
    if place is not None and not any(event.kind in _HEADS for event in events):
        frame, head = found[place], _waits_for_zfs(found[max(0, place - STACK_MAX) : place])
        if head is not None:
            events = [event for event in events if event.kind != "blocked" or event.line != head.line] + [head]
            events.sort(key=lambda event: event.at_us)
        else:  # of a stack without the line that says why it was printed
            unexplained.append(KernelEvent(frame.at_us, UNEXPLAINED, frame.message, (), frame.printed))
    return events, unexplained


# Linux 3.x printed the disk on one line and what it says of it on the next
_HEAD = re.compile(r" *(?:sd|scsi) \d+:\d+:\d+:\d+: \[sd[a-z]{1,3}\](?: {0,4}CDB:)? {0,8}")
_REST = re.compile(r" *(?:Sense Key ?: |Add\. Sense: |Result: hostbyte=)")
STACK_MAX = 30  # lines of a stack above its first frame of ZFS
_WAITS = re.compile(
    r"(?:INFO: )?task (?P<task>[^:]{1,40}):(?P<pid>\d{1,10}) blocked (?:in I/O wait )?for more than (?P<seconds>\d{1,9}) seconds.*"
)
# How the kernel heads the stack of a thread that does not come back: the thread's name, and D for a wait that nothing interrupts (sched_show_task)
_IN_KERNEL = re.compile(r"(?:task:(?P<task>[^ :]{1,40}) +state:D +stack:.*|(?P<old>[\w/:.-]{1,16}) +D (?:[0-9a-f]{16}|\d) +\d.*)")


def _waits_for_zfs(above: Sequence[Stamped]) -> KernelEvent | None:
    """The line that says which program waits, where the stack below it is in ZFS: the program need not be one of ZFS's own."""
    for one in reversed(above):
        if waits := _WAITS.fullmatch(one.message[:LINE_MAX].strip()) or _IN_KERNEL.fullmatch(one.message[:LINE_MAX].strip()):
            return KernelEvent(one.at_us, "hung-task", one.message, _named_parts(waits), one.printed)
    return None


def _named_parts(found: re.Match[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in found.groupdict().items() if value is not None)


_FRAME = re.compile(
    r" *(?:\[<[0-9a-f]{8,16}>\] )?(?:\? )?\w{1,80}(?:\.[\w.]{1,40})?\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8} \[(?:zfs|spl)(?: [0-9a-f]{1,40})?\]? *"
)
_HEADS = ("panic", "kernel-fault", "hung-task", "hung-io", "oom", "memory")  # what a stack is printed for


_DUMP = re.compile(r"mf:$| *(?:[0-9a-f]{8} ?){2,8}$")  # the message frame that mpt3sas prints of a command that timed out


JOURNAL = re.compile(r"-- (?:Reboot|Boot [0-9a-f]{32}|(?:Logs begin|Journal begins) at .{1,160}|No entries) ?--$")  # journalctl's own lines


def begins(line: str) -> bool:
    """Whether a line is a kernel's beyond doubt: by its stamp and program, or without a stamp by its text."""
    if line.startswith("-- "):
        return JOURNAL.match(line[:LINE_MAX]) is not None
    one = stamped(line)
    if one is None:
        bare = line[1:] if line.startswith(" ") else line  # journalctl -o cat and some editors leave one blank before it
        return not bare.startswith((" ", "\t")) and classify(bare) is not None
    return one.ours and (
        line.lstrip("<0123456789>").startswith("[") or " kernel" in line[:120] or classify(one.message) is not None or counts(one.message)
    )


def goes_on(line: str) -> bool:
    """Whether a line can be part of a log: it has a stamp, or is of a kind that needs none."""
    return (
        stamped(line) is not None
        or JOURNAL.match(line[:LINE_MAX]) is not None
        or classify(line) is not None
        or " CDB" in line
        or counts(line)
        or _DUMP.match(line[:LINE_MAX]) is not None
    )


def _whose(after: Sequence[Stamped]) -> tuple[tuple[str, str], ...]:
    """The disk whose command is aborted, from the line that follows."""
    found = _ABORTED.fullmatch(after[0].message[:LINE_MAX]) if after else None
    return tuple((name, value) for name, value in found.groupdict().items() if value) if found else ()
