"""Disks that take a command and never answer it, as the kernel's log and the agent's own questions show.

The kernel aborts a command that takes too long. One abort that brought it back may be chance; one that failed, or whose end was never
logged, is a disk that hangs, and the adapter's driver with it. The agent asks each disk by itself, so one that hangs leaves its own questions
open while the same questions to the others are answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors.kernel_log import KernelEvent
from agents.domain.wwid import strip_partition
from workflows.facts.model import DiskFacts, NodeFacts
from workflows.facts.unknown import known

PER_DISK = ("zdb_label", "zdb_uberblocks", "smart", "sg_logs", "drive_modes")
GAVE_UP = re.compile(r": (?:timeout|stuck) after | has not answered[.;]")
ENDED_ONCE = re.compile(r": timeout after | has not answered; second try \S+\Z")  # the agent could end it, and has not asked again yet
HELD = "is not asked while"  # it waits for another
AGAIN_MIN = 2
OTHERS_MIN = 2  # answers to the same question by other disks


@dataclass(frozen=True)
class Abort:
    """The kernel's attempt to call a command back. `result` is "SUCCESS", "FAILED", or "" when the log never says how it ended."""

    hctl: str
    name: str  # "sde" where the log says it: the name of that moment
    result: str
    line: str


@dataclass(frozen=True)
class Hanging:
    """`disk` is None where the node's disks are not known, or none has that address any more."""

    name: str
    disk: DiskFacts | None
    aborts: tuple[Abort, ...]
    silent: tuple[str, ...]  # questions about this disk that were given up, by capture: "zdb_label/sde1"
    answered: tuple[str, ...]  # questions about it that were answered
    once: bool  # the only evidence is one question that ran out of time once: on a node short of CPU any disk's may

    @property
    def open(self) -> tuple[Abort, ...]:
        """Attempts that brought nothing back."""
        return tuple(abort for abort in self.aborts if abort.result != "SUCCESS")

    @property
    def hangs_now(self) -> bool:
        """An attempt that failed is over when the disk answers again; one without an end is not, whatever was answered before."""
        endless = any(not abort.result for abort in self.aborts)
        return bool(self.silent) or endless or (bool(self.open) and not self.answered)


def hanging(node: NodeFacts) -> tuple[Hanging, ...]:
    """Every disk that hangs, or that the kernel had to call back more than once."""
    aborts = _aborts(node)
    if not aborts and not any(map(_gave_up, node.failures.values())):
        return ()  # as nearly always
    asked = _asked(node)
    found = []
    for name in dict.fromkeys((*(a.name or a.hctl for a in aborts), *asked)):
        mine = tuple(a for a in aborts if (a.name or a.hctl) == name)
        silent, answered = asked.get(name, ((), ()))
        if silent or len(mine) >= AGAIN_MIN or any(a.result != "SUCCESS" for a in mine):
            once = not mine and len(silent) == 1 and ENDED_ONCE.search(node.failures[silent[0]]) is not None
            found.append(Hanging(name, _disk(node, name), mine, silent, answered, once))
    return tuple(found)


def _aborts(node: NodeFacts) -> tuple[Abort, ...]:
    """With the name that the address leads to today, where it leads anywhere; names in a log are those of its moment."""
    begun = _begun(node.kernel_log.events) if known(node.kernel_log) else []
    if not begun:
        return ()  # as nearly always
    today = {p.hctl: d.names[0] for d in (node.disks if known(node.disks) else ()) for p in d.paths if p.hctl}
    return tuple(
        Abort(hctl, today.get(hctl, "" if today else event.field("disk") or ""), result, event.line)
        for event, result in begun
        if (hctl := event.field("hctl"))
    )


def _begun(events: tuple[KernelEvent, ...]) -> list[tuple[KernelEvent, str]]:
    """Every attempt, oldest first, with how it ended: by the address of the command, else by that of the disk; "" where no end was logged."""
    found: list[tuple[KernelEvent, str]] = []
    ends: dict[tuple[str, str | None], str] = {}  # of what was printed later
    for event in reversed(events):
        if event.kind == "task-abort":
            ends |= {(field, event.field(field)): event.field("result") or "" for field in ("scmd", "hctl")}
        elif event.kind == "task-abort-begun":
            field = "scmd" if event.field("scmd") else "hctl"
            found.append((event, ends.get((field, event.field(field)), "")))
    return found[::-1]


def _asked(node: NodeFacts) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Disk -> its questions given up, and those answered. A question that few answer says nothing of one disk."""
    owners = {name: d.names[0] for d in (node.disks if known(node.disks) else ()) for name in d.names}
    found: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for source in PER_DISK:
        answers: dict[str, list[str]] = {}
        silent: dict[str, list[str]] = {}
        for where in (w for w in node.digests if w.startswith(f"{source}/")):
            owner = owners.get(strip_partition(where.partition("/")[2])[0])
            if owner is not None and _gave_up(node.failures.get(where, "")):
                silent.setdefault(owner, []).append(where)
            elif owner is not None and where not in node.failures:
                answers.setdefault(owner, []).append(where)
        for owner in silent if len(answers) >= max(OTHERS_MIN, len(silent)) else ():
            found[owner] = ((*found.get(owner, ((), ()))[0], *silent[owner]), found.get(owner, ((), ()))[1])
        for owner, answer in answers.items():
            found[owner] = (found.get(owner, ((), ()))[0], (*found.get(owner, ((), ()))[1], *answer))
    return found


def _gave_up(reason: str) -> bool:
    return HELD not in reason and GAVE_UP.search(reason) is not None


def _disk(node: NodeFacts, name: str) -> DiskFacts | None:
    return next((disk for disk in (node.disks if known(node.disks) else ()) if name in disk.names), None)


def silent_reasons(node: NodeFacts, one: Hanging) -> Iterator[tuple[str, str]]:
    """(capture, why it was given up)."""
    yield from ((where, node.failures[where]) for where in one.silent)
