"""Walk the whole ledger in the database and name everything that is not as it was written: `./run manage ledger verify`.

The chain is walked by its sequence, never by time. Rows are streamed, so the ledger may be larger than the memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from django.db import connection, transaction

from agents.portal.wire import canonical
from app.core import job_progress
from app.ledger import checkpoints, grants, keyring, keys, merkle, notes, outside, stored
from app.ledger.forms import LedgerDown
from app.ledger.models import Blob, LedgerChain, LedgerCheckpoint, LedgerEvent, LedgerHead
from app.ledger.verify import INCOMPLETE, INTACT, TAMPERED, UNCHECKED

REDACTIONS = {"event.redacted": "leaf", "evidence.redacted": "digest"}  # and what names the thing erased
COLUMNS = ("at", "actor", "type", "run", "node")


@dataclass
class Audit:
    """What was counted and what was found wrong."""

    counts: dict[str, int] = field(default_factory=lambda: {"events": 0, "runs": 0, "checkpoints": 0, "blobs": 0})
    signed: int = 0
    tampered: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    redacted: list[str] = field(default_factory=list)  # erased by a person, on the record: no fault
    waiting: int = 0  # events that are in a lane and have no number yet: no fault

    @property
    def exit_code(self) -> int:
        if self.tampered:
            return TAMPERED
        if self.incomplete:
            return INCOMPLETE
        return UNCHECKED if self.unchecked else INTACT


@dataclass
class Walk:
    """Where the walk along the chain stands."""

    seq: int = 0
    link: bytes = checkpoints.NO_LINK
    frontier: list[bytes] = field(default_factory=list)
    nodes: stored.Walker = field(default_factory=stored.Walker)
    runs: dict[str, tuple[int, str]] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    erased: dict[str, int] = field(default_factory=dict)  # leaf of an event without a body -> its place
    redactions: dict[str, str] = field(default_factory=dict)  # leaf or digest -> who erased it, and why


def audit(kept: outside.Kept | None = None) -> Audit:
    """One look at one moment: everything is read in one snapshot, while writers go on. `kept` is held against it."""
    kept = kept or outside.Kept()
    found = Audit()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            found.tampered += grants.table_faults(cursor) + grants.trigger_faults(cursor) + grants.function_faults(cursor)
        walk = walk_chain(found, kept)
        check_ends(walk, found)
        check_nodes(walk, found)
        check_erased(walk, found)
        check_blobs(walk, found)
    kept.end(walk.seq)
    found.tampered += kept.tampered
    found.counts["events"], found.counts["runs"] = walk.seq, len(walk.runs)
    return found


def walk_chain(found: Audit, kept: outside.Kept) -> Walk:
    walk, signed = Walk(), signed_sizes(found)
    rows = LedgerChain.objects.select_related("event").order_by("seq")
    for row in job_progress.over_many(rows.iterator(chunk_size=checkpoints.BATCH), "Walking the chain", rows.count()):
        if row.seq != walk.seq + 1:
            found.tampered.append(f"The chain jumps from event {walk.seq} to event {row.seq}: what stood between is missing.")
        check_row(row, walk, found)
        if row.seq in kept:
            kept.at(row.seq, merkle.frontier_root(walk.frontier))
        if row.seq in signed:
            check_checkpoint(signed.pop(row.seq), walk, found)
    for size in signed:
        found.tampered.append(f"A checkpoint was signed over {size} events; the chain ends at event {walk.seq}.")
    return walk


def check_row(row: LedgerChain, walk: Walk, found: Audit) -> None:
    leaf = bytes(row.event.leaf) if row.event.body is None else merkle.leaf_hash(bytes(row.event.body))
    if bytes(row.event.leaf) != leaf:
        found.tampered.append(f"Event {row.seq} was edited: its bytes are not the ones its leaf was made from.")
    if bytes(row.prev) != walk.link:
        found.tampered.append(f"Event {row.seq} does not follow the event before it.")
    if bytes(row.link) != sha256(b"\x02" + walk.link + leaf).digest():
        found.tampered.append(f"The chain does not hold at event {row.seq}: another event stood here when it was sealed.")
    walk.seq, walk.link = row.seq, bytes(row.link)
    # One full leaf after the other: where events are missing no later root can agree, and each checkpoint will say so.
    walk.frontier = merkle.grow(walk.frontier, row.seq - 1, [leaf]) if fits(walk.frontier, row.seq - 1) else []
    walk.nodes.add(0, leaf)
    check_body(row, leaf, walk, found)


def fits(frontier: list[bytes], size: int) -> bool:
    return len(frontier) == size.bit_count()


def identity(fields: dict[str, Any]) -> str | None:
    """The row about a person that the event is about, as the database reads it out of the bytes."""
    return None if fields["run"] or fields["node"] else fields["body"].get("identity") or None


def check_body(row: LedgerChain, leaf: bytes, walk: Walk, found: Audit) -> None:
    """The columns say what the bytes say, the bytes are canonical, and the run counts on."""
    if row.event.body is None:
        walk.erased[leaf.hex()] = row.seq
        if row.event.run:
            walk.runs[row.event.run] = (walk.runs.get(row.event.run, (0, ""))[0] + 1, leaf.hex())
        return
    try:
        fields = row.event.parsed
        columns = {name: fields[name] for name in COLUMNS}
        run, run_seq, run_prev, evidence = fields["run"], fields["run_seq"], fields["run_prev"], fields["evidence"]
        whole = canonical(fields) == bytes(row.event.body) and identity(fields) == row.event.identity
    except (ValueError, TypeError, KeyError):
        found.tampered.append(f"Event {row.seq} does not read as an event.")
        return
    if not whole or columns != {name: getattr(row.event, name) for name in COLUMNS} or run_seq != str(row.event.run_seq or ""):
        found.tampered.append(f"Event {row.seq} shows in its columns what its bytes do not contain.")
    if run:
        count, before = walk.runs.get(run, (0, ""))
        if (run_seq, run_prev) != (str(count + 1), before):
            found.tampered.append(f"Event {row.seq} calls itself event {run_seq} of run {run}, but does not follow event {count} of it.")
        walk.runs[run] = (count + 1, leaf.hex())
    if fields["type"] in REDACTIONS:
        walk.redactions[fields["body"].get(REDACTIONS[fields["type"]], "")] = f"{fields['actor']}: {fields['body'].get('why', '')}"
    for digest in evidence:
        walk.named.setdefault(digest, row.seq)


def signed_sizes(found: Audit) -> dict[int, LedgerCheckpoint]:
    signed = {row.size: row for row in LedgerCheckpoint.objects.order_by("size")}
    found.counts["checkpoints"], found.signed = len(signed), max(signed, default=0)
    return signed


def check_checkpoint(row: LedgerCheckpoint, walk: Walk, found: Audit) -> None:
    root = merkle.frontier_root(walk.frontier)
    if bytes(row.root) != root or b"".join(walk.frontier) != bytes(row.frontier):
        found.tampered.append(
            f"The first {row.size} events are not the ones that were signed: the Merkle root differs from the checkpoint's."
        )
    try:
        public = keyring.public_at(row.size, notes.signer().public)
    except (OSError, ValueError, LedgerDown) as error:
        found.unchecked.append(f"The signature of the checkpoint over {row.size} events is not checked: {error}")
        return
    if not notes.signed(row.note, notes.stated(keys.origin(), row.size, bytes(row.root)), public):
        found.tampered.append(f"The checkpoint over {row.size} events is not signed by the key {keys.key_path()} as {keys.origin()}.")


def check_ends(walk: Walk, found: Audit) -> None:
    """The head agrees with the last link, and no event stands outside the chain."""
    head = LedgerHead.objects.first()
    if head is None or (head.seq, bytes(head.link)) != (walk.seq, walk.link):
        stands = head.seq if head else "gone"
        found.tampered.append(f"The head of the ledger is {stands}, the chain ends at event {walk.seq}.")
    waiting = check_lanes(head, found)
    found.waiting = len(waiting)
    for pk in LedgerEvent.objects.filter(chain=None).exclude(pk__in=waiting).values_list("id", flat=True)[:20]:
        found.tampered.append(f"The event with the row id {pk} is not in the chain: it was put in, or its place was taken away.")


def check_lanes(head: LedgerHead | None, found: Audit) -> list[int]:
    """Each lane is a chain without a gap. Returns the events that are committed there and not numbered yet."""
    numbered = head.numbered if head else []
    ends: dict[int, tuple[int, bytes]] = {}
    waiting: list[int] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.lane, l.n, l.event_id, l.prev, l.link, e.leaf FROM ledger_lane l LEFT JOIN ledger_event e ON e.id = l.event_id ORDER BY 1, 2"
        )
        for lane, n, event, prev, link, leaf in cursor:
            last, before = ends.get(lane, (0, checkpoints.NO_LINK))
            follows = n == last + 1 and bytes(prev) == before
            if not follows or leaf is None or bytes(link) != sha256(b"\x02" + before + bytes(leaf)).digest():
                found.tampered.append(f"Lane {lane} does not hold at its event {n}: another event was sealed there.")
            ends[lane] = (n, bytes(link))
            if n > (numbered[lane - 1] if lane <= len(numbered) else 0):
                waiting.append(event)
    for lane, count in enumerate(numbered, 1):
        if ends.get(lane, (0, b""))[0] < count:
            found.tampered.append(f"Lane {lane} ends before event {count}, which was numbered: its tail is missing.")
    return waiting


def check_nodes(walk: Walk, found: Audit) -> None:
    """The kept inner nodes of the tree are those of the events. They sign nothing, but proofs are made from them."""
    made = {(level, position): node for level, position, node in walk.nodes.made}
    with connection.cursor() as cursor:
        cursor.execute("SELECT level, position, hash FROM ledger_node ORDER BY level, position")
        wrong = [(level, position) for level, position, node in cursor if made.get((level, position)) != bytes(node)]
    for level, position in wrong[:20]:
        first = (position << level) + 1
        found.tampered.append(f"The node kept over the events {first} to {first + (1 << level) - 1} is not theirs.")


def check_erased(walk: Walk, found: Audit) -> None:
    for leaf, seq in walk.erased.items():
        if leaf in walk.redactions:
            found.redacted.append(f"Event {seq} was redacted by {walk.redactions[leaf]}")
        else:
            found.tampered.append(f"Event {seq} has no body, and no event records its redaction.")


def check_blobs(walk: Walk, found: Audit) -> None:
    for digest in kept(walk, found):
        walk.named.pop(digest, None)
    for digest, seq in walk.named.items():
        found.incomplete.append(f"The evidence {digest} is missing; event {seq} names it.")


def kept(walk: Walk, found: Audit) -> Iterator[str]:
    for row in Blob.objects.iterator(chunk_size=50):
        found.counts["blobs"] += 1
        if row.bytes is None and row.sha256 in walk.redactions:
            found.redacted.append(f"The evidence {row.sha256} was redacted by {walk.redactions[row.sha256]}")
        elif row.bytes is None:
            found.tampered.append(f"The evidence {row.sha256} has no bytes, and no event records its redaction.")
        elif sha256(bytes(row.bytes)).hexdigest() != row.sha256:
            found.tampered.append(f"The evidence {row.sha256} was edited: its bytes have another SHA-256.")
        yield row.sha256
