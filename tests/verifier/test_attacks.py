"""Bundles that somebody made to be believed: each without a pin, with the key's fingerprint, with a kept checkpoint; with the package
`cryptography` and with openssl alone. Without a pin nothing is ever called intact.
"""

import ast
import base64
import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA

from app.ledger import verify
from tests.verifier import export
from tests.verifier.export import Files, Keys, Log, canonical, files_of, leaf

HOUSE, FORGER = Keys.number(1, 11), Keys.number(7, 77)
PLAN = "ab" * 32


def sealed_text(log: Log, run: str, number: str, approvals: list[int], fields: dict) -> bytes:
    body = {"id": number, "run": run, "node": "oss01", "operation": "zpool_offline", "effect": "at_most_once", "plan_digest": PLAN}
    return canonical({**body, "approvals": [leaf(log.lines[place]).hex() for place in approvals], **fields})


def seal(log: Log, text: bytes, run: str, actor: str = "ann", **body) -> None:
    order = json.loads(text)
    signature = base64.b64encode(log.keys.order.sign(text, ECDSA(hashes.SHA256()))).decode()
    fields = {"order": order["id"], "operation": order["operation"], "digest": sha256(text).hexdigest(), "fence": "1"}
    signed = {"signature": signature, "key": sha256(log.keys.spki).hexdigest()[:16]}
    log.record("order.sealed", {**fields, **signed, **body}, run, (text,), actor)


def close(log: Log, run: str, texts: list[bytes]) -> Files:
    closing = {"key": log.keys.fingerprint, "order_key": sha256(log.keys.spki).hexdigest(), "withheld": [], "erased": []}
    log.record("run.exported", {**closing, "verifier": sha256(export.PROGRAM).hexdigest()}, run)
    log.sign()
    files = files_of(log, [], run)
    return {name: data for name, data in files.items() if not name.startswith("blobs/")} | {
        f"blobs/{sha256(text).hexdigest()}": text for text in texts
    }


def story(
    keys: Keys = HOUSE, *, approver="bob", giver="ann", run="7", approves=PLAN, first="approve", kind="run.approved", **fields
) -> Files:
    """A run with one order. What is given otherwise is what the attack changes; all the rest is consistent in itself."""
    log = Log(keys)
    log.record("run.started", {"runbook": "x"}, run)
    log.sign()
    approve = lambda: log.record(kind, {"plan_digest": approves}, run, actor=approver) - 1  # noqa: E731
    place = approve() if first == "approve" else 0
    text = sealed_text(log, run, "o1", [place], fields.pop("order", {}))
    seal(log, text, run, giver, **fields)
    if first != "approve":
        approve()
    log.record("order.receipt", {"order": "o1"}, run, actor="node:oss01")
    return close(log, run, [text])


def resigned(files: Files) -> Files:
    """The same story under the forger's keys: events, order and checkpoints made anew."""
    return story(FORGER, approver="mallory")


def edited(files: Files) -> Files:
    return files | {"events.jsonl": files["events.jsonl"].replace(b'"actor":"bob"', b'"actor":"eve"')}


def swapped(files: Files) -> Files:
    return files | {"events.jsonl": story(run="8")["events.jsonl"]}


def truncated(files: Files) -> Files:
    return files | {"events.jsonl": b"".join(files["events.jsonl"].splitlines(keepends=True)[:-2])}


HONEST = story()  # once: a signature of ECDSA is never the same twice
PINS = {
    "no pin": verify.Pins(run="7"),
    "fingerprint": verify.Pins(HOUSE.fingerprint, run="7"),
    "kept checkpoint": verify.Pins(kept=(verify.read_checkpoint(HONEST["checkpoint"]),), run="7"),
}
SELF = "was approved by ann, who gave it: that is one person and not two."
# the attack: how it is made, and what is said; the forger's own story is consistent, so without a pin only "not established" is left
ATTACKS = {
    "edited": (edited, "the event is not the one that proof 2 is for"),
    "swapped": (swapped, "the event is not the one that proof"),
    "truncated": (truncated, "the last event is not the export"),
    "other run": (lambda files: story(run="8"), "this is the run 8, and the run 7 was asked for"),
    "self-approved": (lambda files: story(approver="ann"), SELF),
    "approved by who began it": (lambda files: story(giver="bob", approver="ann"), "who began the run: that is one person"),
    "not approved": (lambda files: story(order={"approvals": []}), "needs another person's approval and names none"),
    "another plan approved": (lambda files: story(approves="cd" * 32), "approves another plan, or nothing"),
    "approved afterwards": (
        lambda files: story(first="seal", order={"approvals": ["ee" * 32]}), "which no event of this run before it is"),
    "somebody else's broken glass": (lambda files: story(kind="run.glass-broken"), "bob broke the glass: that is valid for no other person"),
    "a denial": (lambda files: story(kind="run.denied"), "approves another plan, or nothing"),
    "order of another run": (lambda files: story(order={"run": "8"}), "is sealed with another run than the one in the event"),
    "order of another node": (lambda files: story(order={"node": "oss02"}), "is sealed with another node than the one in the event"),
    "order without a true signature": (lambda files: story(signature="AAAA"), "is not signed by an order key of this ledger"),
    "order signed by a stranger": (lambda files: story(key="0" * 16), "is not signed by an order key of this ledger"),
}  # fmt: skip


@pytest.fixture(params=["cryptography", "openssl"])
def tool(request, monkeypatch) -> str:
    if request.param == "openssl":
        monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    return request.param


def look(files: Files, pins: verify.Pins) -> verify.Report:
    report = verify.Report()
    verify.check(files, pins, report)
    return report


@pytest.mark.parametrize("pin", PINS)
def test_what_is_true_is_intact_only_with_a_pin(tool, pin):
    report = look(HONEST, PINS[pin])
    assert (report.tampered, report.broken, report.incomplete, report.unchecked) == ([], [], [], [])
    assert report.exit_code == (3 if pin == "no pin" else 0)
    assert ("orders", "1") in report.facts


@pytest.mark.parametrize("pin", PINS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_each_attack_is_named_with_any_pin_and_without(tool, attack, pin):
    make, words = ATTACKS[attack]
    report = look(make(HONEST), PINS[pin])
    assert report.exit_code in (1, 2)
    assert any(words in sentence for sentence in report.tampered + report.broken + report.incomplete), (report.tampered, report.broken)


def test_signed_anew_with_fresh_keys_it_is_never_intact(tool):
    """Consistent in itself: without a pin nobody can tell, and so nobody says that it is whole."""
    forged = resigned(HONEST)
    assert look(forged, PINS["no pin"]).exit_code == 3
    assert f"not the pinned {HOUSE.fingerprint}" in look(forged, PINS["fingerprint"]).tampered[0]
    kept = look(forged, PINS["kept checkpoint"])
    assert (kept.exit_code, kept.tampered[0].split(":")[0]) == (1, "the kept checkpoint over 5 events")


def test_another_history_signed_with_the_true_keys_contradicts_the_kept_checkpoint(tool):
    report = look(story(approver="carl"), PINS["kept checkpoint"])
    assert report.tampered == [
        "the kept checkpoint over 5 events has another root than the bundle's: the ledger was written anew, or put back, since."
    ]
    assert look(story(approver="carl"), PINS["fingerprint"]).exit_code == 0, "which is why checkpoints are kept"


def test_an_order_from_before_signatures_were_kept_is_not_established():
    log = Log(HOUSE)
    place = log.record("run.approved", {"plan_digest": PLAN}, "7", actor="bob") - 1
    text = sealed_text(log, "7", "o1", [place], {})
    log.record("order.sealed", {"order": "o1", "operation": "zpool_offline", "digest": sha256(text).hexdigest()}, "7", (text,))
    report = look(close(log, "7", [text]), PINS["fingerprint"])
    assert (report.exit_code, report.tampered, report.broken) == (3, [], [])
    assert "was sealed by a release that kept no signature in the ledger" in report.unchecked[0]


def test_who_breaks_the_glass_stands_alone_and_it_is_said():
    report = look(story(kind="run.glass-broken", approver="ann"), PINS["fingerprint"])
    assert (report.exit_code, report.broken) == (0, [])
    assert ("glass", "ann broke the glass: no other person approved the order o1") in report.facts


def test_what_needs_no_other_person_needs_none_here():
    for effect in ("pure", "idempotent"):
        assert look(story(order={"effect": effect, "approvals": []}), PINS["fingerprint"]).exit_code == 0
    assert look(story(order={"effect": "?", "approvals": []}), PINS["fingerprint"]).exit_code == 1


def test_kept_checkpoints_are_read_out_of_a_mail_or_a_log(tmp_path, capsys):
    note, path = HONEST["checkpoint"].decode(), tmp_path / "kept"
    path.write_text(f"Subject: checkpoint\n\n{note}\n-- \nkept\n\n{note}")
    assert len(verify.read_kept(path)) == 2
    (tmp_path / "run.zip").write_bytes(verify.pack(list(HONEST.items())))
    assert verify.main([str(tmp_path / "run.zip"), "--kept", str(path), "--run", "7"]) == 0
    path.write_text("nothing")
    assert verify.main([str(tmp_path / "run.zip"), "--kept", str(path)]) == 64
    assert "there is no checkpoint in it" in capsys.readouterr().err


def test_the_program_is_one_file_that_says_the_same(tmp_path):
    """What goes into exports and into the command line has the parts within."""
    (tmp_path / "alone.py").write_bytes(verify.program())
    (tmp_path / "run.zip").write_bytes(verify.pack(list(HONEST.items())))
    words = [sys.executable, "-I", "-S", "alone.py", "run.zip", "--key", HOUSE.fingerprint]
    alone = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stderr) == (0, "")
    defined = [part.name for part in ast.parse(verify.program()).body if isinstance(part, (ast.FunctionDef, ast.ClassDef))]
    assert len(defined) == len(set(defined)), "two parts call something by one name"


@pytest.mark.parametrize(("pins", "code"), [(verify.Pins(run="7"), 3), (verify.Pins(Keys.number(3, 1).fingerprint, run="7"), 0)])
def test_what_an_older_release_exported_opens_still(tool, pins, code):
    """Made by the exporter of these tests as it was at 29e7ff0, with the verifier of then within."""
    report = verify.verify(Path(__file__).with_name("exported-by-29e7ff0.zip"), pins)
    assert (report.exit_code, report.tampered, report.broken, report.incomplete) == (code, [], [], [])
