"""The Merkle tree of RFC 6962 over leaf hashes: which nodes a proof is made of, and the frontier that grows a root without the old leaves.

Pure. This is the proving side and is written as the RFC writes it, recursively; who checks uses the other algorithm
(`agents/trust/transparency_log.py`, `verify.py`). `stored.py` proves from the database, `Tree` from a list in memory.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()
WORTH_KEEPING = 64  # subtrees of at least so many leaves are hashed once per tree


def leaf_hash(body: bytes) -> bytes:
    return sha256(b"\x00" + body).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """All proofs over one list of leaf hashes."""

    def __init__(self, leaves: Sequence[bytes]):
        self.leaves = leaves
        self.kept: dict[tuple[int, int], bytes] = {}

    def root(self) -> bytes:
        return self.hash(0, len(self.leaves)) if self.leaves else EMPTY

    def path(self, index: int) -> list[bytes]:
        """The inclusion proof of leaf `index`, counted from 0, lowest node first."""
        return [self.hash(*span) for span in inclusion_spans(index, len(self.leaves))]

    def consistency(self, old: int) -> list[bytes]:
        """The proof that the tree of the first `old` leaves is the beginning of this one."""
        return [self.hash(*span) for span in consistency_spans(old, len(self.leaves))]

    def hash(self, start: int, end: int) -> bytes:
        if end - start == 1:
            return self.leaves[start]
        if (start, end) in self.kept:
            return self.kept[start, end]
        middle = start + split(end - start)
        made = node_hash(self.hash(start, middle), self.hash(middle, end))
        if end - start >= WORTH_KEEPING:
            self.kept[start, end] = made
        return made


Span = tuple[int, int]  # the leaves from `start` up to, not including, `end`


def inclusion_spans(index: int, size: int) -> list[Span]:
    """The subtrees whose hashes are the inclusion proof of a leaf, lowest first (RFC 6962, 2.1.1)."""
    if not 0 <= index < size:
        raise IndexError(f"leaf {index} of {size}")
    spans, start, end = [], 0, size
    while end - start > 1:
        middle = start + split(end - start)
        if index < middle:
            spans.append((middle, end))
            end = middle
        else:
            spans.append((start, middle))
            start = middle
    return spans[::-1]


def consistency_spans(old: int, size: int) -> list[Span]:
    """The subtrees whose hashes prove that a tree of `old` leaves is the beginning of one of `size` (RFC 6962, 2.1.2)."""
    if not 0 < old <= size:
        raise IndexError(f"the first {old} leaves of {size}")
    spans, start, end = [], 0, size
    while old != end:
        middle = start + split(end - start)
        if old <= middle:
            spans.append((middle, end))
            end = middle
        else:
            spans.append((start, middle))
            start = middle
    if start:  # the tree of `old` leaves is not itself a node of the new one
        spans.append((start, end))
    return spans[::-1]


def full_subtrees(start: int, end: int) -> list[tuple[int, int]]:
    """The full subtrees (level, position) that a span of one tree consists of, left to right; all but the last path are one each."""
    found = []
    while start < end:
        level = (end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def split(size: int) -> int:
    """The largest power of two smaller than `size`."""
    return 1 << (size - 1).bit_length() - 1


def grow(frontier: Sequence[bytes], size: int, leaves: Iterable[bytes]) -> list[bytes]:
    """The frontier of a tree of `size` leaves after `leaves` are added: the roots of its full subtrees, largest first."""
    grown = list(frontier)
    for leaf in leaves:
        grown.append(leaf)
        full = size
        while full & 1:
            right, left = grown.pop(), grown.pop()
            grown.append(node_hash(left, right))
            full >>= 1
        size += 1
    return grown


def frontier_root(frontier: Sequence[bytes]) -> bytes:
    if not frontier:
        return EMPTY
    *rest, root = frontier
    for left in reversed(rest):
        root = node_hash(left, root)
    return root
