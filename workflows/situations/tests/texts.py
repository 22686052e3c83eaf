"""Texts of `zpool status` as ZFS lays them out, put together from what a test is about. Names and numbers are our own."""

from __future__ import annotations

from collections.abc import Sequence

from workflows.engine.core import Situation
from workflows.triage import triage

MIRROR = (
    "  mirror-0 ONLINE 0 0 0",
    "    /dev/disk/by-id/wwn-0x5000c500a65b201b-part1 ONLINE 0 0 0",
    "    /dev/disk/by-id/wwn-0x5000c500a65b202b-part1 ONLINE 0 0 0",
)
RAIDZ2 = ("  raidz2-0 ONLINE 0 0 0", *(f"    /dev/disk/by-id/wwn-0x5000c500a65b20{n}b-part1 ONLINE 0 0 0" for n in range(1, 6)))
READ_AT = 1795564800.0  # 2026-11-25, the day on which these texts are read
CLEAN = "scrub repaired 0B in 02:10:13 with 0 errors on Sun Nov 22 02:34:14 2026"


def status(
    *rows: str,
    pool: str = "oak",
    state: str = "ONLINE",
    status: str = "",
    see: str = "",
    scan: str = CLEAN,
    extra: Sequence[str] = (),
    errors: str = "No known data errors",
) -> str:
    """One pool. A row is "  name STATE R W C  note", indented as in the tree; a heading is a row of one word."""
    lines = [f"  pool: {pool}", f" state: {state}"]
    lines += [f"status: {status}"] if status else []
    lines += [f"   see: https://openzfs.github.io/openzfs-docs/msg/{see}"] if see else []
    lines += [f"  scan: {scan}"] if scan else []
    lines += [*extra, "config:", "", "\tNAME  STATE  READ WRITE CKSUM", *(f"\t{row}" for row in (f"{pool} {state} 0 0 0", *rows)), ""]
    return "\n".join([*lines, f"errors: {errors}", ""])


def found(text: str, *beside: str) -> list[Situation]:
    """What triage says of a text, without the slugs that may stand beside it."""
    return [one for one in triage([("text", text)], read_at=READ_AT).situations if one.slug not in beside]


def only(text: str, *beside: str) -> Situation:
    (one,) = found(text, *beside)
    return one


def words(situation: Situation) -> str:
    """All that a person reads of it."""
    cures = (part for cure in situation.cures for part in (cure.text, cure.needs, cure.save_first, cure.releases))
    return " ".join((situation.title, situation.meaning, *cures))


def commands(situation: Situation) -> list[str]:
    return [" ".join(argv) for cure in situation.cures for argv in cure.argv]
