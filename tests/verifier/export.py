"""An export made without the portal: events, tree, proofs and signatures put together here a second time, from the descriptions alone.

So the stranger's program meets something that our exporter did not write, and its tests need no database. The tree is the one that
`agents/tests/test_transparency_log.py` takes straight from RFC 6962.
"""

import base64
import json
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agents.tests.test_transparency_log import audit_path, mth, subproof
from app.ledger import verify

Files = dict[str, bytes]
ORIGIN = "slotlight/ledger"
PROGRAM = verify.program()
BLOBS = (b"  pool: ost_0\n state: DEGRADED\n", b"done\n")


def canonical(value) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def leaf(line: bytes) -> bytes:
    return sha256(b"\x00" + line).digest()


@dataclass
class Keys:
    ledger: Ed25519PrivateKey
    order: EllipticCurvePrivateKey

    @classmethod
    def number(cls, ledger: int, order: int) -> "Keys":
        return cls(Ed25519PrivateKey.from_private_bytes(bytes([ledger]) * 32), derive_private_key(order, SECP256R1()))

    @property
    def public(self) -> bytes:
        return self.ledger.public_key().public_bytes_raw()

    @property
    def spki(self) -> bytes:
        return self.order.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)

    @property
    def fingerprint(self) -> str:
        return sha256(self.public).hexdigest()

    def note(self, text: str) -> str:
        signed = (
            (ORIGIN, sha256(ORIGIN.encode() + b"\n\x01" + self.public).digest()[:4] + self.ledger.sign(text.encode())),
            (f"{ORIGIN}/p256", sha256(self.spki).digest()[:4] + self.order.sign(text.encode(), ECDSA(hashes.SHA256()))),
        )
        return f"{text}\n" + "".join(f"\u2014 {name} {base64.b64encode(raw).decode()}\n" for name, raw in signed)


@dataclass
class Log:
    """A ledger in memory: every event's line, and each run's last leaf and length."""

    keys: Keys
    lines: list[bytes] = field(default_factory=list)
    runs: dict[str, list[int]] = field(default_factory=dict)
    checkpoints: dict[int, str] = field(default_factory=dict)
    changes: list[int] = field(default_factory=list)

    def record(self, type: str, body: dict, run: str = "", evidence: tuple[bytes, ...] = (), actor: str = "ann") -> int:
        places = self.runs.setdefault(run, []) if run else []
        fields = {
            "v": "1",
            "type": type,
            "at": f"2026-11-21T10:30:{len(self.lines):02}.000000Z",
            "actor": actor,
            "run": run,
            "node": "oss01" if run else "",
            "run_seq": str(len(places) + 1) if run else "",
            "run_prev": leaf(self.lines[places[-1]]).hex() if places else "",
            "evidence": sorted(sha256(blob).hexdigest() for blob in evidence),
            "body": body,
        }
        places.append(len(self.lines))
        self.lines.append(canonical(fields))
        return len(self.lines)

    @property
    def leaves(self) -> list[bytes]:
        return [leaf(line) for line in self.lines]

    def sign(self) -> None:
        size = len(self.lines)
        self.checkpoints[size] = self.keys.note(f"{ORIGIN}\n{size}\n{base64.b64encode(mth(self.leaves)).decode()}\n")

    def change(self, which: str, new: Keys) -> None:
        """The event that names the successor, signed for by the keys it replaces, as is the checkpoint that ends with it."""
        raw = {"ledger": ("public", new.public), "order": ("spki", new.spki)}[which]
        statement = self.keys.note(f"{ORIGIN}/keys\n{which}\n{base64.b64encode(raw[1]).decode()}\n")
        fields = {"old": getattr(self.keys, raw[0]).hex(), "new": raw[1].hex(), "statement": statement, "why": "x"}
        self.changes.append(self.record(f"{which}.key-rotated", fields) - 1)
        self.sign()
        self.keys = Keys(new.ledger if which == "ledger" else self.keys.ledger, new.order if which == "order" else self.keys.order)


def make(rotated: tuple[str, ...] = ("order", "ledger"), withheld: tuple[int, ...] = (), erased: bool = False) -> tuple[Files, Log]:
    """Run 7 among others, some events and its export; the keys change on the way, and checkpoints are signed all along."""
    log = Log(Keys.number(1, 11))
    log.record("node.enrolled", {"key_id": "00ff"})
    log.record("run.started", {"pool": "ost_0"}, "7", BLOBS[:1])
    log.record("run.started", {"pool": "ost_2"}, "8")
    log.sign()
    log.record("run.approved", {"plan": "ab" * 32}, "7", actor="bob")
    for number, which in enumerate(rotated):
        log.change(which, Keys.number(2 + number, 12 + number))
        log.record("run.moved", {"to": which}, "7")
    log.record("order.receipt", {"exit_code": "0"}, "7", BLOBS, actor="node:oss01")
    log.sign()
    log.record("node.seen", {})
    left_out = [leaf(log.lines[log.runs["7"][place]]).hex() for place in withheld]
    closing = {
        "key": log.keys.fingerprint,
        "order_key": sha256(log.keys.spki).hexdigest(),
        "verifier": sha256(PROGRAM).hexdigest(),
        "withheld": left_out,
        "erased": [sha256(BLOBS[1]).hexdigest()] if erased else [],
    }
    log.record("run.exported", closing, "7")
    log.sign()
    return files_of(log, left_out), log


def files_of(log: Log, left_out: list[str], run: str = "7") -> Files:
    size, leaves, places = len(log.lines), log.leaves, log.runs[run]
    known = sorted(log.checkpoints)
    first = sorted({next(at for at in known if at > place) for place in places} - {size})
    signed = [*first, size]
    listed = [{"seq": str(p + 1), "leaf": leaves[p].hex(), "path": [node.hex() for node in audit_path(p, leaves)]} for p in places]
    continued = [
        {"from": str(old), "to": str(new), "path": [node.hex() for node in subproof(old, leaves[:new])]} for old, new in pairwise(signed)
    ]
    lines = [
        canonical({"redacted": leaves[p].hex(), "run_seq": str(count)}) if leaves[p].hex() in left_out else log.lines[p]
        for count, p in enumerate(places, 1)
    ]
    changes = [
        {"body": log.lines[p].decode(), "index": str(p), "path": [node.hex() for node in audit_path(p, leaves)]} for p in log.changes
    ]
    fields = {"origin": ORIGIN, "ed25519": log.keys.public.hex(), "fingerprint": log.keys.fingerprint, "p256": log.keys.spki.hex()}
    named = {digest for line in lines for digest in json.loads(line).get("evidence", ())}
    return {
        "events.jsonl": b"".join(line + b"\n" for line in lines),
        "proofs.json": canonical({"size": str(size), "events": listed, "consistency": continued}),
        "checkpoint": log.checkpoints[size].encode(),
        "keys.json": canonical(fields | {"changes": changes}),
        "verify.py": PROGRAM,
        **{f"checkpoints/{at}": log.checkpoints[at].encode() for at in first},
        **{f"blobs/{sha256(blob).hexdigest()}": blob for blob in BLOBS if sha256(blob).hexdigest() in named},
    }
