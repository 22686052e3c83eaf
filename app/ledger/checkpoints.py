"""Signed statements over the whole ledger: made every few seconds by the worker, and before each destructive order.

Each grows the frontier of the one before it, so what was signed once is never read from the tables and signed again.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256

from django.db import connection, transaction

from app.ledger import keyring, keys, merkle, notes, stored
from app.ledger.forms import LedgerDown, moment
from app.ledger.models import LedgerChain, LedgerCheckpoint, LedgerHead

ONE_AT_A_TIME = 0x510752  # the advisory lock that makes checkpoints single-flight
BATCH = 5000
NO_LINK = bytes(32)  # what the first event follows


def checkpoint_now() -> LedgerCheckpoint | None:
    """Sign everything committed so far; None while the ledger is empty.

    Call it outside a transaction: what the caller has not committed has no place in the chain yet.
    """
    number_waiting()
    size = LedgerHead.objects.values_list("seq", flat=True).get()
    return checkpoint_at(size) if size else None


def number_waiting() -> int:
    """Give every committed event its number that still waits for one, and say how many those were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_number()")
        count: int = cursor.fetchone()[0]
    return count


def checkpoint_at(size: int) -> LedgerCheckpoint:
    """The checkpoint over the first `size` events, made now unless it was made before."""
    while True:
        finish_key_change()
        with transaction.atomic():
            one_at_a_time()
            if not keyring.pending():  # else a change of key came in between, and must be signed first
                return sign_up_to(size)


def finish_key_change() -> None:
    """Put a recorded new key in its place, after the old ones have signed the change."""
    for which, seq in keyring.pending():
        with transaction.atomic():
            one_at_a_time()
            if (which, seq) in keyring.pending():
                sign_up_to(seq)
        with transaction.atomic():  # only now is that signature there for good
            one_at_a_time()
            if (which, seq) in keyring.pending():
                os.replace(keyring.waiting(which), keyring.path_of(which))


def one_at_a_time() -> None:
    """Wait for whoever signs; no other process does until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_AT_A_TIME])


def sign_up_to(size: int) -> LedgerCheckpoint:
    """For whoever holds the lock."""
    base = LedgerCheckpoint.objects.filter(size__lte=size).order_by("-size").first()
    return base if base and base.size == size else extend(base, size)


def extend(base: LedgerCheckpoint | None, size: int) -> LedgerCheckpoint:
    """1. trust what was signed before, 2. grow it, 3. keep the new full subtrees for proofs, 4. sign."""
    frontier, start = trusted_frontier(base)
    nodes = stored.Grower()
    leaves = leaves_between(min(start, nodes.size), size)
    frontier = merkle.grow(frontier, start, nodes.passing(leaves, start))
    root = merkle.frontier_root(frontier)
    nodes.keep()
    note = signing_key().checkpoint(size, root)
    return LedgerCheckpoint.objects.create(size=size, root=root, frontier=b"".join(frontier), note=note, at=moment(datetime.now(UTC)))


def trusted_frontier(base: LedgerCheckpoint | None) -> tuple[list[bytes], int]:
    if base is None:
        return [], 0
    packed = bytes(base.frontier)
    frontier = [packed[i : i + 32] for i in range(0, len(packed), 32)]
    text = notes.stated(keys.origin(), base.size, merkle.frontier_root(frontier))
    if not notes.signed(base.note, text, keyring.public_at(base.size, signing_key().public)):
        raise LedgerDown(
            f"The checkpoint over {base.size} events is not what this key signed. Run `ledger verify`; nothing is signed on it."
        )
    return frontier, base.size


def newest() -> LedgerCheckpoint | None:
    return LedgerCheckpoint.objects.order_by("-size").first()


def leaves_between(start: int, size: int) -> Iterator[bytes]:
    """The leaves of events `start`+1 to `size`, hashed anew from their bodies, in the order of an unbroken chain.

    Of an event that was redacted only the leaf is left; the chain shows whether it is the right one.
    """
    rows = LedgerChain.objects.filter(seq__gt=start, seq__lte=size).order_by("seq").values_list("seq", "link", "event__body", "event__leaf")
    expected, before = start, link_of(start)
    for seq, link, body, kept in rows.iterator(chunk_size=BATCH):
        expected += 1
        leaf = bytes(kept) if body is None else merkle.leaf_hash(bytes(body))
        before, after = bytes(link), sha256(b"\x02" + before + leaf).digest()
        if seq != expected or before != after:
            raise LedgerDown(f"The chain does not hold at event {expected}. Run `ledger verify`; nothing past it is signed.")
        yield leaf
    if expected != size:
        raise LedgerDown(f"The chain ends at event {expected}, before event {size}. Run `ledger verify`.")


def link_of(seq: int) -> bytes:
    return bytes(LedgerChain.objects.values_list("link", flat=True).get(seq=seq)) if seq else NO_LINK


def signing_key() -> notes.Signer:
    """The ledger's key, made at first use. Raises LedgerDown when it cannot be had, so that nothing unsigned goes on."""
    try:
        if not keys.key_path().exists():
            make_first_key()
        return notes.signer()
    except (OSError, ValueError) as error:
        raise LedgerDown(f"The ledger's key {keys.key_path()} cannot be used: {error}") from error


def make_first_key() -> None:
    if LedgerCheckpoint.objects.exists():
        raise LedgerDown(f"The ledger's key {keys.key_path()} is gone, and checkpoints signed with it exist. Put it back.")
    notes.make_key()
