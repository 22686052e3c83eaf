"""docs/releases.md: on which release of OpenZFS each operation is ordered, made from the table (`agents/zfs_releases.py`).

`python -m workflows.releases` writes the page; a test says when it is behind.
"""

from __future__ import annotations

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
    TOLD,
    WHEN,
    Entry,
    Release,
    ruling,
    tried,
    words,
)
from workflows.runbooks import RUNBOOKS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "releases.md"
HEAD = """<!-- Made from agents/zfs_releases.py by `python -m workflows.releases`. Change the table, not this page. -->

# Releases of OpenZFS

What a command does, refuses and prints differs by release, and within a series by patch level. Portal and node ask one table before they
plan or order anything. {tried} were tried with a real kernel; of the others the source was read, and what is ordered there is the same
command that reaches the same checks. Nothing was tried on FreeBSD and illumos: an order names disks by /dev/disk/by-id, which they have not,
so there a person gives the commands, but for a tunable of FreeBSD (sysctl).

- A release that was not read, newer or older, is looked at, and a person gives the commands. A rehearsal of the runbook shows each of them.
- A version that nobody can read is a refusal.
- Tools and kernel module of different minors are a refusal: reboot into the new module first. Of one minor they serve together, but for an
  operation that changed between their patch levels.

| read | patch levels |
|---|---|
"""


def page() -> str:
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield HEAD.format(tried=tried()) + "\n".join(f"| {words(series)} | .{low} to .{high} |" for series, (low, high) in READ.items()) + "\n"
    columns = tuple(_columns())
    yield "## Which operation is ordered where\n"
    yield "A note in brackets holds for some pools only, and stands below.\n"
    yield f"| operation | runbooks | {' | '.join(_span(column) for column in columns)} |"
    yield f"|---|---|{'---|' * len(columns)}"
    for operation in TABLE:
        yield f"| {operation} | {', '.join(_books(operation))} | {' | '.join(_cell(operation, column[0]) for column in columns)} |"
    yield "\n## What differs\n"
    for operation, entries in TABLE.items():
        if entries:
            yield f"### {operation}\n"
            yield from (_entry(entry) for entry in entries)
            yield ""
    yield "### On any release\n"
    yield f"{', '.join(ON_ANY)} give no command of ZFS. Which tunables a release has is in `agents/domain/tunables.py`."


def _columns() -> Iterator[tuple[Release, ...]]:
    """Neighbouring patch levels of one series that no entry tells apart, as one."""
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


def _cell(operation: str, release: Release) -> str:
    always = ruling(operation, words(release), words(release), dict.fromkeys(WHEN, False))
    entries = [entry for entry in TABLE[operation] if entry.covers(release)]
    if always.outcome != PASS:
        return next(entry.outcome for outcome in (REFUSED, BY_HAND) for entry in entries if entry.outcome == outcome and not entry.when)
    sometimes = dict.fromkeys(entry.outcome for entry in entries if entry.when and entry.outcome != ORDERED)
    told = any(entry.outcome == TOLD and not entry.when for entry in entries)
    return f"{TOLD if told else ORDERED}{''.join(f' ({outcome})' for outcome in sometimes)}"


def _entry(entry: Entry) -> str:
    since = f"since {' and '.join(entry.since)}" if entry.since else "from the oldest on"
    until = f", no more since {' and '.join(entry.until)}" if entry.until else ""
    when = f", of {WHEN[entry.when]}" if entry.when else ""
    return f"- **{entry.outcome}**, {since}{until}{when}: {entry.reason.replace('<', chr(92) + '<')}. Source: `{entry.source}`."


def write(path: Path = PAGE) -> None:
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
