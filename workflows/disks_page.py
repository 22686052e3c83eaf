"""docs/disks.md: which runbook can be done with which kind of disk, and by what name an order gives the disk.

`python -m workflows.disks_page` walks each runbook on a twin of each kind to its end and writes what came of it; a test says when the page is behind.
A walk takes a third of a second of processor time, the page about a minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from workflows.rehearsal.kinds_of_disk.rows import ROWS
from workflows.rehearsal.kinds_of_disk.walked import ORDERED, Cell, cell, columns

PAGE = Path(__file__).resolve().parents[1] / "docs" / "disks.md"
HEAD = """<!-- Made by `python -m workflows.disks_page` of walks on twins. Change a runbook, a guard or a twin, not this page. -->

# Kinds of disks

Each runbook that brings, takes, lights, wipes, deletes or rescans a disk was walked to its end on a twin all of whose disks are of one kind: the guards and
plans are those of a real node, and what they refuse here they refuse there. [Releases](releases.md) has the same by release of OpenZFS. Disks that
order names are shown by the beginning of their name below `/dev/disk/by-id`; a member that is in a pool already is named by its guid, and
a kernel name is looked up of the WWID in the moment it is written to.

- **ordered**: the node carries it out. Behind it stand the names it gives disks by, or “by guid” where it names members alone.
- **by hand**: no order is made, and the note has the commands that a person gives.
- **refused**: nothing is to be given, and the note says what is to be changed first.
- **not offered**: what is wrong is answered by another runbook or by what the note advises.

Identities in the notes are replaced: WWID, GUID, DISK (its kernel name), dm-N and MAP.
"""


def page() -> str:
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    notes: dict[tuple[str, ...], list[str]] = {}
    table = [
        (row.title, [_shown(cell(row.slug, book.slug), f"{book.slug}, {row.title}", notes) for book in columns()]) for row in ROWS.values()
    ]
    yield f"| kind of disk | {' | '.join(f'[{book.slug}](runbooks/{book.slug}.md)' for book in columns())} |"
    yield f"|---|{'---|' * len(columns())}"
    yield from (f"| {title} | {' | '.join(cells)} |" for title, cells in table)
    yield "\n## Notes\n"
    for number, (reasons, where) in enumerate(notes.items(), 1):
        yield f"{number}. *{'; '.join(where)}*: {' '.join(reasons)}"


def _shown(one: Cell, where: str, notes: dict[tuple[str, ...], list[str]]) -> str:
    if one.outcome == ORDERED:
        return f"{ORDERED}, {one.how or 'by guid'}"
    reasons = tuple(dict.fromkeys(map(_without_names, one.reasons)))
    notes.setdefault(reasons, []).append(where)
    return f"{one.outcome} ({list(notes).index(reasons) + 1})"


_NAMES = (
    (re.compile(r"\b(?:naa|eui|uuid|nvme|ata):[^\s,;:)]+(?::[^\s,;:)]+)?"), "WWID"),
    (re.compile(r"(/dev/disk/by-id/(?:wwn-0x|ata-|nvme-eui\.|nvme-nvme\.|dm-uuid-mpath-))[^\s`,;]+?(?=-part|[\s`,;.]|$)"), r"\1…"),
    (re.compile(r"/dev/disk/by-(?:partuuid|path)/(?!LINK)[^\s`,;]+"), "/dev/disk/by-…"),
    (re.compile(r"\bluks-[A-Z0-9]+\b"), "luks-…"),
    (re.compile(r"\b[0-9]{15,20}\b"), "GUID"),
    (re.compile(r"\bdm-[0-9]+\b"), "dm-N"),
    (re.compile(r"\bmpath[a-z]+\b"), "MAP"),
    (re.compile(r"\b(?:sd[a-z]{1,3}|vd[a-z])[0-9]*\b|\bnvme[0-9]+n[0-9]+(?:p[0-9]+)?\b"), "DISK"),
    (re.compile(r"\b(?:ZA2[0-9]{4}X|WD-WCC7K[0-9]+X|S5GXNX0R[0-9]+)\b"), "SERIAL"),
)  # fmt: skip


def _without_names(reason: str) -> str:
    """What differs from twin to twin, so that one reason is one note."""
    for pattern, word in _NAMES:
        reason = pattern.sub(word, reason)
    return reason.replace("|", "\\|").replace("<", "\\<")


def write(path: Path = PAGE) -> None:
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
