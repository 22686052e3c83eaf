"""A run as a zip that a stranger can check without us: events, proofs, checkpoint, evidence, key and the checker itself.

How it proves that nothing is left out: each event of a run carries its number in the run and the leaf of the one before
(the database refuses any other), the export itself is the last of them and says how many came before it, and the checkpoint
is made over the ledger exactly up to that last event. So the bundle holds the whole run as it stood when it was exported.
"""

import io
import zipfile
from hashlib import sha256
from pathlib import Path

from django.db import connection

from agents.wire import canonical
from app.ledger import checkpoints, notes, stored
from app.ledger.forms import LedgerDown
from app.ledger.models import LedgerCheckpoint, LedgerEvent
from app.ledger.services import blob, record

VERIFIER = Path(__file__).with_name("verify.py")
CLOSING = "run.exported"


class NoSuchRun(KeyError):
    """The ledger holds no event of this run."""


def bundle(run_id, actor="system") -> bytes:
    """The zip of one run. Taking it is itself recorded. Call it outside a transaction."""
    if connection.in_atomic_block:
        raise LedgerDown("A bundle is signed over committed events only. Write it outside a transaction.")
    run = str(run_id)
    closing = close(run, str(actor))
    checkpoint = checkpoints.checkpoint_at(closing.chain.seq)
    events = list(LedgerEvent.objects.filter(run=run, run_seq__lte=closing.run_seq).select_related("chain").order_by("run_seq"))
    return pack(members(events, checkpoint))


def close(run: str, actor: str) -> LedgerEvent:
    count = LedgerEvent.objects.filter(run=run).count()
    if not count:
        raise NoSuchRun(run)
    signer = checkpoints.signing_key()
    said = {
        "key": signer.fingerprint,
        "order_key": sha256(signer.order.spki).hexdigest(),
        "verifier": sha256(VERIFIER.read_bytes()).hexdigest(),
    }
    return record(CLOSING, said, actor, run=run)


def members(events: list[LedgerEvent], checkpoint: LedgerCheckpoint) -> dict[str, bytes]:
    named = sorted({digest for event in events for digest in event.said["evidence"]})
    return {
        "events.jsonl": b"".join(bytes(event.body) + b"\n" for event in events),
        "proofs.json": canonical(proofs(events, checkpoint)),
        "checkpoint": checkpoint.note.encode(),
        "keys.json": canonical(keys(checkpoints.signing_key())),
        "verify.py": VERIFIER.read_bytes(),
        **{f"blobs/{digest}": blob(digest) for digest in named},
    }


def proofs(events: list[LedgerEvent], checkpoint: LedgerCheckpoint) -> dict:
    return {"size": str(checkpoint.size), "events": [proof(event, checkpoint) for event in events]}


def proof(event: LedgerEvent, checkpoint: LedgerCheckpoint) -> dict:
    seq, leaf = event.chain.seq, bytes(event.leaf)
    path = stored.inclusion(seq - 1, checkpoint.size, leaf, bytes(checkpoint.root))
    return {"seq": str(seq), "leaf": leaf.hex(), "path": [node.hex() for node in path]}


def keys(signer: notes.Signer) -> dict:
    return {"origin": signer.name, "ed25519": signer.public.hex(), "fingerprint": signer.fingerprint, "p256": signer.order.spki.hex()}


def pack(files: dict[str, bytes]) -> bytes:
    """The zip: stored, not deflated, and without dates, so that each of its bytes follows from the files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, data)
    return out.getvalue()
