"""Proofs over the whole ledger without reading the whole ledger: every fourth level of the Merkle tree is kept in `ledger_node`.

A full subtree of 16, 256, 4096, ... events never changes, so its hash is written once, when a checkpoint first covers it. A proof
then reads some dozens of rows, however long the ledger is. What is kept is not trusted: each proof is checked
against the signed root before it is handed out.
"""

from collections.abc import Iterable, Iterator

from django.db import connection
from django.db.backends.utils import CursorWrapper

from agents.trust.transparency_log import verify_consistency, verify_inclusion
from app.ledger.forms import LedgerDown
from app.ledger.merkle import Span, consistency_spans, full_subtrees, inclusion_spans, node_hash

STRIDE = 4
WIDTH = 1 << STRIDE
Place = tuple[int, int]  # level and position of a node; leaves are level 0


class Walker:
    """Collects the full subtrees that leaves complete, from the first leaf on."""

    def __init__(self) -> None:
        self.count: dict[int, int] = {}  # kept nodes per level
        self.open: dict[int, list[bytes]] = {}  # nodes that no kept node above covers yet
        self.made: list[tuple[int, int, bytes]] = []

    def add(self, level: int, node: bytes) -> None:
        row = self.open.setdefault(level, [])
        row.append(node)
        if len(row) == WIDTH:
            above, position = level + STRIDE, self.count.get(level + STRIDE, 0)
            root = fold(row)
            self.made.append((above, position, root))
            self.count[above] = position + 1
            row.clear()
            self.add(above, root)


class Grower(Walker):
    """The same, beginning where the kept ones end, whoever wrote them."""

    def __init__(self) -> None:
        super().__init__()
        with connection.cursor() as cursor:
            cursor.execute("SELECT level, max(position) + 1 FROM ledger_node GROUP BY level")
            self.count = dict(cursor.fetchall())
            self.open = {level: self._rest(cursor, level) for level in self.count}
        self.size = self.count.get(STRIDE, 0) * WIDTH  # leaves under the kept nodes

    def _rest(self, cursor: CursorWrapper, level: int) -> list[bytes]:
        """The kept nodes of a level that no kept node above covers yet."""
        covered = self.count.get(level + STRIDE, 0) * WIDTH
        cursor.execute("SELECT hash FROM ledger_node WHERE level = %s AND position >= %s ORDER BY position", [level, covered])
        return [bytes(row[0]) for row in cursor]

    def passing(self, leaves: Iterable[bytes], start: int) -> Iterator[bytes]:
        """Take every leaf, and hand on those from number `start`."""
        first = min(start, self.size)
        for number, leaf in enumerate(leaves, first):
            if number >= self.size:
                self.add(0, leaf)
            if number >= start:
                yield leaf

    def keep(self) -> None:
        if self.made:
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO ledger_node (level, position, hash) VALUES (%s, %s, %s)", self.made)


def fold(nodes: list[bytes]) -> bytes:
    """The root over a power of two of nodes."""
    while len(nodes) > 1:
        nodes = [node_hash(*nodes[i : i + 2]) for i in range(0, len(nodes), 2)]
    return nodes[0]


def inclusion(index: int, size: int, leaf: bytes, root: bytes) -> list[bytes]:
    """The proof that `leaf` is number `index` under a signed root. Raises LedgerDown when the database cannot prove it any more."""
    path = hashes(inclusion_spans(index, size))
    if not verify_inclusion(leaf, index, size, path, root):
        raise LedgerDown(f"Event {index + 1} is not under the signed root over {size} events. Run `ledger verify`.")
    return path


def consistency(old: int, old_root: bytes, size: int, root: bytes) -> list[bytes]:
    """The proof that one signed tree continues another. Raises LedgerDown when it does not."""
    path = hashes(consistency_spans(old, size))
    if not verify_consistency(old, old_root, size, root, path):
        raise LedgerDown(f"The checkpoint over {size} events does not continue the one over {old}. Run `ledger verify`.")
    return path


def root_of(size: int) -> bytes:
    """The root over the first `size` events, from what is kept; `size` is at most what a checkpoint covers."""
    return hashes([(0, size)])[0]


def hashes(spans: list[Span]) -> list[bytes]:
    parts = {span: full_subtrees(*span) for span in spans}
    found = fetch({place for subtrees in parts.values() for subtree in subtrees for place in kept_under(subtree)})
    return [join([fold([found[place] for place in kept_under(subtree)]) for subtree in parts[span]]) for span in spans]


def join(subtrees: list[bytes]) -> bytes:
    """The hash over full subtrees that stand side by side, largest first."""
    *rest, root = subtrees
    for left in reversed(rest):
        root = node_hash(left, root)
    return root


def kept_under(subtree: Place) -> list[Place]:
    """The kept nodes that a full subtree is folded from."""
    level, position = subtree
    below = level % STRIDE
    return [(level - below, (position << below) + i) for i in range(1 << below)]


LEAVES = "SELECT c.seq - 1, e.leaf FROM ledger_chain c JOIN ledger_event e ON e.id = c.event_id WHERE c.seq = ANY(%s)"
NODES = "SELECT n.level, n.position, n.hash FROM ledger_node n JOIN unnest(%s::int[], %s::bigint[]) AS w (level, position) USING (level, position)"


def fetch(places: set[Place]) -> dict[Place, bytes]:
    above = sorted(place for place in places if place[0])
    found: dict[Place, bytes] = {}
    with connection.cursor() as cursor:
        cursor.execute(LEAVES, [[position + 1 for level, position in places if level == 0]])
        found |= {(0, position): bytes(leaf) for position, leaf in cursor}
        cursor.execute(NODES, [[level for level, _ in above], [position for _, position in above]])
        found |= {(level, position): bytes(node) for level, position, node in cursor}
    if len(found) < len(places):
        raise LedgerDown(f"{len(places) - len(found)} nodes of the ledger's tree are missing. Run `ledger verify`.")
    return found
