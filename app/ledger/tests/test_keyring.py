"""A key is changed on the record: old signatures stand, new ones follow, and whoever pinned the old key is led to the new one."""

import io
import zipfile

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.management import call_command

from agents.host.host import LocalHost
from agents.trust import transparency_log
from agents.trust.log_witness import FileStore, Witness
from app.ledger import checkpoints, key_change, keyring, keys, notes, verify
from app.ledger.audit import audit
from app.ledger.bundle import bundle
from app.ledger.forms import LedgerDown
from app.ledger.models import LedgerCheckpoint


def test_a_key_of_another_kind_has_no_public_part_that_the_ledger_writes_down():
    with pytest.raises(LedgerDown, match="Ed25519 and ECDSA P-256"):
        keyring.public(rsa.generate_private_key(65537, 2048))


def look(data: bytes, pinned: str = "") -> verify.Report:
    report = verify.Report()
    verify.check(verify.unpack(data, report), verify.Pins(pinned), report)
    return report


@pytest.mark.parametrize("which", ["ledger", "order"])
def test_a_changed_key_signs_from_the_next_checkpoint_on(cast, which):
    old = notes.signer()
    fingerprint = key_change.rotate(which, "The old one was on a lost disk.", "ann")
    assert keyring.pending() == []
    cast.record("run.moved", {}, "ann", run="7")
    cast.checkpoint_now()
    new = notes.signer()
    assert {"ledger": (new.fingerprint, new.order.spki), "order": (old.fingerprint, new.order.spki)}[which] == (
        {"ledger": fingerprint, "order": old.fingerprint}[which],
        new.order.spki,
    )
    assert {"ledger": old.public != new.public, "order": old.order.spki != new.order.spki}[which]
    found = audit()
    assert (found.tampered, found.exit_code) == ([], 0)
    assert keys.key_path().stat().st_mode & 0o777 == 0o600


def test_an_export_is_believed_by_the_new_pin_and_by_the_old_one(cast):
    old = notes.signer().fingerprint
    key_change.rotate("ledger", "x", "ann")
    key_change.rotate("order", "x", "ann")
    data = bundle("7", "ann")
    for pinned in (old, notes.signer().fingerprint, ""):
        report = look(data, pinned)
        assert (report.exit_code, report.tampered) == (0 if pinned else 3, [])
    assert [name for name, _ in report.facts].count("key changed") == 2
    assert look(data, "ab" * 32).exit_code == 1
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "checkpoints/6" in archive.namelist()  # signed by the old keys


def test_a_stolen_new_key_without_the_change_is_found(cast):
    """Somebody who swaps the file has no event of the ledger for it."""
    keys.key_path().unlink()
    notes.make_key()
    assert "is not signed by the key" in audit().tampered[0]
    cast.record("node.seen", {}, "ann")
    with pytest.raises(cast.LedgerDown, match="not what this key signed"):
        cast.checkpoint_now()


@pytest.mark.parametrize("dies", ["recorded", "signed"])
def test_dying_in_the_middle_is_gone_on_from(cast, monkeypatch, dies):
    old = notes.signer().public
    if dies == "recorded":
        monkeypatch.setattr(checkpoints, "sign_up_to", lambda seq: 1 / 0)
    else:
        monkeypatch.setattr(checkpoints.os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        key_change.rotate("ledger", "x", "ann")
    monkeypatch.undo()
    assert notes.signer().public == old
    cast.record("node.seen", {}, "ann")
    cast.checkpoint_now()
    assert notes.signer().public != old
    assert sorted(LedgerCheckpoint.objects.values_list("size", flat=True)) == [6, 7, 8]
    assert audit().exit_code == 0


def test_a_key_that_was_never_recorded_never_signs(cast):
    keys.make(keyring.waiting("ledger"), keyring.GENERATE["ledger"])
    old = notes.signer().public
    cast.record("node.seen", {}, "ann")
    cast.checkpoint_now()
    assert notes.signer().public == old
    key_change.rotate("ledger", "x", "ann")
    assert audit().exit_code == 0


def test_a_witness_goes_on_with_either_old_key(cast, tmp_path):
    """One key changed, the other still signs: the agent that pinned both needs nobody's help."""
    pinned = cast.public_keys()
    for number, which in enumerate(("ledger", "order")):
        witness = Witness(LocalHost(), FileStore(str(tmp_path / f"w{number}")), pinned["log_key"], pinned["portal_key"])
        first = cast.log_since(0)
        assert witness.accept(first["checkpoint"], first["consistency"]).outcome == "accepted"
        key_change.rotate(which, "x", "ann")
        cast.record("node.seen", {}, "ann")
        cast.checkpoint_now()
        log = cast.log_since(witness.size)
        assert witness.accept(log["checkpoint"], log["consistency"]).outcome == "accepted"
        pinned = cast.public_keys()
    assert len(keyring.statements()) == 2


def test_an_agent_follows_the_statements_from_any_key_it_pinned(cast):
    """Both keys change, twice: whoever slept through some of it ends with the keys of today."""
    pinned = [cast.public_keys()]
    for which in ("ledger", "order", "order", "ledger"):
        key_change.rotate(which, "x", "ann")
        pinned.append(cast.public_keys())
    today = (pinned[-1]["log_key"], pinned[-1]["portal_key"])
    statements = keyring.statements()
    for known in pinned:
        assert transparency_log.follow_keys(LocalHost(), statements, known["log_key"], known["portal_key"]) == today


def test_an_agent_follows_no_statement_of_a_stranger(cast):
    pinned = cast.public_keys()
    key_change.rotate("ledger", "x", "ann")
    (statement,) = keyring.statements()
    forged = statement.replace("\nledger\n", "\norder\n")
    with pytest.raises(transparency_log.BadNote, match="false"):
        transparency_log.follow_keys(LocalHost(), [forged], pinned["log_key"], pinned["portal_key"])
    for text in ("", "x", statement.replace("/keys\n", "/other\n")):
        with pytest.raises(transparency_log.BadNote, match="change of key"):
            transparency_log.follow_keys(LocalHost(), [text], pinned["log_key"], pinned["portal_key"])


def test_the_command_changes_a_key(cast, capsys):
    call_command("ledger", "rotate", "ledger", "--why", "A year has passed.")
    assert notes.signer().fingerprint in capsys.readouterr().out
