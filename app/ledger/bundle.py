"""A run as a zip that a stranger can check without us: events, proofs, checkpoints, evidence, keys and the checker itself.

How it proves that nothing is left out: each event of a run carries its number in the run and the leaf of the one before
(the database refuses any other), the export itself is the last of them and says how many came before it, and the checkpoint
is made over the ledger exactly up to that last event. So the bundle holds the whole run as it stood when it was exported.
The checkpoints that were signed while the run went on come with it, each proven to continue the one before: they say what was in
the ledger before what.
"""

import io
import zipfile
from bisect import bisect_left
from collections.abc import Collection
from hashlib import sha256
from itertools import pairwise
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from agents.portal.wire import canonical
from app.core import job_progress
from app.ledger import checkpoints, keyring, notes, stored, verify
from app.ledger.forms import LedgerDown
from app.ledger.models import Blob, LedgerCheckpoint, LedgerEvent, LedgerSent
from app.ledger.proving import inclusion
from app.ledger.services import blob, record

CLOSING = "run.exported"


class NoSuchRun(KeyError):
    """The ledger holds no event of this run."""


def bundle(run_id: object, actor: object = "system", withhold: Collection[int] = ()) -> bytes:
    """The zip of one run. Taking it is itself recorded. Call it outside a transaction.

    `withhold` names events by their number in the run: only their leaves go out, and the closing event says so.
    """
    if connection.in_atomic_block:
        raise LedgerDown("A bundle is signed over committed events only. Write it outside a transaction.")
    run = str(run_id)
    job_progress.begin("Reading the run")
    checkpoints.number_waiting()
    closing = close(run, str(actor), withhold)
    checkpoints.number_waiting()
    checkpoint = checkpoints.checkpoint_at(closing.chain.seq)
    events = list(events_of(run).filter(run_seq__lte=closing.run_seq).select_related("chain"))
    return pack(members(events, checkpoint, set(closing.parsed["body"]["withheld"]), closing.parsed["body"]["erased"]))


def events_of(run: str) -> QuerySet[LedgerEvent]:
    return LedgerEvent.objects.filter(run=run).order_by("run_seq")


def close(run: str, actor: str, withhold: Collection[int]) -> LedgerEvent:
    events = list(events_of(run))
    if not events:
        raise NoSuchRun(run)
    signer = checkpoints.signing_key()
    left_out = [event for event in events if event.body is None or event.run_seq in withhold]
    evidence = {digest for event in events if event not in left_out for digest in event.parsed["evidence"]}
    fields = {
        "key": signer.fingerprint,
        "order_key": sha256(signer.order.spki).hexdigest(),
        "verifier": sha256(verify.program()).hexdigest(),
        "withheld": [bytes(event.leaf).hex() for event in left_out],
        "erased": list(Blob.objects.filter(pk__in=evidence, bytes=None).order_by("pk").values_list("pk", flat=True)),
    }
    return record(CLOSING, fields, actor, run=run)


def members(events: list[LedgerEvent], checkpoint: LedgerCheckpoint, withheld: set[str], erased: list[str]) -> dict[str, bytes]:
    open_events = [event for event in events if bytes(event.leaf).hex() not in withheld]
    named = sorted({digest for event in open_events for digest in event.parsed["evidence"]} - set(erased))
    earlier = checkpoints_of(events, checkpoint)
    return {
        "events.jsonl": b"".join(line(event, withheld) + b"\n" for event in job_progress.over(events, "Writing events")),
        "proofs.json": canonical(proofs(events, [*earlier, checkpoint])),
        "checkpoint": checkpoint.note.encode(),
        "keys.json": canonical(keys(checkpoints.signing_key(), checkpoint)),
        "verify.py": verify.program(),
        **{f"checkpoints/{row.size}": row.note.encode() for row in earlier},
        **{f"blobs/{digest}": blob(digest) for digest in job_progress.over(named, "Adding evidence")},
    }


def line(event: LedgerEvent, withheld: set[str]) -> bytes:
    leaf = bytes(event.leaf).hex()
    if leaf in withheld:
        return canonical({"redacted": leaf, "run_seq": str(event.run_seq)})
    if event.body is None:
        raise LedgerDown(f"Event {event.run_seq} of the run was redacted while the bundle was made. Make it again.")
    return bytes(event.body)


def checkpoints_of(events: list[LedgerEvent], closing: LedgerCheckpoint) -> list[LedgerCheckpoint]:
    """For each event the checkpoint that covered it first, and those that were sent outside last, but for the closing one, smallest first.
    Only those whose signatures can still be checked."""
    begin = max(events[0].chain.seq, keyring.lost_at())
    signed = list(LedgerCheckpoint.objects.filter(size__gte=begin, size__lte=closing.size).order_by("size").defer("frontier"))
    sizes = [row.size for row in signed]
    taken = {signed[bisect_left(sizes, event.chain.seq)].size for event in events}
    sent = LedgerSent.objects.filter(size__gte=max(1, keyring.lost_at())).values_list("size", flat=True)
    taken |= {size for size in sent if size is not None}
    return list(LedgerCheckpoint.objects.filter(size__in=taken, size__lt=closing.size).order_by("size").defer("frontier"))


def proofs(events: list[LedgerEvent], signed: list[LedgerCheckpoint]) -> dict[str, Any]:
    return {
        "size": str(signed[-1].size),
        "events": [proof(event, signed[-1]) for event in job_progress.over(events, "Proving events")],
        "consistency": [continues(older, newer) for older, newer in job_progress.over(list(pairwise(signed)), "Proving checkpoints")],
    }


def proof(event: LedgerEvent, checkpoint: LedgerCheckpoint) -> dict[str, Any]:
    seq, leaf = event.chain.seq, bytes(event.leaf)
    path = stored.inclusion(seq - 1, checkpoint.size, leaf, bytes(checkpoint.root))
    return {"seq": str(seq), "leaf": leaf.hex(), "path": [node.hex() for node in path]}


def continues(older: LedgerCheckpoint, newer: LedgerCheckpoint) -> dict[str, Any]:
    path = stored.consistency(older.size, bytes(older.root), newer.size, bytes(newer.root))
    return {"from": str(older.size), "to": str(newer.size), "path": [node.hex() for node in path]}


def keys(signer: notes.Signer, checkpoint: LedgerCheckpoint) -> dict[str, Any]:
    """The keys that sign now, and every change of a key before, each proven to be in the ledger."""
    fields = {"origin": signer.name, "ed25519": signer.public.hex(), "fingerprint": signer.fingerprint, "p256": signer.order.spki.hex()}
    return fields | {"changes": [inclusion(event, checkpoint) for event in keyring.events(checkpoint.size)]}


def pack(files: dict[str, bytes]) -> bytes:
    """The zip: stored, not deflated, and without dates, so that each of its bytes follows from the files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, data)
    return out.getvalue()


def unpacked_size(data: bytes, prefix: str) -> int:
    """How many bytes of a bundle are in the files whose names begin so."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return sum(info.file_size for info in archive.infolist() if info.filename.startswith(prefix))
