"""Bytes that are hashed, signed or kept: canonical texts, signed requests and answers, an order, receipts, a journal, a report's name, the
texts under a checkpoint, a policy as it is reported, the digests of the runbooks' definitions. All from fixed inputs.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from agents.collectors.base import Capture
from agents.domain.times import iso
from agents.host.host import Ran
from agents.operations.base import Probe
from agents.orders.journal import Journal
from agents.orders.order import FIELDS, read
from agents.orders.policy import Policy
from agents.orders.receipts import receipt
from agents.portal import wire
from agents.reporting.capture_set import place, set_digest, spoken
from agents.trust.transparency_log import leaf_hash, node_hash
from tests.frozen.record import Record, Texts

GROUP = "signed_bytes"
KEY = bytes(range(32))
AT = 1795248315.25
ORDER = {
    "v": "1",
    "id": "order-1",
    "node": "oss01",
    "key_id": wire.fingerprint(KEY),
    "run": "7",
    "step": "replace",
    "operation": "zpool_replace",
    "effect": "at_most_once",
    "params": {"pool": "ost_0", "pool_guid": "15498746923132605816", "vdev_guid": "14718944552882581455", "wwid": "naa:5000c500a65b207b"},
    "argv": ["zpool", "replace", "ost_0", "14718944552882581455", "/dev/disk/by-id/wwn-0x5000c500a65b207b"],
    "plan_digest": "p" * 64,
    "preconditions": {"pool.state": "DEGRADED", "candidate.labels": "none"},
    "fence": "3",
    "nonce": "n" * 43,
    "approvals": ["ab" * 32],
    "sealed_at": iso(AT),
    "not_before": iso(AT),
    "expires_at": iso(AT + 600),
}
CAPTURES = (
    Capture("zpool_status", "", "data", "  pool: ost_0\n state: DEGRADED\n", "", 0, "", 0.125),
    Capture("zdb_label", "sda1", "failed", "", "zdb -l /dev/sda1 exited 1", 1, "failed to unpack label 0\n", 0.5),
    Capture("lsscsi", "", "nothing", "", "lsscsi is not installed"),
)
VALUES = {
    "order": ORDER,
    "nested": {"b": ["x", {"a": None, "B": True}], "": "", "a": 'ü " \\ \n \u2028 \x01'},
    "empty": {},
    "list": ["1", [], {}],
}


def record() -> tuple[Record, Texts]:
    sections = {"canonical": _canonical(), "requests": _requests(), "order": _order(), "receipts": _receipts(), "journal": _journal()}
    sections |= {"reports": _reports(), "ledger": _ledger()}
    return {GROUP: {name: dict(found) for name, found in sections.items()}}, {}


def _canonical() -> Iterator[tuple[str, str]]:
    for name, value in VALUES.items():
        yield name, wire.canonical(value).decode().replace(" = ", "\\u0020= ")
        yield f"{name} in pieces", wire.sha256_hex(b"".join(wire.canonical_pieces(value)))
        yield f"digest of {name}", wire.digest_of(value)


def _requests() -> Iterator[tuple[str, str]]:
    yield "fingerprint", wire.fingerprint(KEY)
    signed = wire.sign_request(KEY, wire.fingerprint(KEY), "post", "/agent/v1/reports", "a=1&b=", b"{}", int(AT), "n" * 22, 42)
    yield "request", json.dumps(signed, sort_keys=True)
    yield "answer", json.dumps(wire.sign_answer(KEY, 200, b'{"go":true}', "n" * 22), sort_keys=True)


def _order() -> Iterator[tuple[str, str]]:
    text = wire.canonical(ORDER).decode()
    yield "fields", " ".join(sorted(FIELDS))
    yield "digest", wire.sha256_hex(text.encode())
    order = read(text, wire.sha256_hex(text.encode()))
    for name in sorted(FIELDS):
        yield f"read {name}", json.dumps(getattr(order, "v", "1") if name == "v" else getattr(order, name), sort_keys=True)


def _receipts() -> Iterator[tuple[str, str]]:
    ran = Ran(tuple(ORDER["argv"]), 1, b"out\n", b"cannot replace\xff\n", 1.5)
    probe = Probe("did_not", CAPTURES[:1], "The vdev is as it was.")
    times = {"started_at": iso(AT), "ended_at": iso(AT + 1.5)}
    texts = {
        "refused": receipt("order-1", "d" * 64, "refused", "The node is only observed."),
        "failed": receipt(
            "order-1", "d" * 64, "failed", "It exited 1.", argv=ORDER["argv"], ran=ran, probe=probe, captures=CAPTURES, **times
        ),
        "planned": receipt("order-2", "e" * 64, "succeeded", "", result={"argv": ORDER["argv"]}, captures=CAPTURES),
        "long": receipt("order-3", "f" * 64, "succeeded", "", ran=Ran((), 0, b"x" * 70_000, b"", 0.0)),
    }
    for name, text in texts.items():
        yield name, text if len(text) < 3000 else f"{len(text)} characters"
        yield f"digest of {name}", wire.sha256_hex(text.encode())


def _journal() -> Iterator[tuple[str, str]]:
    """Every move of an order, then the file as SQL."""
    text = wire.canonical(ORDER).decode()
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(f"{folder}/journal.sqlite")
        journal.keep("generation", "0123456789abcdef")
        journal.claim("order-1", "d" * 64, text, iso(AT), "15498746923132605816", 3)
        journal.intend("order-1", iso(AT + 1), "unit-1")
        journal.result("order-1", "{}")
        journal.amend("order-1", '{"a":"b"}')
        journal.acknowledge("order-1")
        journal.claim("order-2", "e" * 64, text, iso(AT), "1", 9)
        journal.refuse("order-3", "f" * 64, text, "{}")
        journal.hold("log", "The log contradicts itself.", iso(AT))
        journal.keep("policy", "observe")
        yield "counter", str(journal.next_counter(AT))
        yield "height", json.dumps(journal.height())
        journal.close()
        yield "files", " ".join(sorted(path.name for path in Path(folder).iterdir()))
        with sqlite3.connect(f"{folder}/journal.sqlite") as db:
            for name in ("journal_mode", "user_version", "application_id"):
                yield name, str(db.execute(f"PRAGMA {name}").fetchone()[0])
            for number, line in enumerate(db.iterdump()):
                yield f"line {number:03}", " ".join(line.split())


def _reports() -> Iterator[tuple[str, str]]:
    places = {place(c.source, c.key): c.digest for c in CAPTURES}
    yield "places", json.dumps(places, sort_keys=True)
    yield "bodies", json.dumps([c.body() for c in CAPTURES], sort_keys=True)
    yield "set", set_digest("boot", "0.1.0", "observe", places)
    yield "ages", json.dumps(spoken({"a": 0.0, "b": 0.01, "c": 59.91, "d": 60.1, "e": -3.0}), sort_keys=True)
    yield "policy", Policy("operate", ("zpool_replace",), ("*",), "it says so.").as_text()


def _ledger() -> Iterator[tuple[str, str]]:
    event = wire.canonical({"v": "1", "type": "run.approved", "at": iso(AT), "actor": "bob", "run": "7", "node": "oss01", "body": {}})
    yield "leaf", leaf_hash(event).hex()
    yield "node", node_hash(leaf_hash(event), sha256(b"x").digest()).hex()
