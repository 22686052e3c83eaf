"""docs/releases.md: on which release of OpenZFS each operation and each runbook is ordered, goes by hand or is refused, made from the table
(`agents/zfs_releases.py`) and from what a person can give (`workflows/by_hand/commands.py`).

`python -m workflows.releases` writes the page; a test says when it is behind.
"""

from collections.abc import Iterator
from pathlib import Path

from agents.zfs_releases import (
    BY_HAND,
    ON_ANY,
    ORDERED,
    PASS,
    READ,
    REFUSED,
    TABLE,
    WARNED,
    WHEN,
    Entry,
    Release,
    ruling,
    tried,
    words,
)
from workflows.by_hand.commands import can_be_given
from workflows.engine.core import Runbook
from workflows.runbooks import RUNBOOKS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "releases.md"
HEAD = """<!-- Made from agents/zfs_releases.py by `python -m workflows.releases`. Change the table, not this page. -->

# Releases of OpenZFS

What a command does, refuses and prints differs by release, and within a series by patch level. Portal and node ask one table before they
plan or order anything. {tried} were tried with a real kernel; of the others the source was read, and what is ordered there is the same
command that reaches the same checks. Nothing was tried on FreeBSD and illumos: an order names disks by /dev/disk/by-id, which they have not,
so there a person gives the commands, but for a tunable of FreeBSD (sysctl). What a snippet reads and gives on either is from its source, tried nowhere
there. [Kinds of disks](disks.md) has the same by kind of disk.

“By hand” is a run like any other: the same guards, plan, confirmation, approvals and locks, and then a snippet for a root shell in place of an
order ([By hand](guide/by-hand.md)). It is the way on wherever a row below says so; a refusal says the way on in its reason.

| read | patch levels |
|---|---|
"""

# Why, what then, and what to do. `workflows/tests/test_releases.py` asks the guards for each.
WAYS = (
    ("the node's policy file does not let it run: observe mode, or an operation or a pool that it does not name", BY_HAND, "Go on by hand. Or its owner widens the [policy file](guide/policy-file.md)"),
    ("a release that was not read, newer or older", BY_HAND, "Go on by hand, where the newest release that was read would be given the order; what is refused there is refused here"),
    ("the node refused the order, or did not take it in time, and no check of the portal refuses the command", BY_HAND, "Plan it to do it by hand. An order that may have begun is UNKNOWN, and no command is shown"),
    ("a version of the tools or the kernel module that cannot be read", REFUSED, "Have `zpool version` and `/sys/module/zfs/version` answer on the node; the reason quotes what they say"),
    ("tools and kernel module of different minors", REFUSED, "Reboot into the new module, or bring both to one release"),
    ("tools and kernel module of one minor, and the operation changed between their patch levels", REFUSED, "Bring both to one release"),
    ("an agent that is too old", REFUSED, "Run the install line on the node again, then begin anew"),
    ("the node runs FreeBSD, and the command is not that of a tunable", BY_HAND, "Go on by hand: the snippet asks GEOM and sysctl, and names a disk by /dev/diskid. Imports, wiping, lights, mode pages and names of members have no snippet there: a rehearsal shows the steps"),
    ("the node runs illumos", BY_HAND, "Go on by hand: the snippet asks diskinfo, fuser and /proc, and names a disk by the WWN in its name below /dev/dsk. `zpool clear`, tunables and all that FreeBSD lacks have no snippet there: a rehearsal shows the steps"),
    ("the node reports no boot id, as FreeBSD before 13, Oracle's Solaris, and illumos where its clock had lost the time at boot", REFUSED, "No snippet could distinguish one boot from the next. A rehearsal of the runbook shows each command; give it as your site gives commands"),
)  # fmt: skip


def page() -> str:
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield HEAD.format(tried=tried()) + "\n".join(f"| {words(series)} | .{low} to .{high} |" for series, (low, high) in READ.items()) + "\n"
    columns = tuple(_columns())
    yield "## Which operation is ordered where\n"
    yield "A note in brackets holds for some pools only, and stands below.\n"
    yield f"| operation | runbooks | a person can give it | {' | '.join(_span(column) for column in columns)} |"
    yield f"|---|---|---|{'---|' * len(columns)}"
    for operation in TABLE:
        cells = " | ".join(_cell(operation, column[0]) for column in columns)
        yield f"| {operation} | {', '.join(_books(operation))} | {'yes' if can_be_given(operation) else 'no, the agent alone'} | {cells} |"
    yield "\n## Which runbook goes how where\n"
    yield "What differs from the first word stands behind it. The reasons stand below, by operation.\n"
    yield f"| runbook | {' | '.join(_span(column) for column in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for book in RUNBOOKS.values():
        if given := _given(book):
            yield f"| {book.slug} | {' | '.join(_of_book(given, column[0]) for column in columns)} |"
    yield "\n## Where no order is made\n"
    yield "| why | then | the way on |"
    yield "|---|---|---|"
    yield from (f"| {why} | {then} | {way} |" for why, then, way in WAYS)
    yield "\n## What differs\n"
    for operation, entries in TABLE.items():
        if entries:
            yield f"### {operation}\n"
            yield from (_entry(entry) for entry in entries)
            yield ""
    yield "### On any release\n"
    yield f"{', '.join(ON_ANY)} give no command of ZFS. Which tunables a release has is in `agents/domain/tunables.py`."


def _columns() -> Iterator[tuple[Release, ...]]:
    """Neighbouring patch levels of one series that no entry distinguishes, as one."""
    for series, (low, high) in READ.items():
        together: list[Release] = []
        for patch in range(low, high + 1):
            release = (*series, patch)
            if together and _signature(together[-1]) != _signature(release):
                yield tuple(together)
                together = []
            together.append(release)
        yield tuple(together)


def _signature(release: Release) -> tuple[bool, ...]:
    return tuple(entry.covers(release) for entries in TABLE.values() for entry in entries if entry.outcome != ORDERED)


def _span(column: tuple[Release, ...]) -> str:
    return words(column[0]) if len(column) == 1 else f"{words(column[0])} to .{column[-1][2]}"


def _books(operation: str) -> list[str]:
    return [book.slug for book in RUNBOOKS.values() if any(step.operation == operation for step in book.steps)]


def _given(book: Runbook) -> tuple[str, ...]:
    """The operations that it gives and that differ by release."""
    return tuple(dict.fromkeys(step.operation for step in book.steps if step.operation in TABLE and step.operation not in ON_ANY))


def _of_book(given: tuple[str, ...], release: Release) -> str:
    """What is so of most of its operations, and of which it is not."""
    always: dict[str, list[str]] = {}
    sometimes: dict[str, list[str]] = {}
    for operation in given:
        first, _, more = _cell(operation, release).partition(" (")
        always.setdefault(first, []).append(operation)
        if more:
            sometimes.setdefault(more.rstrip(")"), []).append(operation)
    most = max(always, key=lambda outcome: len(always[outcome]))
    others = [f"{outcome}: {', '.join(of)}" for outcome, of in always.items() if outcome != most]
    return "; ".join([most, *others, *(f"of some pools {outcome}: {', '.join(of)}" for outcome, of in sometimes.items())])


def _cell(operation: str, release: Release) -> str:
    always = ruling(operation, words(release), words(release), dict.fromkeys(WHEN, False))
    entries = [entry for entry in TABLE[operation] if entry.covers(release)]
    if always.outcome != PASS:
        return BY_HAND if always.by_hand and can_be_given(operation) else REFUSED
    sometimes = dict.fromkeys(entry.outcome for entry in entries if entry.when and entry.outcome != ORDERED)
    warns = any(entry.outcome == WARNED and not entry.when for entry in entries)
    return f"{WARNED if warns else ORDERED}{''.join(f' ({outcome})' for outcome in sometimes)}"


def _entry(entry: Entry) -> str:
    since = f"since {' and '.join(entry.since)}" if entry.since else "from the oldest on"
    until = f", no more since {' and '.join(entry.until)}" if entry.until else ""
    when = f", of {WHEN[entry.when]}" if entry.when else ""
    return f"- **{entry.outcome}**, {since}{until}{when}: {entry.reason.replace('<', chr(92) + '<')}. Source: `{entry.source}`."


def write(path: Path = PAGE) -> None:
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
