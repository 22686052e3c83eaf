"""Finds rows of a tree, and children of a label, in lines whose beginning was not pasted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workflows.facts.read.fragments import Child, Fragments, Row

_ROW = re.compile(
    r"\s{0,40}(?P<name>[\w./:@+-]{1,200})\s{1,80}(?P<state>ONLINE|DEGRADED|OFFLINE|REMOVED|FAULTED|UNAVAIL)"
    r"(?:\s{1,40}[0-9][0-9.]{0,9}[KMGTPE]?){3}(?:\s{1,40}(?P<note>\S.{0,300}))?"
)
_WAS = re.compile(r"was (/\S+)")
_CHILD = re.compile(r"\s{0,40}children\[\d{1,4}\]:")
_FIELD = re.compile(r"\s{0,40}([\w.:]{1,40}): (?:'([^']{0,300})'|(\S{1,100}))")


UNFINISHED = "These look like rows of `zpool status` whose beginning is not here. Paste the whole output of `zpool status -P -p`."
ROWS_MIN = 2
_IN_A_TREE = re.compile(r" +\S{1,300} +(?:ONLINE|(DEGRADED|OFFLINE|REMOVED|FAULTED|UNAVAIL))(?: +[0-9]| {2,}[a-z]|$)")


def is_inside_a_tree(lines: Sequence[str]) -> bool:
    """Rows of a pool's tree without the lines above them that say which pool it is: two, or one that is not as it should be."""
    rows = [found for line in lines if (found := _IN_A_TREE.match(line.rstrip()))]
    return len(rows) >= ROWS_MIN or any(found.group(1) for found in rows)


def is_a_piece(found: Fragments) -> bool:
    """Whether it tells anything by itself: a member that is remembered by a name, or two children."""
    return any(row.was for row in found.rows) or len(found.children) > 1


def has_row(lines: Sequence[str]) -> bool:
    """Whether a member with its counters is among them."""
    return any(_ROW.fullmatch(line.rstrip()) for line in lines)


def ill_rows(lines: Sequence[str]) -> list[str]:
    """Rows of members that were given up, or count errors, and say nothing of another path: what is wrong with them they tell by themselves."""
    found = [(line, form) for line in lines if (form := _ROW.fullmatch(line.rstrip()))]
    return [line for line, form in found if "was /" not in line and (form.group("state") == "FAULTED" or _COUNTED.search(line))]


_COUNTED = re.compile(r"ONLINE\s{1,40}(?:[0-9.KMGTPE]{1,12}\s{1,40}){0,2}[1-9]")


def fragments(lines: Sequence[str]) -> Fragments:
    """Rows, and children that have a guid; others are left out."""
    rows = [_row(found) for line in lines if (found := _ROW.fullmatch(line.rstrip()))]
    return Fragments(tuple(rows), tuple(_children(lines)))


def _row(found: re.Match[str]) -> Row:
    note = found.group("note") or ""
    was = _WAS.search(note)
    return Row(found.group("name"), found.group("state"), note, was.group(1) if was else "")


def _children(lines: Sequence[str]) -> list[Child]:
    each: list[dict[str, str]] = []
    for line in lines:
        field = _FIELD.fullmatch(line.rstrip())
        if _CHILD.fullmatch(line.rstrip()):
            each.append({})
        elif field and each:
            each[-1].setdefault(field.group(1), field.group(2) or field.group(3) or "")
    return [_child(fields) for fields in each if fields.get("guid", "").isdigit() and fields.get("type", "disk") in ("disk", "file")]


def _child(fields: dict[str, str]) -> Child:
    return Child(
        fields["guid"], fields.get("path", ""), fields.get("devid", ""), fields.get("phys_path", ""), fields.get("vdev_enc_sysfs_path", ""),
        fields.get("not_present") == "1", fields.get("resilver_txg", ""),
    )  # fmt: skip
