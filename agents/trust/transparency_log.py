"""What the portal's ledger can prove to a node: signed checkpoints (C2SP signed notes) and the Merkle proofs of RFC 6962.

The hashing is pure and total: a wrong proof of any shape is False, never an exception. Signatures are checked with the node's own
`openssl`: the ledger key (Ed25519) where it is OpenSSL 3, the order key (ECDSA P-256) with any. Whatever can be checked
must hold, and one must have been checked: not knowing is not a signature.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from agents.host.host import Host

OPENSSL_SECONDS = 20
SIZE = re.compile(r"[1-9][0-9]{0,17}")
INDEX = re.compile(r"0|[1-9][0-9]{0,17}")
NOTE_BYTES_MAX = 8192
PATH_MAX = 64  # a tree of 2^64 leaves needs no longer path
ED25519 = b"\x01"
ED25519_SPKI = bytes.fromhex("302a300506032b6570032100")  # what an Ed25519 key in PEM begins with


class BadNote(Exception):
    """This is not a checkpoint of the ledger that this agent pinned. The message says why."""


class NotChecked(BadNote):
    """The checkpoint has no known fault, but this machine could not check a signature on it."""


class BadProof(Exception):
    """These events are not proven to be in the ledger. The message says which and why."""


@dataclass(frozen=True)
class Checkpoint:
    """The first `size` events of the log `origin` have this Merkle root."""

    origin: str
    size: int
    root: bytes
    text: bytes  # exactly what is signed
    signatures: tuple[tuple[str, bytes, bytes], ...]  # name, key id, signature


# --- Merkle trees (RFC 6962; the checks as RFC 9162, 2.1.3.2 and 2.1.4.2, writes them)


def leaf_hash(body: bytes) -> bytes:
    return sha256(b"\x00" + body).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `leaf` is leaf number `index`, counted from 0, of the tree of `size` leaves with this root."""
    if not 0 <= index < size:
        return False
    here, last, node = index, size - 1, leaf
    for other in path:
        if last == 0:
            return False
        if here & 1 or here == last:
            node = node_hash(other, node)
            while here and not here & 1:
                here >>= 1
                last >>= 1
        else:
            node = node_hash(node, other)
        here >>= 1
        last >>= 1
    return last == 0 and node == root


def verify_consistency(old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether the tree of `new_size` leaves begins with exactly the leaves of the tree of `old_size`. A tree without leaves proves nothing."""
    if not 0 < old_size <= new_size:
        return False
    if old_size == new_size:
        return not path and old_root == new_root
    rest = list(path)
    if old_size & (old_size - 1) == 0:  # a full tree is itself the first node of the path
        rest.insert(0, old_root)
    if not rest:
        return False
    here, last = old_size - 1, new_size - 1
    while here & 1:
        here >>= 1
        last >>= 1
    old = new = rest[0]
    for other in rest[1:]:
        if last == 0:
            return False
        if here & 1 or here == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while here and not here & 1:
                here >>= 1
                last >>= 1
        else:
            new = node_hash(new, other)
        here >>= 1
        last >>= 1
    return last == 0 and old == old_root and new == new_root


def read_path(value: object) -> list[bytes] | None:
    """A proof as the wire carries it, a list of hex digests; None when it is anything else."""
    if not isinstance(value, list) or len(value) > PATH_MAX:
        return None
    if not all(isinstance(item, str) and re.fullmatch(r"[0-9a-f]{64}", item) for item in value):
        return None
    return [bytes.fromhex(item) for item in value]


# --- events


def proven(checkpoint: Checkpoint, events: object) -> dict[str, dict[str, Any]]:
    """The events of an offer by their leaf hash (hex), each proven to be under the root of `checkpoint`. Raises BadProof."""
    if not isinstance(events, list):
        raise BadProof("The proofs are not a list.")
    return dict(_proven(checkpoint, number, event) for number, event in enumerate(events, 1))


def _proven(checkpoint: Checkpoint, number: int, entry: object) -> tuple[str, dict[str, Any]]:
    if not isinstance(entry, dict) or set(entry) != {"body", "index", "path"} or not isinstance(entry["body"], str):
        raise BadProof(f"Proof {number} is not a proof as the portal writes it.")
    path, index = read_path(entry["path"]), entry["index"]
    if path is None or not isinstance(index, str) or not INDEX.fullmatch(index):
        raise BadProof(f"Proof {number} is not a proof as the portal writes it.")
    try:
        body = entry["body"].encode()
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise BadProof(f"The event of proof {number} cannot be read.") from None
    leaf = leaf_hash(body)
    if not isinstance(event, dict) or not verify_inclusion(leaf, int(index), checkpoint.size, path, checkpoint.root):
        raise BadProof(f"Event {int(index) + 1} of the ledger is not under the root of the checkpoint over {checkpoint.size} events.")
    return leaf.hex(), event


# --- signed notes


def read_note(text: str, log_key: str) -> Checkpoint:
    """The checkpoint in a signed note that names the log of `log_key`. Raises BadNote.

    This reads; it does not check a signature. What is to be accepted goes through `verify_note`.
    """
    name, _, _ = read_log_key(log_key)
    match = _three_lines(text)
    if match is None:
        raise BadNote("The checkpoint is not a signed note as the ledger writes it.")
    root = _unbase64(match["root"])
    if not SIZE.fullmatch(match["size"]) or root is None or len(root) != 32:
        raise BadNote("The checkpoint has no size or no root.")
    if match["origin"] != name:
        raise BadNote(f"The checkpoint is of the ledger {match['origin']}, this agent knows {name}.")
    return Checkpoint(name, int(match["size"]), root, match[1].encode(), _signatures(match["signatures"]))


def _three_lines(text: str) -> re.Match[str] | None:
    form = r"((?P<origin>[^\n]+)\n(?P<size>[^\n]+)\n(?P<root>[^\n]+)\n)\n(?P<signatures>(?:\u2014 [^ \n]+ [^ \n]+\n)+)"
    return re.fullmatch(form, text) if len(text) <= NOTE_BYTES_MAX else None


def _signatures(lines: str) -> tuple[tuple[str, bytes, bytes], ...]:
    # Not splitlines(): it would also split at control characters, and this text is not to be trusted yet.
    return tuple(_signature(*found) for found in re.findall(r"\u2014 ([^ \n]+) ([^ \n]+)\n", lines))


def _signature(name: str, encoded: str) -> tuple[str, bytes, bytes]:
    raw = _unbase64(encoded)
    if raw is None or len(raw) < 5:
        raise BadNote(f"The signature of {name} on the checkpoint is not one.")
    return name, raw[:4], raw[4:]


def read_log_key(log_key: str) -> tuple[str, bytes, bytes]:
    """The name, key id and Ed25519 public key in a C2SP verifier key. Raises BadNote."""
    name, _, rest = log_key.partition("+")
    identity, _, encoded = rest.partition("+")
    key = _unbase64(encoded)
    if not name or key is None or len(key) != 33 or key[:1] != ED25519 or identity != key_id(name, key).hex():
        raise BadNote("The ledger key this agent was given is damaged. Enrol the node again.")
    return name, bytes.fromhex(identity), key[1:]


def key_id(name: str, key: bytes) -> bytes:
    """What names a key in a note; `key` begins with its algorithm byte."""
    return sha256(name.encode() + b"\n" + key).digest()[:4]


def verify_note(host: Host, text: str, log_key: str, portal_key: str = "") -> Checkpoint:
    """The checkpoint in a note that the ledger signed. Raises BadNote; NotChecked when this machine can check none of its signatures.

    `log_key` is the C2SP verifier key and `portal_key` the order key (PEM), both as this agent pinned them.
    """
    note = read_note(text, log_key)
    _believe(host, note, log_key, portal_key)
    return note


def follow_keys(host: Host, statements: Sequence[str], log_key: str, portal_key: str) -> tuple[str, str]:
    """The keys to pin from now on: the present ones, led on by each statement (oldest first) that they signed.

    Statements from before the pinned keys are passed over, since these did not sign them. Raises BadNote for a false signature.
    """
    name, _, _ = read_log_key(log_key)
    for text in statements:
        match = _three_lines(text)
        new = _unbase64(match["root"]) if match else None
        if match is None or not new or match["origin"] != f"{name}/keys" or match["size"] not in ("ledger", "order"):
            raise BadNote("A change of key is not a signed note as the portal writes it.")
        try:
            _believe(host, Checkpoint(name, 0, b"", match[1].encode(), _signatures(match["signatures"])), log_key, portal_key)
        except NotChecked:
            continue
        if match["size"] == "order":
            portal_key = _pem(new)
        else:
            log_key = f"{name}+{key_id(name, ED25519 + new).hex()}+{base64.b64encode(ED25519 + new).decode()}"
    return log_key, portal_key


def _believe(host: Host, note: Checkpoint, log_key: str, portal_key: str) -> None:
    """Every signature that this machine can check holds, and there is one. Raises BadNote and NotChecked."""
    found = [_check(host, note, key) for key in _keys(log_key, portal_key)]
    for verdict, reason in found:
        if verdict == "bad":
            raise BadNote(reason)
    if not any(verdict == "good" for verdict, _ in found):
        raise NotChecked(" ".join(reason for _, reason in found))


def _keys(log_key: str, portal_key: str) -> list[tuple[str, bytes, str]]:
    """(name, key id, PEM) of each key that may have signed."""
    name, identity, public = read_log_key(log_key)
    keys = [(name, identity, _pem(ED25519_SPKI + public))]
    if portal_key:
        keys.append((f"{name}/p256", sha256(_der(portal_key)).digest()[:4], portal_key))
    return keys


def _check(host: Host, note: Checkpoint, key: tuple[str, bytes, str]) -> tuple[str, str]:
    """("good" | "bad" | "unknown", why) for the signature of one key."""
    name, identity, pem = key
    mine = [signature for signer, used, signature in note.signatures if (signer, used) == (name, identity)]
    if not mine:
        return "unknown", f"The checkpoint is not signed by the key {name} that this agent knows."
    check = ecdsa_verdict if name.endswith("/p256") else ed25519_verdict
    verdict, reason = check(host, note.text, mine[0], pem)
    if verdict == "bad":
        return verdict, f"The signature of {name} on the checkpoint over {note.size} events is false."
    return verdict, "" if verdict == "good" else f"The signature of {name} could not be checked: {reason}"


def ecdsa_verdict(host: Host, data: bytes, signature: bytes, pem: str) -> tuple[str, str]:
    """Whether `signature` (DER) is ECDSA over SHA-256 of `data`, as any openssl says: "good", "bad" or "unknown", and its words."""
    argv = ("openssl", "dgst", "-sha256", "-verify", "key", "-signature", "signature", "data")
    return _openssl(
        host, argv, b"Verified OK", (b"Verification failure", b"Verification Failure", b"rror verifying data"), data, signature, pem
    )


def ed25519_verdict(host: Host, data: bytes, signature: bytes, pem: str) -> tuple[str, str]:
    """The same for Ed25519, which OpenSSL checks on the command line since 3.0."""
    argv = ("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key", "-rawin", "-in", "data", "-sigfile", "signature")
    return _openssl(host, argv, b"Signature Verified Successfully", (b"Signature Verification Failure",), data, signature, pem)


def _openssl(
    host: Host, argv: Sequence[str], good: bytes, bad: tuple[bytes, ...], data: bytes, signature: bytes, pem: str
) -> tuple[str, str]:
    try:
        with tempfile.TemporaryDirectory(prefix="slotlight-") as folder:
            files = {"data": data, "signature": signature, "key": pem.encode()}
            for name, content in files.items():
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content)
            ran = host.run(tuple(os.path.join(folder, word) if word in files else word for word in argv), OPENSSL_SECONDS)
    except OSError as error:
        return "unknown", f"{error}."
    output = ran.stdout + ran.stderr
    if ran.exit_code == 0 and good in output:
        return "good", ""
    if ran.exit_code not in (None, 0) and any(words in output for words in bad):
        return "bad", ""
    return "unknown", f"openssl printed {output.decode('utf-8', 'replace').strip()[:200] or ran.why or 'nothing'!r}."


def _pem(der: bytes) -> str:
    text = base64.b64encode(der).decode()
    body = "\n".join(text[i : i + 64] for i in range(0, len(text), 64))
    return f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"


def _der(pem: str) -> bytes:
    body = "".join(line for line in pem.splitlines() if line and not line.startswith("-----"))
    der = _unbase64(body)
    if not der:
        raise BadNote("The portal key this agent was given is damaged. Enrol the node again.")
    return der


def _unbase64(text: str) -> bytes | None:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None
