"""Pieces of a tree that a paste shows without their beginning: rows of `zpool status` that were grepped, children of a label or of `zdb -e`.

They name members and what one records of another. Which pool they are of, and what else is in it, they do not show.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One row of a vdev tree, as printed."""

    name: str
    state: str
    note: str
    was: str  # the path it is remembered by; "" where the row has none


@dataclass(frozen=True)
class Child:
    """One leaf of a configuration, as `zdb` prints it. Strings are as old as the last import that found the disk."""

    guid: str
    path: str
    devid: str
    phys_path: str
    enc_path: str
    not_present: bool
    resilver_txg: str


@dataclass(frozen=True)
class Fragments:
    rows: tuple[Row, ...] = ()
    children: tuple[Child, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.children)
