"""The Merkle tree of RFC 6962 over leaf hashes: root, inclusion proof, and the frontier that grows a root without the old leaves.

Pure. This is the proving side and is written as the RFC writes it, recursively; `verify.py` checks with the other algorithm.
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
        if not 0 <= index < len(self.leaves):
            raise IndexError(f"leaf {index} of {len(self.leaves)}")
        return self.walk(index, 0, len(self.leaves))

    def walk(self, index: int, start: int, end: int) -> list[bytes]:
        if end - start == 1:
            return []
        middle = start + split(end - start)
        if index < middle:
            return [*self.walk(index, start, middle), self.hash(middle, end)]
        return [*self.walk(index, middle, end), self.hash(start, middle)]

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
