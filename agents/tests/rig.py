"""What the runtime's tests stand on: a twin node with a lost member, orders for it, and a portal that speaks the protocol.

The portal here is the only stub: it checks signatures as the real one does, signs the orders it is given with real keys over a real
(small) ledger, hands them out and keeps what it is told.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agents.domain.times import iso
from agents.host.host import LocalHost
from agents.operations import OPERATIONS
from agents.portal import wire
from agents.reporting.capture_set import place, set_digest
from agents.trust import order_signature as seal_module
from agents.trust import transparency_log as proofs
from agents.trust.identity import Identity, _write
from twin import scenarios
from twin.host import TwinHost
from twin.store import Store

CMDLINES = "/proc/[0-9]*/cmdline"
KEY = bytes(range(32))
NODE = "oss01"
LOST = "naa:5000c500a65b202b"
BLANK = "naa:5000c500a65b206b"
ORIGIN = "slotlight/test"
NONCE = "n" * 43
OPERATE = {"mode": "operate", "operations": ["zpool_replace"], "pools": ["*"]}


def twin(folder: Path, **knobs: float) -> TwinHost:
    """A raidz2 of six whose third disk is gone, and two blank disks."""
    node = scenarios.tiny()
    scenarios.lose(node, LOST, "/dev/sdc1")
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    for name, value in knobs.items():
        setattr(node.knobs, name, value)
    store = Store(folder / "state.json")
    store.create(node)
    return TwinHost(store.path)


class OutsideTwin(TwinHost):
    """A twin whose commands that change something are processes of their own, as on a real node, and stand in /proc like any other."""

    def list(self, pattern: str) -> tuple[str, ...]:
        return LocalHost().list(pattern) if pattern == CMDLINES else super().list(pattern)

    def read(self, path: str) -> bytes:
        return LocalHost().read(path) if path.endswith("/cmdline") else super().read(path)

    def words(self, argv) -> tuple[str, ...]:
        root = str(Path(__file__).resolve().parent.parent.parent)
        program = "import sys; sys.path.insert(0, sys.argv[1]); from twin.__main__ import look; from twin.host import TwinHost"
        return (
            sys.executable,
            "-I",
            "-c",
            f"{program}; sys.exit(look(TwinHost(sys.argv[2]), sys.argv[3:]))",
            root,
            str(self.store.path),
            *argv,
        )


def params(host: TwinHost, wwid: str = BLANK) -> dict[str, str]:
    pool = host.store.view().node.imported[0]
    lost = next(leaf for leaf in pool.leaves() if leaf.state == "FAULTED")
    return {"pool": pool.name, "pool_guid": str(pool.guid), "vdev_guid": str(lost.guid), "wwid": wwid}


def replaces(host: TwinHost) -> list[list[str]]:
    """Every write command the node was ever given."""
    return [line["argv"] for line in host.store.logged()]


class Keys:
    """A portal's keys. They sign as the portal does; what checks them on the node is its openssl."""

    def __init__(self) -> None:
        self._order, self._log = ec.generate_private_key(ec.SECP256R1()), Ed25519PrivateKey.generate()
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        self.order_pem = self._order.public_key().public_bytes(serialization.Encoding.PEM, spki).decode()
        public = proofs.ED25519 + self._log.public_key().public_bytes_raw()
        self.log_id = proofs.key_id(ORIGIN, public)
        self.log_key = f"{ORIGIN}+{self.log_id.hex()}+{base64.b64encode(public).decode()}"
        self._signed: dict[bytes, str] = {}

    def sign(self, data: bytes) -> str:
        """The same signature for the same bytes, as an order is signed once and offered many times."""
        if data not in self._signed:
            self._signed[data] = base64.b64encode(self._order.sign(data, ec.ECDSA(hashes.SHA256()))).decode()
        return self._signed[data]

    def note(self, size: int, root: bytes) -> str:
        text = f"{ORIGIN}\n{size}\n{base64.b64encode(root).decode()}\n"
        return f"{text}\n\u2014 {ORIGIN} {base64.b64encode(self.log_id + self._log.sign(text.encode())).decode()}\n"

    @property
    def handed_over(self) -> dict[str, str]:
        """What an enrolled agent gets."""
        return {"portal_key": self.order_pem, "log_key": self.log_key, "origin": ORIGIN}


def _openssl(*words) -> bytes:
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True).stdout


@functools.cache
def keys() -> Keys:
    return Keys()


class Ledger:
    """A Merkle tree of events, made by the definition of RFC 6962 and not by the code under test."""

    def __init__(self, keys: Keys) -> None:
        self.keys, self.bodies = keys, [b"the first event"]

    def offer(self, order: tuple[str, str]) -> dict:
        """The order as the portal hands it out. What stands behind it is put into the ledger with it, once."""
        text, digest = order
        if json.loads(text)["effect"] == "pure":
            return {"order": text, "digest": digest, "signature": self.keys.sign(text.encode()), "key": self.key, "proofs": {}}
        behind = [body for body in (*backed_by(text), sealed_event(text, digest)) if body]
        self.bodies += [body for body in behind if body not in self.bodies]
        proofs = {"checkpoint": self.note(), "events": [self.proof(body) for body in behind]}
        return {"order": text, "digest": digest, "signature": self.keys.sign(text.encode()), "key": self.key, "proofs": proofs}

    @property
    def key(self) -> str:
        return seal_module.key_id(self.keys.order_pem)

    def note(self) -> str:
        return self.keys.note(len(self.bodies), self.root(self.bodies))

    def log(self, size: int) -> dict:
        """What goes with an answer for an agent that holds the checkpoint of this size."""
        path = [step.hex() for step in self.consistency(size, self.bodies, True)] if 0 < size < len(self.bodies) else []
        return {"checkpoint": self.note(), "consistency": path}

    def proof(self, body: bytes) -> dict:
        index = self.bodies.index(body)
        return {"body": body.decode(), "index": str(index), "path": [step.hex() for step in self.path(index, self.bodies)]}

    def root(self, bodies: list[bytes]) -> bytes:
        if len(bodies) == 1:
            return sha256(b"\0" + bodies[0]).digest()
        half = self.half(bodies)
        return sha256(b"\1" + self.root(bodies[:half]) + self.root(bodies[half:])).digest()

    def path(self, index: int, bodies: list[bytes]) -> list[bytes]:
        if len(bodies) == 1:
            return []
        half = self.half(bodies)
        if index < half:
            return [*self.path(index, bodies[:half]), self.root(bodies[half:])]
        return [*self.path(index - half, bodies[half:]), self.root(bodies[:half])]

    def consistency(self, size: int, bodies: list[bytes], whole: bool) -> list[bytes]:
        if size == len(bodies):
            return [] if whole else [self.root(bodies)]
        half = self.half(bodies)
        if size <= half:
            return [*self.consistency(size, bodies[:half], whole), self.root(bodies[half:])]
        return [*self.consistency(size - half, bodies[half:], False), self.root(bodies[:half])]

    @staticmethod
    def half(bodies: list[bytes]) -> int:
        return 1 << (len(bodies) - 1).bit_length() - 1


def event(type: str, actor: str, body: dict, run: str = "run-1", node: str = NODE) -> bytes:
    """An event as the portal's ledger writes it."""
    fields = {"v": "1", "type": type, "at": "2026-11-21T03:00:00Z", "actor": actor, "run": run, "node": node, "body": body}
    return wire.canonical({**fields, "run_seq": "1", "run_prev": "", "evidence": []})


APPROVED = event("run.approved", "bob", {"step": "approve", "plan_digest": "p" * 64})
_behind: dict[str, tuple[bytes, ...]] = {}  # an order's text -> what is said to stand behind it, where that is not APPROVED


def backed_by(text: str) -> tuple[bytes, ...]:
    return _behind.get(text, (APPROVED,))


def sealed_event(text: str, digest: str) -> bytes:
    value = json.loads(text)
    body = {"order": value["id"], "operation": value["operation"], "digest": digest, "fence": value["fence"]}
    return event("order.sealed", "ann", body, value["run"], value["node"])


def seal(behind: tuple[bytes, ...] | None = None, **fields) -> tuple[str, str]:
    """(canonical text, digest) of an order. `behind` are events that stand for its approvals."""
    now = time.time()
    approvals = [] if fields.get("effect") == "pure" else [proofs.leaf_hash(body).hex() for body in (behind or (APPROVED,))]
    value = {
        "v": "1",
        "id": "order-1",
        "node": NODE,
        "key_id": wire.fingerprint(KEY),
        "run": "run-1",
        "step": "replace",
        "plan_digest": "p" * 64,
        "preconditions": {},
        "fence": "1",
        "nonce": "" if fields.get("effect") == "pure" else NONCE,
        "approvals": approvals,
        "sealed_at": iso(now),
        "not_before": iso(now),
        "expires_at": iso(now + 600),
        **fields,
    }
    text = wire.canonical(value).decode()
    if behind is not None:
        _behind[text] = behind
    return text, wire.sha256_hex(text.encode())


def replace_order(host: TwinHost, **fields) -> tuple[str, str]:
    """A replace planned on the node as it is now."""
    operation, given = OPERATIONS["zpool_replace"], params(host)
    planned = {
        "operation": operation.NAME,
        "effect": operation.EFFECT,
        "params": given,
        "argv": list(operation.argv(given)),
        "preconditions": operation.preconditions(host, given),
    }
    return seal(**{**planned, **fields})


def look_order(sources: str = "zpool_status", **fields) -> tuple[str, str]:
    return seal(
        **{"operation": "look", "effect": "pure", "params": {"sources": sources}, "argv": [], "fence": "", "run": "", "step": "", **fields}
    )


def identity(url: str = "http://127.0.0.1:1") -> Identity:
    return Identity(url, NODE, KEY, **keys().handed_over)


def agent_folder(folder: Path, url: str, policy: dict | None = None) -> Path:
    """An enrolled agent's folder, with a policy beside the key, and the session the orders here are sealed for."""
    (folder / "run").mkdir(mode=0o700, exist_ok=True, parents=True)
    folder.chmod(0o700)
    _write(folder / "identity.json", identity(url))
    (folder / "run" / "nonce").write_text(f"{NONCE} {scenarios.tiny().boot_id}\n")
    path = folder / "policy.json"
    path.write_text(json.dumps(OPERATE if policy is None else policy))
    path.chmod(0o600)
    return folder


class Intake:
    """Takes reports as the portal does, and keeps them. It has one node."""

    def __init__(self) -> None:
        self.reports: list[dict] = []
        self.known: set[str] = set()  # digests of the texts it was sent
        self.about: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.digest = ""

    def take(self, report: dict) -> dict:
        self.reports.append(report)
        self.known |= set(report.get("bodies", {}))
        if report["set"] == self.digest:
            return {"missing": []}
        if "late" in report:
            return {"missing": sorted({capture["digest"] for capture in report["captures"]} - self.known)}
        places = self._applied(report)
        about = {name: report.get(name, "") for name in ("boot_id", "version", "mode")}
        if places is None or set_digest(captures=places, **about) != report["set"]:
            return {"need": "full"}
        missing = sorted(set(places.values()) - self.known)
        if not missing:
            self.about, self.places, self.digest = about, places, report["set"]
        return {"missing": missing}

    def _applied(self, report: dict) -> dict[str, str] | None:
        if "captures" in report:
            return _places(report["captures"])
        if "changed" not in report:
            return None
        left = {where: digest for where, digest in self.places.items() if where not in report["gone"]}
        return {**left, **_places(report["changed"])}

    def forget(self) -> None:
        self.known, self.places, self.digest = set(), {}, ""


def _places(listed: list[dict]) -> dict[str, str]:
    return {place(capture["source"], capture["key"]): capture["digest"] for capture in listed}


class StubPortal:
    """Serves on a free port of loopback until closed."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, str]] = []  # offered until their receipt comes
        self.receipts: list[dict] = []
        self.intake = Intake()
        self.ledger = Ledger(keys())
        self.asked: list[str] = []
        self.queries: list[str] = []  # of polls
        self.last_counter = 0
        self.closed = False
        self.go: dict[str, object] = {"claim": True, "start": True}
        self.answer_with: Callable[[str], tuple[int, dict] | None] = lambda path: None
        self.changed = threading.Condition()
        self.server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"portal": self}))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def reports(self) -> list[dict]:
        return self.intake.reports

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def offer(self, *orders: tuple[str, str]) -> None:
        with self.changed:
            self.orders += orders
            self.changed.notify_all()

    def wait(self, what: Callable[[], object], seconds: float = 30.0) -> None:
        """Until `what()` is true, which is asked after every request."""
        with self.changed:
            assert self.changed.wait_for(what, seconds), f"it did not happen within {seconds} s; asked so far: {self.asked}"

    def answer(self, method: str, path: str, query: str, value: dict) -> tuple[int, dict | None]:
        with self.changed:
            self.asked.append(f"{method} {path}")
            self.queries += [query] if query else []
            fixed = self.answer_with(path)
            reply = fixed if fixed is not None else self._answer(method, path, query, value)
            self.changed.notify_all()
            return reply

    def _answer(self, method: str, path: str, query: str, value: dict) -> tuple[int, dict | None]:
        if path == "/agent/v1/orders":
            query_fields = parse_qs(query)
            self.changed.wait_for(lambda: self.orders or self.closed, min(2.0, float(query_fields["wait"][0])))
            if not self.orders:
                return 204, None
            offers = [self.ledger.offer(order) for order in self.orders]
            return 200, {"orders": offers, "log": self.ledger.log(int(query_fields["size"][0])), "at": iso(time.time())}
        if path == "/agent/v1/reports":
            return 200, {**self.intake.take(value), "at": iso(time.time())}
        order_id, word = path.split("/")[-2:]
        if word == "receipt":
            self.receipts.append(value)
            self.orders = [order for order in self.orders if json.loads(order[0])["id"] != order_id]
            return 200, {}
        go = self.go[word]
        return (200, {"go": True, "at": iso(time.time())}) if go is True else (409, {"reason": go})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address) -> None:
        pass  # an agent that is stopped or killed leaves its connections as they are


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    portal: StubPortal

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        value = json.loads(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body or b"{}")
        if parts.path == "/agent/v1/enrol":
            self._enrol(value)
            return
        try:
            signed = wire.verify_request(KEY, self.command, parts.path, parts.query, self.headers, body)
            with self.portal.changed:
                wire.check_fresh(signed, time.time(), self.portal.last_counter)
                self.portal.last_counter = signed.counter
        except wire.BadSignature as bad:
            self._send(401, {"reason": str(bad)}, {})
            return
        status, answer = self.portal.answer(self.command, parts.path, parts.query, value)
        data = b"" if answer is None else wire.canonical(answer)
        self._send(status, answer, wire.sign_answer(KEY, status, data, signed.nonce))

    def _enrol(self, value: dict) -> None:
        key = base64.b64decode(value["key"])
        if value["token"] != "good":
            self._send(403, {"reason": "The token is not known."}, {})
            return
        answer = {"key_id": wire.fingerprint(key), "node": value["node"], **keys().handed_over}
        self._send(200, answer, wire.sign_answer(key, 200, wire.canonical(answer), wire.ENROL_NONCE))

    def _send(self, status: int, answer: dict | None, headers: dict[str, str]) -> None:
        data = b"" if answer is None else wire.canonical(answer)
        self.send_response(status)
        for name, text in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args) -> None:
        pass
