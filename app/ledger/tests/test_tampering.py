"""Each way to tamper with an export, named by the stranger's program: `python3 verify.py`, on its own, in a process of its own.

What the walk through the database names stands in `test_audit.py`; that both tables hold the same nine ways is held here.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agents.portal.wire import canonical
from app.ledger import keys, notes
from app.ledger.bundle import bundle
from app.ledger.merkle import leaf_hash
from app.ledger.tests.test_audit import TAMPERINGS as IN_THE_DATABASE
from app.ledger.tests.test_bundle import unzip
from app.ledger.verify import INCOMPLETE, TAMPERED

Files = dict[str, bytes]
MADE: Files = {}


def lines(files: Files) -> list[bytes]:
    return files["events.jsonl"].splitlines(keepends=True)


def proofs(files: Files) -> dict:
    return json.loads(files["proofs.json"])


def without(files: Files, place: int) -> Files:
    """Without an event and its proof; the rest is honest."""
    rest, answer = lines(files), proofs(files)
    del rest[place], answer["events"][place]
    return files | {"events.jsonl": b"".join(rest), "proofs.json": canonical(answer)}


def swapped(files: Files) -> Files:
    rest, answer = lines(files), proofs(files)
    for listed in (rest, answer["events"]):
        listed[0], listed[1] = listed[1], listed[0]
    return files | {"events.jsonl": b"".join(rest), "proofs.json": canonical(answer)}


def inserted(files: Files) -> Files:
    """Another approval of the same run, that calls itself the third event as the true third does; with a proof made for it."""
    rest, answer = lines(files), proofs(files)
    event = canonical(json.loads(rest[1]) | {"actor": "eve"})
    answer["events"].insert(2, answer["events"][1] | {"leaf": leaf_hash(event).hex()})
    return files | {"events.jsonl": b"".join([*rest[:2], event + b"\n", *rest[2:]]), "proofs.json": canonical(answer)}


def edited(files: Files) -> Files:
    return files | {"events.jsonl": files["events.jsonl"].replace(b'"actor":"bob"', b'"actor":"eve"')}


def edited_with_its_leaf(files: Files) -> Files:
    """Who edits makes the leaf in the proof anew as well, and the link of the event after it."""
    rest, answer, before = [json.loads(line) for line in lines(files)], proofs(files), ""
    for event, proof in zip(rest, answer["events"], strict=True):
        event["actor"] = event["actor"].replace("bob", "eve")
        event["run_prev"] = before
        before = proof["leaf"] = leaf_hash(canonical(event)).hex()
    return files | {"events.jsonl": b"".join(canonical(event) + b"\n" for event in rest), "proofs.json": canonical(answer)}


def truncated(files: Files) -> Files:
    name = next(name for name in files if name.startswith("blobs/"))
    return files | {name: files[name][:-1]}


def signed_again(files: Files) -> Files:
    """The same checkpoint under another key, which is not in keys.json."""
    other = notes.Signer("slotlight/ledger", Ed25519PrivateKey.generate(), keys.OrderKey(keys.new_order_key()))
    _, size, root, *_ = files["checkpoint"].decode().split("\n")
    return files | {"checkpoint": other.checkpoint(int(size), notes.base64.b64decode(root)).encode()}


def signed_again_and_named(files: Files) -> Files:
    """And keys.json brings that key: only the closing event, which is in the tree, names the true one."""
    other = notes.Signer("slotlight/ledger", Ed25519PrivateKey.generate(), keys.OrderKey(keys.new_order_key()))
    _, size, root, *_ = files["checkpoint"].decode().split("\n")
    fields = {
        "origin": other.name,
        "ed25519": other.public.hex(),
        "fingerprint": other.fingerprint,
        "p256": other.order.spki.hex(),
        "changes": [],
    }
    checkpoint = other.checkpoint(int(size), notes.base64.b64decode(root)).encode()
    return files | {"checkpoint": checkpoint, "keys.json": canonical(fields)}


def of_another_size(files: Files) -> Files:
    return files | {"proofs.json": canonical(proofs(files) | {"size": "8"})}


def signed_for_another_size(files: Files) -> Files:
    return files | {"checkpoint": files["checkpoint"].replace(b"\n7\n", b"\n8\n", 1)}


def forged(files: Files) -> Files:
    answer = proofs(files)
    path = answer["events"][1]["path"]
    path[0] = sha256(path[0].encode()).hexdigest()
    return files | {"proofs.json": canonical(answer)}


def forged_continuation(files: Files) -> Files:
    answer = proofs(files)
    path = answer["consistency"][0]["path"]
    path[-1] = sha256(path[-1].encode()).hexdigest()
    return files | {"proofs.json": canonical(answer)}


# way -> (what is done, exit code, what the program says)
WAYS: dict[str, list[tuple[Callable[[Files], Files], int, str]]] = {
    "edit": [
        (edited, TAMPERED, "events.jsonl line 2: the event is not the one that proof 2 is for."),
        (edited_with_its_leaf, TAMPERED, "events.jsonl line 2: event 4 of the ledger is not under the root of the checkpoint."),
    ],
    "delete in the middle": [(lambda files: without(files, 1), INCOMPLETE, "event 2 of the run is missing")],
    "delete the tail": [
        (lambda files: without(files, 3), TAMPERED, "the last event is not the export. Whatever came after event 3 is missing.")
    ],
    "swap": [(swapped, TAMPERED, "the places in the ledger do not rise with the events")],
    "insert": [(inserted, TAMPERED, "event 2 of the run stands where event 3 belongs")],
    "truncate a blob": [(truncated, TAMPERED, "the SHA-256 of the bytes is not the one in the name")],
    "re-sign with another key": [
        (signed_again, TAMPERED, "checkpoint: it is signed by another key than keys.json brings"),
        (signed_again_and_named, TAMPERED, "keys.json: the export names another key than"),
    ],
    "claim a wrong tree size": [
        (of_another_size, TAMPERED, "the proofs are for a tree of 8 events, the checkpoint is over 7"),
        (signed_for_another_size, TAMPERED, "the signature is not one of this key over this text"),
    ],
    "forge a proof": [
        (forged, TAMPERED, "events.jsonl line 2: event 4 of the ledger is not under the root of the checkpoint."),
        (forged_continuation, TAMPERED, "The checkpoint over 7 events does not continue the one over 6."),
    ],
}
CASES = [pytest.param(*case, id=f"{way}, {number}") for way, cases in WAYS.items() for number, case in enumerate(cases, 1)]
DATABASE_HAS = {
    "edit": "edit a body",
    "delete in the middle": "delete in the middle",
    "delete the tail": "delete the tail",
    "swap": "swap two",
    "insert": "insert into the chain",
    "truncate a blob": "truncate a blob",
    "re-sign with another key": "sign again with another key",
    "claim a wrong tree size": "claim a wrong tree size",
    "forge a proof": "forge a proof",
}


@pytest.fixture
def exported(request) -> Files:
    if not MADE:
        request.getfixturevalue("cast")
        MADE.update(unzip(bundle("7", "ann")))
    return dict(MADE)


def verdict_on(files: Files, folder) -> tuple[int, str]:
    """What the program that came with the export says of this folder, alone and without our code on its path."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    done = subprocess.run([sys.executable, "-I", "verify.py", "."], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_what_nobody_touched_is_intact(exported, tmp_path):
    """So that each of the next is found for its own reason."""
    assert verdict_on(exported, tmp_path)[0] == 3, "no key is pinned here: nothing is wrong, and nothing is intact"


@pytest.mark.parametrize(("done", "code", "words"), CASES)
def test_the_program_names_it(exported, tmp_path, done, code, words):
    touched = done(exported)
    assert touched != exported
    ended, text = verdict_on(touched, tmp_path)
    assert (ended, words in text) == (code, True), text


def test_both_verifiers_name_all_nine_ways():
    assert set(DATABASE_HAS) == set(WAYS)
    assert set(DATABASE_HAS.values()) <= set(IN_THE_DATABASE)
