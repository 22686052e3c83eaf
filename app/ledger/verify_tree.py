"""Merkle trees as RFC 6962 defines them, checked as RFC 9162 writes it. A part of `verify.py`."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Optional


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def sides(here: int, last: int, path: list[bytes]) -> Optional[list[bool]]:
    """Whether each value of a proof stands on the left, from node `here` of `last` + 1 up to the root; None for a proof of another length."""
    found = []
    for _ in path:
        if last == 0:
            return None
        left = here & 1 or here == last
        while left and here and not here & 1:
            here, last = here >> 1, last >> 1
        found.append(bool(left))
        here, last = here >> 1, last >> 1
    return found if last == 0 else None


def climbs(leaf: bytes, index: int, size: int, path: list[bytes], root: bytes) -> bool:
    """RFC 9162, section 2.1.3.2: whether `path` leads from the leaf to the root of a tree of this size."""
    lefts = sides(index, size - 1, path) if index < size else None
    for left, other in zip(lefts or (), path):  # noqa: B905, `strict` came with Python 3.10
        leaf = node(other, leaf) if left else node(leaf, other)
    return lefts is not None and leaf == root


def follows(old: dict[str, Any], new: dict[str, Any], path: list[bytes]) -> bool:
    """RFC 9162, section 2.1.4.2: whether the tree of one checkpoint is the beginning of another's."""
    rest = path if old["size"] & (old["size"] - 1) else [old["root"], *path]
    if not 0 < old["size"] < new["size"] or not rest:
        return False
    here, last = old["size"] - 1, new["size"] - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    before = after = rest[0]
    lefts = sides(here, last, rest[1:])
    for left, other in zip(lefts or (), rest[1:]):  # noqa: B905
        before = node(other, before) if left else before
        after = node(other, after) if left else node(after, other)
    return lefts is not None and (before, after) == (old["root"], new["root"])
